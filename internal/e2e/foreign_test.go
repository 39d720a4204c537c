package e2e_test

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/e2e"
)

// A directory of Bitcoin Core is refused, whatever is in it and however trawld is
// started, in words that say what to do; no byte of it is changed.
func TestForeignDirectories(t *testing.T) {
	t.Parallel()
	archives, err := filepath.Glob(filepath.Join(coreFolder, "*.tar.gz"))
	if err != nil || len(archives) < 3 {
		t.Fatalf("recorded: %v, %v", archives, err)
	}
	for _, archive := range archives {
		t.Run(filepath.Base(archive), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			unpack(t, archive, dir)
			wantRefused(t, dir)
		})
	}
}

// The same for directories of qbit, whatever dialect trawld speaks.
func TestForeignQbitDirectories(t *testing.T) {
	t.Parallel()
	for _, archive := range []string{"clean", "killed"} {
		for _, dialect := range []string{"qbit", "bitcoin"} {
			t.Run(archive+" "+dialect, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				unpack(t, filepath.Join("testdata/datadirs/qbit", archive+".tar.gz"), dir)
				wantRefused(t, dir, "-dialect="+dialect)
			})
		}
	}
}

// coreFolder holds directories that Bitcoin Core 30.2 has left.
const coreFolder = "testdata/datadirs/core-30.2"

// wantRefused starts trawld in a directory of another program, in several ways and with
// further arguments.
func wantRefused(t *testing.T, dir string, more ...string) {
	t.Helper()
	before := tree(t, dir)
	for _, args := range [][]string{
		{},
		{"-reindex"},
		{"-reindex-chainstate", "-blocksxor=0"},
		{"-prune=550", "-blockfilterindex"},
		{"-txindex", "-coinstatsindex", "-blockfilterindex"},
		{"-pid=trawld.pid", "-debuglogfile=trawld.log", "-rpccookiefile=.trawl-cookie", "-settings=trawl.json"},
	} {
		p := e2e.Run(t, e2e.Program(
			t, "trawld",
		), append([]string{"-regtest", "-datadir=" + dir, "-rpcport=0", "-listen=0", "-connect=0"}, slices.Concat(args, more)...)...)
		status := p.Wait(t)
		netDir := filepath.Join(dir, "regtest")
		want := fmt.Sprintf("Error: Data directory \"%s\" holds data of another program (", netDir)
		if status != 1 || p.Stdout() != "" || !strings.HasPrefix(p.Stderr(), want) ||
			!strings.Contains(p.Stderr(), "-datadir") {
			t.Errorf("%v: status %d, %q, %q", args, status, p.Stdout(), p.Stderr())
		}
		wantTree(t, dir, before)
	}
	p := e2e.Run(t, e2e.Program(t, "trawld"), slices.Concat([]string{
		"-regtest", "-datadir=" + t.TempDir(), "-blocksdir=" + dir, "-rpcport=0", "-listen=0", "-connect=0",
	}, more)...)
	if status := p.Wait(t); status != 1 || !strings.Contains(p.Stderr(), "holds block files that Trawl did not write (") {
		t.Errorf("-blocksdir: status %d, %q", status, p.Stderr())
	}
	wantTree(t, dir, before)
}

// tree describes all that is in a directory: modes, times, contents.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		text := fmt.Sprint(info.Mode(), info.ModTime())
		if info.Mode().IsRegular() {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text += fmt.Sprintf(" %x", sha256.Sum256(content))
		}
		all[path] = text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func wantTree(t *testing.T, dir string, before map[string]string) {
	t.Helper()
	after := tree(t, dir)
	if maps.Equal(before, after) {
		return
	}
	for _, path := range slices.Sorted(maps.Keys(before)) {
		if before[path] != after[path] {
			t.Errorf("%s was %q, is %q", path, before[path], after[path])
		}
		delete(after, path)
	}
	for path := range after {
		t.Errorf("%s is new", path)
	}
}

// coreDirs are kinds of directories of Core, by its options and its end.
var coreDirs = []struct {
	name   string
	args   []string
	killed bool
}{
	{"clean", []string{"-txindex", "-blockfilterindex", "-coinstatsindex"}, false},
	{"plain", nil, false},
	{"killed", nil, true},
	{"killed with indexes", []string{"-txindex", "-blockfilterindex", "-coinstatsindex"}, true},
	{"pruned", []string{"-prune=1", "-fastprune", "-blockfilterindex"}, false},
	{"without xor", []string{"-blocksxor=0"}, false},
}

// The same with directories that Core makes now, which it then opens again with all
// that was in them.
func TestForeignDirectoriesLive(t *testing.T) {
	core := os.Getenv("BITCOIND")
	if core == "" {
		t.Skip("BITCOIND is not set")
	}
	t.Parallel()
	for _, kind := range coreDirs {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			d := e2e.Start(t, e2e.Config{Chain: "regtest", Program: core, Args: kind.args})
			blocks, tip := mineOnCore(t, d, slices.Contains(kind.args, "-fastprune"))
			if kind.killed {
				d.Kill()
			} else {
				d.Get(nil, "stop")
				e2e.Eventually(t, time.Minute, "Core ends", d.HasEnded)
				d.Kill()
			}
			if folder := os.Getenv("TRAWL_RECORD_CORE"); folder != "" {
				pack(t, d.Dir, filepath.Join(folder, strings.ReplaceAll(kind.name, " ", "-")+".tar.gz"))
			}
			wantRefused(t, d.Dir)
			d.Restart()
			if got := bestOf(d); !kind.killed && got != tip || !slices.Contains(blocks, got) && got != tip {
				t.Errorf("Core is at %s, was at %s", got, tip)
			}
			d.Get(nil, "verifychain", 4, 50)
			d.Kill()
		})
	}
}

func bestOf(d *e2e.Daemon) (hash string) {
	d.Get(&hash, "getbestblockhash")
	return hash
}

// mineOnCore gives a node of Core a chain with something in it, and returns its
// blocks and the tip.
func mineOnCore(t *testing.T, d *e2e.Daemon, long bool) (blocks []string, tip string) {
	t.Helper()
	blocks = append(blocks, bestOf(d))
	count := 20
	if long {
		count = 600
	}
	var mined []string
	d.Get(&mined, "generatetodescriptor", count, nobody)
	d.Get(nil, "invalidateblock", mined[len(mined)-2])
	blocks = append(blocks, mined...)
	d.Get(&mined, "generatetoaddress", 4, newAddress()) // another block than the one before
	if long {
		d.Get(nil, "pruneblockchain", 260)
	}
	return append(blocks, mined...), mined[3]
}
