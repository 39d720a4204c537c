package chain

import (
	"bytes"
	"context"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/rpc/command"
)

// headerBytes is how long a header is, without what may follow it.
const headerBytes = 80

// raw reads for [command.Table.Reader].
type raw struct{ d *Deps }

// Reader returns what reads headers and filters as bytes.
func Reader(d Deps) command.Reader { return raw{&d} }

// Headers implements [command.Reader].
func (r raw) Headers(from *chainhash.Hash, count int) ([]byte, error) {
	reader, err := r.d.open()
	if err != nil {
		return nil, err
	}
	active, b := reader.Active(), reader.Lookup(from)
	if b == nil || !active.Contains(b) {
		return nil, nil
	}
	last := min(active.Height(), b.Height+int32(count)-1)
	var serialized bytes.Buffer
	serialized.Grow(headerBytes * int(last-b.Height+1))
	for height := b.Height; height <= last; height++ {
		writeHeader(&serialized, active.At(height))
	}
	return serialized.Bytes(), nil
}

// Filter implements [command.Reader].
func (r raw) Filter(ctx context.Context, block *chainhash.Hash) ([]byte, error) {
	found, err := r.d.filterOf(ctx, block)
	return found.Filter, err
}
