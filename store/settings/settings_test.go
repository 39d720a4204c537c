package settings_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/internal/vfs/faultfs"
	"github.com/seed61375155/trawl/store/settings"
)

// file makes settings whose file has a text; nil: there is no file.
func file(tb testing.TB, text []byte) (f *settings.File, disk *faultfs.FS, path string) {
	tb.Helper()
	path, disk = filepath.Join(tb.TempDir(), "settings.json"), faultfs.New()
	if text != nil {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	return settings.New(disk, path), disk, path
}

func TestWallets(t *testing.T) {
	for text, want := range map[string]string{
		`{}`:                               "[]",
		`{"wallet": null}`:                 "[]",
		`{"wallet": []}`:                   "[]",
		`{"wallet": "one"}`:                "[one]",
		`{"wallet": ["one", "", "<two>"]}`: "[one  <two>]",
		`{"a": {"wallet": "no"}, "wallet": ["one"], "b": [1]}`: "[one]",
		`{"wallet": 5}`:             "error",
		`{"wallet": [5]}`:           "error",
		`[]`:                        "error",
		`null`:                      "error",
		``:                          "error",
		`{`:                         "error",
		`{"a"}`:                     "error",
		`{"wallet": ["one"]`:        "error",
		"{\"wallet\": [\"\xff\"]}":  "error",
		strings.Repeat("[", 20_000): "error",
		`{"a":` + strings.Repeat("[", 20_000) + "}": "error",
	} {
		f, _, _ := file(t, []byte(text))
		names, err := f.Wallets()
		got := fmt.Sprint(names)
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%.60s: got %s (%v), want %s", text, got, err, want)
		}
		if failed := f.SetWallet("new", true); (failed != nil) != (err != nil) {
			t.Errorf("%.60s: set: %v", text, failed)
		}
	}
	f, _, path := file(t, nil)
	if names, err := f.Wallets(); len(names) > 0 || err != nil {
		t.Errorf("without a file: %v, %v", names, err)
	}
	if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 16<<20+1)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Wallets(); !errors.Is(err, vfs.ErrTooLarge) {
		t.Errorf("a large file: %v", err)
	}
	none := settings.New(nil, "")
	if names, err := none.Wallets(); len(names) > 0 || err != nil {
		t.Errorf("without settings: %v, %v", names, err)
	}
	if err := none.SetWallet("one", true); !errors.Is(err, settings.ErrNone) {
		t.Errorf("without settings: %v", err)
	}
	if err := none.SetWallet("one", false); err != nil { // it is not in the list
		t.Errorf("without settings: %v", err)
	}
}

// What others have in the file stays as it is, in its order.
func TestOthersStay(t *testing.T) {
	f, _, path := file(t, []byte(`{"prune": 550, "wallet": ["a"], "big": 123456789012345678901234567890, "_warning_": "x",
		"deep": {"b": [1, {"<&>": "é"}], "a": null}}`))
	if err := f.SetWallet("b<", true); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{
    "_warning_": "The program keeps this file itself. What you change here while it runs may be ignored or lost.",
    "prune": 550,
    "wallet": [
        "a",
        "b<"
    ],
    "big": 123456789012345678901234567890,
    "deep": {
        "b": [
            1,
            {
                "<&>": "é"
            }
        ],
        "a": null
    }
}
`
	if string(text) != want {
		t.Errorf("got %s", text)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if err := f.SetWallet("\xff", true); err == nil {
		t.Error("a name that is not UTF-8 is kept")
	}
}

// Random changes leave what a plain list has; the file is not written without need.
func TestHistories(t *testing.T) {
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		f, disk, path := file(t, nil)
		var want []string
		unnamed := seed%2 == 0
		if unnamed {
			f.LoadUnnamed()
		}
		listed := false // in a file
		for range 30 {
			name, load := []string{"", "a", "b", "c"}[rnd.IntN(4)], rnd.IntN(2) == 0
			if unnamed && !listed {
				want = []string{""}
			}
			before := slices.Clone(want)
			at := slices.Index(want, name)
			switch {
			case load && at < 0:
				want = append(want, name)
			case !load && at >= 0:
				want = slices.Delete(want, at, at+1)
			}
			changes := !slices.Equal(before, want)
			writes := 0
			disk.Inject(func(op faultfs.Op) error {
				writes++
				return nil
			})
			if err := f.SetWallet(name, load); err != nil {
				t.Fatal(err)
			}
			if changes != (writes > 0) {
				t.Fatalf("seed %d: %d calls write, changed %v", seed, writes, changes)
			}
			if !changes && !listed {
				want = nil
			}
			listed = listed || changes
			got, err := settings.New(disk, path).Wallets()
			if err != nil || !slices.Equal(got, want) {
				t.Fatalf("seed %d: got %q, %v, want %q", seed, got, err, want)
			}
		}
	}
}

// Whatever fails, and however the power goes, the list is the one before or the new
// one. After nil it is the new one.
func TestFaults(t *testing.T) {
	const calls = 7 // of the file system that can fail
	for n := range calls + 1 {
		for seed := range uint64(4) {
			f, disk, path := file(t, []byte(`{"wallet": ["old"], "other": 1}`))
			disk.Inject(faultfs.Nth(n, syscall.ENOSPC))
			err := f.SetWallet("new", true)
			disk.Inject(nil)
			if (err != nil) != (n < calls) {
				t.Fatalf("call %d fails: %v", n, err)
			}
			if err := disk.PowerLoss(rand.New(rand.NewPCG(seed, 1))); err != nil {
				t.Fatal(err)
			}
			got, readErr := settings.New(disk, path).Wallets()
			isNew := slices.Equal(got, []string{"old", "new"})
			if readErr != nil || !isNew && (err == nil || !slices.Equal(got, []string{"old"})) {
				t.Errorf("call %d fails with %v: %q, %v", n, err, got, readErr)
			}
		}
	}
}

// FuzzFile changes the list in files of any content. Either the file stays as it was,
// with an error, or it has the change and is read again.
func FuzzFile(f *testing.F) {
	f.Add([]byte(`{"prune": 550, "wallet": ["one"], "x": {"y": [1, null]}}`))
	f.Add([]byte(`{"wallet": "one", "wallet": ["two"]}`))
	f.Add([]byte(`{"_warning_": 1, "\u0061": "\ud800"}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, disk, path := file(t, text)
		before, readErr := s.Wallets()
		err := s.SetWallet("new", true)
		after, _ := os.ReadFile(path)
		if (err != nil) != (readErr != nil) || err != nil && string(after) != string(text) {
			t.Fatalf("%v, then %v: %q", readErr, err, after)
		}
		if err != nil || slices.Contains(before, "new") {
			return
		}
		got, err := settings.New(disk, path).Wallets()
		if err != nil || !slices.Equal(got, append(before, "new")) || !json.Valid(after) {
			t.Errorf("got %q, %v of %q", got, err, after)
		}
	})
}
