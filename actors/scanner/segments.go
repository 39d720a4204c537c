package scanner

import (
	"errors"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/store/segment"
)

// Segments makes a Source of the node's filter store.
func Segments(s *segment.Store) Source { return segments{s} }

type segments struct{ store *segment.Store }

// View implements Source.
func (s segments) View() View { return &segmentView{View: s.store.View()} }

// segmentView is the view of one worker.
type segmentView struct {
	*segment.View
	blocks []chainhash.Hash
	raw    [][]byte
}

// Filters implements View.
func (v *segmentView) Filters(from int32, dst []filters.Filter) error {
	v.blocks, v.raw = resize(v.blocks, len(dst)), resize(v.raw, len(dst))
	for i := range dst {
		v.blocks[i] = dst[i].Block
	}
	if err := v.View.Filters(from, v.blocks, v.raw); err != nil {
		var damage *segment.DamagedError
		if errors.As(err, &damage) {
			return &DamagedError{Block: damage.Block, Err: err}
		}
		return err
	}
	for i := range dst {
		dst[i].Data = v.raw[i]
	}
	return nil
}

// Guard implements View.
func (*segmentView) Guard(read func()) error { return segment.Guard(read) }
