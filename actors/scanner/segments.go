package scanner

import (
	"errors"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/store/segment"
)

// Segments makes a Source of the node's filter store.
func Segments(s *segment.Store) match.Source { return segments{s} }

type segments struct{ store *segment.Store }

// View implements match.Source.
func (s segments) View() match.View { return &segmentView{s.store.View(), s.store} }

// segmentView is the view of one worker.
type segmentView struct {
	*segment.View
	store *segment.Store
}

// Filters implements match.View. The matcher checks what it reads.
func (v *segmentView) Filters(from int32, dst []filters.Filter) error {
	var stored segment.Stored
	for i := range dst {
		f := &dst[i]
		block := &f.Block
		if f.Block == (chainhash.Hash{}) {
			block = nil
		}
		if err := v.Stored(from+int32(i), block, &stored); err != nil {
			var damage *segment.DamagedError
			if errors.As(err, &damage) {
				return &match.DamagedError{Block: damage.Block, Err: err}
			}
			return err
		}
		*f = filters.Filter{
			Block: stored.Block,
			Data:  stored.Filter, Unsure: true, Sum: stored.CRC,
			Lines: stored.Lines, N: stored.Items, LinesSum: stored.LinesCRC,
		}
	}
	return nil
}

// Stale implements match.View.
func (v *segmentView) Stale(block *chainhash.Hash) { v.store.DropLines(block) }

// Guard implements match.View.
func (*segmentView) Guard(read func()) error { return segment.Guard(read) }
