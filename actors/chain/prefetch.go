package chain

import (
	"github.com/seed61375155/trawl/internal/cores"
	"github.com/seed61375155/trawl/internal/engine"
	"github.com/seed61375155/trawl/store/blockfile"
)

// Blocks are read and checked ahead of the engine, as far as that needs nothing but the
// block. At most so many, and so many bytes of them, wait or are in the engine's hands.
const (
	prefetchBlocks = 32
	prefetchBytes  = 8 << 20
)

// A readBlock is a block that was read from a source, or why there is none: the last one
// of a source has an error.
type readBlock struct {
	blockfile.Record

	accept func() error // gives it to the engine
	err    error
}

// prefetch reads the blocks of an open source.
func prefetch(e engine.Engine, src source) *cores.Prefetch[readBlock] {
	ended := false
	return cores.StartPrefetch(prefetchBlocks, prefetchBytes, func() (p cores.Piece[readBlock], ok bool) {
		if ended {
			return p, false
		}
		rec, err := src.next()
		if err != nil {
			ended = true
			p.Work = func() readBlock { return readBlock{err: err} }
			return p, true
		}
		p.Size = int64(len(rec.Block))
		p.Work = func() readBlock { return readBlock{Record: rec, accept: e.Prepare(rec.Block)} }
		return p, true
	})
}

// prefetchChecks checks blocks that are there.
func prefetchChecks(e engine.Engine, blocks [][]byte) *cores.Prefetch[func() error] {
	return cores.StartPrefetch(prefetchBlocks, prefetchBytes, func() (p cores.Piece[func() error], ok bool) {
		if len(blocks) == 0 {
			return p, false
		}
		raw := blocks[0]
		blocks = blocks[1:]
		p.Size = int64(len(raw))
		p.Work = func() func() error { return e.Prepare(raw) }
		return p, true
	})
}
