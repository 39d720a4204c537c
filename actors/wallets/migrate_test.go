package wallets_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/enginetest"
	"github.com/seed61375155/trawl/internal/walletfile/legacytest"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/walletdb"
)

// place puts a file somewhere below a directory.
func place(tb testing.TB, dir, name string, content []byte) string {
	tb.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

// is fails the test unless a file has some content.
func is(tb testing.TB, path string, content []byte) {
	tb.Helper()
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, content) {
		tb.Errorf("%s is not what it was: %d bytes, %v", path, len(got), err)
	}
}

const legacyNote = "This wallet is a legacy wallet and will need to be migrated with migratewallet before it can " +
	"be loaded"

// TestMigrate migrates wallets by all kinds of names.
func TestMigrate(t *testing.T) {
	bak := fmt.Sprintf("_%d.legacy.bak", genesis.Unix())
	tests := []struct {
		name, kind, file string
		want             messages.WalletMigrated
		pass             string
	}{
		{"w", "hd", "w/wallet.dat", messages.WalletMigrated{Name: "w", BackupPath: "w" + bak}, ""},
		{"w", "mixed", "w/wallet.dat", messages.WalletMigrated{
			Name: "w", WatchOnly: "w_watchonly", Solvables: "w_solvables", BackupPath: "w" + bak,
		}, ""},
		{"sub/dir/w", "watching", "sub/dir/w/wallet.dat", messages.WalletMigrated{
			Name: "sub/dir/w_watchonly", BackupPath: "w" + bak,
		}, ""},
		{"", "mixed", "wallet.dat", messages.WalletMigrated{
			Name: "", WatchOnly: "default_wallet_watchonly", Solvables: "default_wallet_solvables",
			BackupPath: "default_wallet" + bak,
		}, ""},
		{"w/", "noprivate", "w/wallet.dat", messages.WalletMigrated{Name: "w/", BackupPath: "w" + bak}, ""},
		{"plain.dat", "multisig", "plain.dat", messages.WalletMigrated{
			Name: "plain.dat", Solvables: "plain.dat_solvables", BackupPath: "plain.dat" + bak,
		}, ""},
		{"plain", "watching", "plain", messages.WalletMigrated{Name: "plain_watchonly", BackupPath: "plain" + bak}, ""},
		{"w", "encrypted", "w/wallet.dat", messages.WalletMigrated{
			Name: "w", WatchOnly: "w_watchonly", BackupPath: "w" + bak,
		}, legacytest.Passphrase},
		{"w", "blank", "w/wallet.dat", messages.WalletMigrated{Name: "w", BackupPath: "w" + bak}, ""},
	}
	for _, test := range tests {
		t.Run(test.name+" "+test.kind, func(t *testing.T) {
			r := small(t, setup{wait: true})
			old := legacytest.File(t, test.kind)
			place(t, r.dir, test.file, old)
			listed := strings.TrimSuffix(test.name, "/")
			dir := do(t, r.ref, messages.ListWalletDir{})
			if !slices.ContainsFunc(dir, func(e messages.WalletDirEntry) bool {
				return e.Name == listed && slices.Equal(e.Warnings, []string{legacyNote})
			}) {
				t.Errorf("directory %v", dir)
			}
			_, err := try(t, r.ref, messages.LoadWallet{Name: test.name})
			refusal(t, err, -18, "Wallet file verification failed. Failed to open database path '"+
				strings.TrimSuffix(r.dir+"/"+test.name, "/")+"'. The wallet appears to be a Legacy wallet, please use "+
				"the wallet migration tool (migratewallet RPC or the GUI option).")
			got := do(t, r.ref, messages.MigrateWallet{Name: test.name, Passphrase: messages.Secret(test.pass)})
			test.want.BackupPath = filepath.Join(r.dir, test.want.BackupPath)
			if got.BackupPath = filepath.Clean(got.BackupPath); fmt.Sprint(got) != fmt.Sprint(test.want) {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
			is(t, got.BackupPath, old)
			names := r.directory.Names()
			for _, name := range []string{got.Name, got.WatchOnly, got.Solvables} {
				if name != "" && !slices.Contains(names, name) {
					t.Errorf("%q is not loaded: %q", name, names)
				}
			}
			for _, e := range do(t, r.ref, messages.ListWalletDir{}) {
				if len(e.Warnings) > 0 || strings.HasPrefix(e.Name, ".") {
					t.Errorf("directory has %v", e)
				}
			}
			for _, name := range files(t, r.dir) {
				if strings.HasPrefix(filepath.Base(name), ".") {
					t.Errorf("%s is left", name)
				}
			}
			_, err = try(t, r.ref, messages.MigrateWallet{Name: got.Name})
			refusal(t, err, -4, "Error: This wallet is already a descriptor wallet")
		})
	}
}

// The watch-only and the solvables wallet of a migration are loaded at the next start.
func TestMigratedStart(t *testing.T) {
	r := small(t, setup{})
	place(t, r.dir, "w/wallet.dat", legacytest.File(t, "mixed"))
	do(t, r.ref, messages.MigrateWallet{Name: "w"})
	content, err := os.ReadFile(filepath.Join(r.dir, "..", "settings.json"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{`"w_watchonly"`: true, `"w_solvables"`: true, `"w"`: false} {
		if strings.Contains(string(content), name) != want {
			t.Errorf("%s: %s", name, content)
		}
	}
	again := small(t, setup{dir: t.TempDir()})
	do(t, again.ref, messages.RestoreWallet{Name: "back", Backup: filepath.Join(r.dir, "w", "wallet.dat")})
}

func TestMigrateRefuses(t *testing.T) {
	r := small(t, setup{})
	do(t, r.ref, messages.CreateWallet{Name: "new"})
	do(t, r.ref, messages.CreateWallet{Name: "closed"})
	do(t, r.ref, messages.UnloadWallet{Name: "closed"})
	place(t, r.dir, "text", []byte("a text"))
	place(t, r.dir, "locked/wallet.dat", legacytest.File(t, "encrypted"))
	place(t, r.dir, "taken/wallet.dat", legacytest.File(t, "mixed"))
	place(t, r.dir, "taken_solvables/wallet.dat", []byte("not ours"))
	damaged := legacytest.File(t, "hd")
	damaged[16] = 8
	place(t, r.dir, "damaged/wallet.dat", damaged)
	unflushed := legacytest.File(t, "hd")
	unflushed[4096]++
	place(t, r.dir, "unflushed/wallet.dat", unflushed)
	const pass = "Error: Wallet decryption failed, the wallet passphrase was not provided or was incorrect."
	tests := []struct{ name, pass, want string }{
		{"new", "", "Error: This wallet is already a descriptor wallet"},
		{"closed", "", "Error: This wallet is already a descriptor wallet"},
		{"text", "", "Error: This wallet is already a descriptor wallet"},
		{"none", "", "Error: Wallet does not exist"},
		{"locked", "", pass},
		{"locked", "wrong", pass},
		{"locked", "with \x00", "Error: Wallet decryption failed, the wallet passphrase entered was incorrect. The " +
			"passphrase contains a null character (ie - a zero byte). If this passphrase was set with a version of " +
			"this software prior to 25.0, please try again with only the characters up to — but not including — the " +
			"first null character."},
		{"damaged", "", "Wallet file verification failed. Unsupported BDB data file version number"},
		{"unflushed", "", "Wallet file verification failed. LSNs are not reset, this database is not completely " +
			"flushed. Please reopen then close the database with a version that has BDB support"},
		{"taken", "", "Wallet file creation failed: Failed to create database path '" +
			filepath.Join(r.dir, "taken_solvables") + "'. Database already exists."},
	}
	for _, test := range tests {
		before := tree(t, r.dir)
		_, err := try(t, r.ref, messages.MigrateWallet{Name: test.name, Passphrase: messages.Secret(test.pass)})
		refusal(t, err, -4, test.want)
		unchanged(t, before, tree(t, r.dir))
	}
}

// tree returns the files below a directory but for copies of old wallets.
func tree(tb testing.TB, dir string) map[string]string {
	tb.Helper()
	found := make(map[string]string)
	for _, name := range files(tb, dir) {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if strings.HasSuffix(name, ".legacy.bak") {
			continue
		}
		if err != nil {
			content = []byte("a directory")
		}
		found[name] = string(content)
	}
	return found
}

func unchanged(tb testing.TB, before, after map[string]string) {
	tb.Helper()
	for name, content := range before {
		if after[name] != content {
			tb.Errorf("%s has changed", name)
		}
	}
	for name := range after {
		if _, ok := before[name]; !ok {
			tb.Errorf("%s is left", name)
		}
	}
}

// A wallet that cannot be loaded after its migration is brought back as it was, and all
// that was made of it is gone.
func TestMigrateUndone(t *testing.T) {
	for _, name := range []string{"w", "", "plain"} {
		for _, kind := range []string{"mixed", "watching"} {
			t.Run(name+" "+kind, func(t *testing.T) {
				r := small(t, setup{wait: true})
				file := filepath.Join(name, "wallet.dat")
				if name == "plain" {
					file = name
				}
				place(t, r.dir, file, otherChain(t, kind))
				before := tree(t, r.dir)
				_, err := try(t, r.ref, messages.MigrateWallet{Name: name})
				refusal(t, err, -4, "Wallet loading failed. Wallet files should not be reused across chains. Restart "+
					"bitcoind with -walletcrosschain to override.")
				unchanged(t, before, tree(t, r.dir))
				if loaded := r.directory.Names(); len(loaded) > 0 {
					t.Errorf("loaded: %q", loaded)
				}
			})
		}
	}
}

// otherChain is a wallet that has seen another chain: its file with another hash.
func otherChain(tb testing.TB, kind string) []byte {
	tb.Helper()
	content := legacytest.File(tb, kind)
	hash := genesisHash()
	other := hash
	other[0]++
	return bytes.ReplaceAll(content, hash[:], other[:])
}

func genesisHash() chainhash.Hash { return newChain().Active().At(0).Hash }

// A disk that fails at one moment or another: the wallet is migrated, or it is there as
// it was and nothing beside it, and a second attempt succeeds.
func TestMigrateFaults(t *testing.T) {
	if raceEnabled {
		t.Skip("`make large` runs it without the race detector")
	}
	for _, name := range []string{"w", "plain"} {
		failed := 0
		for at := range 12 {
			calls := -1
			r := small(t, setup{fail: func() error {
				calls++
				if calls == at {
					return errors.New("no space left")
				}
				return nil
			}})
			file := filepath.Join(name, "wallet.dat")
			if name == "plain" {
				file = name
			}
			place(t, r.dir, file, legacytest.File(t, "mixed"))
			before := tree(t, r.dir)
			if _, err := try(t, r.ref, messages.MigrateWallet{Name: name}); err != nil {
				failed++
				unchanged(t, before, tree(t, r.dir))
				do(t, r.ref, messages.MigrateWallet{Name: name})
			}
			do(t, r.wallet(t, name+"_solvables"), messages.GetWalletInfo{})
		}
		if failed < 3 {
			t.Errorf("%s: %d attempts failed", name, failed)
		}
	}
}

// Migrations at the same time: one does it, the others are told; nobody loads what is in
// the making.
func TestMigrateTogether(t *testing.T) {
	r := small(t, setup{})
	place(t, r.dir, "w/wallet.dat", legacytest.File(t, "mixed"))
	results := make(chan error)
	for range 8 {
		go func() {
			for {
				_, err := try(t, r.ref, messages.MigrateWallet{Name: "w"})
				if err == nil || !strings.Contains(err.Error(), "already loading") {
					results <- err
					return
				}
			}
		}()
		go func() {
			_, err := try(t, r.ref, messages.LoadWallet{Name: "w_watchonly"})
			if err != nil {
				err = errors.New("not loaded")
			}
			results <- err
		}()
	}
	done := 0
	for range 16 {
		err := <-results
		var answer *messages.WalletError
		switch {
		case err == nil:
			done++
		case errors.As(err, &answer) && answer.Code != -4:
			t.Error(err)
		}
	}
	if done < 1 {
		t.Error("nobody has migrated it")
	}
	if r.directory.Lookup("w_watchonly") == nil {
		t.Error("not loaded")
	}
	do(t, r.wallet(t, "w"), messages.GetWalletInfo{})
	do(t, r.wallet(t, "w_watchonly"), messages.GetWalletInfo{})
}

// TestMigrateChild is what the child runs: it migrates a wallet, again and again, until it
// is killed.
func TestMigrateChild(t *testing.T) {
	dir := os.Getenv(childDir)
	if dir == "" {
		t.Skip("runs in a process of its own")
	}
	name := os.Getenv(childBackup)
	r := newRig(t, killChain(), setup{dir: dir, noFilters: true, keyPool: 2, now: genesis})
	fmt.Println("ready")
	do(t, r.ref, messages.MigrateWallet{Name: name})
	time.Sleep(time.Minute) // it is killed
}

// Whenever the process is killed, the old wallet or the new wallet is there, and a copy,
// if any, equals the old wallet. A second attempt ends with all wallets.
func TestKillWhileMigrating(t *testing.T) {
	magic := enginetest.Regtest(t).Magic
	for n := range cases(12, 300) {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			dir, name := t.TempDir(), []string{"w", "plain"}[n%2]
			file := filepath.Join(name, "wallet.dat")
			if name == "plain" {
				file = name
			}
			old := legacytest.File(t, "mixed")
			path := place(t, dir, file, old)
			killTest(t, "TestMigrateChild", dir, name, time.Duration(rand.IntN(250))*time.Millisecond)
			if backup := filepath.Join(dir, fmt.Sprintf("%s_%d.legacy.bak", name, genesis.Unix())); exists(backup) {
				is(t, backup, old)
			}
			if info, err := os.Stat(path); err == nil && info.IsDir() {
				path = filepath.Join(path, "wallet.dat")
			}
			switch format, err := walletdb.FormatOf(path, magic); {
			case err != nil:
				t.Fatal(err)
			case format == walletdb.Berkeley:
				is(t, path, old)
			case format != walletdb.SQLite:
				t.Fatalf("%s is no wallet", path)
			}
			r := newRig(t, killChain(), setup{dir: dir, noFilters: true, keyPool: 2, now: genesis})
			do(t, r.ref, messages.WaitWallets{})
			_, err := try(t, r.ref, messages.MigrateWallet{Name: name})
			for _, loaded := range []string{name, name + "_watchonly", name + "_solvables"} {
				if r.directory.Lookup(loaded) == nil {
					do(t, r.ref, messages.LoadWallet{Name: loaded})
				}
			}
			t.Log(err, files(t, dir))
		})
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
