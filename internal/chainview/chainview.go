// Package chainview is the chain as its readers see it: headers, blocks and
// spent outputs, by hash or by height.
//
// Behind it stands an engine that validates one kind of chain, or a host
// program that brings its own. Readers know this interface and nothing of
// where the blocks come from, and they never wait for the actor that owns the
// chain.
package chainview

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"sync/atomic"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
)

var (
	// ErrNotFound reports a block that is unknown, or whose data was never
	// received.
	ErrNotFound = errors.New("chainview: block not found")

	// ErrPruned reports a block whose data was deleted to save space.
	ErrPruned = errors.New("chainview: block was pruned")

	// ErrUnreadable reports a block that should be on disk and cannot be read.
	ErrUnreadable = errors.New("chainview: block cannot be read")

	// ErrUndo reports that it is the outputs a block spends that cannot be
	// read, not the block; one of the errors above tells why.
	ErrUndo = errors.New("chainview: undo data cannot be read")

	// ErrClosed reports that the chain was closed, maybe to be opened again.
	ErrClosed = errors.New("chainview: the chain is closed")

	// ErrNotYet reports a block of the active chain that is still to come.
	ErrNotYet = errors.New("chainview: block is not here yet")

	// ErrNotReady reports that no chain has been opened yet.
	ErrNotReady = errors.New("chainview: the chain is not open yet")
)

// A Coin is an output that a block spends.
type Coin struct {
	Height   int32 // of the block that created it
	Coinbase bool
	Value    btcutil.Amount
	Script   []byte
}

// A Reader reads one chain. It is safe for concurrent use, and what it returns
// may be kept but not written to.
type Reader interface {
	// Active returns the active chain as it is now; never nil.
	Active() *Chain

	// Lookup returns a block of any branch, nil when it is unknown.
	Lookup(hash *chainhash.Hash) *Block

	// Tips returns the last block of every branch, in no order.
	Tips() []*Block

	// Raw returns a serialized block of any branch, in the form of its kind of
	// chain: only Block knows how to parse that.
	Raw(hash *chainhash.Hash) ([]byte, error)

	// Block returns a block of any branch. Bytes that a kind of chain has between
	// the header and the transactions are left out: see [Block.Payload]. Stored
	// bytes that are no block any more are ErrUnreadable.
	Block(hash *chainhash.Hash) (*wire.MsgBlock, error)

	// Size returns the serialized size of a block and how many transactions
	// it has, without reading the whole block.
	Size(hash *chainhash.Hash) (size, txs int, err error)

	// SpentScripts returns the scripts of the outputs that a block's
	// transactions spend, coinbase excluded, in no promised order. It is
	// empty for the genesis block. Errors wrap ErrUndo.
	SpentScripts(hash *chainhash.Hash) ([][]byte, error)

	// Spent returns the outputs that a block spends: one list for each
	// transaction but the coinbase, in the order of its inputs. Errors wrap
	// ErrUndo.
	Spent(hash *chainhash.Hash) ([][]Coin, error)
}

// A SizedReader is a Reader that has files of blocks of its own.
type SizedReader interface {
	Reader

	// DiskSize returns how many bytes of blocks and undo data are in them.
	DiskSize() int64
}

// DiskSize returns how many bytes of blocks and undo data are in a reader's files, 0 where it has none.
func DiskSize(r Reader) int64 {
	if r, ok := r.(SizedReader); ok {
		return r.DiskSize()
	}
	return 0
}

// A StoredReader is a Reader that has the last blocks in memory.
type StoredReader interface {
	Reader

	// Stored returns the reader without that memory.
	Stored() Reader
}

// Stored returns a reader that reads every block from the disk. Calls of clients use it: as with Bitcoin Core, a client
// is notified when a block is lost. Indexes, wallets and peers share the blocks in memory instead.
func Stored(r Reader) Reader {
	if r, ok := r.(StoredReader); ok {
		return r.Stored()
	}
	return r
}

// A RawIntoReader is a Reader that can read into memory of the caller's.
type RawIntoReader interface {
	Reader

	// RawInto is Raw into the memory of buf, which grows as needed. The block
	// is valid until buf is used again.
	RawInto(buf *[]byte, hash *chainhash.Hash) ([]byte, error)
}

