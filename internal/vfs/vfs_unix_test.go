//go:build unix

package vfs_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/seed61375155/trawl/internal/vfs"
)

func TestReadFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, pipe := filepath.Join(dir, "file"), filepath.Join(dir, "pipe")
	if err := os.WriteFile(file, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name  string
		limit int64
		want  string
		err   error
	}{
		{file, 5, "12345", nil},
		{file, 6, "12345", nil},
		{file, 4, "", vfs.ErrTooLarge},
		{pipe, 4, "", vfs.ErrNotRegular}, // does not wait for a writer
		{dir, 4, "", vfs.ErrNotRegular},
		{"/dev/zero", 4, "", vfs.ErrNotRegular},
		{filepath.Join(dir, "none"), 4, "", os.ErrNotExist},
	} {
		got, err := vfs.ReadFile(vfs.OS, test.name, test.limit)
		if string(got) != test.want || !errors.Is(err, test.err) || (err == nil) != (test.err == nil) {
			t.Errorf("%s, %d: got %q, %v", test.name, test.limit, got, err)
		}
	}
}

func TestRemoveAll(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	kept, gone := filepath.Join(dir, "kept"), filepath.Join(dir, "gone")
	for _, d := range []string{kept, filepath.Join(gone, "a", "b")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(d, "file"), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(kept, filepath.Join(gone, "link")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := vfs.RemoveAll(vfs.OS, gone); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(gone); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is left: %v", err)
	}
	if _, err := os.Stat(filepath.Join(kept, "file")); err != nil {
		t.Errorf("what a link points to is gone: %v", err)
	}
}
