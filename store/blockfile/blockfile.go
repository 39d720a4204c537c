// Package blockfile reads and writes the flat files in which Bitcoin Core
// keeps blocks and undo data: blk?????.dat and rev?????.dat.
//
// A file is a run of records. A record of a blk file is the network's magic (4
// bytes), the block's length (uint32, little endian) and the block. A record of
// a rev file is the magic, the length of the undo data, the undo data and a
// checksum of 32 bytes that the length does not count. After the last record
// there is padding or the rest of an interrupted write.
//
// All bytes of a file are XORed with a key of 8 bytes, kept in xor.dat beside
// the files and applied by position (Core v28, node/blockstorage.cpp). A key of
// zeros leaves the bytes unchanged.
//
// The package knows bytes and positions only. Which block lies where is the
// caller's to remember; blocks are not parsed.
package blockfile

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/seed61375155/trawl/internal/vfs"
)

const (
	// MaxFileSize is the size in bytes that a file stays below (Core's
	// MAX_BLOCKFILE_SIZE).
	MaxFileSize = 128 << 20
	// FastPruneFileSize takes the place of MaxFileSize under -fastprune, so
	// that tests get many files out of few blocks.
	FastPruneFileSize = 64 << 10
	// HeaderSize is the number of bytes before the payload of a record: magic
	// and length.
	HeaderSize = 8
	// MaxBlockSize is the largest serialized block of Bitcoin in bytes (Core's
	// MAX_BLOCK_SERIALIZED_SIZE), the usual limit for a [Scanner].
	MaxBlockSize = 4_000_000
)

// ErrCorrupt reports bytes that cannot be what was written: a record without
// its magic, a wrong length or checksum, or undo data that does not parse.
var ErrCorrupt = errors.New("corrupt block file")

// A Kind is one of the two series of files.
type Kind string

// The two kinds of files.
const (
	Blocks Kind = "blk"
	Undo   Kind = "rev"
)

// Path returns the path of the file of this kind with the given number:
// blk00000.dat for 0.
func (k Kind) Path(dir string, number int) string {
	return filepath.Join(dir, fmt.Sprintf("%s%05d.dat", k, number))
}

// Numbers lists the numbers of the files of this kind in dir, ascending. A
// missing directory has none.
func (k Kind) Numbers(disk vfs.FS, dir string) ([]int, error) {
	entries, err := disk.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list %s files: %w", k, err)
	}
	var numbers []int
	for _, entry := range entries {
		var n int
		_, err := fmt.Sscanf(entry.Name(), string(k)+"%d.dat", &n)
		if err == nil && n >= 0 && k.Path(dir, n) == filepath.Join(dir, entry.Name()) {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

// Next returns where a record of need bytes, its header included, goes after
// the first end bytes of a file. It goes behind these bytes, or at the start of
// the next file if the file would reach limit. A record that no file can hold
// gets its own file.
func Next(number int, end, need, limit int64) (file int, offset int64) {
	if end > 0 && end+need >= limit {
		return number + 1, 0
	}
	return number, end
}
