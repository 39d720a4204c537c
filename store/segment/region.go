package segment

import (
	"fmt"
	"runtime/debug"
	"sync/atomic"

	"github.com/seed61375155/trawl/internal/vfs"
)

// region reads one segment file: through a mapping that grows with the file
// up to the size given at the start, else with a read for every filter.
//
// It starts with one reference, the store's; the mapping ends with the last.
type region struct {
	fs     vfs.FS
	number uint32
	path   string
	mem    []byte // nil: no mapping
	refs   atomic.Int64
}

// newRegion maps a segment file. Without a mapping, for want of the file or
// of the means, reads go to the file and say what is wrong.
func newRegion(fs vfs.FS, dir string, number uint32, size int64) *region {
	r := &region{fs: fs, number: number, path: segmentPath(dir, number)}
	r.refs.Store(1)
	if f, err := openFile(fs, r.path); err == nil {
		r.mem = mmap(f, size)
		f.Close() // the mapping holds the file
	}
	return r
}

// bytes returns a filter, with room for padding bytes behind it that can be
// read. It must run under [Guard].
func (r *region) bytes(s *slot) ([]byte, error) {
	if r.mem != nil {
		return r.mapped(s), nil
	}
	start, end := int64(s.offset), s.end()
	f, err := openFile(r.fs, r.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	filter := make([]byte, end-start+padding)
	if _, err := f.ReadAt(filter[:end-start], start); err != nil {
		return nil, short(err)
	}
	return filter[: end-start : len(filter)], nil
}

// mapped is bytes of a region that has a mapping.
func (r *region) mapped(s *slot) []byte {
	end := s.end()
	return r.mem[s.offset : end : end+padding]
}

func (r *region) acquire() { r.refs.Add(1) }

func (r *region) release() {
	if r.refs.Add(-1) == 0 && r.mem != nil {
		munmap(r.mem)
	}
}

// Guard calls read and returns an [ErrFault] if read touches mapped memory that
// cannot be read. The bytes of [View.Filters] are checked when they are
// returned, but a file may be cut afterwards. Other panics pass through.
func Guard(read func()) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch r := recover().(type) {
		case nil:
		case interface{ Addr() uintptr }: // a runtime.Error of a memory fault
			err = fmt.Errorf("%w: address %#x", ErrFault, r.Addr())
		default:
			panic(r)
		}
	}()
	read()
	return nil
}
