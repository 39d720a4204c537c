package command

import (
	"context"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// A Reader reads as bytes, where it lies, what would otherwise take a call for each block. It must
// be safe for concurrent use.
type Reader interface {
	// Headers returns the serialized headers of the active chain from a block on, at most
	// count of them, one after the other; none where the block is not in the chain.
	Headers(from *chainhash.Hash, count int) ([]byte, error)

	// Filter returns the BIP158 basic filter of a block of any branch. It must not be written
	// to. Errors are those of getblockfilter.
	Filter(ctx context.Context, block *chainhash.Hash) ([]byte, error)

	// FilterHeaders returns the filter headers (BIP157) of the active chain from a block on, as
	// Headers does. Errors are those of getblockfilter.
	FilterHeaders(ctx context.Context, from *chainhash.Hash, count int) ([]chainhash.Hash, error)

	// Spent returns the outputs that a block spends: a list for each transaction, serialized as
	// nodes send them, with the numbers of lists and outputs before them. Errors are those of getblock.
	Spent(block *chainhash.Hash) ([]byte, error)

	// SpentText is Spent as JSON: each output by its value and its script.
	SpentText(block *chainhash.Hash) ([]byte, error)
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
	return told{t, t.reader}
}

// told is a reader whose errors clients can be told of.
type told struct {
	table *Table
	Reader
}

// Headers implements Reader.
func (r told) Headers(from *chainhash.Hash, count int) ([]byte, error) {
	raw, err := r.Reader.Headers(from, count)
	return raw, r.reveal(err)
}

// Filter implements Reader.
func (r told) Filter(ctx context.Context, block *chainhash.Hash) ([]byte, error) {
	filter, err := r.Reader.Filter(ctx, block)
	return filter, r.reveal(err)
}

// FilterHeaders implements Reader.
func (r told) FilterHeaders(ctx context.Context, from *chainhash.Hash, count int) ([]chainhash.Hash, error) {
	headers, err := r.Reader.FilterHeaders(ctx, from, count)
	return headers, r.reveal(err)
}

// Spent implements Reader.
func (r told) Spent(block *chainhash.Hash) ([]byte, error) {
	raw, err := r.Reader.Spent(block)
	return raw, r.reveal(err)
}

// SpentText implements Reader.
func (r told) SpentText(block *chainhash.Hash) ([]byte, error) {
	text, err := r.Reader.SpentText(block)
	return text, r.reveal(err)
}

func (r told) reveal(err error) error {
	if err == nil {
		return nil
	}
	e, _ := r.table.Reveal(err)
	return revealed{e, err}
}
