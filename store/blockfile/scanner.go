package blockfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"github.com/seed61375155/trawl/internal/vfs"
)

const (
	// minBlockSize is the size of a block header; nothing shorter is a block.
	minBlockSize = 80
	// scanWindow is how many bytes a Scanner reads at a time.
	scanWindow = 256 << 10
)

// A Record is one block found in a file.
type Record struct {
	File   int    // number of the file; 0 when the file has no number
	Offset int64  // where the record starts: the position of its magic
	Block  []byte // the serialized block; the receiver's to keep
}

// A Scanner finds the blocks of a blk file, whatever lies between them. Like
// Core's import it looks for the next magic with a plausible length behind it,
// so that padding, garbage and a truncated last record are passed over. It does
// not look into the blocks. Its memory is bounded by the largest block.
type Scanner struct {
	src      io.ReaderAt
	size     int64
	magic    [4]byte
	key      Key
	maxBlock int64
	pos      int64 // where to look next

	window    []byte // decoded bytes of the file from windowPos
	windowPos int64
}

// NewScanner scans size bytes of src. Blocks of more than maxBlock bytes, as a
// rule [MaxBlockSize], are taken for garbage.
func NewScanner(src io.ReaderAt, size int64, magic [4]byte, key Key, maxBlock int) *Scanner {
	return &Scanner{src: src, size: size, magic: magic, key: key, maxBlock: int64(maxBlock)}
}

// Next returns the next block, [io.EOF] after the last.
func (s *Scanner) Next() (Record, error) {
	for {
		b, err := s.peek(s.pos, HeaderSize)
		if err != nil {
			return Record{}, err
		}
		if len(b) < HeaderSize {
			return Record{}, io.EOF
		}
		at := bytes.Index(b, s.magic[:])
		if at < 0 {
			s.pos += int64(len(b) - len(s.magic) + 1) // a magic may lie across the edge
			continue
		}
		if s.pos += int64(at); len(b)-at < HeaderSize {
			continue
		}
		start, length := s.pos, int64(binary.LittleEndian.Uint32(b[at+4:]))
		if length < minBlockSize || length > s.maxBlock || start+HeaderSize+length > s.size {
			s.pos++
			continue
		}
		if b, err = s.peek(start, int(HeaderSize+length)); err != nil {
			return Record{}, err
		}
		s.pos += HeaderSize + length
		return Record{Offset: start, Block: bytes.Clone(b[HeaderSize : HeaderSize+length])}, nil
	}
}

// peek returns the decoded bytes from off on: at least n, or all to the end of
// the file. They are valid until the next call.
func (s *Scanner) peek(off int64, n int) ([]byte, error) {
	from := off - s.windowPos
	if from >= 0 && from+int64(n) <= int64(len(s.window)) {
		return s.window[from:], nil
	}
	want := min(int64(max(n, scanWindow)), s.size-off)
	if int64(cap(s.window)) < want {
		s.window = make([]byte, want)
	}
	s.window, s.windowPos = s.window[:want], off
	got, err := s.src.ReadAt(s.window, off)
	if err != nil && !errors.Is(err, io.EOF) {
		s.window = s.window[:0]
		return nil, err
	}
	if int64(got) < want { // the file shrank
		s.size, s.window = off+int64(got), s.window[:got]
	}
	s.key.XOR(s.window, off)
	return s.window, nil
}

// ScanFile iterates over the blocks of one file, with the key of the xor.dat
// beside it, if there is one. An error ends the iteration.
func ScanFile(path string, magic [4]byte, maxBlock int) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		if _, err := scanFile(vfs.OS, path, 0, magic, maxBlock, yield); err != nil {
			yield(Record{}, fmt.Errorf("scan %s: %w", path, err))
		}
	}
}

// ScanDir iterates over the blocks of all blk files of a directory in the order
// of their numbers. An error ends the iteration.
func ScanDir(disk vfs.FS, dir string, magic [4]byte, maxBlock int) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		numbers, err := Blocks.Numbers(disk, dir)
		if err != nil {
			yield(Record{}, err)
			return
		}
		for _, n := range numbers {
			more, err := scanFile(disk, Blocks.Path(dir, n), n, magic, maxBlock, yield)
			if err != nil {
				yield(Record{}, fmt.Errorf("scan %s: %w", Blocks.Path(dir, n), err))
				return
			}
			if !more {
				return
			}
		}
	}
}

// scanFile yields the blocks of one file; more is false when the receiver has
// had enough.
func scanFile(
	disk vfs.FS, path string, number int, magic [4]byte, maxBlock int, yield func(Record, error) bool,
) (more bool, err error) {
	key, err := LoadKey(disk, filepath.Dir(path))
	if err != nil {
		return false, err
	}
	f, err := disk.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	s := NewScanner(f, info.Size(), magic, key, maxBlock)
	for {
		record, err := s.Next()
		if errors.Is(err, io.EOF) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		record.File = number
		if !yield(record, nil) {
			return false, nil
		}
	}
}
