package segment

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

var kills = flag.Int("kills", 8, "how often TestKill kills its process")

// crashDir names the directory of the process that TestKill kills.
const crashDir = "SEGMENT_CRASH_DIR"

// TestKill kills a writing process at random moments. Acknowledged filters must
// be there, and no filter may be wrong.
func TestKill(t *testing.T) {
	if dir := os.Getenv(crashDir); dir != "" {
		writeUntilKilled(t, dir)
		return
	}
	dir := t.TempDir()
	for range *kills {
		acked := killOnce(t, dir)
		s := mustOpen(t, dir)
		acked.check(t, s)
		mustClose(t, s)
	}
}

// writeUntilKilled appends and reorganises, and says so on standard output:
// "stored H" and "tip H" when acknowledged, "try H" before a tip is set.
func writeUntilKilled(t *testing.T, dir string) {
	t.Helper()
	s := mustOpen(t, dir)
	var tip Entry
	if _, block, ok := s.Tip(); ok {
		tip, _ = s.ByHash(&block)
	} else {
		tip = testChain(1)[0]
		if err := s.Append([]Entry{tip}); err != nil {
			t.Fatal(err)
		}
	}
	for i := 0; ; i++ {
		from := tip
		if i%7 == 6 && tip.Height > 5 { // fork below the tip
			from, _ = s.ByHeight(tip.Height - rand.Int32N(4))
		}
		entries := testBranch(from, int(rand.Int64()), 1+rand.IntN(6))
		if err := s.Append(entries); err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			fmt.Println("stored", e.Block)
		}
		tip = entries[len(entries)-1]
		fmt.Println("try", tip.Block)
		if err := s.SetTip(&tip.Block); err != nil {
			t.Fatal(err)
		}
		fmt.Println("tip", tip.Block)
		if i%20 == 19 {
			if err := s.Sync(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// acknowledged is what a killed process said.
type acknowledged struct {
	stored   []chainhash.Hash
	tip, try string
}

// killOnce runs a writing process for a moment.
func killOnce(t *testing.T, dir string) (a acknowledged) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestKill$")
	cmd.Env = append(os.Environ(), crashDir+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines, deadline := bufio.NewScanner(out), rand.IntN(400)
	timer := time.AfterFunc(20*time.Second, func() { cmd.Process.Kill() })
	defer timer.Stop()
	for n := 0; lines.Scan(); n++ {
		if n == deadline {
			cmd.Process.Kill()
		}
		a.take(t, lines.Text())
	}
	cmd.Wait()
	return a
}

func (a *acknowledged) take(t *testing.T, line string) {
	t.Helper()
	verb, hash, _ := strings.Cut(line, " ")
	switch verb {
	case "stored":
		block, err := chainhash.NewHashFromStr(hash)
		if err != nil || len(hash) != chainhash.MaxHashStringSize {
			return // cut by the kill
		}
		a.stored = append(a.stored, *block)
	case "try":
		a.try = hash
	case "tip":
		a.tip = hash
	default:
		t.Fatalf("writing process: %s", line)
	}
}

func (a *acknowledged) check(t *testing.T, s *Store) {
	t.Helper()
	for _, block := range a.stored {
		e, err := s.ByHash(&block)
		if err != nil {
			t.Fatalf("acknowledged filter: %v", err)
		}
		if !bytes.Equal(e.Filter, testFilter(&block)) {
			t.Fatalf("wrong filter of block %v", block)
		}
	}
	_, tip, ok := s.Tip()
	if a.tip != "" && (!ok || tip.String() != a.tip && tip.String() != a.try) {
		t.Errorf("tip is %v, want %s or %s", tip, a.tip, a.try)
	}
	for _, info := range s.Segments() {
		if err := s.Verify(t.Context(), info.Number, true); err != nil {
			t.Error(err)
		}
	}
}

// TestPowerLoss lets random parts of the writes since the last Sync disappear,
// as a disk that lost power may.
func TestPowerLoss(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 0))
		dir := t.TempDir()
		s := mustOpen(t, dir)
		kept := testChain(1 + r.IntN(40))
		mustAppend(t, s, kept)
		if err := s.Sync(); err != nil {
			t.Fatal(err)
		}
		durable := fileSizes(t, dir)
		lost := testBranch(kept[r.IntN(len(kept))], 1, 1+r.IntN(40))
		for _, e := range lost {
			mustAppend(t, s, []Entry{e})
		}
		after := filepath.Join(t.TempDir(), "after")
		if err := os.CopyFS(after, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		mustClose(t, s)
		losePower(t, r, after, durable)

		s = mustOpen(t, after)
		checkEntries(t, s, kept)
		if got := checkNoWrongBytesOf(t, s, lost); got != s.Len()-len(kept) {
			t.Errorf("seed %d: %d of the unsynced filters are there, want %d", seed, got, s.Len()-len(kept))
		}
		checkTip(t, s, kept, lost)
		mustAppend(t, s, lost)
		checkEntries(t, s, append(kept, lost...))
		mustClose(t, s)
	}
}

// After a loss of power a file may have its old size and the beginning of a new
// filter where the padding was.
func TestPaddingOverwritten(t *testing.T) {
	s, entries := newStore(t, 30)
	mustClose(t, s)
	size := fileSizes(t, s.dir)["fltr00000.dat"]
	mustWriteAt(t, filepath.Join(s.dir, "fltr00000.dat"), []byte{1, 2, 3}, size-padding)
	s = mustOpen(t, s.dir)
	checkEntries(t, s, entries)
	mustClose(t, s)
}

// checkTip asserts that the tip is the synced one or one set later.
func checkTip(t *testing.T, s *Store, kept, lost []Entry) {
	t.Helper()
	_, tip, _ := s.Tip()
	for _, e := range append(lost, kept[len(kept)-1]) {
		if e.Block == tip {
			return
		}
	}
	t.Errorf("tip %v was not set after the last Sync", tip)
}

// checkNoWrongBytesOf counts the entries that are stored.
func checkNoWrongBytesOf(t *testing.T, s *Store, entries []Entry) (stored int) {
	t.Helper()
	for _, want := range entries {
		got, err := s.ByHash(&want.Block)
		switch {
		case errors.Is(err, ErrNotFound):
		case err != nil:
			t.Error(err)
		case !sameEntry(got, want):
			t.Errorf("ByHash = %+v, want %+v", got, want)
		default:
			stored++
		}
	}
	return stored
}

// losePower zeroes and cuts what is beyond the durable sizes of files.
func losePower(t *testing.T, r *rand.Rand, dir string, durable map[string]int64) {
	t.Helper()
	for name, size := range fileSizes(t, dir) {
		path, safe := filepath.Join(dir, name), durable[name]
		if filepath.Ext(name) == ".dat" && safe > 0 {
			safe -= padding // which the next append overwrites
		}
		if size <= safe {
			continue
		}
		switch r.IntN(4) {
		case 0: // all arrived
		case 1:
			if err := os.Truncate(path, safe+r.Int64N(size-safe)); err != nil {
				t.Fatal(err)
			}
		case 2:
			zero := make([]byte, 1+r.Int64N(size-safe))
			mustWriteAt(t, path, zero, safe+r.Int64N(size-safe-int64(len(zero))+1))
		case 3:
			if filepath.Ext(name) == ".dat" && durable[name] == 0 {
				os.Remove(path)
			}
		}
	}
}

func fileSizes(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	sizes := make(map[string]int64)
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			sizes[name] = info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sizes
}

// TestReorganisationBeforeAnUncleanStop is the sequence of bitcoin/bitcoin
// issue 34261: a clean stop, a start, a reorganisation of the tip, and an
// unclean stop before anything was flushed.
func TestReorganisationBeforeAnUncleanStop(t *testing.T) {
	s, entries := newStore(t, 30)
	mustClose(t, s)
	s = mustOpen(t, s.dir)
	if err := s.SetTip(&entries[28].Block); err != nil {
		t.Fatal(err)
	}
	branch := testBranch(entries[28], 1, 2)
	mustAppend(t, s, branch)

	killed := filepath.Join(t.TempDir(), "killed") // the files as a kill leaves them
	if err := os.CopyFS(killed, os.DirFS(s.dir)); err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, killed)
	checkActive(t, s, append(entries[:29:29], branch...))
	checkEntries(t, s, append(entries, branch...))
}
