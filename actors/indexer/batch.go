package indexer

import (
	"context"
	"fmt"
	"sort"
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

// built tells the actor what a batch has done.
type built struct {
	height int32            // of the index afterwards
	synced bool             // to the disk
	stale  *chainview.Block // the target, where it was not the active tip
	err    error
}

// A batch builds the filters of the lowest blocks that have none on the chain
// ending in target, and makes the store's active chain follow the node's.
type batch struct {
	cfg    *Config
	reader chainview.Reader
	target *chainview.Block
	sync   bool // whether the time for that has come anyway
}

func (b *batch) run(ctx context.Context) built {
	first := b.firstMissing()
	entries, err := b.filters(ctx, first)
	if err != nil {
		return built{err: err}
	}
	if err := b.chainHeaders(entries); err != nil {
		return built{err: err}
	}
	if err := b.cfg.Store.Append(entries); err != nil {
		return built{err: fmt.Errorf("store filters: %w", err)}
	}
	height, atTip, err := b.follow()
	if err != nil {
		return built{err: err}
	}
	if !b.sync && !atTip {
		return built{height: height}
	}
	if err := b.cfg.Store.Sync(); err != nil {
		return built{err: fmt.Errorf("sync filters: %w", err)}
	}
	return built{height: height, synced: true}
}

// firstMissing returns the lowest height on the target's chain whose filter is
// not stored. A filter is never stored before that of its parent, so they are
// missing from some height on.
func (b *batch) firstMissing() int32 {
	return b.lowest(b.target, func(at *chainview.Block) bool { return !b.cfg.Store.Has(&at.Hash) })
}

func (*batch) lowest(tip *chainview.Block, missing func(*chainview.Block) bool) int32 {
	n := sort.Search(int(tip.Height)+1, func(h int) bool { return missing(tip.Ancestor(int32(h))) })
	return int32(n)
}

// follow moves the store's active chain as far along the node's as there are
// filters.
func (b *batch) follow() (height int32, atTip bool, err error) {
	tip := b.reader.Active().Tip()
	missing := b.lowest(tip, func(at *chainview.Block) bool { return !b.cfg.Store.Has(&at.Hash) })
	if missing == 0 {
		return -1, false, nil
	}
	last := tip.Ancestor(missing - 1)
	if _, hash, ok := b.cfg.Store.Tip(); !ok || hash != last.Hash {
		if err := b.cfg.Store.SetTip(&last.Hash); err != nil {
			return 0, false, fmt.Errorf("follow the chain: %w", err)
		}
	}
	return last.Height, last == tip, nil
}

// filters builds the filters from height first on, on all cores. Headers are
// left out.
func (b *batch) filters(ctx context.Context, first int32) ([]segment.Entry, error) {
	n := int(min(b.target.Height+1-first, batchBlocks))
	if n <= 0 {
		return nil, nil
	}
	blocks := make([]*chainview.Block, n)
	for at, k := b.target.Ancestor(first+int32(n)-1), n-1; k >= 0; at, k = at.Parent, k-1 {
		blocks[k] = at
	}
	entries := make([]segment.Entry, n)
	var (
		next  atomic.Int64 // index of the next block to build
		bytes atomic.Int64 // of the blocks built
		ended atomic.Bool  // a worker did: nothing is left for the others either, or something failed
	)
	err := cores.Do(ctx, min(b.cfg.Workers, n), func(int) error {
		defer ended.Store(true)
		var maker filterMaker
		for bytes.Load() < batchBytes && ctx.Err() == nil && !ended.Load() {
			k := int(next.Add(1)) - 1
			if k >= n {
				return nil
			}
			size, err := b.build(&maker, blocks[k], &entries[k])
			if err != nil {
				return err
			}
			bytes.Add(int64(size))
		}
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

// make builds the filter of a block from the chain.
func (m *filterMaker) make(cfg *Config, reader chainview.Reader, hash *chainhash.Hash) (filter []byte, size int, err error) {
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
