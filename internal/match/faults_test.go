package match_test

import (
	"errors"
	"hash/crc32"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/match"
)

var errFault = errors.New("memory fault")

// faultView has filters with probe lines, and reads that fail by their number. The reads
// are the matching, a look at each filter, a look at the lines of each, then the
// matching again.
type faultView struct {
	view
	lines  map[int32]bool // which filters have some; nil: all
	change func(height int32, f *filters.Filter)
	fails  map[int]bool // reads, from 1
	reads  int
	batch  []filters.Filter
	stale  []int32
	bare   bool // the last read was without lines
}

func (v *faultView) View() match.View                 { return v }
func (*faultView) Active(int32, *chainhash.Hash) bool { return true }
func (v *faultView) Stale(block *chainhash.Hash) {
	v.stale = append(v.stale, v.chain.Lookup(block).Height)
}
func (v *faultView) Release() {}
func (v *faultView) Filters(from int32, active bool, dst []filters.Filter) error {
	for i := range dst {
		dst[i] = filters.Filter{Block: v.chain.Active().At(from + int32(i)).Hash}
	}
	if err := v.view.Filters(from, active, dst); err != nil {
		return err
	}
	for i := range dst {
		f, height := &dst[i], from+int32(i)
		f.Data = slices.Clone(f.Data)
		if v.lines == nil || v.lines[height] {
			var err error
			if f.Lines, f.N, err = filters.AppendLines(nil, &f.Block, f.Data); err != nil {
				return err
			}
			f.LinesSum = sum(f.Lines)
		}
		if v.change != nil {
			v.change(height, f)
		}
	}
	v.batch = dst
	return nil
}

func (v *faultView) Guard(read func()) error {
	v.bare = !slices.ContainsFunc(v.batch, func(f filters.Filter) bool { return f.Lines != nil })
	if v.reads++; v.fails[v.reads] {
		return errFault
	}
	read()
	return nil
}

// If memory fails while a batch is matched, the filter in that memory is found. If lines
// were in that memory, the batch is matched without lines. The view is told which lines
// cannot be read or are not as they were stored.
func TestFaults(t *testing.T) {
	const n = 15 // one batch
	none := map[int32]bool{}
	flip := func(at int32) func(int32, *filters.Filter) {
		return func(height int32, f *filters.Filter) {
			if height == at {
				f.LinesSum++
			}
		}
	}
	unsure := func(at int32) func(int32, *filters.Filter) {
		return func(height int32, f *filters.Filter) {
			f.Unsure, f.Sum = true, sum(f.Data)
			if height == at {
				f.Sum++
			}
		}
	}
	match1, sound1, lines1, again := 1, 2, 2+n, 2+2*n
	for _, test := range []struct {
		what   string
		lines  map[int32]bool
		change func(int32, *filters.Filter)
		fails  []int
		stale  []int32
		damage int32 // the block that is blamed; 0: none
	}{
		{"none", nil, nil, nil, nil, 0},
		{"lines that cannot be read", nil, nil, []int{match1, lines1 + 4}, []int32{5}, 0},
		{"lines of two", nil, nil, []int{match1, lines1, lines1 + n - 1}, []int32{1, n}, 0},
		{"nothing in particular", nil, nil, []int{match1}, nil, 0},
		{"lines that are not what was stored", nil, flip(7), []int{match1}, []int32{7}, 0},
		{"of both kinds", nil, flip(7), []int{match1, lines1 + 9}, []int32{7, 10}, 0},
		{"a filter", nil, nil, []int{match1, sound1 + 3}, nil, 4},
		{"a filter without lines", none, nil, []int{match1, sound1 + 3}, nil, 4},
		{"nothing in particular, without lines", none, nil, []int{match1}, nil, 1},
		{"nothing in particular, lines of one", map[int32]bool{2: true}, nil, []int{match1}, []int32{}, 0},
		{"a filter that is not what was stored", nil, unsure(9), []int{match1}, nil, 9},
		{"such a filter without lines", none, unsure(9), []int{match1}, nil, 9},
		{"the second time too", nil, nil, []int{match1, again}, nil, 1},
	} {
		t.Run(test.what, func(t *testing.T) {
			s := newSource(n)
			v := &faultView{view: view{source: s}, lines: test.lines, change: test.change, fails: map[int]bool{}}
			for _, read := range test.fails {
				v.fails[read] = true
			}
			pass := match.New(match.Config{
				Source: v, Query: filters.NewQuery([][]byte{script(3), script(4)}),
				First: 1, Stop: s.chain.Active().Tip(),
			})
			left, err := pass.Work(t.Context(), match.Heights{})
			var damage *match.DamagedError
			if test.damage != 0 {
				if !errors.As(err, &damage) || s.chain.Lookup(&damage.Block).Height != test.damage || left.Empty() {
					t.Errorf("want damage at %d, got %v", test.damage, err)
				}
				return
			}
			if hits, _ := pass.Hits(); err != nil || !slices.Equal(heights(hits), []int32{3, 4, 13, 14}) {
				t.Errorf("found %v, %v", heights(hits), err)
			}
			if !slices.Equal(v.stale, test.stale) {
				t.Errorf("told of lines of %v, want %v", v.stale, test.stale)
			}
			if len(test.fails) > 0 && !v.bare {
				t.Error("matched again with lines")
			}
		})
	}
}

// The batch that a worker hands back for others has no pointer into the memory of
// filters, which may be unmapped by then.
func TestNothingIsKept(t *testing.T) {
	s := newSource(40)
	v := &faultView{view: view{source: s}}
	pass := match.New(match.Config{
		Source: v, Query: filters.NewQuery([][]byte{script(3)}), First: 1, Stop: s.chain.Active().Tip(),
	})
	if _, err := pass.Work(t.Context(), match.Heights{}); err != nil {
		t.Fatal(err)
	}
	for _, f := range v.batch[:cap(v.batch)] {
		if f.Data != nil || f.Lines != nil {
			t.Fatalf("%v is still pointed to", f.Block)
		}
	}
}

// A filter that is not well formed is damage of its block.
func TestMalformed(t *testing.T) {
	s := newSource(20)
	v := &faultView{view: view{source: s}, lines: map[int32]bool{}, change: func(height int32, f *filters.Filter) {
		if height == 6 {
			f.Data = f.Data[:1]
		}
	}}
	pass := match.New(match.Config{
		Source: v, Query: filters.NewQuery([][]byte{script(3)}), First: 1, Stop: s.chain.Active().Tip(),
	})
	_, err := pass.Work(t.Context(), match.Heights{})
	var damage *match.DamagedError
	if !errors.As(err, &damage) || s.chain.Lookup(&damage.Block).Height != 6 || !errors.Is(err, filters.ErrBadFilter) {
		t.Errorf("got %v", err)
	}
}

func sum(b []byte) uint32 { return crc32.ChecksumIEEE(b) }
