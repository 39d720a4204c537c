package chainstate

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/store/blockfile"
	"github.com/seed61375155/trawl/store/chaindb"
)

// A Reader implements [chainview.Reader].
type Reader struct {
	*chainview.Tree
	DB  *chaindb.DB
	Net *dialect.Network

	Recent *Recent // of all readers of a chain; nil: none are kept
}

var (
	_ chainview.RawIntoReader = Reader{}
	_ chainview.TxReader      = Reader{}
	_ chainview.SizedReader   = Reader{}

	_ chainview.StrippedReader = Reader{}
	_ chainview.StoredReader   = Reader{}
)

// buffers are for blocks of which only a part is kept.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// Stored implements chainview.StoredReader.
func (r Reader) Stored() chainview.Reader {
	r.Recent = nil
	return r
}

// DiskSize implements chainview.SizedReader.
func (r Reader) DiskSize() int64 { return r.DB.Used() }

// HasStripped implements chainview.StrippedReader.
func (r Reader) HasStripped() bool { return r.DB.HasStripped() }

// HasBegunToStrip tells chainview.WitnessesOf whether the first witnesses were deleted since the chain was opened.
func (r Reader) HasBegunToStrip() bool { return r.DB.HasBegunToStrip() }

// Raw implements chainview.Reader.
func (r Reader) Raw(hash *chainhash.Hash) ([]byte, error) {
	if kept := r.recent(hash); kept != nil {
		return kept.raw()
	}
	return r.readRaw(hash)
}

func (r Reader) readRaw(hash *chainhash.Hash) ([]byte, error) {
	raw, err := r.DB.Block(hash)
	return raw, r.readError(hash, err)
}

// Block implements chainview.Reader.
func (r Reader) Block(hash *chainhash.Hash) (*wire.MsgBlock, error) {
	if kept := r.recent(hash); kept != nil {
		return kept.block()
	}
	raw, err := r.readRaw(hash)
	if err != nil {
		return nil, err
	}
	return r.parse(hash, raw)
}

func (r Reader) parse(hash *chainhash.Hash, raw []byte) (*wire.MsgBlock, error) {
	block, _, err := r.Net.ReadBlock(raw)
	if err != nil {
		return nil, fmt.Errorf("block %v: %w: %w", hash, chainview.ErrUnreadable, err)
	}
	return block, nil
}

// Tx implements chainview.TxReader.
func (r Reader) Tx(block, id *chainhash.Hash, likely chainview.TxPlace) (tx *wire.MsgTx, index int, err error) {
	if tx := r.txAt(block, id, likely); tx != nil {
		return tx, likely.Index, nil
	}
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	raw, err := r.RawInto(buf, block)
	if err != nil {
		return nil, 0, err
	}
	if tx, index, err = consensus.FindTx(raw, r.Net.HeaderLen(raw), id, likely.Index); err != nil {
		return nil, 0, fmt.Errorf("block %v: %w: %w", block, chainview.ErrUnreadable, err)
	}
	return tx, index, nil
}

// mostTxs is what most transactions fit into, in bytes: as much is read first.
const mostTxs = 4 << 10

// TxAt implements chainview.TxReader.
func (r Reader) TxAt(block *chainhash.Hash, at chainview.TxPlace) (*wire.MsgTx, error) {
	if tx := r.txAt(block, nil, at); tx != nil {
		return tx, nil
	}
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	raw, err := r.RawInto(buf, block)
	if err != nil {
		return nil, err
	}
	if at.Offset > 0 && at.Offset < len(raw) {
		if tx := readSummed(raw[at.Offset:], nil, at.Sum); tx != nil {
			return tx, nil
		}
	}
	return nil, fmt.Errorf("block %v: %w: no such transaction at %d", block, chainview.ErrUnreadable, at.Offset)
}

// txAt returns the transaction at an offset of a block, if it has an id (nil: any) and its
// checksum: for the block's own is of all bytes.
func (r Reader) txAt(block, id *chainhash.Hash, at chainview.TxPlace) *wire.MsgTx {
	if at.Offset <= 0 {
		return nil
	}
	for _, n := range []int{mostTxs, math.MaxInt32} {
		part, err := r.DB.BlockPart(block, at.Offset, n)
		if err != nil {
			return nil
		}
		if tx := readSummed(part, id, at.Sum); tx != nil {
			return tx
		}
	}
	return nil
}

// readSummed returns the transaction that raw begins with, if it has an id (nil: any) and a checksum.
func readSummed(raw []byte, id *chainhash.Hash, sum uint32) *wire.MsgTx {
	if tx, size := consensus.ReadTx(raw, id); tx != nil && chainview.Checksum(raw[:size]) == sum {
		return tx
	}
	return nil
}

