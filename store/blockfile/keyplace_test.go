package blockfile

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/seed61375155/trawl/internal/vfs"
)

// unsure is the system's file system, which cannot say what is there.
type unsure struct{ vfs.FS }

// Stat implements vfs.FS.
func (unsure) Stat(name string) (os.FileInfo, error) {
	return nil, &os.PathError{Op: "stat", Path: name, Err: syscall.EIO}
}

// A key is not replaced where the disk does not say whether there is one: all blocks would be lost with the old key.
func TestKeyIsNotReplacedUnseen(t *testing.T) {
	dir := t.TempDir()
	key, err := InitKey(vfs.OS, dir, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, obfuscate := range []bool{true, false} {
		if _, err := InitKey(unsure{vfs.OS}, dir, obfuscate); !errors.Is(err, syscall.EIO) {
			t.Errorf("obfuscate %v: %v", obfuscate, err)
		}
	}
	if got, err := os.ReadFile(filepath.Join(dir, keyFile)); err != nil || !bytes.Equal(got, key[:]) {
		t.Errorf("the key is %x, was %x, %v", got, key, err)
	}
}
