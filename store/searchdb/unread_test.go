package searchdb

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/seed61375155/trawl/internal/vfs/faultfs"
)

// A search that the disk does not read for a while is shown as failed, as far as it could be read. Neither the search
// nor its mode is lost.
func TestUnreadSearches(t *testing.T) {
	fs := faultfs.New()
	s := open(t, fs, filepath.Join(t.TempDir(), "searches"))
	r := rand.New(rand.NewPCG(7, 12))
	want := map[ID]*Search{}
	for id := ID(1); id <= 3; id++ {
		want[id] = large(r, id)
		want[id].Owner = strings.Repeat("o", 5000) // its definition is read by itself
		c := Change{Create: []*Search{want[id]}, Used: map[ID]Used{id: want[id].Used}}
		if err := s.Commit(&c); err != nil {
			t.Fatal(err)
		}
	}
	change := ModeChange{Mode: Aborted, Changes: want[2].Status.Changes + 1}
	if err := s.SetModes(map[ID]ModeChange{2: change}); err != nil {
		t.Fatal(err)
	}
	seen := 0 // searches that were not read
	for n, failed := 0, true; failed; n++ {
		failed = false
		nth := faultfs.Nth(n, syscall.EIO)
		if err := s.Reopen(); err != nil {
			t.Fatal(err)
		}
		fs.InjectReads(func(op faultfs.Op) error {
			err := nth(op)
			failed = failed || err != nil
			return err
		})
		list, err := s.Load()
		fs.InjectReads(nil)
		if err != nil { // of a read for all of them
			if !failed || !errors.Is(err, syscall.EIO) || errors.Is(err, ErrDamaged) {
				t.Errorf("read %d fails: %v", n, err)
			}
			continue
		}
		if len(list) != len(want) {
			t.Errorf("read %d fails: %d searches are left", n, len(list))
		}
		for _, got := range list {
			w := *want[got.ID]
			if got.Unread {
				seen++
				known := got.Name == w.Name || got.Name == got.ID.String()
				if !known || got.Status.Mode != Failed || len(got.Scripts) > 0 {
					t.Errorf("read %d fails: %s", n, outline(got))
				}
				continue
			}
			if got.ID == 2 {
				w.Status.Mode, w.Status.Reason = Aborted, ""
				w.Status.Updated, w.Status.Changes = got.Status.Updated, change.Changes
			}
			if !reflect.DeepEqual(got, &w) {
				t.Errorf("read %d fails:\n got %s\nwant %s", n, outline(got), outline(&w))
			}
		}
	}
	if seen < 3 {
		t.Errorf("%d were not read", seen)
	}
}

// An unread search shows the parts that were read, and they fit together.
func TestUnread(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 14))
	n := newSearch(r, 9)
	u := n.unread()
	if u.ID != 9 || u.Definition != n.Definition || u.Status.Found != n.Status.Found || u.Status.Mode != Failed ||
		u.Status.Reason == "" || u.Used == nil || !u.Unread || len(u.Scripts)+len(u.Objects)+len(u.Ranges) > 0 {
		t.Errorf("all but the scripts: %s", outline(u))
	}
	n.Status = Status{}
	if u := n.unread(); u.Name != n.Name || u.Status.Done.Height != n.Start-1 || len(u.Status.Joined) != 1 {
		t.Errorf("the definition: %s", outline(u))
	}
	if u := (&Search{ID: 9}).unread(); u.Name != ID(9).String() || u.Status.Done.Height != -1 || u.Used == nil {
		t.Errorf("nothing: %s", outline(u))
	}
}

// A store that the disk does not read for a while is not opened, and is as it was the next time.
func TestUnreadStore(t *testing.T) {
	fs := faultfs.New()
	dir := filepath.Join(t.TempDir(), "searches")
	s := open(t, fs, dir)
	r := rand.New(rand.NewPCG(7, 13))
	n := newSearch(r, 1)
	change := ModeChange{Mode: Paused, Changes: n.Status.Changes + 1}
	err := errors.Join(s.Commit(&Change{Create: []*Search{n}}), s.SetModes(map[ID]ModeChange{1: change}), s.Close())
	if err != nil {
		t.Fatal(err)
	}
	reads := 0
	for failed := true; failed; reads++ {
		failed = false
		nth := faultfs.Nth(reads, syscall.EIO)
		fs.InjectReads(func(op faultfs.Op) error {
			err := nth(op)
			failed = failed || err != nil
			return err
		})
		s, err := Open(Options{FS: fs, Dir: dir, Network: [4]byte{1, 2, 3, 4}})
		fs.InjectReads(nil)
		if err != nil {
			if !errors.Is(err, syscall.EIO) {
				t.Errorf("read %d fails: %v", reads, err)
			}
			s = open(t, fs, dir)
		}
		if got := one(t, s); got.Name != n.Name || got.Status.Mode != Paused || got.Unread {
			t.Errorf("read %d fails: %s", reads, outline(got))
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if reads < 5 {
		t.Errorf("%d reads", reads)
	}
}
