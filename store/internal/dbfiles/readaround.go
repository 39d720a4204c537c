package dbfiles

import (
	"sync/atomic"

	"github.com/seed61375155/trawl/internal/vfs"
)

const (
	// around is how many bytes are read from the disk where a block of a table, of some
	// 4 KiB, is not in memory. A disk takes hardly longer for them, and what lies beside a
	// block will be looked up as well while the tables are not in memory as a whole.
	around = 128 << 10

	// maxMisses is how many more reads of a table may have found nothing in memory than
	// something, until what lies around is left alone: memory does not hold it, then.
	maxMisses = 100

	// warm is how many reads in a row found their block in memory until it is taken to
	// hold the table: then only one in seldom asks.
	warm, seldom = 64, 16
)

// pageCache is what the system has of a file in memory.
type pageCache interface {
	// holds reports whether the page that holds the byte at off can be read without the
	// disk. It does where the system cannot tell.
	holds(off int64) bool

	// request has the system begin to read a part.
	request(off, size int64)
}

// table is a table that is open for reading, at random places as a rule.
type table struct {
	vfs.File

	pages  pageCache
	misses atomic.Int32 // less hits, at least 0
	hits   atomic.Int32 // since the last miss
}

// ReadAt implements [io.ReaderAt].
func (t *table) ReadAt(p []byte, off int64) (int, error) {
	if len(p) < around && t.missing(off) {
		t.pages.request(off/around*around, around)
	}
	return t.File.ReadAt(p, off)
}

// missing counts a read at off, and reports whether what lies around is worth reading.
func (t *table) missing(off int64) bool {
	hits := t.hits.Add(1)
	if hits == warm {
		t.misses.Store(0)
	} else if hits > warm && hits%seldom != 0 {
		return false
	}
	if t.pages.holds(off) {
		if t.misses.Load() > 0 {
			t.misses.Add(-1)
		}
		return false
	}
	t.hits.Store(0)
	return t.misses.Load() < 2*maxMisses && t.misses.Add(1) <= maxMisses
}
