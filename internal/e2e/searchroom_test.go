package e2e_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/e2e"
)

// The disk room of a removed search is free within a minute, without a further
// request.
func TestRemovedSearchFreesRoom(t *testing.T) {
	e2e.SkipUnderRace(t, "it takes too long")
	t.Parallel()
	searches, blocks, outputs := 16, 10, 4000
	if count(t, "TRAWL_SOAK", 4) >= 100 {
		searches, blocks = 50, 20
	}
	d := e2e.Start(t, e2e.Config{Chain: "regtest", Args: []string{"-blockfilterindex=1", "-searchroom=1"}})
	denseBlocks(t, d, blocks, outputs)
	var kept struct{ ID string }
	d.Get(&kept, "createsearch", []string{everybodys}, map[string]any{"name": "kept"})
	ids := make([]string, searches)
	for i := range ids {
		var made struct{ ID string }
		d.Get(&made, "createsearch", []string{everybodys}, map[string]any{"follow": true})
		ids[i] = made.ID
	}
	found := 0
	for _, id := range append(ids, kept.ID) {
		e2e.Eventually(t, 5*time.Minute, "all is found", func() bool {
			var st searchState
			d.Get(&st, "getsearch", id)
			found = st.Found
			return st.State == "following" || st.State == "done"
		})
	}
	dir := filepath.Join(d.NetDir, "searches")
	before := sizeOfDir(t, dir)
	began := time.Now()
	for _, id := range ids {
		d.Get(nil, "removesearch", id)
	}
	// The entries of one search stay, and the database keeps a journal.
	const journal = 10 << 20
	most := before/int64(searches+1)*3/2 + journal
	size := before
	e2e.Eventually(t, time.Minute, "the room is free", func() bool {
		size = sizeOfDir(t, dir)
		return size <= most
	})
	t.Logf("%d MB with %d entries of each of %d searches, %d MB %v after they were removed",
		before>>20, found, searches+1, size>>20, time.Since(began).Round(time.Millisecond))
	if before < most*4/3 {
		t.Errorf("%d bytes were too few: %d may be left", before, most)
	}
	var st searchState
	d.Get(&st, "getsearch", kept.ID)
	if read := readEntries(t, d, kept.ID); st.Found != found || read != found {
		t.Errorf("%d of %d entries of the one that was kept", read, st.Found)
	}
}

// readEntries returns how many entries the list of a search has.
func readEntries(t *testing.T, d *e2e.Daemon, id string) (n int) {
	t.Helper()
	for p := (searchPage{More: true}); p.More; n += len(p.Entries) {
		cursor := p.Cursor
		p = searchPage{}
		d.Get(&p, "getsearchentries", id, cursor, 10_000)
	}
	return n
}

// sizeOfDir returns how many bytes the files below a folder have, in which files come and go.
func sizeOfDir(t *testing.T, dir string) (sum int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			if info, err := entry.Info(); err == nil {
				sum += info.Size()
			}
		}
		if os.IsNotExist(err) {
			return nil
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sum
}
