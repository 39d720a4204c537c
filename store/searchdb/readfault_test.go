package searchdb

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/search"
	"github.com/seed61375155/trawl/internal/vfs/faultfs"
	"github.com/seed61375155/trawl/store/internal/ledger"
)

// large returns a search whose records are in many blocks of a table.
func large(r *rand.Rand, id ID) *Search {
	n := newSearch(r, id)
	n.Scripts = nil
	const size = 4000
	for range 5 * partBytes / 4 / size { // two records
		script := make([]byte, 0, size)
		for len(script) < size {
			script = binary.BigEndian.AppendUint64(script, r.Uint64())
		}
		n.Objects = append(n.Objects, Object(script))
		n.Scripts = append(n.Scripts, Script{
			Script: script, Object: r.Uint32N(uint32(len(n.Objects))), Index: r.Int32N(9),
		})
	}
	n.Ranges, n.Used = RangesOf(n.Scripts), Used{1: 2}
	return n
}

// eachRead calls do on a store again and again: each time a later read of the disk fails, until none is left. Each
// time the store is reopened first, so that nothing is in memory. The function check reports errors in the outcome.
func eachRead(t *testing.T, fs *faultfs.FS, s *Store, least int, do func() error, check func(n int, err error)) {
	t.Helper()
	for n := 0; ; n++ {
		if err := s.Reopen(); err != nil {
			t.Fatal(err)
		}
		failed := false
		nth := faultfs.Nth(n, errInjected)
		fs.InjectReads(func(op faultfs.Op) error {
			err := nth(op)
			failed = failed || err != nil
			return err
		})
		err := do()
		fs.InjectReads(nil)
		if !failed {
			if n < least || err != nil {
				t.Errorf("%d reads, %v", n, err)
			}
			return
		}
		check(n, err)
	}
}

