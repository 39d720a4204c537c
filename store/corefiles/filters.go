package corefiles

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// filterDir is where a Core keeps its filters, below the directory of its network.
const filterDir = "indexes/blockfilter/basic"

const (
	// MaxFilter bounds a filter in bytes: the elements of a block of 4 MB have fewer.
	MaxFilter = 4 << 20

	// maxFilters bounds how many filters are known, in 16 bytes each.
	maxFilters = 1 << 23

	maxFilterHeader = chainhash.HashSize + 5 // of a record: block, CompactSize of a length up to MaxFilter
)

// A FilterDir is the directory of files in which a Core keeps the block filters of its
// index. A record has a block's hash and its filter; nothing in the files says that the
// filter is right, or that it is of a block of the active chain. It is safe for
// concurrent use.
type FilterDir struct {
	dir Dir // for its root alone

	refresh sync.Mutex // one Refresh at a time
	mu      sync.RWMutex
	stamps  map[int]stamp
	places  []filterPlace // by prefix; of equal ones the last written first
}

// A filterPlace is where a filter is.
type filterPlace struct {
	prefix uint64 // of the block's hash
	offset uint32 // of the record
	file   int32
}

// OpenFilters opens the filters of the Core whose network has its files in dir.
// [FilterDir.Refresh] looks through them. Errors are those of the file system: without
// an index they are [fs.ErrNotExist].
func OpenFilters(dir string) (*FilterDir, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	if _, err := root.Stat(filterDir); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return &FilterDir{dir: Dir{root: root}}, nil
}

// Close closes the directory.
func (d *FilterDir) Close() error { return d.dir.Close() }

func filterFile(number int) string { return fmt.Sprintf("fltr%05d.dat", number) }

// Refresh looks through the files again where one of them has changed, and returns of how
// many filters the place is known.
func (d *FilterDir) Refresh(ctx context.Context) (filters int, err error) {
	d.refresh.Lock()
	defer d.refresh.Unlock()
	stamps, err := d.look()
	if err != nil {
		return 0, err
	}
	d.mu.RLock()
	same := maps.Equal(stamps, d.stamps)
	filters = len(d.places)
	d.mu.RUnlock()
	if same {
		return filters, nil
	}
	var places []filterPlace
	for _, number := range slices.Sorted(maps.Keys(stamps)) {
		if places, err = d.walk(ctx, number, places); err != nil {
			return 0, fmt.Errorf("%s: %w", filterFile(number), err)
		}
	}
	slices.SortStableFunc(places, func(a, b filterPlace) int {
		switch {
		case a.prefix != b.prefix && a.prefix < b.prefix:
			return -1
		case a.prefix != b.prefix:
			return 1
		case a.file != b.file:
			return int(b.file - a.file)
		}
		return int(int64(b.offset) - int64(a.offset))
	})
	d.mu.Lock()
	defer d.mu.Unlock()
	d.places, d.stamps = slices.Clip(places), stamps
	return len(places), nil
}

// look returns the files that there are.
func (d *FilterDir) look() (map[int]stamp, error) {
	folder, err := d.dir.root.Open(filterDir)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	names, err := folder.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	stamps := map[int]stamp{}
	for _, name := range names {
		digits, ok := strings.CutPrefix(strings.TrimSuffix(name, ".dat"), "fltr")
		n, err := strconv.Atoi(digits)
		if !ok || err != nil || n < 0 || filterFile(n) != name {
			continue
		}
		info, err := d.dir.root.Lstat(path.Join(filterDir, name))
		if err == nil && info.Mode().IsRegular() {
			stamps[n] = stampOf(info)
		}
	}
	return stamps, nil
}

// walk appends the places of a file's filters. It stops at bytes that are no record:
// the last file ends with zeros.
func (d *FilterDir) walk(ctx context.Context, number int, places []filterPlace) ([]filterPlace, error) {
	file, info, err := d.open(number)
	if errors.Is(err, fs.ErrNotExist) {
		return places, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	for at := int64(0); at < min(info.Size(), 1<<32) && len(places) < maxFilters; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		block, begin, end, err := readFilterHeader(file, at, info.Size())
		if err != nil {
			return nil, err
		}
		if begin == 0 {
			break
		}
		places = append(places, filterPlace{binary.LittleEndian.Uint64(block[:]), uint32(at), int32(number)})
		at = end
	}
	return places, nil
}

func (d *FilterDir) open(number int) (*os.File, os.FileInfo, error) {
	return d.dir.open(path.Join(filterDir, filterFile(number)))
}

// readFilterHeader reads the record at an offset: its block, and where its filter is.
// begin is 0 where there is none.
func readFilterHeader(file io.ReaderAt, at, size int64) (block chainhash.Hash, begin, end int64, err error) {
	var header [maxFilterHeader]byte
	n, err := file.ReadAt(header[:], at)
	if err != nil && !errors.Is(err, io.EOF) {
		return block, 0, 0, err
	}
	number := header[min(chainhash.HashSize, n):n]
	length, ok := compactSize(number)
	block = chainhash.Hash(header[:])
	if !ok || block == (chainhash.Hash{}) || length == 0 || length > MaxFilter {
		return block, 0, 0, nil
	}
	width := map[byte]int64{0xfd: 3, 0xfe: 5}
	begin = at + chainhash.HashSize + max(1, width[number[0]])
	if end = begin + int64(length); end > size {
		return block, 0, 0, nil
	}
	return block, begin, end, nil
}

// Filter returns the filter that was written last for a block, as it is on the wire.
//
// Errors: [ErrNotHere], those of the file system.
func (d *FilterDir) Filter(block *chainhash.Hash) ([]byte, error) {
	prefix := binary.LittleEndian.Uint64(block[:])
	d.mu.RLock()
	places := d.places
	d.mu.RUnlock()
	i := sort.Search(len(places), func(i int) bool { return places[i].prefix >= prefix })
	for ; i < len(places) && places[i].prefix == prefix; i++ {
		filter, err := d.read(places[i], block)
		if !errors.Is(err, ErrNotHere) {
			return filter, err
		}
	}
	return nil, fmt.Errorf("filter of block %v: %w", block, ErrNotHere)
}

// read reads the filter at a place, if it is of the block.
func (d *FilterDir) read(at filterPlace, block *chainhash.Hash) ([]byte, error) {
	file, info, err := d.open(int(at.file))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotHere
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	of, begin, end, err := readFilterHeader(file, int64(at.offset), info.Size())
	if err != nil || begin == 0 || of != *block {
		return nil, errors.Join(err, ErrNotHere)
	}
	filter := make([]byte, end-begin)
	if _, err := file.ReadAt(filter, begin); err != nil {
		return nil, err
	}
	return filter, nil
}
