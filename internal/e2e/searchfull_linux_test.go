package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/e2e"
)

// TestFullDiskSearches fills the disk under searches, which is not the chain's disk. The searches pause and tell the
// reason, before a write fails and after, and the node lives. They go on by themselves when there is room. No entry
// is lost or told twice, also through a kill while the disk is full.
func TestFullDiskSearches(t *testing.T) {
	disk := newDisk(t, 160)
	ballast := filepath.Join(disk.dir, "ballast")
	dir := t.TempDir()
	net := filepath.Join(dir, "regtest")
	if err := os.MkdirAll(net, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(disk.folder("searches"), filepath.Join(net, "searches")); err != nil {
		t.Fatal(err)
	}
	d := e2e.Start(t, e2e.Config{Chain: "regtest", Dir: dir, Args: []string{"-blockfilterindex=1", "-searchroom=32"}})
	const blocks, outputs = 3, 3000
	denseBlocks(t, d, blocks, outputs)
	f := &fullDisk{T: t, d: d, found: blocks*outputs + 100 + 3*blocks}
	f.create("first")
	f.follows()

	fill(t, ballast, disk.dir, 20<<20)
	f.pauses("Disk space is too low")
	f.goOn(ballast)

	// The room is looked at before a round, and is taken by others meanwhile.
	d.Stop()
	d = e2e.Start(t, e2e.Config{Chain: "regtest", Dir: dir, Args: []string{"-blockfilterindex=1", "-searchroom=1"}})
	f.d = d
	f.follows()
	for range count(t, "TRAWL_SOAK", 4)/50 + 2 {
		fill(t, ballast, disk.dir, 3<<19)
		for _, name := range []string{"a", "b", "c", "d"} {
			f.create(name + time.Now().String())
		}
		f.pauses("")
		f.goOn(ballast)
		fill(t, ballast, disk.dir, 3<<19)
		f.create("last" + time.Now().String())
		f.pauses("")
		d.Kill() // started on a full disk it says that and ends
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		d.Restart()
		f.follows()
	}
}

type fullDisk struct {
	*testing.T
	d     *e2e.Daemon
	ids   []string
	found int // by each
}

// create makes a search, if the disk takes it.
func (f *fullDisk) create(name string) {
	f.Helper()
	var made struct{ ID string }
	options := map[string]any{"follow": true, "name": name}
	if err := f.d.Call(f.Context(), &made, "createsearch", []string{everybodys}, options); err != nil {
		if !strings.Contains(err.Error(), "The store of searches cannot be read or written") {
			f.Error(err)
		}
		return
	}
	f.ids = append(f.ids, made.ID)
}

// pauses gives all something to do, and waits until some search pauses and says why.
func (f *fullDisk) pauses(why string) {
	f.Helper()
	f.d.Get(nil, "generatetodescriptor", 1, everybodys) // the node lives
	f.found++
	e2e.Eventually(f, time.Minute, "a search pauses", func() bool {
		var list []searchState
		f.d.Get(&list, "listsearches")
		for _, s := range list {
			if s.State == "failed" {
				f.Fatalf("%+v", s)
			}
			if s.State == "paused" && s.Error != "" && strings.Contains(s.Error, why) {
				return true
			}
		}
		return false
	})
}

// goOn makes room and waits until all have everything, once.
func (f *fullDisk) goOn(ballast string) {
	f.Helper()
	if err := os.Remove(ballast); err != nil {
		f.Fatal(err)
	}
	f.follows()
}

func (f *fullDisk) follows() {
	f.Helper()
	for _, id := range f.ids {
		e2e.Eventually(f, time.Minute, "the search goes on", func() bool {
			var s searchState
			f.d.Get(&s, "getsearch", id)
			return s.State == "following" && s.Found == f.found
		})
		var p searchPage
		seen := map[string]bool{}
		for p.More = true; p.More; {
			cursor := p.Cursor
			p = searchPage{}
			f.d.Get(&p, "getsearchentries", id, cursor, 10_000)
			for _, e := range p.Entries {
				seen[fmt.Sprint(e["txid"], e["vout"], e["spend_txid"], e["spend_vin"])] = true
			}
		}
		if len(seen) != f.found {
			f.Errorf("%d different entries of %d", len(seen), f.found)
		}
	}
}
