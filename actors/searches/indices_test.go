package searches

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/search"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/searchdb"
)

// rangedJob returns a search of which it is not known which indices are used.
func rangedJob(n int) *job {
	j := jobAt(n, 0, -1, 5)
	j.fresh, j.Objects = searchdb.Used{}, []searchdb.Object{"o"}
	j.Ranges = []searchdb.Range{{Last: 99}}
	for i := range int32(10) {
		j.Scripts = append(j.Scripts, searchdb.Script{Script: []byte{byte(i)}, Index: i})
	}
	return j
}

// Which indices are used is read from the entries, of one search after the other. Where they cannot be read nothing is
// noted, since some would be missing; and of a search that was removed meanwhile nothing is either.
func TestFindsUsed(t *testing.T) {
	for _, test := range []struct {
		name string
		err  error
		with func(*Searches, *job)
		want map[int]searchdb.Used
	}{
		{"read", nil, nil, map[int]searchdb.Used{1: {0: 6}, 2: {0: 6}}},
		{"more is found meanwhile", nil, func(s *Searches, j *job) {
			usage{s}.noteUsed(j, searchdb.Used{0: 8})
			usage{s}.noteUsed(j, searchdb.Used{0: 7})
		}, map[int]searchdb.Used{1: {0: 8}, 2: {0: 6}}},
		{"not read", errors.New("lost"), nil, map[int]searchdb.Used{1: nil, 2: nil}},
		{"removed", nil, func(s *Searches, j *job) { s.drop(j) }, map[int]searchdb.Used{1: nil, 2: {0: 6}}},
		{"read again", nil, func(s *Searches, j *job) {
			s.drop(j)
			s.add(rangedJob(1))
		}, map[int]searchdb.Used{1: nil, 2: {0: 6}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, _ := alone(t, 9)
				probe := probed(t, s)
				s.writer.running = true
				one, two := rangedJob(1), rangedJob(2)
				known, blocks, plain := rangedJob(3), rangedJob(4), rangedJob(5)
				known.Used, blocks.BlocksOnly, plain.Ranges = searchdb.Used{}, true, nil
				for _, j := range []*job{one, two, known, blocks, plain} {
					s.add(j)
				}
				l := entriesAt(1, 1, 2, 3, 4)
				l.entries[0].Script = 4
				l.entries[1].Script, l.entries[1].Kind = 6, search.Spend
				l.entries[2].Script, l.entries[2].Kind = 9, search.Hit
				l.entries[3].Script = 10 // joined later
				l.err = test.err
				var lists Lists = l
				if test.with != nil {
					once := true
					lists = duringLists{l, func() {
						if once {
							once = false
							test.with(s, one)
						}
					}}
				}
				s.cfg.Lists = lists
				usage{s}.findUsed()
				probe.settle()
				for n, want := range test.want {
					j := []*job{nil, one, two}[n]
					if !reflect.DeepEqual(j.Used, want) || (s.writer.used[j.ID] == j) != (want != nil) ||
						(s.writer.changed[j.ID] == j) != (want != nil) {
						t.Errorf("used of %d are %v, want %v; written are %v", n, j.Used, want, s.writer.used)
					}
				}
				if len(known.Used) > 0 || blocks.Used != nil || plain.Used != nil {
					t.Errorf("used are %v, %v, %v", known.Used, blocks.Used, plain.Used)
				}
			})
		})
	}
}

// Used indices are written where they have changed, as they are then.
func TestUsedIsWritten(t *testing.T) {
	s, _ := alone(t, 9)
	j := rangedJob(1)
	j.Used = searchdb.Used{0: 3}
	s.add(j)
	usage{s}.noteUsed(j, searchdb.Used{0: 2})
	if len(s.writer.used)+len(s.writer.changed) > 0 {
		t.Error("nothing has changed, and is written")
	}
	usage{s}.noteUsed(j, searchdb.Used{0: 4})
	used := s.writer.usedNow()
	j.Used[0] = 9
	if s.writer.changed[j.ID] != j || len(used) != 1 || used[j.ID][0] != 4 {
		t.Errorf("written are %v", used)
	}
}

