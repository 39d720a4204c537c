package descriptor

import (
	"container/list"
	"context"
	"sync"
)

// Expansions remembers the output scripts of expanded ranges, the latest used
// up to a number of bytes. The same range of the same descriptor is then not
// derived again. It holds public data only: descriptors with private keys, or
// with a [Cache], pass through it.
//
// It is safe for concurrent use. A nil Expansions remembers nothing.
type Expansions struct {
	limit int

	mu     sync.Mutex
	size   int
	ranges map[expandedRange]*list.Element
	recent list.List // of *expanded, the latest used first
}

// expandedRange names a range.
type expandedRange struct {
	text        string // canonical
	first, last uint32
}

// expanded is what is remembered of a range.
type expanded struct {
	expandedRange

	scripts [][][]byte
	size    int
}

const (
	// sliceSize is what a slice takes besides its elements, with what the
	// allocator adds.
	sliceSize = 32

	// largestShare limits a range: it may take the limit of all memory divided
	// by largestShare.
	largestShare = 4
)

// NewExpansions returns an empty memory of about the given number of bytes.
func NewExpansions(limit int) *Expansions {
	return &Expansions{limit: limit, ranges: make(map[expandedRange]*list.Element)}
}

// ExpandRange is [Descriptor.ExpandRange] of d.
func (x *Expansions) ExpandRange(
	ctx context.Context, d *Descriptor, first, last uint32, workers int, visit func(
		index uint32, scripts [][]byte,
	) error,
) error {
	if x == nil || d.private || d.cache != nil || !d.IsRanged() {
		return d.ExpandRange(ctx, first, last, workers, visit)
	}
	at := expandedRange{d.String(), first, last}
	if scripts, ok := x.lookup(at); ok {
		return deliverAll(ctx, first, scripts, visit)
	}
	e := &expanded{expandedRange: at, size: len(at.text)}
	err := d.ExpandRange(ctx, first, last, workers, func(index uint32, scripts [][]byte) error {
		x.collect(e, scripts)
		return visit(index, scripts)
	})
	if err == nil {
		x.remember(e)
	}
	return err
}

func deliverAll(ctx context.Context, first uint32, all [][][]byte, visit func(uint32, [][]byte) error) error {
	for i, scripts := range all {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := visit(first+uint32(i), scripts); err != nil {
			return err
		}
	}
	return nil
}

// collect adds the scripts of the next index, unless they have grown too large.
func (x *Expansions) collect(e *expanded, scripts [][]byte) {
	if e.size > x.limit/largestShare {
		return
	}
	e.size += sliceSize
	for _, script := range scripts {
		e.size += sliceSize + cap(script)
	}
	e.scripts = append(e.scripts, scripts)
	if e.size > x.limit/largestShare {
		e.scripts = nil
	}
}

func (x *Expansions) lookup(at expandedRange) ([][][]byte, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	element, ok := x.ranges[at]
	if !ok {
		return nil, false
	}
	x.recent.MoveToFront(element)
	return element.Value.(*expanded).scripts, true
}

func (x *Expansions) remember(e *expanded) {
	if e.scripts == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, ok := x.ranges[e.expandedRange]; ok {
		return // another was faster
	}
	x.ranges[e.expandedRange] = x.recent.PushFront(e)
	x.size += e.size
	for x.size > x.limit {
		oldest := x.recent.Remove(x.recent.Back()).(*expanded)
		delete(x.ranges, oldest.expandedRange)
		x.size -= oldest.size
	}
}
