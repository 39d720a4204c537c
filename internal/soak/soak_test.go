package main

import (
	"bytes"
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// module makes a module with a test file, and a soak that runs its tests.
func module(t *testing.T, tests string, out *bytes.Buffer) *soak {
	t.Helper()
	dir := t.TempDir()
	err := errors.Join(
		os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module m\n\ngo 1.24\n"), 0o600),
		os.WriteFile(filepath.Join(dir, "m_test.go"), []byte("package m\n\n"+tests), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	return &soak{out: out, dir: dir, env: append(os.Environ(), "GOFLAGS=")}
}

const threeTests = `import "testing"

func TestGood(t *testing.T) { t.Log("12 replies compared") }

func TestSkipped(t *testing.T) { t.Skip("not here") }

func TestBad(t *testing.T) { t.Run("part", func(t *testing.T) { t.Error("broken") }) }
`

// A step prints each result and the logs of the tests. The run goes on after a
// step that fails, and fails at the end.
func TestResults(t *testing.T) {
	var out bytes.Buffer
	s := module(t, threeTests, &out)
	err := s.all(t.Context(), []step{
		{name: "first", what: "all of them", packages: []string{"."}},
		{name: "second", what: "one that passes", run: "Good", packages: []string{"."}},
		{name: "third", what: "one that does not build", packages: []string{"./nowhere"}},
	})
	if !errors.Is(err, errFailed) {
		t.Errorf("got %v", err)
	}
	for _, want := range []string{
		"[1/3] first: all of them", "TestGood: 12 replies compared", "  TestGood\n", "skip  TestSkipped: not here", "broken",
		"FAILED: 1 passed, 1 failed, 1 skipped", "ok: 1 passed, 0 failed, 0 skipped", "nowhere", "FAILED: 0 passed",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}

// A step whose needs are missing says which, and runs nothing.
func TestLeftOut(t *testing.T) {
	t.Setenv("BITCOIND", "")
	var out bytes.Buffer
	s := module(t, threeTests, &out)
	err := s.all(t.Context(), []step{
		{name: "first", packages: []string{"."}, needs: "core"},
		{name: "second", packages: []string{"."}, needs: "root"},
	})
	if !errors.Is(err, errNotRun) || !strings.Contains(out.String(), "left out: BITCOIND") ||
		!strings.Contains(out.String(), "left out: only root") {
		t.Errorf("%v: %s", err, &out)
	}
}

// A step that needs a later Core has its tests run beside that.
func TestLaterCore(t *testing.T) {
	t.Setenv("BITCOIND", "/old")
	t.Setenv("BITCOIND32", "/new")
	var out bytes.Buffer
	s := module(t, `import (
	"os"
	"testing"
)

func TestCore(t *testing.T) {
	if got := os.Getenv("BITCOIND"); got != "/new" {
		t.Error(got)
	}
}
`, &out)
	if err := s.all(t.Context(), []step{{name: "first", packages: []string{"."}, needs: later}}); err != nil {
		t.Errorf("%v: %s", err, &out)
	}
	t.Setenv("BITCOIND32", "")
	err := s.all(t.Context(), []step{{name: "first", packages: []string{"."}, needs: later}})
	if !errors.Is(err, errNotRun) {
		t.Errorf("without it: %v", err)
	}
}

// The end lists what was not run, with its reason. It is a failure, unless what is missing is known to be.
func TestNotRun(t *testing.T) {
	t.Setenv("BITCOIND", "")
	var out bytes.Buffer
	s := module(t, `import "testing"

func TestWhole(t *testing.T) { t.Skip("there is no strace") }

func TestPart(t *testing.T) { t.Run("inner", func(t *testing.T) { t.Skip("not as root") }) }
`, &out)
	err := s.all(t.Context(), []step{{name: "first", packages: []string{"."}}, {name: "second", needs: "core"}})
	if !errors.Is(err, errNotRun) {
		t.Errorf("got %v", err)
	}
	_, list, _ := strings.Cut(out.String(), "\nNOT RUN:\n")
	for _, line := range []string{
		"first: TestWhole       there is no strace", "first: TestPart/inner  not as root", "second                 BITCOIND names no",
		"WITHOUT=core,core32,qbit,core-suite,core32-suite,qbit-suite,root,tools",
	} {
		if !strings.Contains(list, line) {
			t.Errorf("no %q in\n%s", line, list)
		}
	}
	for without, want := range map[string]bool{"core": true, "tools": true, "core,tools": false, "core,core32,qbit,root,tools": false} {
		if s.without, err = expected(without); err != nil {
			t.Fatal(err)
		}
		if got := s.tellNotRun(); got != want {
			t.Errorf("without %s: a failure is %v, want %v", without, got, want)
		}
	}
	if _, err := expected("cor"); err == nil {
		t.Error("a thing that there is not may be missing")
	}
}

// An interruption ends a step, with all that it has started, and leaves out those
// after it; it is a failure.
func TestInterrupted(t *testing.T) {
	var out bytes.Buffer
	s := module(t, `import (
	"os"
	"os/exec"
	"strconv"
	"testing"
)

func TestEndless(*testing.T) {
	c := exec.Command("sleep", "1000")
	c.Start()
	os.WriteFile("starting", []byte(strconv.Itoa(c.Process.Pid)), 0o600)
	os.Rename("starting", "started")
	c.Wait()
}
`, &out)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		for ctx.Err() == nil {
			if _, err := os.Stat(filepath.Join(s.dir, "started")); err == nil {
				return
			}
			<-time.After(10 * time.Millisecond)
		}
	}()
	err := s.all(ctx, []step{{name: "first", packages: []string{"."}}, {name: "second", packages: []string{"."}}})
	if err == nil || err.Error() != "interrupted" {
		t.Errorf("got %v", err)
	}
	if runtime.GOOS == "linux" {
		raw, _ := os.ReadFile(filepath.Join(s.dir, "started"))
		pid, err := strconv.Atoi(string(raw))
		if err != nil {
			t.Fatal(err)
		}
		if child, err := os.FindProcess(pid); err == nil && child.Signal(syscall.Signal(0)) == nil {
			t.Error("what a test has started goes on")
		}
	}
	if text := out.String(); !strings.Contains(text, "interrupted: 0 passed") || !strings.Contains(text, "second  not run") {
		t.Error(text)
	}
}

func TestChoose(t *testing.T) {
	if all, err := choose(""); err != nil || len(all) != len(steps) {
		t.Errorf("%d steps, %v", len(all), err)
	}
	if two, err := choose("spends,disks"); err != nil || len(two) != 2 || two[0].name != "spends" {
		t.Errorf("%v, %v", two, err)
	}
	if _, err := choose("spend"); err == nil {
		t.Error("a step that there is not")
	}
}

// long finds what makes a test a long one.
var long = regexp.MustCompile(`"TRAWL_(SOAK|FLIPS|CHAINDB_KILLS|WALLET_CASES)"|"BITCOIND"|differ\.Start\(`)

// Each long test is in one step, without those that repeat some: there is none that `make soak` forgets.
func TestEveryLongTestHasAStep(t *testing.T) {
	const root = "../.."
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		folder := "./" + filepath.ToSlash(filepath.Dir(rel))
		if folder == "./bench" || folder == "./internal/soak" {
			return nil
		}
		raw, err := os.ReadFile(path)
		if err != nil || !long.Match(raw) {
			return err
		}
		for _, name := range testsOf(t, path) {
			if n := stepsOf(folder, name); n != 1 {
				t.Errorf("%s: %s is in %d steps of steps.go, want one", rel, name, n)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func testsOf(t *testing.T, path string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(f.Name.Name, "Test") && f.Name.Name != "TestMain" {
			names = append(names, f.Name.Name)
		}
	}
	return names
}

// Each name in a step's pattern is that of a test in its packages: a renamed test is not left out.
func TestStepsNameTests(t *testing.T) {
	word := regexp.MustCompile(`[A-Z]\w+`)
	for _, s := range steps {
		var tests []string
		for _, folder := range s.packages {
			files, err := filepath.Glob(filepath.Join("../..", folder, "*_test.go"))
			if err != nil || len(files) == 0 {
				t.Errorf("step %s: no tests in %s, %v", s.name, folder, err)
			}
			for _, path := range files {
				tests = append(tests, testsOf(t, path)...)
			}
		}
		for _, name := range word.FindAllString(s.run, -1) {
			if !slices.ContainsFunc(tests, func(test string) bool { return strings.Contains(test, name) }) {
				t.Errorf("step %s names %s, which no test is called", s.name, name)
			}
		}
	}
}

// stepsOf counts the steps that run a test.
func stepsOf(folder, test string) int {
	n := 0
	for _, s := range steps {
		if s.race || s.needs == later {
			continue
		}
		for _, p := range s.packages {
			if p == folder && regexp.MustCompile(s.run).MatchString(test) && (s.skip == "" ||
				!regexp.MustCompile(s.skip).MatchString(test)) {
				n++
			}
		}
	}
	return n
}
