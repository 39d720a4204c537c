package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/seed61375155/trawl/internal/options"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"trawld": main})
}

// TestScripts runs the program as a user does; each file is one behaviour.
func TestScripts(t *testing.T) {
	port := freePort(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("GORACE", "atexit_sleep_ms=0") // the race detector waits a second otherwise
			env.Setenv("PORT", port)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"mode": checkMode,
		},
	})
}

// checkMode is the command "mode <octal> <path>…".
func checkMode(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.ParseUint(args[0], 8, 32)
	ts.Check(err)
	for _, path := range args[1:] {
		info, err := os.Stat(ts.MkAbs(path))
		ts.Check(err)
		if got := info.Mode().Perm(); got != os.FileMode(want) {
			ts.Fatalf("%s has mode %o, not %o", path, got, want)
		}
	}
}

// start runs the program with a node of the test's own; it returns the exit
// status, the standard error and the log.
func startWith(t *testing.T, node starter, args ...string) (status int, stderr, log string) {
	t.Helper()
	dir := t.TempDir()
	var errs, out bytes.Buffer
	status = run(
		append([]string{"-datadir=" + dir, "-regtest", "-nologtimestamps"}, args...), streams{&out, &errs, dir}, node,
	)
	text, err := os.ReadFile(filepath.Join(dir, "regtest", "debug.log"))
	if err != nil {
		t.Fatal(err)
	}
	return status, errs.String(), string(text)
}

func TestNodeThatStopsByItself(t *testing.T) {
	node := func(ctx context.Context, s *session) error {
		s.ready(ctx)
		if filepath.Base(s.netDir) != "regtest" || s.blocksDir != filepath.Join(s.netDir, "blocks") ||
			s.settings.Chain() != options.Regtest {
			t.Errorf("session in %s, %s, %s", s.netDir, s.blocksDir, s.settings.Chain())
		}
		s.log.Info("init message: Done loading")
		return nil
	}
	status, stderr, log := startWith(t, node)
	if status != 0 || stderr != "" {
		t.Errorf("got %d, %q", status, stderr)
	}
	if want := "init message: Done loading\nShutdown in progress...\nShutdown done\n"; !strings.HasSuffix(log, want) {
		t.Errorf("got log %q", log)
	}
}

func TestNodeThatFails(t *testing.T) {
	node := func(context.Context, *session) error {
		return errors.New("Unable to start HTTP server. See debug log for details.")
	}
	status, stderr, log := startWith(t, node)
	if status != 1 || stderr != "Error: Unable to start HTTP server. See debug log for details.\n" {
		t.Errorf("got %d, %q", status, stderr)
	}
	if !strings.Contains(log, "\n[error] Unable to start HTTP server.") {
		t.Errorf("got log %q", log)
	}
}

// Joined errors are shown separately; an error that wraps others is shown as a
// whole.
func TestSeveralErrors(t *testing.T) {
	a, b, c := errors.New("a"), errors.New("b"), errors.New("c")
	node := func(context.Context, *session) error {
		return errors.Join(nil, a, errors.Join(fmt.Errorf("%w: %w", b, c), nil))
	}
	_, stderr, log := startWith(t, node)
	if stderr != "Error: a\nError: b: c\n" || !strings.Contains(log, "[error] a\n") || !strings.Contains(log, "[error] b: c\n") {
		t.Errorf("got %q, %s", stderr, log)
	}
}

// The commands of -shutdownnotify run once, also where the node announces its
// stop itself.
func TestShutdownNotifyRunsOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ran")
	node := func(ctx context.Context, s *session) error {
		s.stopping(ctx)
		return nil
	}
	status, stderr, log := startWith(t, node, "-shutdownnotify=echo x >>"+file, "-shutdownnotify=exit 3", "-shutdownnotify=")
	if status != 0 || stderr != "" {
		t.Errorf("got %d, %q", status, stderr)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "x\n" {
		t.Errorf("got %q, %v", text, err)
	}
	if !strings.Contains(log, "[error] runCommand error: system(exit 3) returned 3\n") {
		t.Errorf("got log %q", log)
	}
}

// Everything is given back, so that a second session in the same folder opens.
func TestSessionsFollowEachOther(t *testing.T) {
	dir := t.TempDir()
	for range 2 {
		var stderr bytes.Buffer
		s, status := setup([]string{"-datadir=" + dir, "-printtoconsole=0"}, streams{nil, &stderr, dir})
		if s == nil {
			t.Fatalf("status %d: %s", status, stderr.String())
		}
		pid, err := os.ReadFile(filepath.Join(dir, "bitcoind.pid"))
		if err != nil || string(pid) != strconv.Itoa(os.Getpid())+"\n" {
			t.Errorf("got %q, %v", pid, err)
		}
		s.close(t.Context())
		if _, err := os.Stat(filepath.Join(dir, "bitcoind.pid")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the file with the process number stays: %v", err)
		}
	}
}
