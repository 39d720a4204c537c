package widen_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed61375155/trawl/internal/search/widen"
)

// leastRange is the slow way: index after index.
func leastRange(first, last, gap int32, used []int32) (end, highest int32) {
	highest = -1
	for index, unused := int64(first), int64(0); index <= math.MaxInt32; index++ {
		if index > int64(last) && unused >= int64(gap) {
			break
		}
		end, unused = int32(index), unused+1
		if slices.Contains(used, int32(index)) {
			highest, unused = int32(index), 0
		}
	}
	return end, highest
}

func TestLeastRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type object struct {
			first, last, gap int32
			used             []int32
			given            int32 // up to which index
		}
		var plan widen.Plan
		objects := make([]object, rapid.IntRange(1, 4).Draw(t, "objects"))
		for i := range objects {
			base := rapid.SampledFrom([]int32{0, 0, 7, math.MaxInt32 - 90}).Draw(t, "base")
			o := object{first: base, gap: rapid.Int32Range(1, 12).Draw(t, "gap")}
			o.last = base + rapid.Int32Range(0, 30).Draw(t, "last")
			for _, n := range rapid.SliceOfN(rapid.Int32Range(0, 90), 0, 40).Draw(t, "used") {
				o.used = append(o.used, base+n)
			}
			o.given = base - 1
			if plan.Add(o.first, o.last, o.gap) != i {
				t.Fatal("numbers are not in order")
			}
			objects[i] = o
		}
		spare := rapid.IntRange(0, 200).Draw(t, "spare")
		for rounds := 0; ; rounds++ {
			needed, given := 0, 0
			for i := range objects {
				needed += plan.Needed(i)
			}
			spans := plan.Next(spare)
			for _, s := range spans {
				o := &objects[s.Number]
				if s.First != o.given+1 || s.Last < s.First {
					t.Fatalf("given %v after %d", s, o.given)
				}
				if r := plan.Range(s.Number); r.Last > s.Last {
					t.Fatalf("%v ends behind what was given", r)
				}
				o.given = s.Last
				given += int(s.Last-s.First) + 1
			}
			if given < needed || given > needed+spare {
				t.Fatalf("%d were given, %d are needed, %d may be more", given, needed, spare)
			}
			spare -= given - needed
			if len(spans) == 0 {
				break
			}
			// Blocks tell of indices in any order, and may tell twice.
			for _, s := range spans {
				used := rapid.Permutation(objects[s.Number].used).Draw(t, "order")
				for _, index := range append(used, used...) {
					if s.First <= index && index <= s.Last {
						plan.Use(s.Number, index)
					}
				}
			}
		}
		for i := range objects {
			o := &objects[i]
			last, highest := leastRange(o.first, o.last, o.gap, o.used)
			exhausted := int64(last) < max(int64(highest), int64(o.first)-1)+int64(o.gap)
			want := widen.Range{First: o.first, Last: last, HighestUsed: highest, Gap: o.gap, Exhausted: exhausted}
			if got := plan.Range(i); got != want {
				t.Fatalf("object %d: got %+v, want %+v", i, got, want)
			}
			if !plan.Has(i, o.first) || !plan.Has(i, last) || plan.Has(i, o.first-1) ||
				last < math.MaxInt32 && plan.Has(i, last+1) {
				t.Fatalf("object %d has others than %d to %d", i, o.first, last)
			}
		}
	})
}

// A long row of used indices takes few rounds where some may be looked for ahead, and the range is the same.
func TestFewRounds(t *testing.T) {
	for _, test := range []struct{ ahead, most int }{{0, 500}, {1 << 20, 12}} {
		var plan widen.Plan
		plan.Add(0, 0, 20)
		rounds, given := 0, 0
		for spans := plan.Next(test.ahead); spans != nil; spans = plan.Next(test.ahead) {
			rounds++
			for _, s := range spans {
				for index := s.First; index <= s.Last; index++ {
					given++
					if index < 9_980 {
						plan.Use(0, index)
					}
				}
			}
		}
		want := widen.Range{Last: 9_999, HighestUsed: 9_979, Gap: 20}
		if got := plan.Range(0); got != want || rounds > test.most || given > 20_000 {
			t.Errorf("ahead %d: got %+v in %d rounds with %d indices", test.ahead, got, rounds, given)
		}
	}
}

// TestBeyond has an index that was looked for ahead count as soon as the range reaches it.
func TestBeyond(t *testing.T) {
	var plan widen.Plan
	plan.Add(0, 0, 4)
	plan.Next(0)
	plan.Use(0, 0)
	if spans := plan.Next(100); len(spans) != 1 || spans[0] != (widen.Span{First: 4, Last: 7}) {
		t.Fatalf("given %v", spans)
	}
	plan.Use(0, 6)
	if got, want := plan.Range(0), (widen.Range{Last: 4, Gap: 4}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	plan.Use(0, 4)
	if got, want := plan.Range(0), (widen.Range{Last: 7, HighestUsed: 6, Gap: 4, Exhausted: true}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if plan.Needed(0) != 3 || !plan.Has(0, 10) || plan.Has(0, 11) {
		t.Errorf("%d indices are needed", plan.Needed(0))
	}
}

// TestBeyondTheEdge has an index that was looked for ahead count where it becomes the last of the range.
func TestBeyondTheEdge(t *testing.T) {
	var plan widen.Plan
	plan.Add(0, 0, 4)
	plan.Next(0)
	plan.Use(0, 0)
	plan.Next(100)
	plan.Use(0, 7)
	plan.Use(0, 3)
	if got, want := plan.Range(0), (widen.Range{Last: 7, HighestUsed: 7, Gap: 4, Exhausted: true}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestLastIndex looks ahead up to the last index there is.
func TestLastIndex(t *testing.T) {
	var plan widen.Plan
	plan.Add(math.MaxInt32-20, math.MaxInt32-10, 3)
	plan.Next(0)
	plan.Use(0, math.MaxInt32-10)
	want := widen.Span{First: math.MaxInt32 - 9, Last: math.MaxInt32}
	if spans := plan.Next(1 << 30); len(spans) != 1 || spans[0] != want {
		t.Errorf("given %v", spans)
	}
}

// TestUnfinished tells that a part of the range was not looked for.
func TestUnfinished(t *testing.T) {
	var plan widen.Plan
	plan.Add(5, 6, 3)
	want := widen.Range{First: 5, Last: 4, HighestUsed: -1, Gap: 3, Exhausted: true}
	if got := plan.Range(0); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	plan.Next(0)
	plan.Use(0, 8) // was not given out
	plan.Use(0, 4)
	if got, want := plan.Range(0), (widen.Range{First: 5, Last: 7, HighestUsed: -1, Gap: 3}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	plan.Use(0, 7)
	want = widen.Range{First: 5, Last: 7, HighestUsed: 7, Gap: 3, Exhausted: true}
	if got := plan.Range(0); got != want || plan.Needed(0) != 3 {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
