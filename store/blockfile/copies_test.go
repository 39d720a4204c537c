package blockfile

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/internal/vfs/faultfs"
)

func TestCopies(t *testing.T) {
	dir := t.TempDir()
	key := Key{1, 2, 3, 4, 5, 6, 7, 8}
	folder := filepath.Join(dir, CopiesFolder)
	// Files that an earlier program has left, of any name.
	for _, name := range []string{"left.dat", "left.dat.tmp", "folder/other"} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := OpenCopies(vfs.OS, dir, key)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is there: %v", err)
	}
	a, b, raw := &chainhash.Hash{1}, &chainhash.Hash{2}, bytes.Repeat([]byte("block"), 100)
	given := bytes.Clone(raw)
	if c.Has(a) {
		t.Error("there is a copy before any was put")
	}
	if err := errors.Join(c.Put(a, raw), c.Put(b, raw[:1])); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(raw, given) {
		t.Error("the caller's block was changed")
	}
	got, err := c.Get(a, len(raw))
	if err != nil || !bytes.Equal(got, raw) || !c.Has(a) {
		t.Errorf("got %q, %v", got, err)
	}
	stored, err := os.ReadFile(filepath.Join(folder, a.String()+".dat"))
	if key.XOR(stored, 0); err != nil || !bytes.Equal(stored, raw) {
		t.Errorf("the file has %q, %v", stored, err)
	}
	if _, err := c.Get(a, len(raw)-1); !errors.Is(err, ErrCopySize) {
		t.Errorf("beyond the limit: %v", err)
	}
	if err := c.Drop(a); err != nil || c.Has(a) || !c.Has(b) {
		t.Errorf("dropped: %v", err)
	}
	if _, err := c.Get(a, len(raw)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a dropped one: %v", err)
	}
	if err := c.Drop(b); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is there without copies: %v", err)
	}
}

// With a fault at any call, a copy is there as a whole or not at all, and the next opening removes all.
func TestCopiesAfterFaults(t *testing.T) {
	hash, raw := &chainhash.Hash{7}, bytes.Repeat([]byte{9}, 5000)
	for call := 1; ; call++ {
		disk, dir, left := faultfs.New(), t.TempDir(), call
		c, err := OpenCopies(disk, dir, Key{1})
		if err != nil {
			t.Fatal(err)
		}
		fault := errors.New("no room")
		disk.Inject(func(faultfs.Op) error {
			if left--; left == 0 {
				return fault
			}
			return nil
		})
		failed := c.Put(hash, raw)
		disk.Inject(nil)
		if left > 0 {
			if failed != nil {
				t.Fatal(failed)
			}
			break
		}
		if !errors.Is(failed, fault) || c.Has(hash) {
			t.Fatalf("call %d: %v, there is a copy: %v", call, failed, c.Has(hash))
		}
		if err := c.Put(hash, raw); err != nil {
			t.Fatalf("call %d: again: %v", call, err)
		}
		if got, err := c.Get(hash, len(raw)); err != nil || !bytes.Equal(got, raw) {
			t.Errorf("call %d: %v", call, err)
		}
		if _, err := OpenCopies(disk, dir, Key{1}); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
			t.Errorf("call %d: left %v, %v", call, left, err)
		}
	}
}

// Reading a file of any content gives at most the requested number of bytes.
func FuzzCopies(f *testing.F) {
	f.Add([]byte{}, 0)
	f.Add([]byte("a block"), 7)
	f.Add([]byte("a block"), 6)
	f.Fuzz(func(t *testing.T, content []byte, limit int) {
		if limit < 0 || limit > 1<<20 {
			return
		}
		dir := t.TempDir()
		key := Key{8, 7, 6}
		c, err := OpenCopies(vfs.OS, dir, key)
		if err != nil {
			t.Fatal(err)
		}
		hash := &chainhash.Hash{1}
		if err := c.Put(hash, nil); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(c.path(hash), content, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := c.Get(hash, limit)
		if (err == nil) != (len(content) <= limit) {
			t.Fatalf("%d bytes, at most %d: %v", len(content), limit, err)
		}
		if err != nil {
			return
		}
		if key.XOR(got, 0); !bytes.Equal(got, content) {
			t.Error("read otherwise")
		}
	})
}
