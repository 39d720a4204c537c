package blockfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"

	"github.com/seed61375155/trawl/internal/vfs"
)

// Files is one series of files in a directory: all blk or all rev files.
// Reading is safe for concurrent use, also while a record is written.
type Files struct {
	disk  vfs.FS
	dir   string
	kind  Kind
	magic [4]byte
	key   Key
	read  handles

	mu    sync.Mutex
	out   vfs.File // the file written last; nil at first
	outNo int
	dirty []int // numbers of files written since the last Sync
	fresh bool  // a file was created since the last Sync
}

// NewFiles returns the files of one kind in dir, which must exist. The key is
// the directory's, from [InitKey] or [LoadKey].
func NewFiles(disk vfs.FS, dir string, kind Kind, magic [4]byte, key Key) *Files {
	return &Files{disk: disk, dir: dir, kind: kind, magic: magic, key: key}
}

// Read returns n bytes at offset of the given file. Bytes that do not exist are
// [ErrCorrupt]: the caller had a record there.
func (f *Files) Read(number int, offset int64, n int) ([]byte, error) {
	return f.readInto(nil, number, offset, n)
}

// readInto is Read into the memory of buf, which grows as needed. A nil buf
// stands for new memory.
func (f *Files) readInto(buf *[]byte, number int, offset int64, n int) ([]byte, error) {
	file, size, err := f.read.take(f.disk, number, func() string { return f.kind.Path(f.dir, number) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if err != nil {
		return nil, err
	}
	defer f.read.giveBack(file)
	if offset < 0 || n < 0 || offset+int64(n) > size { // also bounds the allocation
		return nil, fmt.Errorf("%w: %s ends before byte %d", ErrCorrupt, file.Name(), offset+int64(n))
	}
	var own []byte
	if buf == nil {
		buf = &own
	}
	*buf = slices.Grow((*buf)[:0], n)
	b := (*buf)[:n]
	if _, err := file.ReadAt(b, offset); err != nil {
		return nil, err
	}
	f.key.XOR(b, offset)
	return b, nil
}

// ReadRecord returns the record that starts at offset, its header checked and
// cut off: length bytes of payload and then trailer bytes (the checksum of undo
// data).
func (f *Files) ReadRecord(number int, offset int64, length, trailer int) ([]byte, error) {
	return f.ReadRecordInto(nil, number, offset, length, trailer)
}

// ReadRecordInto is ReadRecord into the memory of buf, which grows as needed. Reading
// many records, one after the other, takes memory once. If buf is nil, the record has
// its own memory.
func (f *Files) ReadRecordInto(buf *[]byte, number int, offset int64, length, trailer int) ([]byte, error) {
	record, err := f.readInto(buf, number, offset, HeaderSize+length+trailer)
	if err != nil {
		return nil, err
	}
	if [4]byte(record) != f.magic {
		return nil, fmt.Errorf("%w: no record at byte %d of %s", ErrCorrupt, offset, f.kind.Path(f.dir, number))
	}
	if size := binary.LittleEndian.Uint32(record[4:]); int64(size) != int64(length) {
		return nil, fmt.Errorf("%w: record at byte %d of %s has %d bytes instead of %d",
			ErrCorrupt, offset, f.kind.Path(f.dir, number), size, length)
	}
	return record[HeaderSize:], nil
}

// Size returns the length of a file in bytes, 0 when there is none.
func (f *Files) Size(number int) (int64, error) {
	info, err := f.disk.Stat(f.kind.Path(f.dir, number))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// WriteRecord writes a record at offset and returns where the next one goes.
// trailer follows the payload and is not counted in the record's length. The
// operating system has the bytes when it returns; [Files.Sync] makes them
// durable. Earlier bytes at that place are overwritten.
func (f *Files) WriteRecord(number int, offset int64, payload, trailer []byte) (end int64, err error) {
	record := make([]byte, 0, HeaderSize+len(payload)+len(trailer))
	record = append(record, f.magic[:]...)
	record = binary.LittleEndian.AppendUint32(record, uint32(len(payload)))
	record = append(record, payload...)
	record = append(record, trailer...)
	f.key.XOR(record, offset)

	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.openForWrite(number); err != nil {
		return 0, err
	}
	if _, err := f.out.WriteAt(record, offset); err != nil {
		return 0, err
	}
	if !slices.Contains(f.dirty, number) {
		f.dirty = append(f.dirty, number)
	}
	return offset + int64(len(record)), nil
}

// Create makes an empty file, where it is not there. [Files.Sync] makes its name durable.
func (f *Files) Create(number int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.openForWrite(number)
}

// openForWrite makes f.out the file with the given number.
func (f *Files) openForWrite(number int) error {
	if f.out != nil && f.outNo == number {
		return nil
	}
	path := f.kind.Path(f.dir, number)
	if _, err := f.disk.Stat(path); errors.Is(err, fs.ErrNotExist) {
		f.fresh = true
	}
	out, err := f.disk.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if f.out != nil {
		f.out.Close()
	}
	f.out, f.outNo = out, number
	return nil
}

// Sync makes everything that was written durable, and the names of new files.
func (f *Files) Sync() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.dirty) > 0 {
		if err := f.syncFile(f.dirty[0]); err != nil {
			return fmt.Errorf("sync %s: %w", f.kind.Path(f.dir, f.dirty[0]), err)
		}
		f.dirty = f.dirty[1:]
	}
	if f.fresh {
		if err := f.disk.SyncDir(f.dir); err != nil {
			return fmt.Errorf("sync %s: %w", f.dir, err)
		}
		f.fresh = false
	}
	return nil
}

// syncFile makes one file durable.
func (f *Files) syncFile(number int) error {
	if f.out != nil && f.outNo == number {
		return f.out.Sync()
	}
	file, err := f.disk.OpenFile(f.kind.Path(f.dir, number), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// Remove deletes a file. The error for a missing file is fs.ErrNotExist.
func (f *Files) Remove(number int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.out != nil && f.outNo == number {
		f.out.Close()
		f.out = nil
	}
	f.dirty = slices.DeleteFunc(f.dirty, func(n int) bool { return n == number })
	err := f.disk.Remove(f.kind.Path(f.dir, number))
	f.read.drop(func(n int) bool { return n == number }) // or a reader opens it again just before it goes
	return err
}

// Close releases the files that are open. It does not sync.
func (f *Files) Close() error {
	f.read.drop(func(int) bool { return true })
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.out == nil {
		return nil
	}
	err := f.out.Close()
	f.out = nil
	return err
}
