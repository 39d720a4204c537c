package segment

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"

	"github.com/seed61375155/trawl/internal/vfs"
)

// A segment file is a header, the filters back to back, and padding:
//
//	0   8   magic
//	8   4   format version, little-endian
//	12  4   segment number, little-endian
//	16  44  zero
//	60  4   CRC-32 (IEEE) of the 60 bytes before, little-endian
//	64      filters
//	end 64  zero
//
// The padding lets a decoder read whole words past the last filter. Each
// append writes it anew, so that a file always has its exact size.
const (
	headerSize = 64
	padding    = 64
)

var (
	magic       = []byte("TRAWLFLT")
	zeroPadding = make([]byte, padding)
)

func appendHeader(b []byte, number uint32) []byte {
	start := len(b)
	b = append(b, magic...)
	b = binary.LittleEndian.AppendUint32(b, formatVersion)
	b = binary.LittleEndian.AppendUint32(b, number)
	b = append(b, make([]byte, headerSize-4-(len(b)-start))...)
	return binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b[start:]))
}

// checkHeader reads and compares the header of a segment.
func checkHeader(r io.Reader, number uint32) error {
	var got [headerSize]byte
	if _, err := io.ReadFull(r, got[:]); err != nil {
		return short(err)
	}
	if !bytes.Equal(got[:], appendHeader(nil, number)) {
		return errHeader
	}
	return nil
}

// short turns the ends of a file that is too short into errSize.
func short(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errSize
	}
	return err
}

// tail is the segment file that grows.
type tail struct {
	file     vfs.File
	number   uint32
	end      int64 // of the last filter
	capacity int64 // size it may reach, as long as its mapping
	buf      []byte
}

// createTail makes a segment file without filters.
func createTail(fs vfs.FS, dir string, number uint32, capacity int64) (*tail, error) {
	f, err := fs.OpenFile(segmentPath(dir, number), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	if _, err := f.Write(append(appendHeader(nil, number), zeroPadding...)); err != nil {
		f.Close()
		return nil, err
	}
	return &tail{file: f, number: number, end: headerSize, capacity: capacity}, nil
}

// openTail opens the last segment for appending. It returns nil for a file
// that is damaged: it gets no more filters, so that what is appended now does
// not share its fate.
func openTail(fs vfs.FS, dir string, info segmentInfo, capacity int64) (*tail, error) {
	f, err := fs.OpenFile(segmentPath(dir, info.number), os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	stat, err := f.Stat()
	if err != nil || stat.Size() != info.size() || checkHeader(f, info.number) != nil {
		f.Close()
		return nil, err
	}
	return &tail{file: f, number: info.number, end: info.end, capacity: capacity}, nil
}

// cut ends a segment file with padding after the filter that ends at end.
func cut(f vfs.File, end int64) error {
	if err := f.Truncate(end); err != nil {
		return err
	}
	return f.Truncate(end + padding)
}

// fits reports whether the tail has room for a filter after n more bytes. A
// nil tail has none.
func (t *tail) fits(n, length int) bool {
	return t != nil && t.end+int64(n)+int64(length)+padding <= t.capacity
}

// write appends the filters of entries in one write.
func (t *tail) write(entries []Entry) error {
	t.buf = t.buf[:0]
	for i := range entries {
		t.buf = append(t.buf, entries[i].Filter...)
	}
	n := len(t.buf)
	t.buf = append(t.buf, zeroPadding...)
	if _, err := t.file.WriteAt(t.buf, t.end); err != nil {
		return fmt.Errorf("write filter segment %d: %w", t.number, err)
	}
	t.end += int64(n)
	return nil
}

// filesLike returns the paths of the files in a directory whose names match a
// pattern. Unlike filepath.Glob it takes the directory literally.
func filesLike(fs vfs.FS, dir, pattern string) ([]string, error) {
	entries, err := fs.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, entry := range entries {
		matched, err := filepath.Match(pattern, entry.Name())
		if err != nil {
			return nil, err
		}
		if matched {
			paths = append(paths, filepath.Join(dir, entry.Name()))
		}
	}
	return paths, nil
}

// openFile opens a file to read it.
func openFile(fs vfs.FS, path string) (vfs.File, error) { return fs.OpenFile(path, os.O_RDONLY, 0) }

// closeFile closes a file, if there is one.
func closeFile(f vfs.File) {
	if f != nil {
		f.Close()
	}
}

// readAt fills b from a file, if there is one.
func readAt(f vfs.File, b []byte, at int64) error {
	if f == nil {
		return errMissing
	}
	_, err := f.ReadAt(b, at)
	return err
}

// syncFile flushes a file to the disk. A missing file has nothing to flush.
func syncFile(fs vfs.FS, path string) error {
	f, err := fs.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
