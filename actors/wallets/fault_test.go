package wallets_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcutil/base58"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/walletdb"
)

// read asks what only reads, as soon as the wallet is there again after a failure.
func read[Q messages.Request[R], R any](tb testing.TB, ref *ask.Ref, q Q) R {
	tb.Helper()
	for range 1000 {
		got, err := try(tb, ref, q)
		if errors.Is(err, ask.ErrRestarted) {
			continue
		}
		if err != nil {
			tb.Fatalf("%T: %v", q, err)
		}
		return got
	}
	tb.Fatal("the wallet fails again and again")
	panic("unreachable")
}

// A wallet whose file loses its name refuses what would change it, and can be read
// and saved elsewhere. The copy is complete.
func TestFileIsDeleted(t *testing.T) {
	for name, lose := range map[string]func(dir string) error{
		"deleted": os.RemoveAll,
		"replaced": func(dir string) error {
			return os.Rename(filepath.Join(dir, "../other/wallet.dat"), filepath.Join(dir, "wallet.dat"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := small(t, setup{})
			do(t, r.ref, messages.CreateWallet{Name: "other"})
			do(t, r.ref, messages.UnloadWallet{Name: "other"})
			do(t, r.ref, messages.CreateWallet{Name: "w"})
			ref := r.wallet(t, "w")
			do(t, ref, messages.NewAddress{Label: "kept"})
			keys := do(t, ref, messages.ListDescriptors{Private: true})
			if err := lose(filepath.Join(r.dir, "w")); err != nil {
				t.Fatal(err)
			}
			for range 20 { // more often than a wallet may fail
				_, err := try(t, ref, messages.NewAddress{Label: "lost"})
				if errors.Is(err, ask.ErrRestarted) {
					continue
				}
				refusal(t, err, -20, "Error: The wallet could not be written to disk: its file was moved or deleted while the wallet "+
					"was loaded. Save it to another place with backupwallet before it is unloaded.")
			}
			if got := read(t, ref, messages.ListDescriptors{Private: true}); !slices.EqualFunc(got, keys, sameKeys) {
				t.Errorf("descriptors %v, want %v", got, keys)
			}
			backup := filepath.Join(t.TempDir(), "saved.dat")
			do(t, ref, messages.BackupWallet{Path: backup})
			do(t, r.ref, messages.UnloadWallet{Name: "w"})
			do(t, r.ref, messages.RestoreWallet{Name: "again", Backup: backup})
			saved := r.wallet(t, "again")
			if got := do(t, saved, messages.ListDescriptors{Private: true}); !slices.EqualFunc(got, keys, sameKeys) {
				t.Errorf("saved %v, want %v", got, keys)
			}
			if got := do(t, saved, messages.ListLabels{}); !slices.Equal(got, []string{"kept"}) {
				t.Errorf("labels %q", got)
			}
		})
	}
}

func sameKeys(a, b messages.WalletDescriptor) bool { return string(a.Desc) == string(b.Desc) }

// A wallet on a full disk is read, follows the chain, and takes changes again when
// there is room. No address is lost that was given out, and none given out twice.
func TestDiskIsFull(t *testing.T) {
	chain := newChain()
	chain.MineN(5)
	var full atomic.Bool
	r := newRig(t, chain, setup{noFilters: true, keyPool: 2, now: genesis, fail: func() error {
		if full.Load() {
			return errors.New("no space left on device")
		}
		return nil
	}})
	do(t, r.ref, messages.CreateWallet{Name: "w"})
	ref := r.wallet(t, "w")
	first := do(t, ref, messages.NewAddress{Type: "bech32", Label: "first"})
	given := map[string]bool{first: true}
	for round := range 3 {
		full.Store(true)
		for range 20 {
			chain.Mine(chaintest.Template{Script: scriptOf(t, first)})
			r.announce()
			if address, err := try(t, ref, messages.NewAddress{Type: "bech32", Label: "no"}); err == nil {
				t.Fatalf("address %s cannot be on disk", address)
			}
			_, err := try(t, ref, messages.SetLabel{Script: scriptOf(t, first), Label: "no"})
			if err == nil {
				t.Fatal("label cannot be on disk")
			}
		}
		if got := read(t, ref, messages.GetBalances{}).Last.Height; got != chain.Active().Height() {
			t.Errorf("round %d: at height %d of %d", round, got, chain.Active().Height())
		}
		if got := read(t, ref, messages.ListLabels{}); slices.Contains(got, "no") {
			t.Errorf("round %d: labels %q", round, got)
		}
		full.Store(false)
		address := do(t, ref, messages.NewAddress{Type: "bech32", Label: "later"})
		if given[address] {
			t.Errorf("%s is given out twice", address)
		}
		given[address] = true
	}
	want := do(t, ref, messages.GetWalletInfo{}).TxCount
	do(t, r.ref, messages.UnloadWallet{Name: "w"})
	do(t, r.ref, messages.LoadWallet{Name: "w"})
	ref = r.wallet(t, "w")
	if got := do(t, ref, messages.GetWalletInfo{}).TxCount; got != want || got != 60 {
		t.Errorf("%d transactions after loading, %d before", got, want)
	}
	for address := range given {
		if info := do(t, ref, messages.GetAddressInfo{Script: scriptOf(t, address)}); len(info.Labels) != 1 {
			t.Errorf("%s is lost: %+v", address, info)
		}
	}
}

// While a block cannot be read, a wallet refuses requests about its history,
// rather than answer from an older chain. It still tells how far it has come,
// and makes backups.
func TestBlockCannotBeRead(t *testing.T) {
	chain := newChain()
	chain.MineN(5)
	r := newRig(t, chain, setup{noFilters: true, keyPool: 2, now: genesis})
	do(t, r.ref, messages.CreateWallet{Name: "w"})
	ref := r.wallet(t, "w")
	script := scriptOf(t, do(t, ref, messages.NewAddress{Type: "bech32"}))
	paid := chain.Mine(chaintest.Template{Script: script})
	chain.Fail(paid, errors.New("input/output error"))
	r.announce()
	for range 3 {
		text := "Error: wallet is behind: block " + paid.Hash.String() + " (height 6) cannot be read"
		_, err := try(t, ref, messages.GetBalances{})
		refusal(t, err, -4, text)
		_, err = try(t, ref, messages.ListUnspent{})
		refusal(t, err, -4, text)
		_, err = try(t, ref, messages.ListTransactions{})
		refusal(t, err, -4, text)
		if info := do(t, ref, messages.GetWalletInfo{}); info.LastProcessedHash != paid.Parent.Hash {
			t.Errorf("wallet is at %v", info.LastProcessedHash)
		}
		do(t, ref, messages.BackupWallet{Path: filepath.Join(t.TempDir(), "backup.dat")})
		chain.MineN(1)
		r.announce()
	}
	chain.Fail(paid, nil)
	if got := do(t, ref, messages.GetBalances{}); got.Immature == 0 || got.Last.Height != 9 {
		t.Errorf("readable again: %+v", got)
	}
}

// No file of an encrypted wallet holds its private keys, nor does one of a process
// that was killed meanwhile; and none what an old passphrase opens.
func TestNoTraceOfKeys(t *testing.T) {
	r := small(t, setup{})
	do(t, r.ref, messages.CreateWallet{Name: "w"})
	ref := r.wallet(t, "w")
	for range 30 {
		do(t, ref, messages.NewAddress{Label: strings.Repeat("moves pages ", 20)})
	}
	secrets := privateKeys(t, do(t, ref, messages.ListDescriptors{Private: true}))
	dir := filepath.Join(r.dir, "w")
	if traces(t, dir, secrets) == 0 {
		t.Fatal("the keys of the wallet are not where this test looks for them")
	}
	do(t, ref, messages.EncryptWallet{Passphrase: messages.Secret("old")})
	look := func(step, dir string) {
		t.Helper()
		if n := traces(t, dir, secrets); n != 0 {
			t.Errorf("%s: %d traces of keys in %q", step, n, files(t, dir))
		}
	}
	look("encrypted", dir)
	do(t, ref, messages.NewAddress{Label: "one"})
	look("used", dir)
	masters := mastersOf(t, dir)
	if traces(t, dir, masters) == 0 {
		t.Fatal("the master key of the wallet is not where this test looks for it")
	}
	do(t, ref, messages.ChangePassphrase{Old: messages.Secret("old"), New: messages.Secret("new")})
	if n := traces(t, dir, masters); n != 0 {
		t.Errorf("%d traces of the key under the old passphrase", n)
	}
	// A copy of the files as they are now stands for a killed process.
	killed := filepath.Join(t.TempDir(), "wallets")
	if err := os.CopyFS(filepath.Join(killed, "w"), os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	look("killed", killed)
	next := small(t, setup{dir: killed})
	do(t, next.ref, messages.LoadWallet{Name: "w"})
	do(t, next.wallet(t, "w"), messages.UnlockWallet{Passphrase: messages.Secret("new"), For: time.Hour})
	do(t, next.wallet(t, "w"), messages.NewAddress{Label: "two"})
	look("loaded", killed)
	do(t, next.ref, messages.UnloadWallet{Name: "w"})
	look("unloaded", killed)
}

// privateKeys returns the scalars of private descriptors.
func privateKeys(tb testing.TB, list []messages.WalletDescriptor) [][]byte {
	tb.Helper()
	var keys [][]byte
	for _, d := range list {
		at := strings.Index(string(d.Desc), "tprv")
		if at < 0 {
			tb.Fatalf("no private key in a descriptor of %d bytes", len(d.Desc))
		}
		text, _, _ := strings.Cut(string(d.Desc[at:]), "/")
		payload, _, err := base58.CheckDecode(text)
		if err != nil {
			tb.Fatal(err)
		}
		keys = append(keys, payload[len(payload)-32:])
	}
	return keys
}

// mastersOf returns the encrypted master keys in a wallet's file, of which it looks
// at a copy.
func mastersOf(tb testing.TB, dir string) [][]byte {
	tb.Helper()
	copied := filepath.Join(tb.TempDir(), "copy")
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		tb.Fatal(err)
	}
	db, err := walletdb.Open(
		filepath.Join(copied, walletdb.FileName), walletdb.Options{Magic: [4]byte{0xfa, 0xbf, 0xb5, 0xda}},
	)
	if err != nil {
		tb.Fatal(err)
	}
	defer db.Close()
	records, err := db.Records()
	if err != nil {
		tb.Fatal(err)
	}
	var found [][]byte
	for _, r := range records {
		if name, _ := r.Type(); name == "mkey" {
			found = append(found, r.Value[:48])
		}
	}
	return found
}

// traces counts how often secrets occur in the files of a directory, as bytes or as
// text.
func traces(tb testing.TB, dir string, secrets [][]byte) (n int) {
	tb.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		for _, secret := range secrets {
			n += bytes.Count(content, secret) + bytes.Count(content, []byte(hex.EncodeToString(secret)))
		}
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return n
}

// A wallet that has blocks to catch up with, and cannot be written, is not loaded, and it is said why.
func TestLoadFullDisk(t *testing.T) {
	chain := newChain()
	chain.MineN(5)
	var full atomic.Bool
	s := setup{noFilters: true, keyPool: 2, now: genesis, fail: func() error {
		if full.Load() {
			return errors.New("no space left on device")
		}
		return nil
	}}
	r := newRig(t, chain, s)
	do(t, r.ref, messages.CreateWallet{Name: "w"})
	script := scriptOf(t, do(t, r.wallet(t, "w"), messages.NewAddress{Type: "bech32"}))
	do(t, r.ref, messages.UnloadWallet{Name: "w"})
	chain.Mine(chaintest.Template{Script: script})
	r.announce()
	full.Store(true)
	for range 3 {
		_, err := try(t, r.ref, messages.LoadWallet{Name: "w"})
		refusal(t, err, -4, "Wallet loading failed. The wallet could not be written to disk: unknown error.")
	}
	full.Store(false)
	do(t, r.ref, messages.LoadWallet{Name: "w"})
	if got := do(t, r.wallet(t, "w"), messages.GetWalletInfo{}).TxCount; got != 1 {
		t.Errorf("%d transactions, want 1", got)
	}
}
