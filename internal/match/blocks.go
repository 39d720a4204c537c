package match

import (
	"sync"
	"time"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/cores"
)

// With very many scripts nearly every filter matches by chance: with a million scripts 72 filters of a hundred.
// Then it takes less time to look into the blocks themselves, without their filters. The block itself gives the
// result that its filter and [Config.Keep] would give. It is a hit if it has one of the scripts in a place that
// filters index, and no hit if it has none of the scripts. If the block decides neither, or cannot be read, the
// filter and Keep are asked after all. Thus results and errors are always the same.

// Blocks is where a pass reads blocks that it looks into without their filters.
type Blocks struct {
	Reader    chainview.Reader
	HeaderLen func(raw []byte) int // bytes before a block's transactions
}

const (
	// directUnit is how many blocks a worker takes at a time whose filters it leaves alone.
	directUnit = 16

	// prefetchItems is how many of them are read, at most, and not looked into yet, and
	// prefetchBytes how large they may be together, so that memory is bounded.
	prefetchItems = 4
	prefetchBytes = 16 << 20

	// blockBytes is the assumed size of a block and the scripts that it spends, before the block is
	// read.
	blockBytes = 2 << 20
)

// readBlock is a block that was read, or why it was not.
type readBlock struct {
	*chainview.Block

	buf   *[]byte
	raw   []byte
	spent [][]byte
	err   error
}

var blockBuffers = sync.Pool{New: func() any { return new([]byte) }}

// read reads a block.
func (b *Blocks) read(block *chainview.Block) *readBlock {
	r := &readBlock{Block: block, buf: blockBuffers.Get().(*[]byte)}
	if r.raw, r.err = chainview.RawInto(b.Reader, r.buf, &block.Hash); r.err == nil {
		r.spent, r.err = b.Reader.SpentScripts(&block.Hash)
	}
	return r
}

// release gives the memory back. It is not called after a panic.
func (r *readBlock) release() {
	blockBuffers.Put(r.buf)
	*r = readBlock{}
}

// prefetchUnit reads the blocks of a unit, in their order, on other cores.
func (w *worker) prefetchUnit(unit Heights) *cores.Prefetch[*readBlock] {
	blocks := make([]*chainview.Block, unit.To-unit.From)
	for b, i := w.Stop.Ancestor(unit.To-1), len(blocks)-1; i >= 0; b, i = b.Parent, i-1 {
		blocks[i] = b
	}
	next := 0
	return cores.StartPrefetch(prefetchItems, prefetchBytes, func() (cores.Piece[*readBlock], bool) {
		if next == len(blocks) {
			return cores.Piece[*readBlock]{}, false
		}
		block := blocks[next]
		next++
		return cores.Piece[*readBlock]{Size: blockBytes, Work: func() *readBlock { return w.Blocks.read(block) }}, true
	})
}

// searchBlocks returns the hits of a unit, from the blocks.
func (w *worker) searchBlocks(unit Heights) (found []Hit, err error) {
	if w.blockMatcher == nil {
		w.blockMatcher = filters.NewBlockMatcher(w.Query)
	}
	w.matcher.SetQuery(w.Query) // not what the last range was restricted to
	prefetch := w.prefetchUnit(unit)
	defer prefetch.Close()
	var took time.Duration
	for height := unit.From; height < unit.To; height++ {
		r, waited := w.takeRead(prefetch)
		if r == nil {
			return nil, w.ctx.Err()
		}
		began := time.Now()
		hits, err := w.lookInto(height, r)
		r.release()
		if err != nil {
			return nil, err
		}
		found = append(found, hits...)
		now := time.Now()
		took += waited + now.Sub(began)
		w.rest(now)
	}
	w.notePace(func(p *paces) { p.byBlocks(int64(unit.To-unit.From), took) })
	return found, nil
}

// takeRead waits for the next block to be read, for so long; nil where the pass has ended.
func (w *worker) takeRead(prefetch *cores.Prefetch[*readBlock]) (r *readBlock, waited time.Duration) {
	began := time.Now()
	Outside(w.ctx, func() {
		r, _ = prefetch.Take(w.ctx.Done())
		waited = time.Since(began)
	})
	if w.ctx.Err() != nil {
		return nil, 0
	}
	return r, waited
}

// lookInto returns the hit of a block that was read, if it is one.
func (w *worker) lookInto(height int32, r *readBlock) ([]Hit, error) {
	one := Heights{height, height + 1}
	presence, err := filters.Unindexed, r.err
	if err == nil {
		presence, err = w.blockMatcher.Match(r.raw, w.Blocks.HeaderLen(r.raw), r.spent)
	}
	switch {
	case err != nil || presence == filters.Unindexed:
		return w.match(one)
	case presence == filters.Absent:
		return nil, nil
	case w.KeepAll:
		w.batch, w.matched = resize(w.batch, 1), resize(w.matched, 1)
		w.name(one)
		w.matched[0] = true
		return w.kept(height)
	}
	return []Hit{{height, r.Hash}}, nil
}
