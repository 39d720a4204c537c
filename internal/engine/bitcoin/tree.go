package bitcoin

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/database"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
)

// btcd keeps its block index in this bucket of the chain database: the key is
// the height, big-endian, and the hash; the value the header and one byte of
// status flags (btcd's blockchain/chainio.go).
var blockIndexBucket = []byte("blockheaderidx")

const (
	indexKeySize = 4 + chainhash.HashSize
	indexRowSize = wire.MaxBlockHeaderPayload + 1
)

// The status flags of btcd's block index (blockchain/blockindex.go).
const (
	statusDataStored = 1 << iota
	statusValid
	statusValidateFailed
	statusInvalidAncestor
)

var errIndexRow = errors.New("malformed row of the block index")

// loadTree builds the block tree from btcd's index, in ascending height.
func loadTree(db database.DB, params *chaincfg.Params) (*chainview.Tree, error) {
	genesis := &params.GenesisBlock.Header
	tree := chainview.NewTree(genesis, blockchain.CalcWork(genesis.Bits))
	err := eachIndexRow(db, func(header *wire.BlockHeader, status chainview.Status) error {
		if header.PrevBlock == (chainhash.Hash{}) {
			return nil // the genesis block
		}
		_, err := tree.Add(header, blockchain.CalcWork(header.Bits), status)
		return err
	})
	if err != nil {
		return nil, err
	}
	return tree, loadHeaders(db, tree)
}

// refresh takes over the status of every block from btcd, which changes that
// of many blocks when one is invalidated.
func (e *Engine) refresh() error {
	return eachIndexRow(e.db.BTCD(), func(header *wire.BlockHeader, status chainview.Status) error {
		hash := header.BlockHash()
		if b := e.tree.Lookup(&hash); b != nil {
			e.setStatus(b, status)
		}
		return nil
	})
}

// refreshBranch does the same for the blocks from b down to the active chain.
func (e *Engine) refreshBranch(b *chainview.Block) error {
	active := e.tree.Active()
	return e.db.BTCD().View(func(tx database.Tx) error {
		bucket := tx.Metadata().Bucket(blockIndexBucket)
		for at := b; at != nil; at = at.Parent {
			_, status, err := parseIndexRow(bucket.Get(indexKey(at)))
			if err != nil {
				return fmt.Errorf("block %v: %w", at.Hash, err)
			}
			e.setStatus(at, status)
			if active.Contains(at) {
				break
			}
		}
		return nil
	})
}

func indexKey(b *chainview.Block) []byte {
	key := binary.BigEndian.AppendUint32(make([]byte, 0, indexKeySize), uint32(b.Height))
	return append(key, b.Hash[:]...)
}

func eachIndexRow(db database.DB, visit func(*wire.BlockHeader, chainview.Status) error) error {
	return db.View(func(tx database.Tx) error {
		return tx.Metadata().Bucket(blockIndexBucket).ForEach(func(_, row []byte) error {
			header, status, err := parseIndexRow(row)
			if err != nil {
				return err
			}
			return visit(header, status)
		})
	})
}

func parseIndexRow(row []byte) (*wire.BlockHeader, chainview.Status, error) {
	if len(row) != indexRowSize {
		return nil, 0, errIndexRow
	}
	var header wire.BlockHeader
	if err := header.Deserialize(bytes.NewReader(row)); err != nil {
		return nil, 0, errIndexRow
	}
	var status chainview.Status
	for _, flag := range []struct {
		theirs byte
		ours   chainview.Status
	}{
		{statusDataStored, chainview.HasData},
		{statusValid, chainview.Valid},
		{statusValidateFailed, chainview.Failed},
		{statusInvalidAncestor, chainview.FailedAncestor},
	} {
		if row[wire.MaxBlockHeaderPayload]&flag.theirs != 0 {
			status |= flag.ours
		}
	}
	return &header, status, nil
}

// setStatus takes over what btcd knows of a block, which does not include that it
// was pruned.
func (e *Engine) setStatus(b *chainview.Block, status chainview.Status) {
	e.tree.SetStatus(b, status|b.Status()&chainview.Pruned)
}
