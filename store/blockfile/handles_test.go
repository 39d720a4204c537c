package blockfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/seed61375155/trawl/internal/vfs"
)

// counted is a disk that counts what is open for reading.
type counted struct {
	vfs.FS
	removing func() // called before a file goes; nil: nothing is

	mu                sync.Mutex
	opened, open, max int
}

func (c *counted) OpenFile(name string, flag int, perm os.FileMode) (vfs.File, error) {
	file, err := c.FS.OpenFile(name, flag, perm)
	if err != nil || flag != os.O_RDONLY {
		return file, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.opened++
	c.open++
	c.max = max(c.max, c.open)
	return countedFile{file, c}, nil
}

func (c *counted) Remove(name string) error {
	if c.removing != nil {
		c.removing()
	}
	return c.FS.Remove(name)
}

type countedFile struct {
	vfs.File
	of *counted
}

func (f countedFile) Close() error {
	f.of.mu.Lock()
	defer f.of.mu.Unlock()
	f.of.open--
	return f.File.Close()
}

// Files that are read stay open, a few of them; what is read is what lies under a file's name
// now, and in the end all are closed.
func TestHandles(t *testing.T) {
	dir := t.TempDir()
	disk := &counted{FS: vfs.OS}
	files := NewFiles(disk, dir, Blocks, testMagic, Key{})
	const number = 2 * maxHandles
	for n := range number {
		if _, err := files.WriteRecord(n, 0, fmt.Appendf(nil, "record %02d", n), nil); err != nil {
			t.Fatal(err)
		}
	}
	read := func(n int) (string, error) {
		got, err := files.ReadRecord(n, 0, len("record 00"), 0)
		return string(got), err
	}
	check := func(n int, want string) {
		t.Helper()
		if got, err := read(n); err != nil || got != want {
			t.Errorf("file %d: %q, %v, want %q", n, got, err, want)
		}
	}
	for range 3 {
		for n := range maxHandles {
			check(n, fmt.Sprintf("record %02d", n))
		}
	}
	if disk.opened != maxHandles {
		t.Errorf("%d files were opened %d times", maxHandles, disk.opened)
	}
	for n := range number {
		check(n, fmt.Sprintf("record %02d", n))
	}
	if disk.open != maxHandles {
		t.Errorf("%d files are open", disk.open)
	}

	last := Blocks.Path(dir, number-1)
	aside := filepath.Join(dir, "aside")
	if err := os.Rename(last, aside); err != nil {
		t.Fatal(err)
	}
	if got, err := read(number - 1); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a file that was moved away: %q, %v", got, err)
	}
	if err := os.Rename(aside, last); err != nil {
		t.Fatal(err)
	}
	check(number-1, fmt.Sprintf("record %02d", number-1))
	content, err := os.ReadFile(last)
	if err != nil {
		t.Fatal(err)
	}
	content[len(content)-1] = '!'
	if err := errors.Join(os.WriteFile(aside, content, 0o600), os.Rename(aside, last)); err != nil {
		t.Fatal(err)
	}
	check(number-1, fmt.Sprintf("record %02d", number-1)[:8]+"!")

	disk.removing = func() { check(number-2, fmt.Sprintf("record %02d", number-2)) }
	if err := files.Remove(number - 2); err != nil {
		t.Fatal(err)
	}
	if disk.open != maxHandles-1 {
		t.Errorf("%d are open: one that was removed still takes its room", disk.open)
	}
	if got, err := read(number - 2); !errors.Is(err, ErrCorrupt) || disk.open != maxHandles-1 {
		t.Errorf("a file that was removed: %q, %v, %d are open", got, err, disk.open)
	}
	var readers sync.WaitGroup
	for caller := range 4 {
		readers.Go(func() {
			for i := range 400 {
				n := (i*7 + caller) % (number - 2)
				if got, err := read(n); err != nil || got != fmt.Sprintf("record %02d", n) {
					t.Errorf("file %d: %q, %v", n, got, err)
				}
			}
		})
	}
	readers.Wait()
	if disk.max > maxHandles+4 {
		t.Errorf("%d files were open", disk.max)
	}
	if err := files.Close(); err != nil || disk.open != 0 {
		t.Errorf("%v, %d files are open after the end", err, disk.open)
	}
}
