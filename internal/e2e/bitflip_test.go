package e2e_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/e2e"
)

// TestBitFlips damages one bit of the filter index between a stop and a start.
// The node has to start, to give right filters, and to mend the file.
func TestBitFlips(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	o := newOracle()
	o.addFile(t, chainFile)
	d := startIndexed(t, chainFile)
	d.WaitTip(chainTip, chainHeight, true)
	a := o.audits(d)
	d.Stop()
	for range count(t, "TRAWL_FLIPS", 6) {
		file, sound := flip(t, random, d)
		d.Restart()
		if height := a.check(t); height != chainHeight {
			t.Fatalf("the tip is at %d", height)
		}
		e2e.Eventually(t, 30*time.Second, file+" is mended", func() bool {
			text, err := os.ReadFile(file)
			return err == nil && bytes.Equal(text, sound)
		})
		d.Stop()
	}
}

// flip changes one bit of one of the segment files. It returns the file and
// what it held before.
func flip(t *testing.T, random *rand.Rand, d *e2e.Daemon) (file string, sound []byte) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(d.NetDir, "indexes", "blockfilter", "basic", "*.dat"))
	if err != nil || len(files) == 0 {
		t.Fatal("no segment files", err)
	}
	file = files[random.IntN(len(files))]
	if sound, err = os.ReadFile(file); err != nil {
		t.Fatal(err)
	}
	bit := random.IntN(len(sound) * 8)
	damaged := bytes.Clone(sound)
	damaged[bit/8] ^= 1 << (bit % 8)
	if err := os.WriteFile(file, damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: bit %d of %d", filepath.Base(file), bit, len(sound)*8)
	return file, sound
}