// A descriptor has the whole of its ranges and the highest index that is used; it is used up where fewer than 20
// follow.
func TestDescriptorsOfSearch(t *testing.T) {
	j := jobAt(1, 0, -1, 5)
	j.Objects = []searchdb.Object{"a#x", "b", "a", "c", "d", "e"}
	j.Ranges = []searchdb.Range{
		{Object: 0, First: 5, Last: 9},
		{Object: 1, First: 0, Last: 27},
		{Object: 2, First: 2, Last: 40},
		{Object: 3, First: 1, Last: 30},
		{Object: 4, First: 0, Last: math.MaxInt32},
		{Object: 5, First: 0, Last: 19},
	}
	want := []messages.SearchDescriptor{
		{Desc: "a#x", First: 2, Last: 40, HighestUsed: 20, Known: true},
		{Desc: "b", First: 0, Last: 27, HighestUsed: 8, Known: true, Exhausted: true},
		{Desc: "c", First: 1, Last: 30, HighestUsed: -1, Known: true},
		{Desc: "d", First: 0, Last: math.MaxInt32, HighestUsed: math.MaxInt32, Known: true},
		{Desc: "e", First: 0, Last: 19, HighestUsed: 0, Known: true, Exhausted: true},
	}
	j.shownUsed = searchdb.Used{0: 20, 1: 8, 2: 3, 4: math.MaxInt32, 5: 0}
	if got := j.descriptors(); !slices.Equal(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if got := exhaustedOf(want); !reflect.DeepEqual(got, map[string]bool{"b": true, "e": true}) {
		t.Errorf("used up are %v", got)
	}
	j.shownUsed = nil
	for _, d := range j.descriptors() {
		if d.Known || d.HighestUsed != -1 || d.Exhausted {
			t.Errorf("%+v, and it is not known", d)
		}
	}
}

// A status has 10,000 descriptors at most, and says where there are more.
func TestManyDescriptors(t *testing.T) {
	s, _ := alone(t, 9)
	j := jobAt(1, 0, -1, 5)
	for n := range maxDescriptors + 2 {
		j.Objects = append(j.Objects, searchdb.Object(strconv.Itoa(n)))
		j.Ranges = append(j.Ranges, searchdb.Range{Object: uint32(n)})
	}
	all := j.Ranges
	for n, want := range map[int]bool{maxDescriptors: false, maxDescriptors + 1: true, maxDescriptors + 2: true} {
		j.Ranges = all[:n]
		st := reading{s}.fullStatus(j)
		if len(st.Descriptors) != maxDescriptors || st.DescriptorsMore != want ||
			len(j.descriptors()) > maxDescriptors+1 {
			t.Errorf("of %d: %d, more is %v", n, len(st.Descriptors), st.DescriptorsMore)
		}
	}
}

// Clients are notified once of a range that is used up, and again after it was longer meanwhile.
func TestUsedUpIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := alone(t, 9)
		probe := probed(t, s)
		s.cfg.News = new(ask.Feed[messages.News])
		s.cfg.News.Subscribe(s.c)
		j := rangedJob(1)
		s.add(j)
		notified := func(want bool) {
			t.Helper()
			if (usage{s}).notifyExhausted(j); want {
				m := expect[messages.SearchExhausted](probe)
				if m.ID != j.ID.String() || m.Name != "1" || m.Descriptor.HighestUsed != j.shownUsed[0] {
					t.Errorf("notified of %+v", m)
				}
			}
			time.Sleep(time.Second)
			probe.settle()
			probe.Quiet()
		}
		notified(false)
		j.shownUsed = searchdb.Used{0: 79}
		notified(false)
		j.shownUsed = searchdb.Used{0: 80}
		notified(true)
		notified(false)
		j.Ranges[0].Last = 200
		notified(false)
		j.shownUsed = searchdb.Used{0: 190}
		notified(true)

		// A range with a gap is about to be widened, except at the highest index.
		j.Gaps, j.exhausted = searchdb.Gaps{0: 20}, nil
		notified(false)
		j.Ranges[0] = searchdb.Range{First: math.MaxInt32 - 30, Last: math.MaxInt32 - 1}
		j.shownUsed = searchdb.Used{0: math.MaxInt32 - 5}
		notified(false)
		j.Ranges[0].Last++
		notified(true)
		notified(false)
	})
}
