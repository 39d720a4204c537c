package searchdb

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/vfs/faultfs"
	"github.com/seed61375155/trawl/store/internal/ledger"
)

// one returns the only search of a store.
func one(t *testing.T, s *Store) *Search {
	t.Helper()
	list, err := s.Load()
	if err != nil || len(list) != 1 {
		t.Fatalf("%d searches, %v", len(list), err)
	}
	return list[0]
}

// A store with a search, and a mode that it was told to have.
func withMode(t *testing.T, dir string) (s *Store, written *Search) {
	t.Helper()
	written = newSearch(rand.New(rand.NewPCG(1, 5)), 5)
	written.Status.Mode, written.Status.Reason = Running, ""
	s = open(t, nil, dir)
	if err := s.Commit(&Change{Create: []*Search{written}}); err != nil {
		t.Fatal(err)
	}
	change := ModeChange{Mode: Aborted, Updated: time.UnixMilli(9), Changes: written.Status.Changes + 1}
	if err := s.SetModes(map[ID]ModeChange{5: change, 6: change}); err != nil { // there is no 6
		t.Fatal(err)
	}
	return s, written
}

// A mode counts until a status is as new, and is not kept longer.
func TestNewerModeCounts(t *testing.T) {
	s, written := withMode(t, filepath.Join(t.TempDir(), "searches"))
	kept := func() (n int) {
		for range s.modes.Load().Range(modePrefix) {
			n++
		}
		return n
	}
	if n := one(t, s); n.Status.Mode != Aborted || !n.Status.Updated.Equal(time.UnixMilli(9)) || kept() != 1 {
		t.Errorf("%+v, %d modes are kept", n.Status, kept())
	}
	for i, changes := range []uint64{0, 1} {
		status := written.Status
		status.Mode, status.Changes = Done, written.Status.Changes+changes
		if err := s.Commit(&Change{Status: map[ID]Status{5: status}}); err != nil {
			t.Fatal(err)
		}
		want := []Mode{Aborted, Done}[i]
		if n := one(t, s); n.Status.Mode != want || n.Status.Done != status.Done || kept() != 1-i {
			t.Errorf("%+v, want %v; %d modes are kept", n.Status, want, kept())
		}
	}
}

// Writing the modes of searches does not wait for writes of their results.
func TestModesDoNotWait(t *testing.T) {
	fs := faultfs.New()
	dir := filepath.Join(t.TempDir(), "searches")
	s := open(t, fs, dir)
	r := rand.New(rand.NewPCG(1, 5))
	if err := s.Commit(&Change{Create: []*Search{newSearch(r, 5)}}); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock() // as a commit that goes on has it
	defer s.mu.Unlock()
	var paths []string
	fs.Inject(func(op faultfs.Op) error {
		paths = append(paths, op.Path)
		return nil
	})
	if err := s.SetModes(map[ID]ModeChange{5: {Mode: Paused, Changes: 1e6}}); err != nil {
		t.Fatal(err)
	}
	fs.Inject(nil)
	if len(paths) == 0 || slices.ContainsFunc(paths, func(p string) bool {
		return !strings.HasPrefix(p, filepath.Join(dir, modesDir))
	}) {
		t.Errorf("writes %v", paths)
	}
}

// A mode that is damaged is lost: the search does what its status says, and can be told again.
func TestModeDamage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "searches")
	s, written := withMode(t, dir)
	b := new(ledger.Batch)
	k := key(modePrefix, 5)
	value, err := s.modes.Load().Get(k)
	if err != nil {
		t.Fatal(err)
	}
	value[1] ^= 4
	b.Put(k, value)
	if err := s.modes.Load().Commit(b, noPosition); err != nil {
		t.Fatal(err)
	}
	if n := one(t, s); !reflect.DeepEqual(n, written) {
		t.Errorf("with a mode that is damaged: %+v, want %+v", n.Status, written.Status)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, modesDir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, ".log") || strings.Contains(file, "MANIFEST") {
			if err := os.WriteFile(file, []byte("nothing of a database, but some bytes"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	s = open(t, nil, dir)
	change := ModeChange{Mode: Paused, Updated: time.UnixMilli(9), Changes: written.Status.Changes + 1}
	if err := s.SetModes(map[ID]ModeChange{5: change}); err != nil {
		t.Fatal(err)
	}
	if n := one(t, s); n.Status.Mode != Paused {
		t.Errorf("after the ledger was damaged: %+v", n.Status)
	}
}

// A store of version 1, whose statuses have no changes and which has no modes, is taken over with nothing lost.
func TestEarlierVersion(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "searches")
	n := newSearch(rand.New(rand.NewPCG(2, 5)), 5)
	n.Status.Changes = 0
	l, _, err := ledger.Open(ledger.Options{Dir: dir, Version: 1, Network: [4]byte{1, 2, 3, 4}, Marks: 1})
	if err != nil {
		t.Fatal(err)
	}
	b := new(ledger.Batch)
	put(b, key(definitionPrefix, 5), n.encode())
	n.parts(b, 5, 0, 0)
	status := n.Status.encode()
	put(b, key(statusPrefix, 5), status[:len(status)-1])
	if err := l.CommitDurably(b, make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	s := open(t, nil, dir)
	if got := one(t, s); !reflect.DeepEqual(got, n) {
		t.Errorf("got %+v\nwant %+v", got, n)
	}
	change := ModeChange{Mode: Paused, Updated: time.UnixMilli(9), Changes: 1}
	if err := s.SetModes(map[ID]ModeChange{5: change}); err != nil {
		t.Fatal(err)
	}
	if got := one(t, s); got.Status.Mode != Paused {
		t.Errorf("%+v", got.Status)
	}
}
