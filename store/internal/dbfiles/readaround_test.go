package dbfiles

import (
	"bytes"
	"crypto/rand"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed61375155/trawl/internal/vfs"
)

// fakePages has what was asked for, and what is there from the beginning.
type fakePages struct {
	all   bool
	asked []int64
	looks int
}

func (p *fakePages) holds(off int64) bool {
	p.looks++
	return p.all || slices.Contains(p.asked, off/around*around)
}

func (p *fakePages) request(off, size int64) {
	if size != around {
		panic("another size")
	}
	p.asked = append(p.asked, off)
}

func openTable(t *testing.T, size int) (*table, []byte) {
	t.Helper()
	content := make([]byte, size)
	_, _ = rand.Read(content)
	path := filepath.Join(t.TempDir(), "000001.ldb")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := vfs.OS.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return &table{File: f, pages: &fakePages{}}, content
}

// The bytes around a block are read with the block, once.
func TestReadsAround(t *testing.T) {
	t.Parallel()
	f, content := openTable(t, 5*around/2)
	pages := &fakePages{}
	f.pages = pages
	for _, off := range []int64{around + 5, around, 2*around - 1, 0, 4096, 2*around + 7} {
		b := make([]byte, 100)
		if _, err := f.ReadAt(b, off); err != nil || !bytes.Equal(b, content[off:off+100]) {
			t.Fatalf("at %d: %v", off, err)
		}
	}
	if want := []int64{around, 0, 2 * around}; !slices.Equal(pages.asked, want) {
		t.Errorf("asked for %d, want %d", pages.asked, want)
	}
	if _, err := f.ReadAt(make([]byte, around), 5); err != nil || len(pages.asked) != 3 {
		t.Errorf("a long read: %v, asked for %d", err, pages.asked)
	}
}

// Memory that holds nothing is not asked for more than its share.
func TestReadsNotAroundInVain(t *testing.T) {
	t.Parallel()
	f, _ := openTable(t, 1)
	asked := 0
	for off := range int64(10 * maxMisses) {
		if f.missing(off * around) {
			asked++
		}
	}
	if asked != maxMisses {
		t.Errorf("asked %d times, want %d", asked, maxMisses)
	}
	f.pages = &fakePages{all: true}
	for off := range int64(maxMisses + 1) {
		f.missing(off)
	}
	f.hits.Store(0)
	f.pages = &fakePages{}
	if !f.missing(0) {
		t.Error("what lies around is not asked for although much was in memory again")
	}
}

// For a table that is wholly in memory the system is asked seldom, and the loss of
// its pages is noticed.
func TestWarmTableIsLeftAlone(t *testing.T) {
	t.Parallel()
	f, _ := openTable(t, 1)
	pages := &fakePages{all: true}
	f.pages = pages
	const reads = warm + 100*seldom
	for off := range int64(reads) {
		if f.missing(off) {
			t.Fatal("what is in memory is asked for")
		}
	}
	if pages.looks != warm+100 {
		t.Errorf("asked about %d times, want %d", pages.looks, warm+100)
	}
	pages.all = false
	noticed := 0
	for ; !f.missing(int64(noticed)); noticed++ {
	}
	if noticed >= seldom {
		t.Errorf("noticed at the %dth read that nothing is in memory", noticed)
	}
}

// A file's pages are those of the system: what was read can be read again without the
// disk.
func TestFilePages(t *testing.T) {
	t.Parallel()
	f, content := openTable(t, 3*around)
	f.pages = filePages{file: f.File}
	for off := int64(0); off < 3*around; off += 4096 {
		b := make([]byte, 4096)
		if _, err := f.ReadAt(b, off); err != nil || !bytes.Equal(b, content[off:off+4096]) {
			t.Fatalf("at %d: %v", off, err)
		}
		if !f.pages.holds(off) {
			t.Fatalf("at %d: not in memory", off)
		}
	}
}
