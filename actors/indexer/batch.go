package indexer

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/cores"
	"github.com/seed61375155/trawl/store/segment"
)

const (
	// batchBlocks and batchBytes bound what one batch holds in memory: that
	// many filters, or blocks of so many bytes.
	batchBlocks = 1024
	batchBytes  = 64 << 20
)

// A batch builds the filters of some blocks, and stores them.
type batch struct {
	cfg    *Config
	reader chainview.Reader
	blocks []*chainview.Block // ascending, each the parent of the next
}

// run returns how many of the blocks, from the first on, are stored then.
func (b *batch) run(ctx context.Context) (stored int, err error) {
	entries, err := b.filters(ctx)
	if err != nil {
		return 0, err
	}
	if err := b.chainHeaders(entries); err != nil {
		return 0, err
	}
	if err := b.cfg.Store.Append(entries); err != nil {
		return 0, fmt.Errorf("store filters: %w", err)
	}
	return len(entries), nil
}

// filters builds the filters from the first block on, on all cores, as many as fit a
// batch. Headers are left out.
func (b *batch) filters(ctx context.Context) ([]segment.Entry, error) {
	n := len(b.blocks)
	if n == 0 {
		return nil, nil
	}
	entries := make([]segment.Entry, n)
	var (
		next  atomic.Int64 // index of the next block to build
		bytes atomic.Int64 // of the blocks built
		ended atomic.Bool  // a worker did: nothing is left for the others either, or something failed
	)
	workers := min(b.cfg.Workers, n)
	if b.cfg.Chain.Importing() {
		workers = 1 // blocks come one by one: taking all cores would delay the next block
	}
	err := cores.Do(ctx, workers, func(int) error {
		defer ended.Store(true)
		maker := makers.Get().(*filterMaker)
		for bytes.Load() < batchBytes && ctx.Err() == nil && !ended.Load() {
			k := int(next.Add(1)) - 1
			if k >= n {
				break
			}
			size, err := b.build(maker, b.blocks[k], &entries[k])
			if err != nil {
				return err
			}
			bytes.Add(int64(size))
		}
		makers.Put(maker) // but not after a panic
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return entries[:min(int(next.Load()), n)], nil
}

// build fills in the entry of one block.
func (b *batch) build(maker *filterMaker, block *chainview.Block, e *segment.Entry) (size int, err error) {
	filter, size, err := maker.make(b.cfg, b.reader, &block.Hash)
	if err != nil {
		return 0, err
	}
	e.Block, e.Height, e.Filter = block.Hash, block.Height, filter
	if block.Parent != nil {
		e.Prev = block.Parent.Hash
	}
	e.FilterHash = filters.Hash(filter)
	return size, nil
}

// A filterMaker builds filters in one goroutine.
type filterMaker struct {
	builder filters.Builder
	raw     []byte // memory of the block
}

// makers are the filter makers of earlier batches. While a chain is imported a batch has a
// block or two: new memory for each batch would be more than the filters.
var makers = sync.Pool{New: func() any { return new(filterMaker) }}

// make takes the filter of a block from the chain if it has the filter, and builds it from the
// block otherwise.
func (m *filterMaker) make(
	cfg *Config, reader chainview.Reader, hash *chainhash.Hash,
) (filter []byte, size int, err error) {
	if r, ok := reader.(chainview.FilterReader); ok {
		if filter, ok, err := r.Filter(hash); ok || err != nil {
			return filter, len(filter), err
		}
	}
	return m.build(cfg, reader, hash)
}

// build builds the filter of a block.
func (m *filterMaker) build(
	cfg *Config, reader chainview.Reader, hash *chainhash.Hash,
) (filter []byte, size int, err error) {
	raw, err := chainview.RawInto(reader, &m.raw, hash)
	if err != nil {
		return nil, 0, err
	}
	spent, err := reader.SpentScripts(hash)
	if err != nil {
		return nil, 0, fmt.Errorf("spent outputs of %w", err)
	}
	filter, err = m.builder.BuildBlock(hash, raw, cfg.HeaderLen(raw), spent)
	if err != nil {
		return nil, 0, fmt.Errorf("filter of block %v: %w", hash, err)
	}
	return filter, len(raw), nil
}

// chainHeaders fills in the filter headers, each of which commits to the one
// before it (BIP157).
func (b *batch) chainHeaders(entries []segment.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	var prev chainhash.Hash
	if first := &entries[0]; first.Height > 0 {
		before, err := b.cfg.Store.Header(&first.Prev)
		if err != nil {
			return fmt.Errorf("filter header before block %v: %w", first.Block, err)
		}
		prev = before.Header
	}
	for k := range entries {
		e := &entries[k]
		e.Header = filters.Header(&e.FilterHash, &prev)
		prev = e.Header
	}
	return nil
}
