package nodefiles_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/txpool/feeestimate"
	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/internal/vfs/faultfs"
	"github.com/seed61375155/trawl/store/nodefiles"
)

// Saved estimates are read back until they are too old. Every file gives an estimator.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	path, odd := filepath.Join(dir, "fee_estimates.dat"), filepath.Join(dir, "odd")
	known := feeestimate.Core30.New()
	known.Connect(77, nil)
	if err := nodefiles.SaveFees(vfs.OS, path, known.Encode()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(odd, []byte("odd"), 0o600); err != nil {
		t.Fatal(err)
	}
	later := time.Now().Add(nodefiles.MaxFeesAge + time.Minute)
	for name, test := range map[string]struct {
		path  string
		stale bool
		now   time.Time
		want  error
		read  bool
	}{
		"a file":         {path, false, time.Now(), nil, true},
		"one that old":   {path, false, later.Add(-2 * time.Minute), nil, true},
		"one too old":    {path, false, later, nodefiles.ErrStaleFees, false},
		"that all same":  {path, true, later, nil, true},
		"none":           {filepath.Join(dir, "none"), false, time.Now(), nil, false},
		"a folder":       {dir, false, time.Now(), vfs.ErrNotRegular, false},
		"something else": {odd, false, time.Now(), feeestimate.ErrDamaged, false},
	} {
		got, err := nodefiles.OpenFees(feeestimate.Core30, test.path, test.stale, test.now)
		if !errors.Is(err, test.want) || got == nil || (string(got.Encode()) == string(known.Encode())) != test.read {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A write that fails leaves the file of before.
func TestSaveFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fee_estimates.dat")
	if err := nodefiles.SaveFees(vfs.OS, path, []byte("before")); err != nil {
		t.Fatal(err)
	}
	full := errors.New("no space left")
	for n := 1; ; n++ {
		disk := faultfs.New()
		disk.Inject(faultfs.Nth(n, full))
		err := nodefiles.SaveFees(disk, path, []byte("after"))
		text, _ := os.ReadFile(path)
		if err == nil {
			if string(text) != "after" || n == 1 {
				t.Errorf("after %d calls: %q", n, text)
			}
			return
		}
		if !errors.Is(err, full) || string(text) != "before" && string(text) != "after" {
			t.Errorf("call %d fails: %v, %q is there", n, err, text)
		}
	}
}
