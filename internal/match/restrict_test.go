package match_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/match"
)

// restrictSource has views of the active chain that know which scripts are not in a
// range of blocks: of each view another range.
type restrictSource struct {
	*source
	ends []int32 // of each view, in the order they are made: nothing of the query is below
}

func (s *restrictSource) View() match.View {
	end := s.ends[0]
	s.ends = s.ends[1:]
	return &restrictView{view: view{source: s.source}, end: end}
}

type restrictView struct {
	view
	end int32
}

func (*restrictView) Active(int32, *chainhash.Hash) bool { return true }

func (v *restrictView) RangeEnd(height int32) int32 { return max(height, v.end) }

func (v *restrictView) Restrict(height int32, q *filters.Query) (*filters.Query, int32) {
	if height >= v.end {
		return q, height + 1
	}
	return filters.NewQuery(nil), v.end
}

func (v *restrictView) Filters(from int32, active bool, dst []filters.Filter) error {
	for i := range dst {
		dst[i].Block = v.chain.Active().At(from + int32(i)).Hash
	}
	return v.view.Filters(from, active, dst)
}

// What a view knows of a range says nothing of the blocks behind it: a unit that
// another view had may be longer.
func TestRestrictedByAnotherView(t *testing.T) {
	s := newSource(60)
	scripts := make([][]byte, 0, 20)
	for n := range int32(20) {
		scripts = append(scripts, script(1000+n))
	}
	scripts = append(scripts, script(3)) // in the blocks 23, 33, 43, 53
	damaged := s.chain.Active().At(22).Hash
	s.fault = func(height int32) error {
		if height == 22 {
			return &match.DamagedError{Block: damaged, Err: errBroken}
		}
		return nil
	}
	source := &restrictSource{source: s, ends: []int32{20, 15, 20}}
	pass := match.New(match.Config{
		Source: source, Query: filters.NewQuery(scripts), First: 14, Stop: s.chain.Active().At(60), Exact: true,
	})
	left, err := pass.Work(t.Context(), match.Heights{})
	var damage *match.DamagedError
	if !errors.As(err, &damage) || left.From != 20 || left.To <= 22 {
		t.Fatalf("left %v, %v", left, err)
	}
	s.fault = nil
	source.ends = []int32{left.From + 2} // less than the unit
	if left, err = pass.Work(t.Context(), left); err != nil || !left.Empty() {
		t.Fatalf("left %v, %v", left, err)
	}
	hits, frontier := pass.Hits()
	if want := []int32{23, 33, 43, 53}; !slices.Equal(heights(hits), want) || frontier != 61 {
		t.Errorf("found %v up to %d", heights(hits), frontier)
	}
}
