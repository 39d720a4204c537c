package wallets_test

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/walletdb"
)

// watched exports a wallet without its private keys, and restores what was written under another name.
func (r *rig) watched(t *testing.T, name, as string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "watch.dat")
	do(t, r.wallet(t, name), messages.ExportWatchOnly{Path: path})
	keyless(t, path)
	if got := do(t, r.ref, messages.RestoreWallet{Name: as, Backup: path}); len(got.Warnings) > 0 {
		t.Errorf("%s: warnings %q", name, got.Warnings)
	}
	if do(t, r.wallet(t, as), messages.GetWalletInfo{}).PrivateKeys {
		t.Errorf("%s: with private keys", name)
	}
}

// keyless checks that a file has no private key, encrypted or not, and nothing lies beside the file.
func keyless(t *testing.T, path string) {
	t.Helper()
	if beside := files(t, filepath.Dir(path)); len(beside) != 1 {
		t.Errorf("%s: there are %q", path, beside)
	}
	db, err := walletdb.Open(path, walletdb.Options{Magic: [4]byte{0xfa, 0xbf, 0xb5, 0xda}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	records, err := db.Records()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		switch kind, _ := r.Type(); kind {
		case "walletdescriptorkey", "walletdescriptorckey", "mkey":
			t.Errorf("%s: a record %s", path, kind)
		}
	}
}

// Real wallets are exported with all that they have: descriptors, transactions, balances, labels, locks. The same holds
// for an export of an export.
func TestExportRecordings(t *testing.T) {
	r := newRig(t, recorded(t), setup{keyPool: 1000})
	for name := range readFacts(t).Wallets {
		if raceEnabled && name != "one-key" {
			continue
		}
		source, watch, again := "s "+name, "w "+name, "a "+name
		do(t, r.ref, messages.RestoreWallet{Name: source, Backup: backup(t, "backups", name)})
		ref := r.wallet(t, source)
		if len(do(t, ref, messages.ListDescriptors{})) == 0 {
			_, err := try(t, ref, messages.ExportWatchOnly{Path: filepath.Join(t.TempDir(), "none.dat")})
			refusal(t, err, -4, "Error: Wallet has no descriptors to export")
			continue
		}
		kept := lockTwo(t, ref)
		r.watched(t, source, watch)
		r.watched(t, watch, again)
		want := contentOf(t, ref)
		want.locked = slices.DeleteFunc(want.locked, func(at wire.OutPoint) bool { return at == kept })
		for _, as := range []string{watch, again} {
			if got := contentOf(t, r.wallet(t, as)); !reflect.DeepEqual(got, want) {
				t.Errorf("%s has\n%+v\nwant\n%+v", as, got, want)
			}
			do(t, r.ref, messages.UnloadWallet{Name: as})
		}
		do(t, r.ref, messages.UnloadWallet{Name: source})
	}
}

// lockTwo locks two coins of a wallet, if it has them. The lock of the coin that it returns does not stay.
func lockTwo(t *testing.T, ref *ask.Ref) (left wire.OutPoint) {
	t.Helper()
	coins := do(t, ref, messages.ListUnspent{MinConf: 1, MaxConf: 1 << 30, MaxAmount: 1 << 60})
	for i := range coins[:min(len(coins), 2)] {
		left = wire.OutPoint{Hash: coins[i].TxID, Index: coins[i].Index}
		do(t, ref, messages.LockCoins{Coins: []wire.OutPoint{left}, Persist: i == 0})
	}
	if len(coins) < 2 {
		return wire.OutPoint{}
	}
	return left
}

// content is what a wallet and the wallet that watches it have in common.
type content struct {
	state  string
	labels map[string][]messages.LabelledAddress
	locked []wire.OutPoint
	flags  []string
	last   int32
}

func contentOf(t *testing.T, ref *ask.Ref) content {
	t.Helper()
	info := do(t, ref, messages.GetWalletInfo{})
	known := state{
		Received: do(t, ref, messages.ListReceived{IncludeEmpty: true, IncludeImmature: true}),
		Balances: do(t, ref, messages.GetBalances{}), Descriptors: do(t, ref, messages.ListDescriptors{}),
		Txs: do(t, ref, everything),
	}
	c := content{
		state:  known.text(t),
		labels: map[string][]messages.LabelledAddress{}, locked: do(t, ref, messages.ListLocked{}),
		flags: slices.DeleteFunc(info.Flags, func(name string) bool {
			return name == "disable_private_keys" || name == "last_hardened_xpub_cached"
		}),
		last: info.LastProcessedHeight,
	}
	for _, label := range do(t, ref, messages.ListLabels{}) {
		c.labels[label] = do(t, ref, messages.GetAddressesByLabel{Label: label})
	}
	return c
}

// A locked wallet is exported as well. Keys behind hardened steps have the addresses that are derived ahead, others any
// number; both wallets give out the same.
func TestExportLocked(t *testing.T) {
	const size = 5
	r := small(t, setup{keyPool: size})
	do(t, r.ref, messages.CreateWallet{Name: "w", Passphrase: messages.Secret("x"), AvoidReuse: true})
	ref := r.wallet(t, "w")
	do(t, ref, messages.UnlockWallet{Passphrase: messages.Secret("x"), For: time.Hour})
	const xprv = "tprv8ZgxMBicQKsPeuVhWwi6wuMQGfPKi9Li5GtX35jVNknACgqe3CY4g5xgkfDDJcmtF7o1QnxWDRYw4H5P26PXq7sbcUkEqeR4fg3Kxp2tigg"
	const xpub = "tpubD6NzVbkrYhZ4WaWSyoBvQwbpLkojyoTZPRsgXELWz3Popb3qkjcJyJUGLnL4qHHoQvao8ESaAstxYSnhyswJ76uZPStJRJCTKvosUCJZL5B"
	var items []messages.ImportItem
	for _, desc := range []string{
		"sh(wpkh(" + xprv + "/0'/*'))", "wsh(multi(1," + xpub + "/*," + xprv + "/1h/*))",
		"pkh(cVpF924EspNh8KjYsfhgY96mmxvT6DgdWiTYMtMjuM74hJaU5psW)",
		"tr(" + xpub + "/9/*,pk(" + xprv + "/2'/3h/*))",
	} {
		items = append(items, messages.ImportItem{
			Desc: descriptor.AddChecksum(desc), Active: desc[:2] == "sh", Timestamp: 1,
		})
	}
	for _, got := range do(t, ref, messages.ImportDescriptors{Items: items}) {
		if got.Err != nil {
			t.Fatal(got.Err)
		}
	}
	do(t, ref, messages.AddHDKey{})
	do(t, ref, messages.NewAddress{Label: "first"})
	do(t, ref, messages.LockWallet{})
	r.watched(t, "w", "v")
	watch := r.wallet(t, "v")
	if got, want := contentOf(t, watch), contentOf(t, ref); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	for range 3 * size {
		for _, kind := range []string{"legacy", "bech32", "bech32m"} {
			q := messages.NewAddress{Type: kind, HasType: true}
			if got, want := do(t, watch, q), do(t, ref, q); got != want {
				t.Errorf("%s: %s, want %s", kind, got, want)
			}
		}
	}
	hardened := messages.NewAddress{Type: "p2sh-segwit", HasType: true}
	for range size {
		if got, want := do(t, watch, hardened), do(t, ref, hardened); got != want {
			t.Errorf("hardened: %s, want %s", got, want)
		}
	}
	if got, err := try(t, watch, hardened); err == nil {
		t.Error("an address without a key:", got)
	}
}

// Nothing is written where something is, or where nothing can be. No file is left by a failure.
func TestExportRefusals(t *testing.T) {
	r := small(t, setup{})
	do(t, r.ref, messages.CreateWallet{Name: "w"})
	do(t, r.ref, messages.CreateWallet{Name: "blank", Blank: true})
	dir := t.TempDir()
	there, missing := filepath.Join(dir, "there"), filepath.Join(dir, "no", "such.dat")
	if err := os.WriteFile(there, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ wallet, path, want string }{
		{"w", "", "Error: Export destination cannot be empty"},
		{"w", ".", "Error: Export destination '.' already exists"},
		{"w", dir, "Error: Export destination '" + dir + "' already exists"},
		{"blank", there, "Error: Export destination '" + there + "' already exists"},
		{"blank", missing, "Error: Could not create file '" + missing + "'"},
		{"blank", filepath.Join(dir, "new"), "Error: Wallet has no descriptors to export"},
	} {
		_, err := try(t, r.wallet(t, test.wallet), messages.ExportWatchOnly{Path: test.path})
		refusal(t, err, -4, test.want)
	}
	if got, err := os.ReadFile(there); err != nil || !bytes.Equal(got, []byte("kept")) {
		t.Errorf("%q, %v", got, err)
	}
	if left := files(t, dir); !slices.Equal(left, []string{"there"}) {
		t.Errorf("left: %q", left)
	}
}

// Each record has the text that a wallet file has.
func TestExportedRecords(t *testing.T) {
	r := small(t, setup{})
	do(t, r.ref, messages.CreateWallet{Name: "w"})
	path := filepath.Join(t.TempDir(), "watch.dat")
	do(t, r.wallet(t, "w"), messages.ExportWatchOnly{Path: path})
	db, err := walletdb.Open(path, walletdb.Options{Magic: [4]byte{0xfa, 0xbf, 0xb5, 0xda}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	records, err := db.Records()
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, record := range records {
		kind, _ := record.Type()
		kinds[kind]++
		if _, err := walletfile.Parse(record); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
	want := map[string]int{
		"version": 1, "flags": 1, "walletdescriptor": 8, "walletdescriptorcache": 8, "activeexternalspk": 4,
		"activeinternalspk": 4, "orderposnext": 1, "bestblock": 1, "bestblock_nomerkle": 1,
	}
	if !reflect.DeepEqual(kinds, want) {
		t.Errorf("records %v, want %v", kinds, want)
	}
}
