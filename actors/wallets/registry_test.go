package wallets_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/actors/wallets"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/messages"
)

// small is a rig with a chain of a few blocks and no filters.
func small(tb testing.TB, s setup) *rig {
	tb.Helper()
	chain := newChain()
	if s.network != nil {
		chain = chaintest.New(s.network.Params)
	}
	chain.MineN(5)
	s.noFilters, s.now = true, genesis
	if s.keyPool == 0 {
		s.keyPool = 2
	}
	return newRig(tb, chain, s)
}

// A wallet is made, used, unloaded and loaded again as it was.
func TestLifeOfAWallet(t *testing.T) {
	r := small(t, setup{})
	do(t, r.ref, messages.CreateWallet{Name: "a/b"})
	ref := r.wallet(t, "a/b")
	address := do(t, ref, messages.NewAddress{Label: "first", Type: "bech32"})
	want := do(t, ref, messages.ListDescriptors{Private: true})
	_, err := try(t, r.ref, messages.LoadWallet{Name: "a/b"})
	refusal(t, err, -35, `Wallet "a/b" is already loaded.`)
	_, err = try(t, r.ref, messages.CreateWallet{Name: "a/b"})
	refusal(t, err, -4, "Wallet file verification failed. Failed to create database path '"+r.dir+"/a/b'. Database already exists.")
	_, err = try(t, r.ref, messages.RestoreWallet{Name: "a/b", Backup: filepath.Join(r.dir, "a/b/wallet.dat")})
	refusal(t, err, -36, "Failed to restore wallet. Database file exists in '"+r.dir+"/a/b/wallet.dat'.")
	_, err = try(t, r.ref, messages.LoadWallet{Name: "./a/b"}) // the same file
	refusal(t, err, -4, "Wallet file verification failed. SQLiteDatabase: Unable to obtain an exclusive lock on the "+
		"database, is it being used by another instance of Bitcoin Core?\n")
	do(t, r.ref, messages.UnloadWallet{Name: "a/b"})
	if names := r.directory.Names(); len(names) > 0 {
		t.Errorf("loaded: %q", names)
	}
	if _, err := try(t, ref, messages.GetWalletInfo{}); !errors.Is(err, ask.ErrStopped) {
		t.Errorf("unloaded wallet answers %v", err)
	}
	if _, err := try(t, r.ref, messages.UnloadWallet{Name: "a/b"}); !errors.Is(err, messages.ErrWalletNotFound) {
		t.Errorf("unloaded twice: %v", err)
	}
	do(t, r.ref, messages.LoadWallet{Name: "a/b"})
	ref = r.wallet(t, "a/b")
	got := do(t, ref, messages.ListDescriptors{Private: true})
	for i := range got {
		got[i].Last = want[i].Last // the key pool is topped up by loading
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("descriptors\n got %+v\nwant %+v", got, want)
	}
	if got := do(t, ref, messages.GetAddressesByLabel{Label: "first"}); len(got) != 1 || got[0].Address != address {
		t.Errorf("addresses %+v, want %s", got, address)
	}
	if got := do(t, r.ref, messages.ListWalletDir{}); len(got) != 1 || got[0].Name != "a/b" {
		t.Errorf("wallets in the directory: %+v", got)
	}
}

