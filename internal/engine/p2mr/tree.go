package p2mr

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/database"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus/target"
	"github.com/seed61375155/trawl/internal/p2mr/pow"
)

// The rows of the index have as key the height, big-endian, and the hash; as value
// one byte of status flags, the header and its payload.
const (
	rowData byte = 1 << iota
	rowValid
	rowFailed
	rowFailedAncestor
)

var rowFlags = []struct {
	row    byte
	status chainview.Status
}{
	{rowData, chainview.HasData},
	{rowValid, chainview.Valid},
	{rowFailed, chainview.Failed},
	{rowFailedAncestor, chainview.FailedAncestor},
}

var errRow = errors.New("malformed row of the block index")

func putRows(tx database.Tx, blocks map[*chainview.Block]struct{}) error {
	bucket := tx.Metadata().Bucket(indexBucket)
	for b := range blocks {
		key := binary.BigEndian.AppendUint32(make([]byte, 0, 4+chainhash.HashSize), uint32(b.Height))
		if err := bucket.Put(append(key, b.Hash[:]...), row(b)); err != nil {
			return err
		}
	}
	return nil
}

func row(b *chainview.Block) []byte {
	flags, status := byte(0), b.Status()
	for _, f := range rowFlags {
		if status&f.status != 0 {
			flags |= f.row
		}
	}
	raw := make([]byte, 1, 1+wire.MaxBlockHeaderPayload+len(b.Payload))
	raw[0] = flags
	return append(append(raw, headerBytes(&b.Header)...), b.Payload...)
}

// load reads the tree, or makes one of the genesis block.
func (e *Engine) load() error {
	genesis := e.net.Params.GenesisBlock
	e.tree = chainview.NewTree(&genesis.Header, target.Work(genesis.Header.Bits))
	root := e.tree.Active().Tip()
	e.places[root] = &place{Place: pow.Place{}.After(root, pow.Permissionless)}
	var tip *chainview.Block
	err := e.db.BTCD().Update(func(tx database.Tx) error {
		if err := e.create(tx, genesis); err != nil {
			return err
		}
		err := tx.Metadata().Bucket(indexBucket).ForEach(func(_, raw []byte) error { return e.loadRow(raw) })
		if err != nil {
			return err
		}
		if stored := tx.Metadata().Get(tipKey); stored != nil {
			hash, err := chainhash.NewHash(stored)
			if err != nil {
				return err
			}
			if tip = e.tree.Lookup(hash); tip == nil {
				return fmt.Errorf("tip %v is not in the block tree", hash)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("load block tree: %w", err)
	}
	if tip != nil {
		e.tree.SetActive(tip)
	}
	return nil
}

// create makes the buckets and stores the genesis block, whose output nobody can
// spend.
func (e *Engine) create(tx database.Tx, genesis *wire.MsgBlock) error {
	for _, name := range [][]byte{indexBucket, coinsBucket, journalBucket} {
		if _, err := tx.Metadata().CreateBucketIfNotExists(name); err != nil {
			return err
		}
	}
	if tx.Metadata().Get(tipKey) == nil {
		if err := tx.Metadata().Put(tipKey, e.net.Params.GenesisHash[:]); err != nil {
			return err
		}
	}
	has, err := tx.HasBlock(e.net.Params.GenesisHash)
	if err != nil || has {
		return err
	}
	return tx.StoreBlock(btcutil.NewBlock(genesis))
}

// loadRow puts a block into the tree, after its parent.
func (e *Engine) loadRow(raw []byte) error {
	if len(raw) < 1+wire.MaxBlockHeaderPayload {
		return errRow
	}
	h, size, err := pow.ReadHeader(raw[1:])
	if err != nil || size != len(raw)-1 {
		return errRow
	}
	var status chainview.Status
	for _, f := range rowFlags {
		if raw[0]&f.row != 0 {
			status |= f.status
		}
	}
	b, err := e.tree.AddWithPayload(&h.BlockHeader, h.Payload, target.Work(h.Bits), status)
	if err != nil {
		return err
	}
	e.settle(b, h.Lane())
	if status&chainview.HasData != 0 && !e.complete(b.Parent) {
		e.waiting[b.Parent] = append(e.waiting[b.Parent], b)
	}
	return nil
}
