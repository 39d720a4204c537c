package command

import (
	"context"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
)

// A Reader reads what would otherwise take a call for each block, transaction or output. It must be
// safe for concurrent use.
type Reader interface {
	ChainReader
	TxReader
}

// Readers is a Reader of its two parts.
type Readers struct {
	ChainReader
	TxReader
}

// A ChainReader reads what there is of blocks and outputs.
type ChainReader interface {
	BlockReader
	OutputReader
}

// A TxReader reads transactions where they lie.
type TxReader interface {
	// Tx returns a transaction as nodes send it, nil where it is not known at once that it is in
	// the active chain: then getrawtransaction tells. Errors are those of getrawtransaction.
	Tx(id *chainhash.Hash) ([]byte, error)

	// TxText is Tx as JSON, with the hash of the block but without the chain's other facts about the transaction.
	TxText(id *chainhash.Hash) ([]byte, error)
}

// OutputQuery asks which outputs are not spent.
type OutputQuery struct {
	Outputs []wire.OutPoint
	Pool    bool // outputs of the memory pool count, and what it spends is spent
	Text    bool // as JSON
}

// Unspent is the answer to an [OutputQuery], all of one tip.
type Unspent struct {
	Tip    chainhash.Hash
	Height int32
	Coins  []UnspentOutput // in the order of the query
}

// An UnspentOutput is one of its outputs. Output is nil where it is spent or was never there; else
// it is as nodes send it, or the object with value and scriptPubKey.
type UnspentOutput struct {
	Height int32 // of its block, 2^31-1 in the memory pool
	Output []byte
}

// BlockStripped is why getblock does not show a block as a whole that lacks its witnesses.
const BlockStripped = "Verbose block view unavailable: witness data for this historical block was pruned; use " +
	"verbosity=0 to fetch stored block bytes."

// A BlockReader reads headers and filters, and blocks that getblock refuses.
type BlockReader interface {
	// Headers returns the serialized headers of the active chain from a block on, at most
	// count of them, one after the other; none where the block is not in the chain.
	Headers(from *chainhash.Hash, count int) ([]byte, error)

	// HeadersText is Headers as a JSON array of what getblockheader tells of each, seen from one tip.
	HeadersText(from *chainhash.Hash, count int) ([]byte, error)

	// BlockText is the result of getblock for a block with verbosity 1, or 3 with details. It also shows blocks that
	// are stored without their witnesses, which getblock refuses with [BlockStripped]. Errors are those of getblock.
	BlockText(block *chainhash.Hash, details bool) ([]byte, error)

	// Filter returns the BIP158 basic filter of a block of any branch. It must not be written
	// to. Errors are those of getblockfilter.
	Filter(ctx context.Context, block *chainhash.Hash) ([]byte, error)

	// FilterHeaders returns the filter headers (BIP157) of the active chain from a block on, as
	// Headers does. Errors are those of getblockfilter.
	FilterHeaders(ctx context.Context, from *chainhash.Hash, count int) ([]chainhash.Hash, error)
}

// An OutputReader reads outputs: those that blocks spend, and those that are not spent.
type OutputReader interface {
	// Spent returns the outputs that a block spends: a list for each transaction, serialized as
	// nodes send them, with the numbers of lists and outputs before them. Errors are those of getblock.
	Spent(block *chainhash.Hash) ([]byte, error)

	// SpentText is Spent as JSON: each output by its value and its script.
	SpentText(block *chainhash.Hash) ([]byte, error)

	// Unspent looks outputs up. The error is [ClientMempoolDisabled] where the query wants a memory
	// pool and there is none.
	Unspent(ctx context.Context, q OutputQuery) (Unspent, error)
}

// Read sets what [Table.Reader] returns. Call it before the table is used.
func (t *Table) Read(r Reader) *Table {
	t.reader = r
	return t
}

// Reader returns the table's reader, whose errors [Table.Reveal] puts into words. It is nil where
// there is none, or where another node may have to answer.
func (t *Table) Reader() Reader {
	if t.forwarder != nil || t.reader == nil {
		return nil
	}
	return revealing{t, t.reader}
}

// revealing is a reader whose errors clients may see.
type revealing struct {
	table *Table
	Reader
}

// Headers implements Reader.
func (r revealing) Headers(from *chainhash.Hash, count int) ([]byte, error) {
	raw, err := r.Reader.Headers(from, count)
	return raw, r.reveal(err)
}

// HeadersText implements Reader.
func (r revealing) HeadersText(from *chainhash.Hash, count int) ([]byte, error) {
	text, err := r.Reader.HeadersText(from, count)
	return text, r.reveal(err)
}

// Filter implements Reader.
func (r revealing) Filter(ctx context.Context, block *chainhash.Hash) ([]byte, error) {
	filter, err := r.Reader.Filter(ctx, block)
	return filter, r.reveal(err)
}

// FilterHeaders implements Reader.
func (r revealing) FilterHeaders(ctx context.Context, from *chainhash.Hash, count int) ([]chainhash.Hash, error) {
	headers, err := r.Reader.FilterHeaders(ctx, from, count)
	return headers, r.reveal(err)
}

// Spent implements Reader.
func (r revealing) Spent(block *chainhash.Hash) ([]byte, error) {
	raw, err := r.Reader.Spent(block)
	return raw, r.reveal(err)
}

// BlockText implements Reader.
func (r revealing) BlockText(block *chainhash.Hash, details bool) ([]byte, error) {
	text, err := r.Reader.BlockText(block, details)
	if c := r.table.Lookup("getblock"); err == nil && c != nil && c.drops != nil {
		text = c.drops.trim(text)
	}
	return text, r.reveal(err)
}

// SpentText implements Reader.
func (r revealing) SpentText(block *chainhash.Hash) ([]byte, error) {
	text, err := r.Reader.SpentText(block)
	return text, r.reveal(err)
}

// Unspent implements Reader.
func (r revealing) Unspent(ctx context.Context, q OutputQuery) (Unspent, error) {
	found, err := r.Reader.Unspent(ctx, q)
	return found, r.reveal(err)
}

// Tx implements Reader.
func (r revealing) Tx(id *chainhash.Hash) ([]byte, error) {
	raw, err := r.Reader.Tx(id)
	return raw, r.reveal(err)
}

// TxText implements Reader.
func (r revealing) TxText(id *chainhash.Hash) ([]byte, error) {
	text, err := r.Reader.TxText(id)
	return text, r.reveal(err)
}

func (r revealing) reveal(err error) error {
	if err == nil {
		return nil
	}
	e, _ := r.table.Reveal(err)
	return revealed{e, err}
}
