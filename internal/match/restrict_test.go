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

// Restrict's answer for a range holds for no block behind the range: a unit of
// another view may be longer.
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

// knowingView knows that of a query's scripts the blocks below a height have one at most.
type knowingView struct {
	restrictView
	active bool
	only   []byte
	reads  *[]match.Heights
	asked  *int
}

func (v *knowingView) View() match.View { return v }

func (v *knowingView) Active(int32, *chainhash.Hash) bool { return v.active }

func (v *knowingView) Restrict(height int32, q *filters.Query) (*filters.Query, int32) {
	*v.asked++
	if height >= v.end {
		return q, height + 1
	}
	if v.only == nil {
		return filters.NewQuery(nil), v.end
	}
	return filters.NewQuery([][]byte{v.only}), v.end
}

// RangeEnd is asked for blocks of the pass alone.
func (v *knowingView) RangeEnd(height int32) int32 {
	if height > v.chain.Active().Height() {
		panic("asked for what is behind the last block")
	}
	return v.restrictView.RangeEnd(height)
}

func (v *knowingView) Filters(from int32, active bool, dst []filters.Filter) error {
	*v.reads = append(*v.reads, match.Heights{From: from, To: from + int32(len(dst))})
	return v.restrictView.Filters(from, active, dst)
}

// Restrict is used where hits are looked into, on the active chain, for queries
// of sixteen scripts and more. Blocks that have none of the scripts are not
// read.
func TestRestrict(t *testing.T) {
	s := newSource(60)
	for _, test := range []struct {
		what          string
		exact, active bool
		scripts       int // that no block has, beside two that some do
		only          []byte
		want          []int32
		asked, read   bool // whether the view was, and the blocks below
	}{
		{"all", true, true, 14, script(3), []int32{3, 13, 23, 33, 34, 43, 44, 53, 54}, true, true},
		{"nothing below", true, true, 14, nil, []int32{33, 34, 43, 44, 53, 54}, true, false},
		{"few scripts", true, true, 13, nil, []int32{3, 4, 13, 14, 23, 24, 33, 34, 43, 44, 53, 54}, false, true},
		{"not exact", false, true, 14, nil, []int32{3, 4, 13, 14, 23, 24, 33, 34, 43, 44, 53, 54}, false, true},
		{"another chain", true, false, 14, nil, []int32{3, 4, 13, 14, 23, 24, 33, 34, 43, 44, 53, 54}, false, true},
	} {
		t.Run(test.what, func(t *testing.T) {
			scripts := [][]byte{script(3), script(4)}
			for n := range int32(test.scripts) {
				scripts = append(scripts, script(1000+n))
			}
			var reads []match.Heights
			asked := 0
			v := &knowingView{
				restrictView: restrictView{view: view{source: s}, end: 30}, active: test.active, only: test.only,
				reads: &reads, asked: &asked,
			}
			s.views.Store(1)
			pass := match.New(match.Config{
				Source: v, Query: filters.NewQuery(scripts), First: 1, Stop: s.chain.Active().Tip(), Exact: test.exact,
			})
			if left, err := pass.Work(t.Context(), match.Heights{}); err != nil || !left.Empty() {
				t.Fatalf("left %v, %v", left, err)
			}
			if hits, _ := pass.Hits(); !slices.Equal(heights(hits), test.want) || asked > 0 != test.asked {
				t.Errorf("found %v, asked %d times", heights(hits), asked)
			}
			below := func(h match.Heights) bool { return h.From < 30 }
			if read := slices.ContainsFunc(reads, below); read != test.read {
				t.Errorf("read %v", reads)
			}
		})
	}
}