// Whichever read fails, it is told: no search is left out or taken for damaged, and no entry is.
func TestReadFaults(t *testing.T) {
	fs := faultfs.New()
	s := open(t, fs, filepath.Join(t.TempDir(), "searches"))
	r := rand.New(rand.NewPCG(7, 7))
	want := map[ID]*Search{}
	for id := ID(1); id <= 3; id++ {
		want[id] = large(r, id)
		err := s.Commit(&Change{
			Create: []*Search{want[id]}, Used: map[ID]Used{id: want[id].Used}, Entries: payments(r, id, 0, 100),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	change := ModeChange{Mode: Paused, Changes: want[2].Status.Changes + 1}
	if err := s.SetModes(map[ID]ModeChange{2: change}); err != nil {
		t.Fatal(err)
	}
	var list []*Search
	load := func() (err error) {
		list, err = s.Load()
		return err
	}
	eachRead(t, fs, s, 12, load, func(n int, err error) {
		if !errors.Is(err, errInjected) {
			t.Errorf("read %d of the searches fails: %d are loaded, %v", n, len(list), err)
		}
	})
	for _, n := range list {
		w := *want[n.ID]
		if n.ID == 2 {
			w.Status.Mode, w.Status.Reason = Paused, ""
			w.Status.Updated, w.Status.Changes = n.Status.Updated, change.Changes
		}
		if !reflect.DeepEqual(n, &w) {
			t.Errorf("after faults:\n got %s\nwant %s", outline(n), outline(&w))
		}
	}
	if len(list) != len(want) {
		t.Errorf("%d searches are left", len(list))
	}
	visited := 0
	visit := func() error {
		visited = 0
		return s.Entries(2, Place{}, LastOf(0, 999), func(Place, *search.Entry) bool {
			visited++
			return true
		})
	}
	eachRead(t, fs, s, 3, visit, func(n int, err error) {
		if !errors.Is(err, errInjected) || visited >= 100 {
			t.Errorf("read %d of the entries fails: %d are visited, %v", n, visited, err)
		}
	})
	if visited != 100 {
		t.Errorf("%d entries are left", visited)
	}
}

// Whichever read of a sweep fails, it is told, and the searches stay marked as removed until all of them is deleted.
func TestSweepReadFaults(t *testing.T) {
	for n, again := 0, true; again; n++ {
		fs := faultfs.New()
		s := open(t, fs, filepath.Join(t.TempDir(), "searches"))
		r := rand.New(rand.NewPCG(7, 8))
		for id := ID(1); id <= 2; id++ {
			searches := []*Search{large(r, id)}
			searches[0].Owner = strings.Repeat("o", 5000) // its definition is read by itself
			if err := s.Commit(&Change{Create: searches, Entries: payments(r, id, 0, 100)}); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Commit(&Change{Remove: []ID{1}}); err != nil {
			t.Fatal(err)
		}
		if err := s.Reopen(); err != nil {
			t.Fatal(err)
		}
		again = false
		nth := faultfs.Nth(n, errInjected)
		fs.InjectReads(func(op faultfs.Op) error {
			err := nth(op)
			again = again || err != nil
			return err
		})
		var err error
		for more := true; more && err == nil; {
			more, err = s.Sweep(t.Context())
		}
		fs.InjectReads(nil)
		removed, idsErr := s.ids(removedPrefix)
		if errors.Is(err, errInjected) != again || len(removed) == 0 == again || idsErr != nil {
			t.Errorf("read %d fails: %v; removed are %v, %v", n, err, removed, idsErr)
		}
		sweepAll(t, s)
		if left := rowsLeft(t, s, 1); len(left) > 0 {
			t.Errorf("read %d fails: %d rows are left, the first is %s", n, len(left), left[0])
		}
		if left := rowsLeft(t, s, 2); len(left) < 100 {
			t.Errorf("read %d fails: %d rows of another search are left", n, len(left))
		}
	}
}

// rowsLeft returns the keys that a store has of a search.
func rowsLeft(t *testing.T, s *Store, id ID) (keys []string) {
	t.Helper()
	for pair, err := range s.ledger.Load().Range(nil) {
		if err != nil {
			t.Fatal(err)
		}
		if len(pair.Key) >= 9 && slices.Equal(pair.Key[1:9], key(entryPrefix, id)[1:]) {
			keys = append(keys, string(pair.Key))
		}
	}
	return keys
}

// A sweep that is told to stop while it takes room back says so, and takes it back the next time. Where nothing was
// removed it writes nothing.
func TestSweepTakesBackLater(t *testing.T) {
	fs := faultfs.New()
	s := open(t, fs, filepath.Join(t.TempDir(), "searches"))
	r := rand.New(rand.NewPCG(7, 9))
	c := Change{Create: []*Search{large(r, 1)}, Entries: payments(r, 1, 0, 5000)} // more than is worth it
	if err := errors.Join(s.Commit(&c), s.Commit(&Change{Remove: []ID{1}}), s.Reopen()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var err error
	for more := true; more && err == nil; {
		more, err = s.Sweep(ctx)
	}
	removed, idsErr := s.ids(removedPrefix)
	if !errors.Is(err, context.Canceled) || !slices.Equal(removed, []ID{1}) || idsErr != nil {
		t.Errorf("%v; removed are %v, %v", err, removed, idsErr)
	}
	sweepAll(t, s)
	if left := rowsLeft(t, s, 1); len(left) > 0 {
		t.Errorf("%d rows are left", len(left))
	}
	writes := 0
	fs.Inject(func(faultfs.Op) error { writes++; return nil })
	if more, err := s.Sweep(t.Context()); more || err != nil || writes > 0 {
		t.Errorf("more: %v, %v, after %d writes", more, err, writes)
	}
	fs.Inject(nil)
}

// A store that cannot be read, or cannot be written when it must be, returns an error: no search is missing
// silently, and the modes of searches are kept.
func TestUnreadableLedgers(t *testing.T) {
	for _, test := range []struct {
		name string
		harm func(s *Store, fs *faultfs.FS) error
		do   func(s *Store) error
		want error
	}{
		{
			"the searches", func(s *Store, _ *faultfs.FS) error { return s.ledger.Load().Close() },
			func(s *Store) error { _, err := s.Load(); return err }, ledger.ErrClosed,
		},
		{
			"the modes", func(s *Store, _ *faultfs.FS) error { return s.modes.Load().Close() },
			func(s *Store) error { _, err := s.Load(); return err }, ledger.ErrClosed,
		},
		{
			"the searches, while it sweeps", func(s *Store, _ *faultfs.FS) error { return s.ledger.Load().Close() },
			func(s *Store) error { _, err := s.Sweep(t.Context()); return err }, ledger.ErrClosed,
		},
		{
			"a damaged search, which is dropped", func(s *Store, fs *faultfs.FS) error {
				b := new(ledger.Batch)
				b.Put(key(statusPrefix, 1), []byte("nothing of a status"))
				err := s.commit(b)
				fs.Inject(faultfs.From(0, errInjected))
				return err
			},
			func(s *Store) error { _, err := s.Load(); return err }, errInjected,
		},
	} {
		fs := faultfs.New()
		s := open(t, fs, filepath.Join(t.TempDir(), "searches"))
		r := rand.New(rand.NewPCG(7, 10))
		n := newSearch(r, 1)
		change := ModeChange{Mode: Paused, Changes: n.Status.Changes + 1}
		err := errors.Join(
			s.Commit(&Change{Create: []*Search{n, newSearch(r, 2)}, Remove: []ID{2}}),
			s.SetModes(map[ID]ModeChange{1: change}), test.harm(s, fs),
		)
		if err != nil {
			t.Fatal(err)
		}
		if err := test.do(s); !errors.Is(err, test.want) {
			t.Errorf("%s: %v", test.name, err)
		}
		fs.Inject(nil)
		if err := s.Reopen(); err != nil {
			t.Fatal(err)
		}
		if test.want != ledger.ErrClosed { //nolint:errorlint // as it stands above
			continue
		}
		if n := one(t, s); n.Status.Mode != Paused {
			t.Errorf("%s: the mode is %v", test.name, n.Status.Mode)
		}
	}
}

// To load what is in order writes nothing.
func TestLoadWritesNothing(t *testing.T) {
	fs := faultfs.New()
	s := open(t, fs, filepath.Join(t.TempDir(), "searches"))
	n := newSearch(rand.New(rand.NewPCG(7, 11)), 1)
	change := ModeChange{Mode: Paused, Changes: n.Status.Changes + 1}
	err := errors.Join(s.Commit(&Change{Create: []*Search{n}}), s.SetModes(map[ID]ModeChange{1: change}))
	if err != nil {
		t.Fatal(err)
	}
	writes := 0
	fs.Inject(func(faultfs.Op) error { writes++; return nil })
	if one(t, s); writes > 0 {
		t.Errorf("%d writes", writes)
	}
	fs.Inject(nil)
}
