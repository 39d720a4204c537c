package cores

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// Mapped memory whose file was cut short makes a panic in every goroutine that
// works, not the end of the process.
func TestDoFault(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mapped")
	if err := os.WriteFile(path, make([]byte, 4096), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	mem, err := syscall.Mmap(int(f.Fd()), 0, 4096, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Munmap(mem) }()
	if err := f.Truncate(0); err != nil {
		t.Fatal(err)
	}
	defer func() {
		p, ok := recover().(*Panic)
		var fault runtime.Error
		if !ok || !errors.As(p, &fault) {
			t.Errorf("got %v", p)
		}
	}()
	_ = Do(t.Context(), 16, func(i int) error {
		if mem[i] != 0 {
			return errors.New("not what was written")
		}
		return nil
	})
	t.Error("no panic")
}
