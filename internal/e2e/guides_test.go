package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/e2e"
)

// guideLimit is how long the commands of a guide may take together.
const guideLimit = 3 * time.Minute

// TestGuides runs the commands of each guide as they stand, in one shell, and compares what they
// print with what the guide shows. Each guide has a network of its own, so that its ports are free;
// where the system makes none, one guide after the other has the ports of this machine.
func TestGuides(t *testing.T) {
	e2e.SkipUnderRace(t, "it takes too long")
	guides, err := filepath.Glob("../../docs/guides/*.md")
	if err != nil || len(guides) < 10 {
		t.Fatalf("only %d guides: %v", len(guides), err)
	}
	for _, path := range guides {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".md"), func(t *testing.T) {
			if ownNetworks() {
				t.Parallel()
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			runGuide(t, string(text))
		})
	}
}

// A step is a block of commands of a guide, and what it says that they print; empty: it does
// not say.
type step struct{ commands, prints string }

var fenced = regexp.MustCompile("(?ms)^```(sh|text|json)\n(.*?)^```$")

// steps are the blocks of a guide. Output belongs to the commands above it.
func steps(text string) (list []step) {
	for _, block := range fenced.FindAllStringSubmatch(text, -1) {
		if block[1] == "sh" {
			list = append(list, step{commands: block[2]})
		} else if n := len(list); n > 0 {
			list[n-1].prints = block[2]
		}
	}
	return list
}

func runGuide(t *testing.T, text string) {
	t.Helper()
	list := steps(text)
	if len(list) == 0 {
		t.Fatal("there are no commands")
	}
	home, out := t.TempDir(), t.TempDir()
	env := guideEnv(t, home, text)
	var script strings.Builder
	script.WriteString("set -eu -o pipefail\ncd \"$HOME\"\n")
	for i, s := range list {
		fmt.Fprintf(&script, "exec >%s/%d 2>&1\n%s\n", out, i, s.commands)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-c", script.String())
	cmd.Env = env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	t.Cleanup(func() { endDaemons(home) })
	watch := time.AfterFunc(guideLimit, func() { _ = cmd.Cancel() }) // it has ended then
	err := runApart(cmd)
	watch.Stop()
	for i, s := range list {
		got, readErr := os.ReadFile(filepath.Join(out, strconv.Itoa(i)))
		if readErr != nil {
			break
		}
		if s.prints != "" && !printed(string(got), s.prints) {
			t.Errorf("after\n%s\ncame\n%s\nand the guide says\n%s", s.commands, got, s.prints)
		} else if err != nil {
			t.Logf("%s\n%s", s.commands, got)
		}
	}
	if err != nil {
		t.Errorf("the commands end with %v", err)
	}
}

// printed compares an output with that of a guide, where … stands for anything.
func printed(got, want string) bool {
	parts := strings.Split(strings.TrimSpace(want), "…")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile("(?s)^" + strings.Join(parts, ".*?") + "$").MatchString(strings.TrimSpace(got))
}

// guideEnv is the environment of the commands: programs of this tree as they are, and a home of
// their own.
func guideEnv(t *testing.T, home, text string) []string {
	t.Helper()
	bin := t.TempDir()
	programs := map[string]string{}
	for _, name := range []string{"trawld", "trawl-cli", "trawl-wallet", "trawl-load"} {
		programs[name] = e2e.Program(t, name)
	}
	if regexp.MustCompile(`(?m)^bitcoind `).MatchString(text) {
		core := os.Getenv("BITCOIND")
		if core == "" {
			t.Skip("BITCOIND is not set")
		}
		programs["bitcoind"], programs["bitcoin-cli"] = core, filepath.Join(filepath.Dir(core), "bitcoin-cli")
	}
	for name, program := range programs {
		path, err := filepath.Abs(program)
		if err == nil {
			err = os.Symlink(path, filepath.Join(bin, name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "HOME=") })
	return append(env, "HOME="+home, "PATH="+bin+":"+os.Getenv("PATH"))
}

// endDaemons ends what a guide that failed has left running.
func endDaemons(home string) {
	for _, pattern := range []string{"*/*/*.pid", "*/*.pid", ".*/*/*.pid", ".*/*.pid"} {
		files, _ := filepath.Glob(filepath.Join(home, pattern))
		for _, file := range files {
			text, _ := os.ReadFile(file)
			if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && pid > 1 {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}
}
