package datadir

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed61375155/trawl/internal/vfs/faultfs"
)

var someNetwork = Network{"regtest (bitcoin)", [4]byte{1, 2, 3, 4}}

// A mark is there as a whole or not at all, and for good once it was written.
func TestMarkIsWrittenInOneStep(t *testing.T) {
	t.Parallel()
	for n := range 8 {
		for seed := range uint64(5) {
			dir := t.TempDir()
			disk := faultfs.New()
			disk.Inject(faultfs.From(n, syscall.ENOSPC))
			wrote := writeMark(disk, dir, someNetwork)
			if err := disk.PowerLoss(rand.New(rand.NewPCG(seed, 0))); err != nil {
				t.Fatal(err)
			}
			marked, err := checkMark(dir, someNetwork)
			if err != nil || wrote == nil && !marked {
				t.Errorf("call %d: %v, then %v, %v", n, wrote, marked, err)
			}
		}
	}
}

func FuzzMark(f *testing.F) {
	m := mark{Format, someNetwork}
	f.Add(m.marshal())
	f.Add([]byte("format=99999999999999999999\nmagic=zz\n=\n#=\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := parseMark(text)
		if err != nil {
			if !errors.Is(err, ErrMark) {
				t.Errorf("error %v", err)
			}
			return
		}
		if m.format > Format {
			return
		}
		if bytes.ContainsAny([]byte(m.network.Name), "\n\r") {
			t.Errorf("network %q", m.network.Name)
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, MarkName), m.marshal(), 0o600); err != nil {
			t.Fatal(err)
		}
		if marked, err := checkMark(dir, m.network); !marked || err != nil {
			t.Errorf("%q written again: %v", m.network, err)
		}
	})
}

// The error says how to proceed only if the mark was read and makes no sense. A mark
// that just cannot be read now may be right, and without it the directory would be a
// stranger's.
func TestMarkThatCannotBeRead(t *testing.T) {
	t.Parallel()
	broken, unreadable := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(broken, MarkName), []byte("format=x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(unreadable, MarkName), 0o700); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]bool{broken: true, unreadable: false} {
		_, err := checkMark(dir, someNetwork)
		if err == nil || strings.Contains(err.Error(), "Move it away") != want || errors.Is(err, ErrMark) != want {
			t.Errorf("%v", err)
		}
	}
}
