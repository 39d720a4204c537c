package e2e_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/e2e"
)

// traced are the system calls that take a path, and those that change or lock a file.
const traced = "%file,flock,fcntl,ftruncate,fallocate,fchmod,fchown,fsetxattr,pwrite64,pwritev,fsync,fdatasync"

// looking are those that change nothing.
var looking = regexp.MustCompile(
	`^(stat|lstat|newfstatat|statx|readlink|readlinkat|access|faccessat2?|getxattr|statfs)$`)

// In a whole life beside Core the node opens Core's files for reading and does nothing
// else with them, as a trace of system calls shows. That life has start, index, scan,
// restore of a wallet, reorganisation, Core's restart and stop.
func TestLiveAttachTrace(t *testing.T) {
	t.Parallel()
	strace, err := exec.LookPath("strace")
	if err != nil || exec.CommandContext(t.Context(), strace, "-D", "true").Run() != nil {
		t.Skip("no strace that may trace")
	}
	random := rand.New(rand.NewPCG(5, 5))
	c := startBitcoind(t, "rest=1", "fastprune=1")
	s := &attachStress{t: t, random: random, core: c, seen: map[string]bool{}}
	for range 15 {
		c.get(nil, "generatetodescriptor", 10, anyScript(random))
	}
	s.mine(40, 3) // several finished files
	trace, script := filepath.Join(t.TempDir(), "trace"), filepath.Join(t.TempDir(), "trawld")
	text := fmt.Sprintf("#!/bin/sh\nexec %s -D -f -y -s 4096 -o %s -e trace=%s %s \"$@\"\n",
		strace, trace, traced, e2e.Program(t, "trawld"))
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	s.node = e2e.Start(t, e2e.Config{Chain: "regtest", Args: []string{"-attach=" + c.dir}, Program: script})
	wantSame(t, c, s.node)
	s.node.Get(nil, "scanblocks", "start", []string{"raw(51)"})
	s.node.Get(nil, "createwallet", "w", true, true)
	s.node.Get(nil, "importdescriptors", []map[string]any{{"desc": checked(c, anyScript(random)), "timestamp": 0}})
	s.reorganise()
	s.follow()
	c.stop()
	c.start()
	c.mine(random, 2)
	s.follow()
	s.node.Get(nil, "rescanblockchain")
	s.node.Stop()
	wantReadOnly(t, trace, c.dir)
}

// checked returns a descriptor with its checksum.
func checked(c *bitcoind, desc string) string {
	var info struct{ Descriptor string }
	c.get(&info, "getdescriptorinfo", desc)
	return info.Descriptor
}

// tracedCall is a line of a trace: the process, the call, its arguments.
var tracedCall = regexp.MustCompile(`^\d+ +(\w+)\((.*)$`)

// wantReadOnly fails the test if a trace has anything but reading of files below a
// directory.
func wantReadOnly(t *testing.T, trace, dir string) {
	t.Helper()
	file, err := os.Open(trace)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	opened := 0
	blocks := false
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		call := tracedCall.FindStringSubmatch(lines.Text())
		if call == nil || !strings.Contains(call[2], dir) || call[1] == "execve" { // -attach=
			continue
		}
		name, args := call[1], call[2]
		switch {
		case looking.MatchString(name):
		case name == "openat" || name == "open":
			opened++
			blocks = blocks || strings.Contains(args, "blk0")
			for _, flag := range []string{"O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND"} {
				if strings.Contains(args, flag) || !strings.Contains(args, "O_RDONLY") {
					t.Errorf("%s", lines.Text())
				}
			}
		case name == "fcntl" && !strings.Contains(args, "LK"):
		default:
			t.Errorf("%s", lines.Text())
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if opened < 10 || !blocks {
		t.Errorf("%d files of Core's were opened, block files: %v", opened, blocks)
	}
	t.Logf("%d files of Core's were opened, to be read", opened)
}
