package blockfile

import (
	"io/fs"
	"os"
	"slices"
	"sync"

	"github.com/seed61375155/trawl/internal/vfs"
)

// maxHandles is how many files stay open for readers.
const maxHandles = 8

// handles are files that stay open: to open one costs several times as much as to read a
// transaction. A file that is dropped while it is read is closed after its last reader.
type handles struct {
	mu   sync.Mutex
	open []*handle // the one used last at the end
}

// A handle is a file that is open for reading.
type handle struct {
	vfs.File
	path   string
	number int
	info   fs.FileInfo // when it was opened
	users  int         // the list is one
}

// take returns a file, to be given back, and its size. A file that was removed, or that another
// has taken the place of, is not read any more.
func (h *handles) take(disk vfs.FS, number int, path func() string) (*handle, int64, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := slices.IndexFunc(h.open, func(o *handle) bool { return o.number == number })
	if i >= 0 {
		found := h.open[i]
		h.open = slices.Delete(h.open, i, i+1)
		info, err := disk.Stat(found.path)
		if err == nil && os.SameFile(info, found.info) {
			h.open = append(h.open, found)
			found.users++
			return found, info.Size(), nil
		}
		found.leave()
	}
	opened := &handle{number: number, path: path(), users: 2}
	var err error
	if opened.File, err = disk.OpenFile(opened.path, os.O_RDONLY, 0); err != nil {
		return nil, 0, err
	}
	if opened.info, err = opened.Stat(); err != nil {
		opened.Close()
		return nil, 0, err
	}
	if len(h.open) == maxHandles {
		h.open[0].leave()
		h.open = slices.Delete(h.open, 0, 1)
	}
	h.open = append(h.open, opened)
	return opened, opened.info.Size(), nil
}

// giveBack ends the use of a file.
func (h *handles) giveBack(used *handle) {
	h.mu.Lock()
	defer h.mu.Unlock()
	used.leave()
}

// leave is called with the lock.
func (h *handle) leave() {
	if h.users--; h.users == 0 {
		h.Close()
	}
}

// drop closes the files for which which is true.
func (h *handles) drop(which func(number int) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open = slices.DeleteFunc(h.open, func(o *handle) bool {
		if which(o.number) {
			o.leave()
			return true
		}
		return false
	})
}
