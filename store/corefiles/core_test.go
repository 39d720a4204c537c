package corefiles

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/store/blockfile"
)

var magic = [4]byte{0xfa, 0xbf, 0xb5, 0xda}

// A core writes files as Bitcoin Core does.
type core struct {
	t      *testing.T
	dir    string
	key    blockfile.Key
	number int
	end    map[blockfile.Kind]int64
}

func newCore(t *testing.T) *core {
	t.Helper()
	c := &core{t: t, dir: t.TempDir(), key: blockfile.Key{1, 2, 3, 4, 5, 6, 7, 8}, end: map[blockfile.Kind]int64{}}
	if err := os.WriteFile(filepath.Join(c.dir, keyFile), c.key[:], 0o600); err != nil {
		t.Fatal(err)
	}
	return c
}

// A fake is a block that has no transactions, but says how many it has, and its undo data.
type fake struct {
	raw, undo []byte
	hash      chainhash.Hash
}

// child returns a block on another with a number of transactions, each of which spends
// an output; salt tells it from others.
func child(prev chainhash.Hash, txs, salt byte) fake {
	raw := make([]byte, blockHeader, 200)
	copy(raw[4:], prev[:])
	raw[79] = salt
	raw = append(append(raw, txs), bytes.Repeat([]byte{salt}, 50+int(salt)%40)...)
	var spent [][]blockfile.Coin
	for i := range txs - 1 {
		spent = append(spent, []blockfile.Coin{{Height: int32(salt), Amount: int64(i), Script: []byte{salt, i}}})
	}
	return fake{raw, blockfile.AppendUndo(nil, spent), chainhash.DoubleHashH(raw[:blockHeader])}
}

func (f *fake) prev() chainhash.Hash { return chainhash.Hash(f.raw[4:]) }

func (c *core) write(kind blockfile.Kind, payload, trailer []byte) {
	c.t.Helper()
	files := blockfile.NewFiles(vfs.OS, c.dir, kind, magic, c.key)
	end, err := files.WriteRecord(c.number, c.end[kind], payload, trailer)
	if err = errors.Join(err, files.Close()); err != nil {
		c.t.Fatal(err)
	}
	c.end[kind] = end
}

func (c *core) block(f fake) { c.t.Helper(); c.write(blockfile.Blocks, f.raw, nil) }

func (c *core) undo(f fake) {
	c.t.Helper()
	sum := blockfile.UndoChecksum(f.prev(), f.undo)
	c.write(blockfile.Undo, f.undo, sum[:])
}

// put writes bytes as they are at the end of a file.
func (c *core) put(kind blockfile.Kind, raw []byte) {
	c.t.Helper()
	file, err := os.OpenFile(kind.Path(c.dir, c.number), os.O_WRONLY|os.O_CREATE, 0o600)
	if err == nil {
		_, err = file.WriteAt(raw, c.end[kind])
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		c.t.Fatal(err)
	}
	c.end[kind] += int64(len(raw))
}

// finish begins the next pair; of the one before zeros at the end are cut off.
func (c *core) finish() {
	c.t.Helper()
	path := blockfile.Blocks.Path(c.dir, c.number)
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && info.Size() > c.end[blockfile.Blocks] {
		c.cut(blockfile.Blocks, 0)
	}
	c.number++
	clear(c.end)
	c.put(blockfile.Blocks, make([]byte, 4096))
	clear(c.end)
}

// chain writes n blocks with their undo data and returns them.
func (c *core) chain(prev chainhash.Hash, n int) (all []fake) {
	c.t.Helper()
	for i := range n {
		f := child(prev, byte(1+i%4), byte(i+1))
		c.block(f)
		c.undo(f)
		all = append(all, f)
		prev = f.hash
	}
	return all
}

func (c *core) open() *Dir {
	c.t.Helper()
	d, err := Open(Options{Dir: c.dir, Magic: magic, MaxBlock: 1 << 20})
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = d.Close() })
	c.refresh(d)
	return d
}

func (c *core) refresh(d *Dir) {
	c.t.Helper()
	if _, err := d.Refresh(c.t.Context()); err != nil {
		c.t.Fatal(err)
	}
	for _, p := range d.pairs {
		p.walked = time.Time{} // as if time had passed
	}
}

// check asserts whether a block and its undo data are given.
func check(t *testing.T, d *Dir, f fake, hasBlock, hasUndo bool) {
	t.Helper()
	raw, err := d.Block(new([]byte), &f.hash)
	if hasBlock != (err == nil) || err != nil && !errors.Is(err, ErrNotHere) || hasBlock && !bytes.Equal(raw, f.raw) {
		t.Errorf("block %v: %x, %v", f.hash, raw, err)
	}
	undo, err := d.Undo(new([]byte), &f.hash)
	if hasUndo != (err == nil) || err != nil && !errors.Is(err, ErrNotHere) || hasUndo && !bytes.Equal(undo, f.undo) {
		t.Errorf("undo data of %v: %x, want %x, %v", f.hash, undo, f.undo, err)
	}
}