// Txs implements chainview.TxReader.
func (r Reader) Txs(block *chainhash.Hash) (ids []chainhash.Hash, places []chainview.TxPlace, err error) {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	raw, err := r.RawInto(buf, block)
	if err != nil {
		return nil, nil, err
	}
	ids, offsets, err := consensus.ListTxs(raw, r.Net.HeaderLen(raw))
	if err != nil {
		return nil, nil, fmt.Errorf("block %v: %w: %w", block, chainview.ErrUnreadable, err)
	}
	places = make([]chainview.TxPlace, len(ids))
	for i := range places {
		from, to := offsets[i], offsets[i+1]
		places[i] = chainview.TxPlace{Index: i, Offset: from, Sum: chainview.Checksum(raw[from:to])}
	}
	return ids, places, nil
}

// Outline implements chainview.TxReader.
func (r Reader) Outline(block *chainhash.Hash) (o chainview.Outline, err error) {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	raw, err := r.RawInto(buf, block)
	if err != nil {
		return o, err
	}
	header := r.Net.HeaderLen(raw)
	ids, base, end, err := consensus.Outline(raw, header)
	if err != nil {
		return o, fmt.Errorf("block %v: %w: %w", block, chainview.ErrUnreadable, err)
	}
	o = chainview.Outline{IDs: ids, Size: end, Stripped: header + base}
	if len(ids) > 0 {
		o.Coinbase, _, err = consensus.FindTx(raw, header, &ids[0], 0)
	}
	return o, err
}

// RawInto implements chainview.RawIntoReader.
func (r Reader) RawInto(buf *[]byte, hash *chainhash.Hash) ([]byte, error) {
	if kept := r.recent(hash); kept != nil {
		return kept.raw()
	}
	raw, err := r.DB.BlockInto(buf, hash)
	return raw, r.readError(hash, err)
}

// Size implements chainview.Reader.
func (r Reader) Size(hash *chainhash.Hash) (size, txs int, err error) {
	if size, err = r.DB.BlockSize(hash); err != nil {
		return 0, 0, r.readError(hash, err)
	}
	txs, err = r.DB.TxCount(hash)
	return size, txs, r.readError(hash, err)
}

// SpentScripts implements chainview.Reader.
func (r Reader) SpentScripts(hash *chainhash.Hash) ([][]byte, error) {
	if r.isGenesis(hash) {
		return nil, nil
	}
	if kept := r.recent(hash); kept != nil {
		spent, err := kept.spent()
		return scriptsOf(spent), err
	}
	scripts, err := r.DB.SpentScripts(hash)
	return scripts, r.undoError(hash, err)
}

// Spent implements chainview.Reader.
func (r Reader) Spent(hash *chainhash.Hash) ([][]chainview.Coin, error) {
	if r.isGenesis(hash) {
		return nil, nil
	}
	if kept := r.recent(hash); kept != nil {
		return kept.spent()
	}
	return r.readSpent(hash)
}

func (r Reader) readSpent(hash *chainhash.Hash) ([][]chainview.Coin, error) {
	undo, err := r.DB.Undo(hash)
	if err != nil {
		return nil, r.undoError(hash, err)
	}
	return spentCoins(undo), nil
}

func scriptsOf(spent [][]chainview.Coin) (scripts [][]byte) {
	for _, coins := range spent {
		for i := range coins {
			scripts = append(scripts, coins[i].Script)
		}
	}
	return scripts
}

// spentCoins returns the coins of undo data as readers have them.
func spentCoins(undo [][]blockfile.Coin) [][]chainview.Coin {
	n := 0
	for _, coins := range undo {
		n += len(coins)
	}
	all := make([]chainview.Coin, n) // of all transactions
	spent := make([][]chainview.Coin, len(undo))
	for i, coins := range undo {
		for j, c := range coins {
			all[j] = chainview.Coin{
				Height: c.Height, Coinbase: c.Coinbase,
				Value: btcutil.Amount(c.Amount), Script: c.Script,
			}
		}
		spent[i], all = all[:len(coins):len(coins)], all[len(coins):]
	}
	return spent
}

// isGenesis knows the one block that was never connected, so that it has no
// undo data.
func (r Reader) isGenesis(hash *chainhash.Hash) bool {
	return r.Active().At(0).Hash == *hash
}

// readError turns the database's errors into those that readers know.
func (r Reader) readError(hash *chainhash.Hash, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, chaindb.ErrPruned):
		return fmt.Errorf("block %v: %w", hash, chainview.ErrPruned)
	case errors.Is(err, chaindb.ErrNotFound) && r.Assumed().Lacks(r.Lookup(hash), r.Active()):
		return fmt.Errorf("block %v: %w", hash, chainview.ErrNotYet)
	case errors.Is(err, chaindb.ErrNotFound):
		return fmt.Errorf("block %v: %w", hash, chainview.ErrNotFound)
	case errors.Is(err, chaindb.ErrClosed):
		return fmt.Errorf("block %v: %w", hash, chainview.ErrClosed) // nothing is wrong with the block
	default:
		return fmt.Errorf("block %v: %w: %w", hash, chainview.ErrUnreadable, err)
	}
}

func (r Reader) undoError(hash *chainhash.Hash, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", chainview.ErrUndo, r.readError(hash, err))
}
