package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/e2e"
)

func TestMain(m *testing.M) { e2e.Main(m) }

// testLimit is how long one functional test may take: the longest crashes a node hundreds of times.
const testLimit = 40 * time.Minute

// skipped is the exit code of a functional test that cannot run here.
const skipped = 77

// A suite is the functional tests of Bitcoin Core 30.2 or 31.99, or of qbit 1.0.0, unmodified, against a trawld.
// CORE_BUILD, CORE32_BUILD and QBIT_BUILD name build folders, configured by cmake, whose sources have the functional
// tests. The files in testdata name the tests that are not run, each with its reason.
//
//	QBIT_BUILD=/path/to/build go test -v -timeout=0 -run 'TestQbitSuite/feature_auxpow' ./internal/soak
type suite struct {
	build   string // the variable that names a build folder
	dialect string
	core    string // the option of the version of Bitcoin Core to speak as
	daemon  string // further options of the daemon
	conf    string // the file that the tests write options into
	cli     string // the suite's own client, below the build folder
	wallet  string // the suite's own tool for wallet files, below the build folder
	env     string // the variables of the programs' paths are named after it
	leftOut string // the file of tests that are not run
}

// Bitcoin Core's functional tests pass.
func TestCoreSuite(t *testing.T) {
	runSuite(t, &suite{
		build: "CORE_BUILD", dialect: "bitcoin", core: "-core=30", conf: "bitcoin.conf", cli: "bin/bitcoin-cli",
		wallet: "bin/bitcoin-wallet", env: "BITCOIN", leftOut: "testdata/core.txt",
	})
}

// The functional tests of Bitcoin Core 31.99, from which 32.0 came, pass. It has no connections yet that are kept for
// peers that relay nothing.
func TestCore32Suite(t *testing.T) {
	runSuite(t, &suite{
		build: "CORE32_BUILD", dialect: "bitcoin", core: "-core=32", daemon: " -inboundrelaypercent=100",
		conf: "bitcoin.conf", cli: "bin/bitcoin-cli", wallet: "bin/bitcoin-wallet", env: "BITCOIN",
		leftOut: "testdata/core32.txt",
	})
}

// qbit's functional tests pass.
func TestQbitSuite(t *testing.T) {
	runSuite(t, &suite{
		build: "QBIT_BUILD", dialect: "qbit", conf: "qbit.conf", cli: "bin/qbit-cli",
		wallet: "bin/qbit-wallet", env: "QBIT", leftOut: "testdata/qbit.txt",
	})
}

func runSuite(t *testing.T, s *suite) {
	t.Helper()
	build := os.Getenv(s.build)
	if build == "" {
		t.Skip(s.build + " names no build folder")
	}
	config := filepath.Join(build, "test/config.ini")
	tests := folderOfTests(t, config)
	left := readLeftOut(t, s.leftOut)
	env := s.environ(t, build)
	caches := make(chan string, 64) // chains that tests begin with; each is used by one test at a time
	for i, line := range listed(t, tests) {
		if why, ok := left.reason(line); ok {
			t.Logf("left out: %s: %s", line, why)
			continue
		}
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			var cache string
			select {
			case cache = <-caches:
			default:
				cache = e2e.SharedDir(t)
			}
			defer func() { caches <- cache }()
			name, args, _ := strings.Cut(line, " ")
			runTest(t, env, append([]string{
				filepath.Join(tests, name+".py"), "--configfile=" + config, "--cachedir=" + cache,
				"--tmpdir=" + filepath.Join(t.TempDir(), "t"), fmt.Sprint("--portseed=", i),
			}, strings.Fields(args)...))
		})
	}
}

// runTest runs a functional test in a process group of its own, and ends the
// nodes together with the test.
func runTest(t *testing.T, env, args []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "python3", args...)
	cmd.Env = env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	log, err := cmd.CombinedOutput()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // as a rule there is nobody left
	}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() == skipped:
		t.Skip(lastLine(log))
	case ctx.Err() != nil:
		t.Errorf("not done after %v\n%s", testLimit, log)
	case err != nil:
		t.Errorf("%v\n%s", err, log)
	}
}

