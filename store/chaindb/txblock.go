package chaindb

import (
	"bytes"
	"errors"
	"io"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/database"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/store/blockfile"
)

// errNoPruning is the answer to PruneBlocks.
var errNoPruning = errors.New("pruning of blocks is not supported")

// StoreBlock implements [database.Tx].
func (t *tx) StoreBlock(block *btcutil.Block) error {
	if err := t.checkWritable(); err != nil {
		return err
	}
	hash := block.Hash()
	exists, err := t.HasBlock(hash)
	if err != nil {
		return err
	}
	again, err := t.isPruned(hash)
	if err != nil {
		return err
	}
	if exists && !again {
		return dbError(database.ErrBlockExists, "block %v exists", hash)
	}
	raw, err := block.Bytes()
	if err != nil {
		return toBTCD(hash, err)
	}
	if t.blockIndex == nil {
		t.blockIndex = map[chainhash.Hash]int{}
	}
	t.blockIndex[*hash] = len(t.blocks)
	t.blocks = append(t.blocks, pendingBlock{*hash, raw, again})
	t.db.last = shapeOf(block.MsgBlock())
	return nil
}

// isPruned reports whether a block was stored and its file was removed, so that it
// may be stored again.
func (t *tx) isPruned(hash *chainhash.Hash) (bool, error) {
	if _, ok := t.blockIndex[*hash]; ok || !t.db.HasPruned() {
		return false, nil
	}
	pruned, err := t.snap.Has(hashKey(prefixPruned, hash), nil)
	return pruned, toBTCD(hash, fromLevelDB(t.db.seen(err)))
}

// HasBlock implements [database.Tx].
func (t *tx) HasBlock(hash *chainhash.Hash) (bool, error) {
	if err := t.check(); err != nil {
		return false, err
	}
	if _, ok := t.blockIndex[*hash]; ok {
		return true, nil
	}
	has, err := t.snap.Has(hashKey(prefixBlock, hash), nil)
	return has, toBTCD(hash, fromLevelDB(t.db.seen(err)))
}

// HasBlocks implements [database.Tx].
func (t *tx) HasBlocks(hashes []chainhash.Hash) ([]bool, error) {
	return each(hashes, t.HasBlock)
}

// FetchBlockHeader implements [database.Tx].
func (t *tx) FetchBlockHeader(hash *chainhash.Hash) ([]byte, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	if i, ok := t.blockIndex[*hash]; ok {
		return t.blocks[i].raw[:wire.MaxBlockHeaderPayload], nil
	}
	l, err := findLocation(t.snap, hash)
	if err != nil {
		return nil, toBTCD(hash, err)
	}
	return l.header[:], nil
}

// FetchBlockHeaders implements [database.Tx].
func (t *tx) FetchBlockHeaders(hashes []chainhash.Hash) ([][]byte, error) {
	return each(hashes, t.FetchBlockHeader)
}

// FetchBlock implements [database.Tx].
func (t *tx) FetchBlock(hash *chainhash.Hash) ([]byte, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	if i, ok := t.blockIndex[*hash]; ok {
		return t.blocks[i].raw, nil
	}
	l, err := findLocation(t.snap, hash)
	if err != nil {
		return nil, toBTCD(hash, err)
	}
	raw, err := t.db.readBlock(hash, l)
	return raw, toBTCD(hash, err)
}

// FetchBlocks implements [database.Tx].
func (t *tx) FetchBlocks(hashes []chainhash.Hash) ([][]byte, error) {
	return each(hashes, t.FetchBlock)
}

// FetchBlockRegion implements [database.Tx]. The block's checksum covers all of
// it and is not checked.
func (t *tx) FetchBlockRegion(region *database.BlockRegion) ([]byte, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	end := uint64(region.Offset) + uint64(region.Len)
	if i, ok := t.blockIndex[*region.Hash]; ok {
		raw := t.blocks[i].raw
		if end > uint64(len(raw)) {
			return nil, badRegion(region, len(raw))
		}
		return raw[region.Offset:end:end], nil
	}
	l, err := findLocation(t.snap, region.Hash)
	if err != nil {
		return nil, toBTCD(region.Hash, err)
	}
	if end > uint64(l.length) {
		return nil, badRegion(region, int(l.length))
	}
	offset := int64(l.offset) + blockfile.HeaderSize + int64(region.Offset)
	raw, err := t.db.blocks.Read(int(l.file), offset, int(region.Len))
	return raw, toBTCD(region.Hash, err)
}

// FetchBlockRegions implements [database.Tx].
func (t *tx) FetchBlockRegions(regions []database.BlockRegion) ([][]byte, error) {
	return each(regions, t.FetchBlockRegion)
}

// PruneBlocks implements [database.Tx]: it refuses.
func (t *tx) PruneBlocks(uint64) ([]chainhash.Hash, error) {
	if err := t.checkWritable(); err != nil {
		return nil, err
	}
	return nil, database.Error{ErrorCode: database.ErrDriverSpecific, Description: driverName, Err: errNoPruning}
}

// BeenPruned implements [database.Tx].
func (t *tx) BeenPruned() (bool, error) { return false, t.check() }

func badRegion(region *database.BlockRegion, size int) error {
	return dbError(database.ErrBlockRegionInvalid, "block %v has %d bytes: no region of %d at %d",
		region.Hash, size, region.Len, region.Offset)
}

// each applies a method to all items, up to the first error.
func each[T, R any](items []T, do func(*T) (R, error)) ([]R, error) {
	results := make([]R, len(items))
	for i := range items {
		result, err := do(&items[i])
		if err != nil {
			return nil, err
		}
		results[i] = result
	}
	return results, nil
}

// plain reads a block without what may stand between header and transactions.
func (db *DB) plain(raw []byte) io.Reader {
	at := wire.MaxBlockHeaderPayload
	if db.o.HeaderLen != nil {
		at = db.o.HeaderLen(raw)
	}
	if at < wire.MaxBlockHeaderPayload || at > len(raw) {
		return bytes.NewReader(nil)
	}
	return io.MultiReader(bytes.NewReader(raw[:wire.MaxBlockHeaderPayload]), bytes.NewReader(raw[at:]))
}

// A blockShape is what undo data takes over from its block.
type blockShape struct {
	hash   chainhash.Hash
	inputs []int // number of inputs of each transaction but the coinbase
}

func shapeOf(block *wire.MsgBlock) blockShape {
	shape := blockShape{hash: block.BlockHash()}
	for _, msgTx := range block.Transactions[min(1, len(block.Transactions)):] {
		shape.inputs = append(shape.inputs, len(msgTx.TxIn))
	}
	return shape
}

// shape returns the shape of a stored block. The shape of the block stored last
// is in memory: as a rule that block is connected next.
func (t *tx) shape(hash *chainhash.Hash) (blockShape, error) {
	if t.db.last.hash == *hash {
		return t.db.last, nil
	}
	raw, err := t.FetchBlock(hash)
	if err != nil {
		return blockShape{}, err
	}
	var block wire.MsgBlock
	if err := block.Deserialize(t.db.plain(raw)); err != nil {
		return blockShape{}, dbError(database.ErrCorruption, "block %v: %v", hash, err)
	}
	return shapeOf(&block), nil
}
