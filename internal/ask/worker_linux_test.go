package ask_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
)

// A worker that reads mapped memory whose file was cut short fails as if it
// panicked, and the process goes on.
func TestWorkerFault(t *testing.T) {
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
	ref := actortest.New(t).Spawn("householder", func() actor.Actor { return new(householder) })
	_, err = ask.Ask(t.Context(), ref, chore{work: func() func() {
		read := string(mem[:1])
		return func() { t.Errorf("read %q", read) }
	}})
	if !errors.Is(err, ask.ErrRestarted) {
		t.Errorf("got %v, want %v", err, ask.ErrRestarted)
	}
}
