package faultfs_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/internal/vfs/faultfs"
)

// A step is something done to the files of a folder.
type step func(t *testing.T, fs vfs.FS, dir string)

func write(name, content string, sync bool) step {
	return func(t *testing.T, fs vfs.FS, dir string) {
		t.Helper()
		f, err := fs.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		_, err = f.Write([]byte(content))
		if sync {
			err = errors.Join(err, f.Sync())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func rename(from, to string) step {
	return func(t *testing.T, fs vfs.FS, dir string) {
		t.Helper()
		if err := fs.Rename(filepath.Join(dir, from), filepath.Join(dir, to)); err != nil {
			t.Fatal(err)
		}
	}
}

func remove(name string) step {
	return func(t *testing.T, fs vfs.FS, dir string) {
		t.Helper()
		if err := fs.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
}

func mkdir(name string) step {
	return func(t *testing.T, fs vfs.FS, dir string) {
		t.Helper()
		if err := fs.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

func syncDir(t *testing.T, fs vfs.FS, dir string) {
	t.Helper()
	if err := fs.SyncDir(dir); err != nil {
		t.Fatal(err)
	}
}

// All that a loss of power may leave is left at some time, and nothing else ever is.
func TestPowerLoss(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		steps []step
		want  []string // what may be in the file a, "-" where there is none
	}{
		{"nothing", nil, []string{"old"}},
		{"overwritten", []step{write("a", "new", false)}, []string{"old", "new"}},
		{"overwritten and synced", []step{write("a", "new", true)}, []string{"new"}},
		{"removed", []step{remove("a")}, []string{"old", "-"}},
		{"removed and synced", []step{remove("a"), syncDir}, []string{"-"}},
		{"replaced", []step{write("b", "new", true), rename("b", "a")}, []string{"old", "new"}},
		{"replaced and synced", []step{write("b", "new", true), rename("b", "a"), syncDir}, []string{"new"}},
		{"replaced without a sync", []step{write("b", "new", false), rename("b", "a"), syncDir}, []string{"new", "", "\x00\x00\x00"}},
		{"overwritten and removed", []step{write("a", "new", false), remove("a")}, []string{"old", "new", "-"}},
		{"made again", []step{remove("a"), syncDir, write("a", "new", true)}, []string{"-", "new"}},
		{"made again and synced", []step{remove("a"), write("a", "new", true), syncDir}, []string{"new"}},
		{"in a folder", []step{
			remove("a"), syncDir, mkdir("sub"), write("sub/b", "x", true), rename("sub/b", "a"),
		}, []string{"-", "x"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			seen := map[string]int{}
			for seed := range uint64(80) {
				seen[lose(t, test.steps, seed)]++
			}
			for _, want := range test.want {
				if seen[want] == 0 {
					t.Errorf("never %q, but %v", want, seen)
				}
				delete(seen, want)
			}
			if len(seen) > 0 {
				t.Errorf("left %v", seen)
			}
		})
	}
}

func lose(t *testing.T, steps []step, seed uint64) string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	fs := faultfs.New()
	for _, do := range steps {
		do(t, fs, dir)
	}
	if err := fs.PowerLoss(rand.New(rand.NewPCG(seed, 3))); err != nil {
		t.Fatal(err)
	}
	if err := fs.Remove(path); !errors.Is(err, faultfs.ErrPowerLost) {
		t.Errorf("a call after the loss of power: %v", err)
	}
	content, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return "-"
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// A folder made with MakeDir is there after a loss of power, with those above it.
func TestMakeDir(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		top := t.TempDir()
		dir := filepath.Join(top, "a", "b", "c")
		fs := faultfs.New()
		for range 2 {
			if err := vfs.MakeDir(fs, dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := fs.PowerLoss(rand.New(rand.NewPCG(seed, 5))); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			t.Fatal("the folder is lost: ", err)
		}
	}
	fs := faultfs.New()
	fs.Inject(faultfs.Nth(1, os.ErrPermission))
	if err := vfs.MakeDir(fs, filepath.Join(t.TempDir(), "x"), 0o700); !errors.Is(err, os.ErrPermission) {
		t.Errorf("without a sync: %v", err)
	}
}

// A write that fails is done in part.
func TestTornWrite(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a")
	fs := faultfs.New()
	fs.Inject(func(op faultfs.Op) error {
		if op.Kind == faultfs.Write {
			return errors.ErrUnsupported
		}
		return nil
	})
	f, err := fs.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if n, err := f.Write([]byte("abcd")); n != 2 || !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("got %d, %v", n, err)
	}
	if got, err := os.ReadFile(path); string(got) != "ab" || err != nil {
		t.Errorf("the file has %q, %v", got, err)
	}
}

// A read at an offset fails where it is told to, and no other call does.
func TestReadFaults(t *testing.T) {
	fs, name := faultfs.New(), filepath.Join(t.TempDir(), "file")
	f, err := fs.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	broken := errors.New("broken")
	fs.InjectReads(faultfs.Nth(1, broken))
	if _, err := f.Write([]byte("content")); err != nil {
		t.Fatal(err)
	}
	for n, want := range []error{nil, broken, nil} {
		b := make([]byte, 4)
		if _, err := f.ReadAt(b, 3); !errors.Is(err, want) || want == nil && string(b) != "tent" {
			t.Errorf("read %d: %q, %v", n, b, err)
		}
	}
}
