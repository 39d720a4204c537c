// Package e2e runs the real programs, as a user does: [Start] starts trawld on
// a data directory of its own, talks to it over HTTP and stops or kills it.
//
// It is meant for tests, and holds those of the whole: recorded conversations
// (package replay below this one), crashes, damage, and the life of the daemon.
// A package that uses it calls [Main] from its TestMain.
package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

const module = "github.com/seed61375155/trawl"

// programs are the binaries of this test run.
var programs builder

// builder builds each program once.
type builder struct {
	mu    sync.Mutex
	dir   string
	paths map[string]string
}

// Main runs the tests of a package, and then removes the programs that they
// have built.
func Main(m *testing.M) {
	status := m.Run()
	programs.remove()
	os.Exit(status)
}

// Program returns the path of one of this module's programs, trawld or
// trawl-cli, built from the source, with the race detector if the test has it.
func Program(tb testing.TB, name string) string {
	tb.Helper()
	path, err := programs.build(name)
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

func (b *builder) build(name string) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if path, ok := b.paths[name]; ok {
		return path, nil
	}
	if err := b.makeDir(); err != nil {
		return "", err
	}
	path := filepath.Join(b.dir, name)
	args := []string{"build", "-ldflags=-w", "-o", path} // without tables for debuggers
	if Race {
		args = append(args, "-race")
	}
	// Tests of another module run in a folder from which programs of this module cannot be built.
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return "", fmt.Errorf("folder of %s: %w", module, err)
	}
	build := exec.Command("go", append(args, "./cmd/"+name)...)
	build.Dir = strings.TrimSpace(string(root))
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", name, err, out)
	}
	b.paths[name] = path
	return path, nil
}

// install builds a program of another module, by its path and version.
func (b *builder) install(program string) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if path, ok := b.paths[program]; ok {
		return path, nil
	}
	if err := b.makeDir(); err != nil {
		return "", err
	}
	if out, err := installed(b.dir, program).CombinedOutput(); err != nil {
		return "", fmt.Errorf("install %s: %w\n%s", program, err, out)
	}
	name, _, _ := strings.Cut(filepath.Base(program), "@")
	b.paths[program] = filepath.Join(b.dir, name)
	return b.paths[program], nil
}

// SkipUnderRace skips a test under the race detector, for a reason: `make large` runs it without.
func SkipUnderRace(tb testing.TB, why string) {
	tb.Helper()
	if Race {
		tb.Skip("under the race detector ", why)
	}
}

// SharedDir returns a new folder that is there until the last test of the package has ended.
func SharedDir(tb testing.TB) string {
	tb.Helper()
	dir, err := programs.sharedDir()
	if err != nil {
		tb.Fatal(err)
	}
	return dir
}

func (b *builder) sharedDir() (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.makeDir(); err != nil {
		return "", err
	}
	return os.MkdirTemp(b.dir, "shared-")
}

func (b *builder) makeDir() error {
	if b.dir != "" {
		return nil
	}
	dir, err := os.MkdirTemp("", "trawl-e2e-")
	if err != nil {
		return err
	}
	b.dir, b.paths = dir, map[string]string{}
	return nil
}

func (b *builder) remove() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.dir != "" {
		os.RemoveAll(b.dir)
	}
	b.dir, b.paths = "", nil
}

// pollEvery is how often a condition is looked at that is waited for.
const pollEvery = 5 * time.Millisecond

// Eventually waits until a condition holds. It ends the test when that takes
// longer than the limit.
func Eventually(tb testing.TB, limit time.Duration, what string, holds func() bool) {
	tb.Helper()
	if !poll(limit, holds) {
		tb.Fatalf("not within %v: %s", limit, what)
	}
}

// poll looks at a condition until it holds; false: it did not within the limit.
func poll(limit time.Duration, holds func() bool) bool {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	end := time.Now().Add(limit)
	for !holds() {
		if time.Now().After(end) {
			return false
		}
		<-tick.C
	}
	return true
}
