package corefiles

import (
	"bytes"
	"encoding/binary"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/store/blockfile"
)

// Blocks of finished files are given with their undo data, those of the last one are not.
func TestReads(t *testing.T) {
	c := newCore(t)
	all := c.chain(chainhash.Hash{}, 40)
	c.finish()
	more := c.chain(all[39].hash, 30)
	c.finish()
	last := c.chain(more[29].hash, 3)
	d := c.open()
	for _, f := range append(all, more...) {
		check(t, d, f, true, true)
	}
	for _, f := range last {
		check(t, d, f, false, false)
	}
	c.finish()
	c.refresh(d)
	for _, f := range append(all, last...) {
		check(t, d, f, true, true)
	}
}

// A file that Core is still to write to, or that is torn, is not believed.
func TestNotFinished(t *testing.T) {
	for name, spoil := range map[string]func(c *core){
		"zeros after the last block":  func(c *core) { c.put(blockfile.Blocks, make([]byte, 500)) },
		"a header alone":              func(c *core) { c.put(blockfile.Blocks, []byte{1, 2, 3}) },
		"garbage after the last one":  func(c *core) { c.put(blockfile.Blocks, bytes.Repeat([]byte{9}, 300)) },
		"a block that was cut short":  func(c *core) { c.cut(blockfile.Blocks, 10) },
		"zeros after the undo data":   func(c *core) { c.put(blockfile.Undo, make([]byte, 500)) },
		"undo data that was cut":      func(c *core) { c.cut(blockfile.Undo, 10) },
		"garbage after the undo data": func(c *core) { c.put(blockfile.Undo, bytes.Repeat([]byte{9}, 300)) },
		"a header of undo data":       func(c *core) { c.put(blockfile.Undo, []byte{1, 2, 3}) },
		"no undo file":                func(c *core) { _ = os.Remove(blockfile.Undo.Path(c.dir, 0)) },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCore(t)
			all := c.chain(chainhash.Hash{}, 9)
			spoil(c)
			c.finish()
			d := c.open()
			inUndo := bytes.Contains([]byte(name), []byte("undo"))
			for _, f := range all {
				check(t, d, f, inUndo, false)
			}
		})
	}
}

func (c *core) cut(kind blockfile.Kind, n int64) {
	c.t.Helper()
	if err := os.Truncate(kind.Path(c.dir, c.number), c.end[kind]-n); err != nil {
		c.t.Fatal(err)
	}
}

// Bytes between the blocks of an old file are passed over.
func TestGaps(t *testing.T) {
	c := newCore(t)
	all := c.chain(chainhash.Hash{}, 5)
	header := binary.LittleEndian.AppendUint32(magic[:], 100)
	c.key.XOR(header, c.end[blockfile.Blocks])
	c.put(blockfile.Blocks, header) // without its block
	c.put(blockfile.Blocks, bytes.Repeat([]byte{7}, 1000))
	more := c.chain(all[4].hash, 5)
	c.block(more[2]) // another time
	c.finish()
	d := c.open()
	for _, f := range append(all, more...) {
		check(t, d, f, true, true)
	}
}

// The checksum of undo data fits each child of a parent: where two blocks of a pair may
// be meant, or two records, it is not given.
func TestWhoseUndoData(t *testing.T) {
	var root chainhash.Hash
	for name, test := range map[string]struct {
		blocks, undo []fake
		sure         []bool
	}{
		"siblings of the same shape": {
			[]fake{child(root, 3, 1), child(root, 3, 2)},
			[]fake{child(root, 3, 1), child(root, 3, 2)},
			[]bool{false, false},
		},
		"one of which has undo data": {
			[]fake{child(root, 3, 1), child(root, 3, 2)}, []fake{child(root, 3, 1)}, []bool{false, false},
		},
		"siblings of other shapes": {
			[]fake{child(root, 3, 1), child(root, 2, 2)},
			[]fake{child(root, 2, 2), child(root, 3, 1)},
			[]bool{true, true},
		},
		"siblings that spend nothing": {
			[]fake{child(root, 1, 1), child(root, 1, 2)}, []fake{child(root, 1, 2)}, []bool{true, true},
		},
		"a record of a block that was written over": {
			[]fake{child(root, 3, 1)}, []fake{child(root, 3, 2), child(root, 3, 1)}, []bool{false},
		},
		"records of other blocks": {
			[]fake{child(root, 3, 1)},
			[]fake{child(chainhash.Hash{1}, 3, 2), child(root, 3, 1), child(root, 4, 1)},
			[]bool{true},
		},
		"in any order": {
			[]fake{child(root, 3, 1), child(chainhash.Hash{1}, 3, 2), child(chainhash.Hash{2}, 3, 3)},
			[]fake{child(chainhash.Hash{2}, 3, 3), child(root, 3, 1), child(chainhash.Hash{1}, 3, 2)},
			[]bool{true, true, true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCore(t)
			for _, f := range test.blocks {
				c.block(f)
			}
			for _, f := range test.undo {
				c.undo(f)
			}
			c.finish()
			d := c.open()
			for i, f := range test.blocks {
				check(t, d, f, true, test.sure[i])
			}
		})
	}
}

