package scanner

import (
	"errors"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/store/segment"
)

// Segments makes a Source of the node's filter store.
func Segments(s *segment.Store) match.Source { return segments{s} }

type segments struct{ store *segment.Store }

// View implements match.Source.
func (s segments) View() match.View { return &segmentView{View: s.store.View()} }

// segmentView is the view of one worker.
type segmentView struct {
	*segment.View
	blocks []chainhash.Hash
	raw    [][]byte
}

// Filters implements match.View.
func (v *segmentView) Filters(from int32, dst []filters.Filter) error {
	v.blocks = slices.Grow(v.blocks[:0], len(dst))[:len(dst)]
	v.raw = slices.Grow(v.raw[:0], len(dst))[:len(dst)]
	for i := range dst {
		v.blocks[i] = dst[i].Block
	}
	if err := v.View.Filters(from, v.blocks, v.raw); err != nil {
		var damage *segment.DamagedError
		if errors.As(err, &damage) {
			return &match.DamagedError{Block: damage.Block, Err: err}
		}
		return err
	}
	for i := range dst {
		dst[i].Data = v.raw[i]
	}
	return nil
}

// Guard implements match.View.
func (*segmentView) Guard(read func()) error { return segment.Guard(read) }
