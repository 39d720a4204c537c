package filter

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"sync"
	"weak"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/internal/rangefilter"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/segment"
)

// Views is what scans need of a filter store: its views, and to say what of the files
// beside the filters, which are made again, is damaged. A [segment.Store] has it.
type Views interface {
	View() *segment.View
	RangeKey() (key [segment.RangeKeySize]byte, ok bool)
	DropLines(block *chainhash.Hash)
	DropRange(block *chainhash.Hash)
}

// NewSource makes a source for scans of a filter store.
func NewSource(s Views) match.Source { return NewSourceFrom(s, nil) }

// NewSourceFrom is NewSource where filters below a height say nothing: to read one is
// chainview.ErrPruned.
func NewSourceFrom(s Views, first func() int32) match.Source {
	return source{s, first, new(hashing)}
}

type source struct {
	store Views
	first func() int32 // nil: there are all

	hashing *hashing
}

// hashing has the hashes of the last restricted query, which take 80 MB for ten million scripts.
// The views of all workers share them, as long as a view has them.
type hashing struct {
	mu   sync.Mutex
	last weak.Pointer[hashed]
}

// hashed are the hashes of a query's scripts, under the key of the range filters.
type hashed struct {
	query  *filters.Query
	hashes []uint64
}

func (h *hashing) of(q *filters.Query, key rangefilter.Key) *hashed {
	h.mu.Lock()
	defer h.mu.Unlock()
	if last := h.last.Value(); last != nil && last.query == q {
		return last
	}
	made := &hashed{query: q, hashes: make([]uint64, 0, q.Len())}
	for script := range q.Scripts() {
		made.hashes = append(made.hashes, key.Hash(script))
	}
	h.last = weak.Make(made)
	return made
}

// View implements match.Source.
func (s source) View() match.View {
	v := &view{View: s.store.View(), store: s.store, hashing: s.hashing}
	if s.first != nil {
		v.first = s.first()
	}
	return v
}

// view is the view of one worker.
type view struct {
	*segment.View
	store Views
	first int32 // height of the first filter that says something

	stored segment.Stored

	hashing *hashing
	hashed  *hashed // of the query that was restricted last

	selector rangefilter.Selector
	selected []uint32
}

// Filters implements match.View. The matcher checks what it reads.
func (v *view) Filters(from int32, active bool, dst []filters.Filter) error {
	if from < v.first {
		return fmt.Errorf("filter of the block at height %d: %w", from, chainview.ErrPruned)
	}
	var stored segment.Stored
	for i := range dst {
		f := &dst[i]
		block := &f.Block
		if active {
			block = nil
		}
		if err := v.Stored(from+int32(i), block, &stored); err != nil {
			var damage *segment.DamagedError
			if errors.As(err, &damage) {
				return &match.DamagedError{Block: damage.Block, Err: err}
			}
			return err
		}
		// Field by field: a whole filter would be put together elsewhere first.
		f.Block = *stored.Block
		f.Data, f.Unsure, f.Sum = stored.Filter, true, stored.CRC
		f.Lines, f.N, f.LinesSum = stored.Lines, stored.Items, stored.LinesCRC
	}
	return nil
}

// Stale implements match.View.
func (v *view) Stale(block *chainhash.Hash) { v.store.DropLines(block) }

// RangeEnd implements match.View.
func (v *view) RangeEnd(height int32) int32 {
	_, to, _ := v.Range(height)
	return to
}

// Restrict implements match.View, by the range filter around the height.
func (v *view) Restrict(height int32, q *filters.Query) (sub *filters.Query, to int32) {
	r, to, ok := v.Range(height)
	if !ok {
		return q, to
	}
	sound := false
	fault := segment.Guard(func() {
		sound = crc32.ChecksumIEEE(r.Data) == r.CRC
	})
	if fault == nil && sound {
		if sub, ok = v.passing(r.Data, q); ok {
			return sub, to
		}
	}
	v.store.DropRange(v.BlockAt(height))
	return q, to
}

// passing returns the scripts of a query that the bytes of a range filter let pass; false
// where they cannot be read.
func (v *view) passing(data []byte, q *filters.Query) (sub *filters.Query, ok bool) {
	if v.hashed == nil || v.hashed.query != q {
		secret, _ := v.store.RangeKey()
		v.hashed = v.hashing.of(q, rangefilter.Key(secret))
	}
	fault := segment.Guard(func() {
		filter, err := rangefilter.Parse(data)
		if ok = err == nil; ok {
			v.selected = v.selector.Select(v.selected[:0], filter, v.hashed.hashes)
		}
	})
	if fault != nil || !ok {
		return nil, false
	}
	return q.Select(v.selected), true
}

// Guard implements match.View.
func (*view) Guard(read func()) error { return segment.Guard(read) }

// RepairBy returns what has the indexer make damaged filters again, for
// [match.SchedulerConfig].
func RepairBy(indexer *ask.Ref) func(ctx context.Context, block *chainhash.Hash) error {
	return func(ctx context.Context, block *chainhash.Hash) error {
		// Beside the slots of its callers, as an actor asks: how many ask is bounded by
		// the workers that match.
		_, err := ask.Ask(ctx, indexer, messages.RepairFilter{Block: *block})
		return err
	}
}