// RawInto returns a serialized block as Raw does, in the memory of buf if the
// reader can use it. The block is valid until buf is used again.
func RawInto(r Reader, buf *[]byte, hash *chainhash.Hash) ([]byte, error) {
	if r, ok := r.(RawIntoReader); ok {
		return r.RawInto(buf, hash)
	}
	return r.Raw(hash)
}

// A FilterReader is a Reader that has the filters of some blocks, of which it would have
// to be asked for more than the filter else.
type FilterReader interface {
	Reader

	// Filter returns the basic filter of a block as BIP158 encodes it; ok is false where
	// it is to be built from the block. Errors are as of Raw.
	Filter(hash *chainhash.Hash) (filter []byte, ok bool, err error)
}

// A FilterAuditor is a FilterReader that remembers which filters it gave were not built
// here from their blocks, so that this can be made up for.
type FilterAuditor interface {
	FilterReader

	// Unaudited returns some blocks of the active chain, ascending, whose filters were
	// not built here but could be. from and to are a range of heights whose filters are
	// stored. Go on from the height next; it is above the range when there are no more
	// blocks.
	Unaudited(from, to int32) (blocks []*Block, next int32, err error)

	// Audited notes that the stored filter of a block equals the filter that is
	// built from the block.
	Audited(b *Block) error

	// RefuseFilters has Filter give none from now on, because one was wrong.
	RefuseFilters() error
}

// A PartReader is a FilterReader that has no filters from the beginning of the chain on.
type PartReader interface {
	FilterReader

	// FirstFilter returns the height from which on there are filters; 0 where there are
	// all. Below it Filter gives filters that say nothing.
	FirstFilter() int32
}

// FirstFilter returns the height from which on a reader's blocks have filters.
func FirstFilter(r Reader) int32 {
	if r, ok := r.(PartReader); ok {
		return r.FirstFilter()
	}
	return 0
}

// A TxReader is a Reader that finds a transaction without parsing its whole block.
type TxReader interface {
	Reader

	// Tx returns the transaction of a block with an id and its index there, nil when
	// there is none. Where it is likely to be is looked at first.
	Tx(block, id *chainhash.Hash, likely TxPlace) (tx *wire.MsgTx, index int, err error)

	// TxAt returns the transaction at a place whose offset is known. It is ErrUnreadable where
	// none with the checksum stands there.
	TxAt(block *chainhash.Hash, at TxPlace) (*wire.MsgTx, error)

	// Txs returns the ids of a block's transactions, and their places.
	Txs(block *chainhash.Hash) (ids []chainhash.Hash, places []TxPlace, err error)

	// Outline returns what a block shows of its transactions as a whole.
	Outline(block *chainhash.Hash) (Outline, error)
}

// An Outline is what a block shows without all of its transactions. Sizes are in bytes and include
// the header, with what a kind of chain has after that.
type Outline struct {
	IDs      []chainhash.Hash // of its transactions
	Coinbase *wire.MsgTx
	Size     int
	Stripped int // without witnesses
}

// A TxPlace is where in a block a transaction stands.
type TxPlace struct {
	Index  int // among the block's transactions; -1: not known
	Offset int // in bytes of the serialized block; 0: not known

	Sum uint32 // CRC-32C of the serialized transaction, where the offset is known
}

// A Spender is a transaction that spends an output, and the block that it came in.
type Spender struct {
	Tx    *wire.MsgTx
	Block chainhash.Hash
}

// Nowhere is the place of a transaction that is not known.
var Nowhere = TxPlace{Index: -1}

// Tx returns the transaction of a block with an id as TxReader does.
func Tx(r Reader, block, id *chainhash.Hash, likely TxPlace) (tx *wire.MsgTx, index int, err error) {
	if r, ok := r.(TxReader); ok {
		return r.Tx(block, id, likely)
	}
	parsed, err := r.Block(block)
	if err != nil {
		return nil, 0, err
	}
	for index, tx := range parsed.Transactions {
		if tx.TxHash() == *id {
			return tx, index, nil
		}
	}
	return nil, 0, nil
}

