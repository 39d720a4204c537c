package vfs_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/internal/vfs/faultfs"
)

var (
	oldContent = bytes.Repeat([]byte("old "), 700)
	newContent = bytes.Repeat([]byte("newer "), 1000)
)

// calls is how many calls of the file system can fail in a Write.
const calls = 6

func TestWrite(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	for _, mode := range []os.FileMode{0o600, 0o640} {
		if err := vfs.ReplaceFile(vfs.OS, path, newContent, mode); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil || info.Mode() != mode {
			t.Errorf("mode %v, want %v: %v", info.Mode(), mode, err)
		}
	}
	wantFiles(t, path, newContent)
}

// wantFiles wants one file in the folder, with one of the given contents.
func wantFiles(t *testing.T, path string, contents ...[]byte) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("in the folder are %v, %v", entries, err)
	}
	wantContent(t, path, contents...)
}

func wantContent(t *testing.T, path string, contents ...[]byte) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range contents {
		if bytes.Equal(got, want) {
			return
		}
	}
	t.Errorf("got %d bytes %.20q…", len(got), got)
}

// Each call that fails is told of, and leaves the file that was there, and no other.
func TestEveryCallFails(t *testing.T) {
	t.Parallel()
	for n := range calls + 1 {
		path := oldFile(t)
		disk := faultfs.New()
		disk.Inject(faultfs.Nth(n, syscall.ENOSPC))
		err := vfs.ReplaceFile(disk, path, newContent, 0o600)
		switch {
		case n == calls:
			if err != nil {
				t.Errorf("no call fails: %v", err)
			}
			wantFiles(t, path, newContent)
		case err == nil:
			t.Errorf("call %d fails without an error", n)
		case n == calls-1: // the folder's sync
			wantFiles(t, path, newContent)
		default:
			wantFiles(t, path, oldContent)
		}
	}
}

func oldFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, oldContent, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDiscard(t *testing.T) {
	t.Parallel()
	path := oldFile(t)
	file, err := vfs.CreateReplacement(vfs.OS, path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.Write(newContent); err != nil {
		t.Fatal(err)
	}
	if err := file.Discard(); err != nil {
		t.Error(err)
	}
	if err := file.Commit(); err == nil {
		t.Error("committed after Discard")
	}
	wantFiles(t, path, oldContent)
}

// At whatever call the power is lost, the file is the old one or the new one. When
// Write had returned, it is the new one.
func TestPowerLoss(t *testing.T) {
	t.Parallel()
	for n := range calls + 1 {
		for seed := range uint64(30) {
			path := oldFile(t)
			disk := faultfs.New()
			disk.Inject(faultfs.From(n, syscall.EIO))
			wrote := vfs.ReplaceFile(disk, path, newContent, 0o600)
			if err := disk.PowerLoss(rand.New(rand.NewPCG(seed, uint64(n)))); err != nil {
				t.Fatal(err)
			}
			if wrote == nil {
				wantContent(t, path, newContent)
			} else {
				wantContent(t, path, oldContent, newContent)
			}
		}
	}
}

// careless is a disk whose syncs do nothing.
type careless struct {
	vfs.FS

	files, folders bool // which ones
}

func (c careless) OpenFile(name string, flag int, mode os.FileMode) (vfs.File, error) {
	file, err := c.FS.OpenFile(name, flag, mode)
	if c.files && err == nil {
		file = carelessFile{file}
	}
	return file, err
}

func (c careless) SyncDir(dir string) error {
	if c.folders {
		return nil
	}
	return c.FS.SyncDir(dir)
}

type carelessFile struct{ vfs.File }

func (carelessFile) Sync() error { return nil }

// The test above sees a sync that is left out.
func TestPowerLossBites(t *testing.T) {
	t.Parallel()
	for _, c := range []careless{{files: true}, {folders: true}} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			t.Parallel()
			lost := 0
			for seed := range uint64(30) {
				path := oldFile(t)
				disk := faultfs.New()
				c.FS = disk
				if err := vfs.ReplaceFile(c, path, newContent, 0o600); err != nil {
					t.Fatal(err)
				}
				if err := disk.PowerLoss(rand.New(rand.NewPCG(seed, 0))); err != nil {
					t.Fatal(err)
				}
				if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, newContent) {
					lost++
				}
			}
			if lost == 0 {
				t.Error("nothing was lost")
			}
		})
	}
}
