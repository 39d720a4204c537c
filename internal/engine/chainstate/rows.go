package chainstate

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/database"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus/target"
	"github.com/seed61375155/trawl/internal/engine/forkchoice"
	"github.com/seed61375155/trawl/store/chaindb"
)

// The items and the bucket that every kind of chain has, in the form that btcd gave
// them; store/schema.md has them all.
const (
	coinsBucket = "utxosetv2"
	stateKey    = "chainstate"           // the tip of the active chain
	coinsTipKey = "utxostateconsistency" // the block that the unspent outputs are at
)

// ErrRow reports a row that cannot be read.
var ErrRow = fmt.Errorf("%w: malformed row", chaindb.ErrDamaged)

// IndexKey is the key of a block's row: the height, big-endian, and the hash.
func IndexKey(b *chainview.Block) []byte {
	key := binary.BigEndian.AppendUint32(make([]byte, 0, 4+chainhash.HashSize), uint32(b.Height))
	return append(key, b.Hash[:]...)
}

// The status flags of a row.
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

// RowFlags is a status as rows have it.
func RowFlags(s chainview.Status) (flags byte) {
	for _, f := range rowFlags {
		if s&f.status != 0 {
			flags |= f.row
		}
	}
	return flags
}

// RowStatus is the inverse of [RowFlags].
func RowStatus(flags byte) (s chainview.Status) {
	for _, f := range rowFlags {
		if flags&f.row != 0 {
			s |= f.status
		}
	}
	return s
}

// stateRow is the hash of the tip, its height, the number of transactions up to it
// and the work of its chain.
func stateRow(tip *chainview.Block, txs uint64) []byte {
	work := tip.Work.Bytes()
	row := binary.LittleEndian.AppendUint32(slices.Clone(tip.Hash[:]), uint32(tip.Height))
	row = binary.LittleEndian.AppendUint64(row, txs)
	return append(binary.LittleEndian.AppendUint32(row, uint32(len(work))), work...)
}

// create makes what is missing of the database: all of it, with the genesis block, or
// the buckets that older programs did not have.
func (e *Engine) create() error {
	return e.db.BTCD().Update(func(tx database.Tx) error {
		meta := tx.Metadata()
		buckets := append(e.kind.Rows.Buckets(), coinsBucket)
		if e.kind.Unparsable {
			buckets = append(buckets, unparsableName)
		}
		for _, name := range buckets {
			if _, err := meta.CreateBucketIfNotExists([]byte(name)); err != nil {
				return err
			}
		}
		if meta.Get([]byte(stateKey)) != nil || meta.Get([]byte(coinsTipKey)) != nil {
			return nil
		}
		return e.createRows(tx)
	})
}

func (e *Engine) createRows(tx database.Tx) error {
	genesis := e.net.Params.GenesisBlock
	root := chainview.NewTree(&genesis.Header, target.Work(genesis.Header.Bits)).Active().Tip()
	if e.kind.Counts {
		e.txs = 1
	}
	rows := append(e.kind.Rows.First(root),
		chaindb.Row{Key: []byte(stateKey), Value: stateRow(root, e.txs)},
		chaindb.Row{Key: []byte(coinsTipKey), Value: root.Hash[:]})
	for _, row := range rows {
		bucket := tx.Metadata()
		if row.Bucket != "" {
			bucket = bucket.Bucket([]byte(row.Bucket))
		}
		if err := bucket.Put(row.Key, row.Value); err != nil {
			return err
		}
	}
	has, err := tx.HasBlock(&root.Hash)
	if err != nil || has {
		return err
	}
	return tx.StoreBlock(btcutil.NewBlock(genesis))
}

// loadTree reads the block tree, and makes the stored tip that of the active chain.
func (e *Engine) loadTree() error {
	genesis := e.net.Params.GenesisBlock
	e.tree = chainview.NewTree(&genesis.Header, target.Work(genesis.Header.Bits))
	root := e.tree.Active().Tip()
	e.kind.Headers.Added(root, &Header{BlockHeader: genesis.Header, Hash: root.Hash})
	e.choice = forkchoice.New(e.tree, root, e.mark)
	return e.db.BTCD().View(func(tx database.Tx) error {
		meta := tx.Metadata()
		err := e.kind.Rows.Load(meta, func(h *Header, s chainview.Status, headerOnly bool) error {
			return e.loadBlock(tx, h, s, headerOnly)
		})
		if err != nil {
			return err
		}
		return e.loadTip(meta)
	})
}

// loadBlock puts a block into the tree, after its parent. A headerOnly one that lacks its
// parent, which a loss of power may cause, is left out: peers give it again.
func (e *Engine) loadBlock(tx database.Tx, h *Header, s chainview.Status, headerOnly bool) error {
	if h.Hash == *e.net.Params.GenesisHash || headerOnly && e.tree.Lookup(&h.PrevBlock) == nil {
		return nil
	}
	if headerOnly && s&chainview.HasData != 0 {
		if has, err := tx.HasBlock(&h.Hash); err != nil || !has {
			s &^= chainview.HasData
		}
	}
	b, err := e.tree.AddWithPayload(&h.BlockHeader, h.Payload, target.Work(h.Bits), s)
	switch {
	case errors.Is(err, chainview.ErrOrphan):
		return fmt.Errorf("%w: block %v has no parent", chaindb.ErrDamaged, h.Hash)
	case err != nil:
		return err
	}
	e.kind.Headers.Added(b, h)
	if e.choice.Load(b) && headerOnly {
		e.pending.link(b, true)
	}
	return nil
}

// loadTip reads the tip. A database of before unspent outputs were collected in memory
// may say it by these alone.
func (e *Engine) loadTip(meta database.Bucket) error {
	const size = chainhash.HashSize + 4 + 8
	row := meta.Get([]byte(stateKey))
	stored := row
	if row == nil {
		stored = meta.Get([]byte(coinsTipKey))
	}
	if len(stored) < chainhash.HashSize || row != nil && len(row) < size {
		return ErrRow
	}
	hash := chainhash.Hash(stored)
	if e.tip = e.tree.Lookup(&hash); e.tip == nil || !forkchoice.Linked(e.tip) {
		return fmt.Errorf("%w: tip %v is not among the blocks", chaindb.ErrDamaged, hash)
	}
	if row != nil {
		e.txs = binary.LittleEndian.Uint64(row[chainhash.HashSize+4:])
	}
	e.choice.Loaded(e.tip)
	e.tree.SetActive(e.tip)
	return nil
}
