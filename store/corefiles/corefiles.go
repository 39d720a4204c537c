// Package corefiles reads the block and undo files of a Bitcoin Core that runs beside
// the node, as they are, without its database.
//
// Nothing is written and nothing locked: files are opened to be read, and only regular
// ones, by no link that leads out of the directory. Core writes to them at any time, and
// after a crash it writes other blocks over what was finished before. Therefore a pair
// of files counts only while it is finished and its last records end where the files do.
// It is walked again when one of the files changes.
//
// The caller has to compare a block that is read with its header. This package makes sure
// that undo data belongs to its block. The checksum alone cannot, since it fits every child
// of the block's parent. Undo data is given only where in a finished pair a single record
// fits the block, and no other block of the pair with as many transactions has that parent.
// Everything else has to be asked for.
package corefiles

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/cores"
	"github.com/seed61375155/trawl/store/blockfile"
)

var (
	// ErrNotHere reports a block, or what it spends, that no finished file has for sure:
	// it has to be asked for.
	ErrNotHere = errors.New("it is in no finished file")

	// ErrNotRegular reports something in the place of a file that is none.
	ErrNotRegular = errors.New("it is no regular file")
)

const keyFile = "xor.dat"

// Options say whose files are read.
type Options struct {
	Dir      string // with blk, rev and xor.dat
	Magic    [4]byte
	MaxBlock int // serialized size of the largest block in bytes
}

// A Dir is a directory of files. It is safe for concurrent use.
type Dir struct {
	o    Options
	root *os.Root
	key  blockfile.Key

	refresh sync.Mutex // one Refresh at a time
	mu      sync.RWMutex
	pairs   map[int]*pair
	blocks  map[chainhash.Hash]place
}

// A place is where a block is: its pair, and its index there.
type place struct {
	pair  *pair
	index int32
}

// Open opens a directory. [Dir.Refresh] looks through it. Errors are those of the file
// system, [ErrNotRegular], and blockfile.ErrCorrupt for an xor.dat that is none.
func Open(o Options) (*Dir, error) {
	root, err := os.OpenRoot(o.Dir)
	if err != nil {
		return nil, err
	}
	d := &Dir{o: o, root: root, pairs: map[int]*pair{}, blocks: map[chainhash.Hash]place{}}
	if d.key, err = d.readKey(); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return d, nil
}

// Close closes the directory.
func (d *Dir) Close() error { return d.root.Close() }

func (d *Dir) readKey() (key blockfile.Key, err error) {
	file, info, err := d.open(keyFile)
	if errors.Is(err, fs.ErrNotExist) {
		return key, nil
	}
	if err != nil {
		return key, err
	}
	defer file.Close()
	if info.Size() != int64(len(key)) {
		return key, fmt.Errorf("%w: %s has %d bytes", blockfile.ErrCorrupt, keyFile, info.Size())
	}
	_, err = io.ReadFull(file, key[:])
	return key, err
}

// open opens a regular file to be read. It does not wait for other kinds of files, as
// pipes.
func (d *Dir) open(name string) (*os.File, os.FileInfo, error) {
	file, err := d.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w", name, ErrNotRegular)
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, info, nil
}

func nameOf(kind blockfile.Kind, number int) string { return filepath.Base(kind.Path("", number)) }

// A stamp tells whether a file was written to.
type stamp struct {
	size int64
	time time.Time
}

func stampOf(info os.FileInfo) stamp { return stamp{info.Size(), info.ModTime()} }

