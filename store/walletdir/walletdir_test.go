package walletdir_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed61375155/trawl/store/walletdb"
	"github.com/seed61375155/trawl/store/walletdir"
)

// Names lead from the directory of wallets, or are whole paths. Nothing of them is cleaned up.
func TestJoin(t *testing.T) {
	for _, test := range []struct{ dir, name, want, file string }{
		{"/w", "a", "/w/a", "/w/a/wallet.dat"}, {"/w/", "a/", "/w/a/", "/w/a/wallet.dat"},
		{"/w", "", "/w/", "/w/wallet.dat"}, {"/w", "/b", "/b", "/b/wallet.dat"}, {"/w", "a//b", "/w/a//b", "/w/a//b/wallet.dat"},
	} {
		got := walletdir.Join(test.dir, test.name)
		if got != test.want || walletdir.File(got) != test.file {
			t.Errorf("%q, %q: %q, %q", test.dir, test.name, got, walletdir.File(got))
		}
	}
}

// The default directory is that of an old layout, where there is one.
func TestFind(t *testing.T) {
	net := t.TempDir()
	if got := walletdir.Find(net); got != net {
		t.Errorf("nothing there: %s", got)
	}
	wallets := filepath.Join(net, "wallets")
	if got, err := walletdir.In(net); err != nil || got != wallets {
		t.Errorf("made %s, %v", got, err)
	}
	if got := walletdir.Find(net); got != wallets {
		t.Errorf("made before: %s", got)
	}
	old := t.TempDir()
	if err := os.MkdirAll(filepath.Join(old, "w"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(old, "w", "wallet.dat"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := walletdir.In(old); err != nil || got != old || walletdir.Find(old) != old {
		t.Errorf("old layout: %s, %v", got, err)
	}
}

// A directory that is made goes again where it is empty. Its parents stay, and so does a directory that was there.
func TestMake(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a/b", "c"} {
		path := filepath.Join(dir, name)
		made, err := walletdir.Make(path)
		if err != nil || made == "" {
			t.Fatal(made, err)
		}
		if again, err := walletdir.Make(path); err != nil || again != "" {
			t.Errorf("made again: %q, %v", again, err)
		}
		if err := made.Remove(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(path); !walletdb.Missing(err) {
			t.Errorf("%s is there: %v", path, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "a")); err != nil {
		t.Error(err)
	}
	if err := walletdir.Made("").Remove(); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := walletdir.Make(filepath.Join(dir, "file", "w")); err == nil {
		t.Error("made below a file")
	}
}

// A name leads to a directory, to nothing yet, or to a file in the directory of wallets.
func TestCheckPath(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"d", "d/e"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"file", "d/file"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"link": "d", "broken": "none", "tofile": "file"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, wrong := range map[string]bool{
		"": false, "new": false, "d": false, "d/e": false, "link": false, "file": false, "d/new/w": false,
		"d/file": true, "broken": true, "tofile": true,
	} {
		if got := walletdir.CheckPath(dir, name); got != "" != wrong {
			t.Errorf("%q: %q", name, got)
		}
	}
}
