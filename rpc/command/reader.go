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

func (r told) reveal(err error) error {
	if err == nil {
		return nil
	}
	e, _ := r.table.Reveal(err)
	return revealed{e, err}
}