// numbers returns the numbers of the block files, ascending.
func (d *Dir) numbers() ([]int, error) {
	folder, err := d.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	names, err := folder.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var numbers []int
	for _, name := range names {
		digits, ok := strings.CutPrefix(strings.TrimSuffix(name, ".dat"), string(blockfile.Blocks))
		n, err := strconv.Atoi(digits)
		if ok && err == nil && n >= 0 && nameOf(blockfile.Blocks, n) == name {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

// Refresh looks through the files that are new or have changed since the last time, and
// returns how many blocks are in finished files. A file that cannot be read is left out;
// the error is that of one of them, or that ctx has ended.
func (d *Dir) Refresh(ctx context.Context) (blocks int, err error) {
	d.refresh.Lock()
	defer d.refresh.Unlock()
	numbers, err := d.numbers()
	if err != nil {
		return 0, err
	}
	if len(numbers) > 0 {
		numbers = numbers[:len(numbers)-1] // Core writes to the last one
	}
	d.forget(func(p *pair) bool { return !slices.Contains(numbers, p.number) })
	var (
		mu     sync.Mutex
		next   int
		failed error
	)
	err = cores.Do(ctx, min(2*runtime.GOMAXPROCS(0), max(1, len(numbers))), func(int) error {
		for ctx.Err() == nil {
			mu.Lock()
			i := next
			next++
			mu.Unlock()
			if i >= len(numbers) {
				return nil
			}
			if err := d.look(numbers[i]); err != nil {
				mu.Lock()
				failed = err
				mu.Unlock()
			}
		}
		return nil
	})
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = failed
	}
	d.mu.RLock()
	defer d.mu.RUnlock()
	return len(d.blocks), err
}

// look walks a block file, if it has changed, and enters its blocks.
func (d *Dir) look(number int) error {
	file, info, err := d.open(nameOf(blockfile.Blocks, number))
	if err != nil {
		d.forget(func(p *pair) bool { return p.number == number })
		if errors.Is(err, fs.ErrNotExist) {
			return nil // pruned
		}
		return err
	}
	defer file.Close()
	d.mu.RLock()
	old := d.pairs[number]
	d.mu.RUnlock()
	if old != nil && old.stamp == stampOf(info) {
		return nil
	}
	d.forget(func(p *pair) bool { return p.number == number })
	p := &pair{number: number, stamp: stampOf(info)}
	if err := p.walk(file, info.Size(), d); err != nil {
		return fmt.Errorf("%s: %w", nameOf(blockfile.Blocks, number), err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pairs[number] = p // that it is not finished is known then, too
	for i := range p.blocks {
		d.blocks[p.blocks[i].hash] = place{p, int32(i)}
	}
	return nil
}

// forget drops pairs.
func (d *Dir) forget(which func(*pair) bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for number, p := range d.pairs {
		if !which(p) {
			continue
		}
		delete(d.pairs, number)
		for i := range p.blocks {
			if at := d.blocks[p.blocks[i].hash]; at.pair == p {
				delete(d.blocks, p.blocks[i].hash)
			}
		}
	}
}

func (d *Dir) find(hash *chainhash.Hash) (*pair, *block, error) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	at, ok := d.blocks[*hash]
	if !ok {
		return nil, nil, fmt.Errorf("block %v: %w", hash, ErrNotHere)
	}
	return at.pair, &at.pair.blocks[at.index], nil
}

// Has reports whether a block is in a finished file.
func (d *Dir) Has(hash *chainhash.Hash) bool {
	_, _, err := d.find(hash)
	return err == nil
}

// Block returns the bytes that are in the place of a block, in the memory of buf, which
// grows as needed. Error: [ErrNotHere], those of the file system.
func (d *Dir) Block(buf *[]byte, hash *chainhash.Hash) ([]byte, error) {
	p, b, err := d.find(hash)
	if err != nil {
		return nil, err
	}
	raw, err := d.read(buf, blockfile.Blocks, p.number, p.stamp, int64(b.offset), int(b.size))
	if err != nil {
		return nil, d.lost(p, err)
	}
	return raw, nil
}

// lost drops a pair of which something could not be read as it was found.
func (d *Dir) lost(p *pair, err error) error {
	d.forget(func(other *pair) bool { return other == p })
	return fmt.Errorf("%w: %w", ErrNotHere, err)
}

var errChanged = errors.New("the file has changed")

// read returns bytes of a file, if it did not change since it was walked, and not while
// it was read.
func (d *Dir) read(
	buf *[]byte, kind blockfile.Kind, number int, was stamp, offset int64, n int,
) ([]byte, error) {
	file, info, err := d.open(nameOf(kind, number))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if stampOf(info) != was || offset+int64(n) > was.size {
		return nil, errChanged
	}
	*buf = slices.Grow((*buf)[:0], n)
	b := (*buf)[:n]
	if _, err := file.ReadAt(b, offset); err != nil {
		return nil, err
	}
	if info, err = file.Stat(); err != nil || stampOf(info) != was {
		return nil, errors.Join(errChanged, err)
	}
	d.key.XOR(b, offset)
	return b, nil
}