// Wallets that cannot be loaded, made or restored are refused in Core's words.
func TestRefusals(t *testing.T) {
	r := small(t, setup{})
	if err := os.MkdirAll(filepath.Join(r.dir, "empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.dir, "file"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := try(t, r.ref, messages.LoadWallet{Name: "none"})
	refusal(t, err, -18, "Wallet file verification failed. Failed to load database path '"+r.dir+"/none'. Path does not exist.")
	_, err = try(t, r.ref, messages.LoadWallet{Name: "empty"})
	refusal(t, err, -18, "Wallet file verification failed. Failed to load database path '"+r.dir+"/empty'. Data is not in recognized format.")
	_, err = try(t, r.ref, messages.CreateWallet{Name: "w", DisablePrivateKeys: true, Passphrase: messages.Secret("x")})
	refusal(t, err, -4, "Passphrase provided but private keys are disabled. A passphrase is only used to encrypt "+
		"private keys, so cannot be used for wallets with private keys disabled.")
	_, err = try(t, r.ref, messages.CreateWallet{Name: "file/w"})
	refusal(t, err, -4, "Wallet file verification failed. filesystem error: cannot create directories: Not a directory ["+r.dir+"/file/w]")
	for _, source := range []string{"", "nope", filepath.Join(r.dir, "file", "x"), "\x00"} {
		_, err = try(t, r.ref, messages.RestoreWallet{Name: "w", Backup: source})
		refusal(t, err, -8, "Backup file does not exist")
	}
	_, err = try(t, r.ref, messages.RestoreWallet{Name: "w", Backup: r.dir})
	refusal(t, err, -4, "Unexpected exception: filesystem error: cannot copy file: Invalid argument ["+r.dir+"] ["+r.dir+"/w/wallet.dat]")
	_, err = try(t, r.ref, messages.RestoreWallet{Name: "file", Backup: filepath.Join(r.dir, "file")})
	refusal(t, err, -36, "Failed to restore wallet. Database file exists '"+r.dir+"/file'.")
	_, err = try(t, r.ref, messages.RestoreWallet{Name: "empty", Backup: filepath.Join(r.dir, "file")})
	refusal(t, err, -18, "Wallet file verification failed. Failed to load database path '"+r.dir+"/empty'. Data is not in recognized format.")
	if left := files(t, r.dir); !slices.Equal(left, []string{"empty", "file"}) {
		t.Errorf("left: %q", left)
	}
}

// The wallets directory itself may be a wallet, and stays when that fails.
func TestUnnamedWallet(t *testing.T) {
	path, _ := maker(t, 2)
	r := small(t, setup{})
	_, err := try(t, r.ref, messages.RestoreWallet{Backup: filepath.Join(r.dir, "..", "settings.json")})
	refusal(t, err, -8, "Backup file does not exist")
	do(t, r.ref, messages.RestoreWallet{Name: "", Backup: path})
	if got := do(t, r.ref, messages.ListWalletDir{}); len(got) != 1 || got[0].Name != "" {
		t.Errorf("wallets in the directory: %+v", got)
	}
	do(t, r.ref, messages.UnloadWallet{})
	if left := files(t, r.dir); !slices.Equal(left, []string{"wallet.dat"}) {
		t.Errorf("files: %q", left)
	}
}

// settings.json holds what is loaded at start, and keeps what else is in it.
func TestStartup(t *testing.T) {
	r := small(t, setup{})
	settings := filepath.Join(r.dir, "..", "settings.json")
	if err := os.WriteFile(settings, []byte(`{"prune": 550, "wallet": ["gone"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"one", "two", "three"} {
		do(t, r.ref, messages.CreateWallet{Name: name, OnStartup: messages.LoadOnStartup})
	}
	do(t, r.ref, messages.UnloadWallet{Name: "two", OnStartup: messages.DontLoadOnStartup})
	do(t, r.ref, messages.UnloadWallet{Name: "three"})
	content, err := os.ReadFile(settings)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(content, &got); err != nil || got["prune"] != 550.0 || len(got) != 3 {
		t.Errorf("settings %s, %v", content, err)
	}
	if err := r.ref.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}

	again := small(t, setup{dir: r.dir, load: []string{"two"}, loading: 1, wait: true})
	names := again.directory.Names()
	slices.Sort(names)
	if !slices.Equal(names, []string{"one", "three", "two"}) {
		t.Errorf("loaded %q", names)
	}
	if err := again.ref.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	again = small(t, setup{dir: r.dir, load: []string{"one"}, onlyNamed: true, wait: true})
	if names := again.directory.Names(); !slices.Equal(names, []string{"one"}) {
		t.Errorf("loaded %q", names)
	}
	if err := os.WriteFile(settings, []byte(`[]`), 0o600); err != nil {
		t.Fatal(err)
	}
	done := do(t, again.ref, messages.UnloadWallet{Name: "one", OnStartup: messages.DontLoadOnStartup})
	if want := []string{"Wallet load on startup setting could not be updated, so " +
		"wallet may still be loaded next node startup."}; !slices.Equal(done.Warnings, want) {
		t.Errorf("warnings %q", done.Warnings)
	}
}

// The registry fails, and has its wallets again afterwards.
func TestRegistryFails(t *testing.T) {
	r := small(t, setup{})
	do(t, r.ref, messages.CreateWallet{Name: "one"})
	do(t, r.ref, messages.CreateWallet{Name: "two"})
	do(t, r.wallet(t, "one"), messages.NewAddress{Label: "kept"})
	r.ref.Tell(wallets.Poison)
	do(t, r.ref, messages.WaitWallets{})
	if got := do(t, r.wallet(t, "one"), messages.ListLabels{}); !slices.Equal(got, []string{"kept"}) {
		t.Errorf("labels %q", got)
	}
	do(t, r.ref, messages.UnloadWallet{Name: "two"})
}

// Two loads of one name at a time: the second is refused.
func TestLoadingTwice(t *testing.T) {
	path, _ := maker(t, 2)
	s, g := hold(2)
	chain := newChain()
	chain.MineN(5)
	s.loading = 1
	r := newRig(t, chain, s)
	first, second := make(chan error, 1), make(chan error, 1)
	go func() { _, err := try(t, r.ref, messages.RestoreWallet{Name: "w", Backup: path}); first <- err }()
	<-g.reached
	_, err := try(t, r.ref, messages.RestoreWallet{Name: "w", Backup: path})
	refusal(t, err, -4, "Wallet already loading.")
	_, err = try(t, r.ref, messages.LoadWallet{Name: "w"})
	refusal(t, err, -4, "Wallet already loading.")
	go func() { _, err := try(t, r.ref, messages.RestoreWallet{Name: "v", Backup: path}); second <- err }()
	for len(do(t, r.ref, messages.GetLoading{})) < 2 {
	}
	if !do(t, r.ref, messages.AbortRestore{Name: "v"}) { // it waits for its turn
		t.Error("not aborted")
	}
	refusal(t, <-second, -4, "Wallet loading failed. Failed to rescan the wallet during initialization")
	close(g.open)
	if err := <-first; err != nil {
		t.Error(err)
	}
}

// A killed process may leave files of unfinished wallets, which hold keys. The
// registry deletes them when it starts.
func TestStaleFilesAreDeleted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "wallets")
	if err := os.MkdirAll(filepath.Join(dir, "a/b"), 0o700); err != nil {
		t.Fatal(err)
	}
	stale := filepath.Join(dir, "a/b/.wallet.dat.42.tmp")
	if err := os.WriteFile(stale, []byte("keys"), 0o600); err != nil {
		t.Fatal(err)
	}
	small(t, setup{dir: dir, wait: true})
	if _, err := os.Lstat(stale); err == nil {
		t.Error("the stale file is there")
	}
}

// The start fails if a wallet cannot be loaded at start. A wallet that is missing or
// has the old format is only warned of.
func TestStartIsRefused(t *testing.T) {
	r := small(t, setup{})
	for _, name := range []string{"one", "held"} {
		do(t, r.ref, messages.CreateWallet{Name: name})
	}
	do(t, r.ref, messages.UnloadWallet{Name: "one"}) // "held" stays in use
	for name, content := range map[string]string{
		"odd":    "no database",
		"legacy": strings.Repeat("\x00", 12) + "\x62\x31\x05\x00" + strings.Repeat("\x00", 4080),
	} {
		if err := errors.Join(
			os.MkdirAll(filepath.Join(r.dir, name), 0o700),
			os.WriteFile(filepath.Join(r.dir, name, "wallet.dat"), []byte(content), 0o600),
		); err != nil {
			t.Fatal(err)
		}
	}
	missing := "Skipping -wallet path that doesn't exist. Failed to load database path '" + r.dir + "/gone'. " +
		"Path does not exist."
	legacy := "Failed to open database path '" + r.dir + "/legacy'. The wallet appears to be a Legacy wallet"
	for _, test := range []struct {
		load []string
		want string
		warn string // the beginning
	}{
		{[]string{"one"}, "", ""},
		{[]string{"gone", "one"}, "", missing},
		{[]string{"legacy", "one"}, "", legacy},
		{[]string{"one", "odd"}, "Failed to load database path '" + r.dir + "/odd'. Data is not in recognized format.", ""},
		{
			[]string{"held"},
			"SQLiteDatabase: Unable to obtain an exclusive lock on the database, is it being used by another " +
				"instance of Bitcoin Core?",
			"",
		},
	} {
		t.Run(strings.Join(test.load, " and "), func(t *testing.T) {
			var warned []string
			warn := func(text string) { warned = append(warned, text) }
			again := small(t, setup{dir: r.dir, load: test.load, warn: warn})
			_, err := ask.Ask(t.Context(), again.ref, messages.WaitWallets{})
			told := strings.Join(warned, "|")
			if !strings.HasPrefix(told, test.warn) || (told == "") != (test.warn == "") {
				t.Errorf("warned of %q, want %q", told, test.warn)
			}
			refused, is := errors.AsType[messages.StartError](err)
			if is != (test.want != "") || string(refused) != test.want {
				t.Errorf("got %v, want %q", err, test.want)
			}
			if names := again.directory.Names(); test.want == "" && !slices.Equal(names, []string{"one"}) {
				t.Errorf("loaded %q", names)
			}
		})
	}
}
