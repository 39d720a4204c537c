package chain

import (
	"context"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/rpc/command"
)

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
	serialized := make([]byte, 0, headerBytes*int(last-b.Height+1))
	for height := b.Height; height <= last; height++ {
		serialized = appendHeader(serialized, active.At(height))
	}
	return serialized, nil
}

// Filter implements [command.Reader].
func (r raw) Filter(ctx context.Context, block *chainhash.Hash) ([]byte, error) {
	found, err := r.d.filterOf(ctx, block)
	return found.Filter, err
}
