package searchdb

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/search"
	"github.com/seed61375155/trawl/internal/vfs/faultfs"
)

// payments returns entries of a search, in as many blocks.
func payments(r *rand.Rand, id ID, first, n int) (list []Entry) {
	for i := range n {
		e := entry(r, id, 0)
		e.Place = Place{Block: true, Height: uint32(first + i)}
		e.Kind, e.TxID = 1, numbered(r)
		list = append(list, e)
	}
	return list
}

// sweepAll sweeps until there is no more.
func sweepAll(t *testing.T, s *Store) (steps int) {
	t.Helper()
	for more := true; more; steps++ {
		var err error
		if more, err = s.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return steps
}

// The room of removed searches is free on the disk when they are swept, and what others have found stays.
func TestSweepFreesRoom(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "searches")
	s := open(t, nil, dir)
	r := rand.New(rand.NewPCG(3, 3))
	const each, step = 60_000, 6_000
	for id := range ID(4) {
		if err := s.Commit(&Change{Create: []*Search{newSearch(r, id)}}); err != nil {
			t.Fatal(err)
		}
	}
	for at := 0; at < each; at += step {
		for id := range ID(4) {
			if err := s.Commit(&Change{Entries: payments(r, id, at, step)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	size := func() (sum int64) {
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if info, err := f.Info(); err == nil {
				sum += info.Size()
			}
		}
		return sum
	}
	before := size()
	if err := s.Commit(&Change{Remove: []ID{1, 2, 3}}); err != nil {
		t.Fatal(err)
	}
	if steps := sweepAll(t, s); steps < 3*each/sweepRows {
		t.Errorf("%d steps: others wait for each", steps)
	}
	for deadline := time.Now().Add(time.Minute); size() > before/2; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("files had %d bytes, have %d", before, size())
		}
	}
	left := 0
	err := s.Entries(0, Place{}, LastOf(9, 1<<30), func(Place, *search.Entry) bool {
		left++
		return true
	})
	if left != each || err != nil {
		t.Errorf("%d entries of another search are left, %v", left, err)
	}
	list, err := s.Load()
	if err != nil || len(list) != 1 || list[0].ID != 0 {
		t.Errorf("%d searches are left, %v", len(list), err)
	}
}

// A sweep that could not be written, or was told to stop, leaves nothing when it goes on.
func TestSweepAgain(t *testing.T) {
	for n := range 12 {
		fs := faultfs.New()
		s := open(t, fs, filepath.Join(t.TempDir(), "searches"))
		r := rand.New(rand.NewPCG(uint64(n), 4))
		c := Change{Create: []*Search{newSearch(r, 5), newSearch(r, 6)}, Entries: payments(r, 5, 0, 2*sweepRows+7)}
		if err := s.Commit(&c); err != nil {
			t.Fatal(err)
		}
		if err := s.Commit(&Change{Remove: []ID{5}}); err != nil {
			t.Fatal(err)
		}
		fs.Inject(faultfs.Nth(n, errInjected))
		var err error
		for more := true; more && err == nil; {
			more, err = s.Sweep(t.Context())
		}
		fs.Inject(nil)
		if err != nil {
			if !errors.Is(err, errInjected) {
				t.Fatal(err)
			}
			if err := s.Reopen(); err != nil {
				t.Fatal(err)
			}
		}
		sweepAll(t, s)
		for _, prefix := range append(swept, removedPrefix, definitionPrefix) {
			for pair := range s.ledger.Load().Range(key(prefix, 5)) {
				t.Fatalf("call %d fails: %x is left", n, pair.Key)
			}
		}
	}
	s := open(t, nil, filepath.Join(t.TempDir(), "searches"))
	r := rand.New(rand.NewPCG(1, 4))
	if err := s.Commit(&Change{
		Create: []*Search{newSearch(r, 5)}, Entries: payments(r, 5, 0, 2*sweepRows), Remove: []ID{5},
	}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for more := true; more; { // it deletes all the same: only what takes long is left out
		var err error
		if more, err = s.Sweep(ctx); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	sweepAll(t, s)
}

// Removed searches are in one run as long as none that is kept lies between them.
func TestRuns(t *testing.T) {
	for _, c := range []struct {
		removed, kept []ID
		want          [][2]ID
	}{
		{nil, []ID{3}, nil},
		{[]ID{1, 2, 9}, nil, [][2]ID{{1, 9}}},
		{[]ID{1, 2, 4}, []ID{3}, [][2]ID{{1, 2}, {4, 4}}},
		{[]ID{2, 3, 7, 8}, []ID{1, 4, 5, 6, 9}, [][2]ID{{2, 3}, {7, 8}}},
		{[]ID{2, 4, 6}, []ID{1, 3, 5, 7}, [][2]ID{{2, 2}, {4, 4}, {6, 6}}},
	} {
		if got := runs(c.removed, c.kept); !reflect.DeepEqual(got, c.want) {
			t.Errorf("removed %v, kept %v: %v, want %v", c.removed, c.kept, got, c.want)
		}
	}
}