// After a crash Core writes other blocks over the end of a finished pair of files.
// Then earlier knowledge of the pair is dropped, whether or not the files have other
// times.
func TestWrittenOver(t *testing.T) {
	for _, sameTime := range []bool{false, true} {
		c := newCore(t)
		all := c.chain(chainhash.Hash{}, 12)
		last := all[11]
		end := maps.Clone(c.end)
		c.finish()
		d := c.open()
		for _, f := range all {
			check(t, d, f, true, true)
		}
		times := map[blockfile.Kind]time.Time{}
		for kind := range end {
			info, err := os.Stat(kind.Path(c.dir, 0))
			if err != nil {
				t.Fatal(err)
			}
			times[kind] = info.ModTime()
		}
		other := child(chainhash.Hash{5}, 4, 12) // as large
		c.number = 0
		c.end[blockfile.Blocks] = end[blockfile.Blocks] - int64(len(last.raw)) - recordHeader
		c.end[blockfile.Undo] = end[blockfile.Undo] - int64(len(last.undo)) - recordHeader - blockfile.ChecksumSize
		c.block(other)
		c.undo(other)
		if c.end[blockfile.Blocks] != end[blockfile.Blocks] || c.end[blockfile.Undo] != end[blockfile.Undo] {
			t.Fatal("other sizes")
		}
		for kind, at := range times {
			if !sameTime {
				at = at.Add(time.Second)
			}
			if err := os.Chtimes(kind.Path(c.dir, 0), at, at); err != nil {
				t.Fatal(err)
			}
		}
		if undo, err := d.Undo(new([]byte), &last.hash); err == nil {
			t.Errorf("same time %t: undo data %x", sameTime, undo)
		}
		if raw, err := d.Block(new([]byte), &last.hash); err == nil && chainhash.DoubleHashH(raw[:80]) == last.hash {
			t.Errorf("same time %t: a block that is gone", sameTime)
		}
		c.refresh(d)
		if !sameTime {
			check(t, d, last, false, false)
			check(t, d, other, true, true)
		}
	}
}

// A pair that Core deletes is gone.
func TestPrunedFiles(t *testing.T) {
	c := newCore(t)
	first := c.chain(chainhash.Hash{}, 5)
	c.finish()
	second := c.chain(first[4].hash, 5)
	c.finish()
	d := c.open()
	for _, kind := range []blockfile.Kind{blockfile.Blocks, blockfile.Undo} {
		if err := os.Remove(kind.Path(c.dir, 0)); err != nil {
			t.Fatal(err)
		}
	}
	check(t, d, first[1], false, false)
	c.refresh(d)
	for i := range first {
		check(t, d, first[i], false, false)
		check(t, d, second[i], true, true)
	}
}

// Links that lead out of the directory, and what is no regular file, are not read.
func TestOnlyRegularFiles(t *testing.T) {
	elsewhere := newCore(t)
	all := elsewhere.chain(chainhash.Hash{}, 5)
	for name, place := range map[string]func(from, to string) error{
		"a link":      os.Symlink,
		"a pipe":      func(_, to string) error { return syscall.Mkfifo(to, 0o600) },
		"a directory": func(_, to string) error { return os.Mkdir(to, 0o700) },
	} {
		c := newCore(t)
		for _, kind := range []blockfile.Kind{blockfile.Blocks, blockfile.Undo} {
			if err := place(kind.Path(elsewhere.dir, 0), kind.Path(c.dir, 0)); err != nil {
				t.Fatal(err)
			}
		}
		c.finish()
		d, err := Open(Options{Dir: c.dir, Magic: magic, MaxBlock: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Refresh(t.Context()); err == nil {
			t.Errorf("%s: no error", name)
		}
		check(t, d, all[0], false, false)
		_ = d.Close()
	}
	c := newCore(t)
	if err := errors.Join(os.Remove(filepath.Join(c.dir, keyFile)),
		os.Symlink(filepath.Join(elsewhere.dir, keyFile), filepath.Join(c.dir, keyFile))); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Options{Dir: c.dir, Magic: magic, MaxBlock: 1 << 20}); err == nil {
		t.Error("a key by a link")
	}
	if err := errors.Join(os.Remove(filepath.Join(c.dir, keyFile)),
		os.WriteFile(filepath.Join(c.dir, keyFile), []byte{1}, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Options{Dir: c.dir, Magic: magic}); !errors.Is(err, blockfile.ErrCorrupt) {
		t.Errorf("a key of one byte: %v", err)
	}
}

// For all contents of the files, returned undo data has the checksum of its block and as
// many transactions. No other block of the pair could have the same undo data.
func FuzzFiles(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3}, []byte{4, 5}, uint16(0))
	f.Fuzz(func(t *testing.T, blk, rev []byte, cut uint16) {
		c := newCore(t)
		all := c.chain(chainhash.Hash{}, 4)
		c.put(blockfile.Blocks, blk)
		c.put(blockfile.Undo, rev)
		all = append(all, c.chain(all[3].hash, 2)...)
		if cut > 0 {
			_ = os.Truncate(blockfile.Undo.Path(c.dir, 0), int64(cut))
		}
		c.finish()
		d := c.open()
		for hash := range d.blocks {
			raw, err := d.Block(new([]byte), &hash)
			if err != nil || chainhash.DoubleHashH(raw[:blockHeader]) != hash {
				t.Fatalf("block %v: %v", hash, err)
			}
		}
		for _, f := range all {
			if undo, err := d.Undo(new([]byte), &f.hash); err == nil && !bytes.Equal(undo, f.undo) {
				t.Fatalf("undo data of %v: %x, want %x", f.hash, undo, f.undo)
			}
		}
	})
}