// TxAt returns the transaction at a place as TxReader does.
func TxAt(r Reader, block *chainhash.Hash, at TxPlace) (*wire.MsgTx, error) {
	if r, ok := r.(TxReader); ok {
		return r.TxAt(block, at)
	}
	raw, err := r.Raw(block)
	if err != nil {
		return nil, err
	}
	if at.Offset <= 0 || at.Offset > len(raw) {
		return nil, fmt.Errorf("block %v: %w: no transaction at %d", block, ErrUnreadable, at.Offset)
	}
	tx, rest := new(wire.MsgTx), bytes.NewReader(raw[at.Offset:])
	if err := tx.Deserialize(rest); err != nil {
		return nil, fmt.Errorf("block %v: %w: %w", block, ErrUnreadable, err)
	}
	if at.Sum != Checksum(raw[at.Offset:len(raw)-rest.Len()]) {
		return nil, fmt.Errorf("block %v: %w: another transaction at %d", block, ErrUnreadable, at.Offset)
	}
	return tx, nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum returns the checksum of a serialized transaction that is in a TxPlace.
func Checksum(tx []byte) uint32 { return crc32.Checksum(tx, castagnoli) }

// Txs returns the ids of a block's transactions and their places as TxReader does; no
// places where offsets are not known.
func Txs(r Reader, block *chainhash.Hash) (ids []chainhash.Hash, places []TxPlace, err error) {
	if r, ok := r.(TxReader); ok {
		return r.Txs(block)
	}
	parsed, err := r.Block(block)
	if err != nil {
		return nil, nil, err
	}
	for _, tx := range parsed.Transactions {
		ids = append(ids, tx.TxHash())
	}
	return ids, nil, nil
}

// OutlineOf returns what a block shows of its transactions as a whole, as TxReader does.
func OutlineOf(r Reader, block *Block) (Outline, error) {
	if r, ok := r.(TxReader); ok {
		return r.Outline(&block.Hash)
	}
	parsed, err := r.Block(&block.Hash)
	if err != nil {
		return Outline{}, err
	}
	o := Outline{
		IDs:      make([]chainhash.Hash, len(parsed.Transactions)),
		Size:     parsed.SerializeSize() + len(block.Payload()),
		Stripped: parsed.SerializeSizeStripped() + len(block.Payload()),
	}
	for i, tx := range parsed.Transactions {
		o.IDs[i] = tx.TxHash()
	}
	if len(o.IDs) > 0 {
		o.Coinbase = parsed.Transactions[0]
	}
	return o, nil
}

// Current is the Reader that a node uses at this moment: the engine behind it
// may be opened again, its users keep the same Current. The zero value answers
// as a chain that is not open yet: only Open may be called then.
type Current struct {
	reader    atomic.Pointer[Reader]
	unspent   atomic.Pointer[Unspent]
	importing atomic.Bool
}

// Unspent looks up unspent outputs of the active chain, without waiting. A nil coin stands for an
// output that is spent or was never there. The answer holds for the tip at. While the chain is at
// work ok is false, and its actor has to be asked. It is safe for concurrent use.
type Unspent func(outs []wire.OutPoint) (coins []*Coin, at *Block, ok bool)

// SetUnspent sets the function that looks outputs up.
func (c *Current) SetUnspent(u Unspent) { c.unspent.Store(&u) }

// Unspent looks outputs up, see [Unspent].
func (c *Current) Unspent(outs []wire.OutPoint) (coins []*Coin, at *Block, ok bool) {
	if u := c.unspent.Load(); u != nil {
		return (*u)(outs)
	}
	return nil, nil, false
}

// SetImporting says whether files of blocks are being read.
func (c *Current) SetImporting(on bool) { c.importing.Store(on) }

// Importing reports whether files of blocks are being read, so that the chain is not
// what it will be.
func (c *Current) Importing() bool { return c.importing.Load() }

// Set makes r the present reader.
func (c *Current) Set(r Reader) { c.reader.Store(&r) }

// Open returns the present reader, nil before the first Set.
func (c *Current) Open() Reader {
	if p := c.reader.Load(); p != nil {
		return *p
	}
	return nil
}

// Height returns the height of the present tip. The error is [ErrNotReady] before the first Set.
func (c *Current) Height() (int32, error) {
	if r := c.Open(); r != nil {
		return r.Active().Height(), nil
	}
	return 0, ErrNotReady
}

// FirstFilter returns the height from which on the blocks of the chain have filters.
func (c *Current) FirstFilter() int32 {
	if r := c.Open(); r != nil {
		return FirstFilter(r)
	}
	return 0
}