func lastLine(log []byte) string {
	lines := strings.Split(strings.TrimSpace(string(log)), "\n")
	return lines[len(lines)-1]
}

// environ returns the environment of the tests, with a daemon and a client that read the suite's own files. The client
// and the tool for wallet files are the suite's own where it has been built.
func (s *suite) environ(t *testing.T, build string) []string {
	t.Helper()
	dir := e2e.SharedDir(t)
	options := fmt.Sprintf(" -dialect=%s -conf=%s", s.dialect, s.conf)
	daemon := e2e.Program(t, "trawld") + options + " " + s.core + s.daemon + " -deprecatedrpc=emptyoutputs"
	cli := filepath.Join(build, s.cli)
	if _, err := os.Stat(cli); err != nil {
		cli = wrapper(t, filepath.Join(dir, "cli"), e2e.Program(t, "trawl-cli")+options)
	}
	wallet := filepath.Join(build, s.wallet)
	if _, err := os.Stat(wallet); err != nil {
		tool := e2e.Program(t, "trawl-wallet") + " -dialect=" + s.dialect + " " + s.core
		wallet = wrapper(t, filepath.Join(dir, "wallet"), tool)
	}
	return append(os.Environ(), s.env+"D="+wrapper(t, filepath.Join(dir, "daemon"), daemon), s.env+"CLI="+cli,
		s.env+"WALLET="+wallet)
}

// wrapper writes a program that starts a command with its own arguments behind.
func wrapper(t *testing.T, path, command string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte("#!/bin/sh\nexec "+command+" \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

var sourceDir = regexp.MustCompile(`(?m)^SRCDIR=(.+)$`)

// folderOfTests reads from a build's description where the functional tests are.
func folderOfTests(t *testing.T, config string) string {
	t.Helper()
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	found := sourceDir.FindSubmatch(text)
	if found == nil {
		t.Fatalf("%s names no source", config)
	}
	return filepath.Join(string(bytes.TrimSpace(found[1])), "test/functional")
}

// listed returns the suite's own list of its tests, with their arguments.
func listed(t *testing.T, folder string) []string {
	t.Helper()
	const program = `import test_runner as r
print("\n".join(dict.fromkeys(s.replace(".py", "", 1) for s in r.BASE_SCRIPTS + r.EXTENDED_SCRIPTS)))`
	cmd := exec.CommandContext(t.Context(), "python3", "-c", program)
	cmd.Dir = folder
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the list of tests: %v", err)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// leftOut are the tests that are not run: patterns of whole lines, and why.
type leftOut []struct {
	pattern *regexp.Regexp
	why     string
}

// readLeftOut reads lines "PATTERN: REASON". A line that begins with # is a comment.
func readLeftOut(t *testing.T, file string) (list leftOut) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		pattern, why, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok {
			t.Fatalf("%s: %q gives no reason", file, line)
		}
		list = append(list, struct {
			pattern *regexp.Regexp
			why     string
		}{regexp.MustCompile("^(" + pattern + ")$"), why})
	}
	return list
}

func (l leftOut) reason(test string) (why string, ok bool) {
	for _, left := range l {
		if left.pattern.MatchString(test) {
			return left.why, true
		}
	}
	return "", false
}

// Each line of the files gives a pattern and a reason.
func TestSuitesLeaveOut(t *testing.T) {
	for _, file := range []string{"testdata/core.txt", "testdata/core32.txt", "testdata/qbit.txt"} {
		list := readLeftOut(t, file)
		if why, ok := list.reason("tool_bitcoin_chainstate"); !ok || why == "" {
			t.Errorf("%s: the tests of Core's own tools are run", file)
		}
		for _, test := range []string{"rpc_users", "tool_wallet", "wallet_encryption"} {
			if why, ok := list.reason(test); ok {
				t.Errorf("%s: %s is left out: %s", file, test, why)
			}
		}
	}
}
