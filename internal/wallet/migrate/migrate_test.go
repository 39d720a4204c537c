package migrate_test

import (
	"context"
	"crypto/sha256"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/wallet/migrate"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/internal/walletfile/legacytest"
)

var (
	net  = descriptor.NetworkOf(&chaincfg.RegressionNetParams)
	seen = walletfile.Locator{*chaincfg.RegressionNetParams.GenesisHash}
)

func params(t *testing.T) migrate.Params {
	t.Helper()
	regtest, err := dialect.Named("bitcoin", "regtest", dialect.Choices{})
	if err != nil {
		t.Fatal(err)
	}
	seed := sha256.Sum256([]byte("seed"))
	return migrate.Params{
		Params: wallet.ParamsOf(regtest, "w", 2), Seed: walletfile.NewSecret(seed[:]), Now: 1_700_000_000,
	}
}

// load reads the records of a legacy wallet, and unlocks it.
func load(t *testing.T, records []walletfile.Record, p *migrate.Params) *walletfile.LegacyContent {
	t.Helper()
	old, _, err := walletfile.LoadLegacy(slices.Values(records), p.LoadOptions())
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range old.MasterKeys {
		if p.Master, err = key.Unlock(t.Context(), walletfile.NewSecret([]byte(legacytest.Passphrase))); err != nil {
			t.Fatal(err)
		}
	}
	return old
}

// read reads the records of a new wallet as any wallet's.
func read(t *testing.T, records []walletfile.Record, p *migrate.Params) *walletfile.Wallet {
	t.Helper()
	if records == nil {
		return nil
	}
	w, severity, err := walletfile.Load(context.Background(), slices.Values(records), p.LoadOptions())
	if err != nil || severity != walletfile.OK {
		t.Fatalf("severity %v: %v", severity, err)
	}
	return w
}

// scripts returns the scripts that the descriptors of a wallet have in their ranges.
func scripts(t *testing.T, w *walletfile.Wallet) map[string]bool {
	t.Helper()
	found := make(map[string]bool)
	if w == nil {
		return found
	}
	for _, d := range w.Descriptors {
		for i := d.RangeStart; i < d.RangeEnd; i++ {
			text, _, err := d.DerivationText(net, uint32(i))
			if err != nil {
				t.Fatal(err)
			}
			parsed, err := descriptor.Parse(text, net, descriptor.Options{})
			if err != nil {
				t.Fatal(err)
			}
			all, err := parsed[0].Expand(uint32(i))
			if err != nil {
				t.Fatal(err)
			}
			for _, script := range all {
				found[string(script)] = true
			}
		}
	}
	return found
}

// The new wallets have all that a wallet had: the scripts that it could spend, with their
// keys, and those that it watched.
func TestNothingIsLost(t *testing.T) {
	for _, kind := range legacytest.Kinds {
		t.Run(kind, func(t *testing.T) {
			old := legacytest.Make(kind, net, seen)
			p := params(t)
			files, err := migrate.Wallet(t.Context(), load(t, old.Records, &p), p)
			if err != nil {
				t.Fatal(err)
			}
			main, watched := read(t, files.Main, &p), read(t, files.Watched, &p)
			read(t, files.Solvable, &p)
			own, others := scripts(t, main), scripts(t, watched)
			for i, script := range old.Own {
				if !own[string(script)] {
					t.Errorf("own script %d (%x) is not the wallet's", i, script)
				}
			}
			if kind == "noprivate" {
				others = own
			}
			for i, script := range old.Watched {
				if !others[string(script)] {
					t.Errorf("watched script %d (%x) is not watched", i, script)
				}
			}
			for _, r := range slices.Concat(files.Main, files.Watched, files.Solvable) {
				if name, _ := r.Type(); slices.Contains(legacyTypes, name) {
					t.Errorf("record of type %s", name)
				}
			}
		})
	}
}

var legacyTypes = []string{
	"ckey", "cscript", "defaultkey", "hdchain", "keymeta", "key", "wkey", "pool", "watchmeta", "watchs",
}

// Of an encrypted wallet no key is in the clear.
func TestEncrypted(t *testing.T) {
	old := legacytest.Make("encrypted", net, seen)
	p := params(t)
	files, err := migrate.Wallet(t.Context(), load(t, old.Records, &p), p)
	if err != nil {
		t.Fatal(err)
	}
	main := read(t, files.Main, &p)
	if err := main.CheckMaster(p.Master); err != nil {
		t.Error(err)
	}
	for _, d := range main.Descriptors {
		if len(d.Keys) > 0 || len(d.CryptedKeys) == 0 {
			t.Errorf("%s: %d keys in the clear, %d encrypted", d.Text, len(d.Keys), len(d.CryptedKeys))
		}
	}
	p.Master = nil
	_, err = migrate.Wallet(t.Context(), load(t, old.Records, new(params(t))), p)
	if err == nil || !strings.Contains(err.Error(), "Unable to produce descriptors") {
		t.Errorf("locked: %v", err)
	}
}

// payment is a transaction that spends an output, or comes from nowhere, and pays to scripts.
func payment(from *wire.OutPoint, to ...[]byte) *wire.MsgTx {
	tx := wire.NewMsgTx(2)
	if from == nil {
		from = &wire.OutPoint{Hash: chainhash.Hash{9}}
	}
	tx.AddTxIn(wire.NewTxIn(from, nil, nil))
	for i, script := range to {
		tx.AddTxOut(wire.NewTxOut(int64(i+1), script))
	}
	return tx
}

const leftOut = "Left out since they belong to none of the migrated wallets: "

// Transactions go to the wallets that they concern, by the outputs that they pay and spend.
func TestTransactions(t *testing.T) {
	foreign := []byte{0, 20, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}
	old := legacytest.Make("mixed", net, seen)
	own := payment(nil, old.Own[1])
	watched := payment(nil, old.Watched[0], foreign)
	both := payment(nil, old.Own[2], old.Watched[1])
	spends := payment(&wire.OutPoint{Hash: own.TxHash()}, foreign)
	spendsWatched := payment(&wire.OutPoint{Hash: watched.TxHash()}, foreign)
	all := []*wire.MsgTx{own, watched, both, spends, spendsWatched}
	for i, tx := range all {
		old.AddTx(&walletfile.Tx{Tx: tx, OrderPos: int64(i), Values: map[string]string{"comment": "c"}})
	}
	p := params(t)
	files, err := migrate.Wallet(t.Context(), load(t, old.Records, &p), p)
	if err != nil {
		t.Fatal(err)
	}
	ids := func(records []walletfile.Record) (found []int) {
		for _, tx := range read(t, records, &p).Txs {
			found = append(found, slices.IndexFunc(all, func(of *wire.MsgTx) bool { return of.TxHash() == tx.ID }))
			if tx.Values["comment"] != "c" {
				t.Errorf("comment %q", tx.Values["comment"])
			}
		}
		slices.Sort(found)
		return found
	}
	if got := ids(files.Main); !slices.Equal(got, []int{0, 2, 3}) {
		t.Errorf("the wallet has %v", got)
	}
	if got := ids(files.Watched); !slices.Equal(got, []int{1, 2, 4}) {
		t.Errorf("the watching wallet has %v", got)
	}
	if got := read(t, files.Watched, &p).OrderPosNext; got != 5 {
		t.Errorf("next place is %d", got)
	}
	if got := ids(files.Solvable); len(got) != 0 {
		t.Errorf("the solvable wallet has %v", got)
	}
	stray := payment(nil, foreign)
	old.AddTx(&walletfile.Tx{Tx: stray, OrderPos: 5})
	if files, err = migrate.Wallet(t.Context(), load(t, old.Records, &p), p); err != nil {
		t.Fatal(err)
	}
	if got := ids(files.Main); !slices.Equal(got, []int{0, 2, 3}) {
		t.Errorf("beside a stray transaction the wallet has %v", got)
	}
	want := []string{leftOut + "transactions " + stray.TxHash().String()}
	if !slices.Equal(files.Warnings, want) {
		t.Errorf("got %q, want %q", files.Warnings, want)
	}
}

// The address book goes where the addresses are; what is not the wallet's is noted in all.
func TestAddresses(t *testing.T) {
	old := legacytest.Make("mixed", net, seen)
	address := func(script []byte) string {
		text, ok := descriptor.AddressOf(script, net)
		if !ok {
			t.Fatal("no address")
		}
		return text
	}
	old.Label(old.Watched[1+1], "the key", "receive")
	old.Put(walletfile.DestData{Address: address(old.Watched[2]), Name: "used", Text: "1"})
	p := params(t)
	content := load(t, old.Records, &p)
	files, err := migrate.Wallet(t.Context(), content, p)
	if err != nil {
		t.Fatal(err)
	}
	main, watched, solvable := read(t, files.Main, &p), read(t, files.Watched, &p), read(t, files.Solvable, &p)
	moved := address(old.Watched[2])
	if main.Addresses[moved] != nil || solvable.Addresses[moved] != nil {
		t.Error("a watched address is noted elsewhere")
	}
	got := watched.Addresses[moved]
	if got == nil || got.Label == nil || *got.Label != "the key" || got.Purpose != "receive" ||
		got.Data["used"] != "1" {
		t.Errorf("watched address: %+v", got)
	}
	sends := 0
	for text, entry := range content.Addresses {
		if entry.Purpose != "send" {
			continue
		}
		sends++
		for i, w := range []*walletfile.Wallet{main, watched, solvable} {
			if e := w.Addresses[text]; e == nil || e.Label == nil || *e.Label != *entry.Label || e.Purpose != "send" {
				t.Errorf("wallet %d notes of %s: %+v", i, text, e)
			}
		}
	}
	if sends == 0 {
		t.Error("nothing to be sent to")
	}
	foreign := []byte{0, 20, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}
	old.Label(foreign, "nobody's", "receive")
	if files, err = migrate.Wallet(t.Context(), load(t, old.Records, &p), p); err != nil {
		t.Fatal(err)
	}
	if w := read(t, files.Main, &p); w.Addresses[address(foreign)] != nil {
		t.Error("the wallet has an address of nobody")
	}
	want := []string{leftOut + "addresses for receiving " + address(foreign)}
	if !slices.Equal(files.Warnings, want) {
		t.Errorf("got %q, want %q", files.Warnings, want)
	}
	watching := legacytest.Make("watching", net, seen)
	watching.Label(foreign, "a shop", "send")
	_, err = migrate.Wallet(t.Context(), load(t, watching.Records, &p), p)
	if err == nil || !strings.Contains(err.Error(), "Not all address book records were migrated") {
		t.Errorf("address that stays: %v", err)
	}
}

// Without a last block all blocks are looked through: the wallets have the empty locator.
func TestNoBestBlock(t *testing.T) {
	old := legacytest.Make("mixed", net, seen)
	old.Records = slices.DeleteFunc(old.Records, func(r walletfile.Record) bool {
		name, _ := r.Type()
		return strings.HasPrefix(name, "bestblock")
	})
	p := params(t)
	files, err := migrate.Wallet(t.Context(), load(t, old.Records, &p), p)
	if err != nil {
		t.Fatal(err)
	}
	for _, records := range [][]walletfile.Record{files.Main, files.Watched, files.Solvable} {
		if w := read(t, records, &p); w == nil || len(w.BestBlock) != 0 {
			t.Errorf("got %+v", w)
		}
		noMerkle := walletfile.RecordOf(walletfile.BestBlockNoMerkle(nil))
		if !slices.ContainsFunc(records, func(r walletfile.Record) bool {
			return string(r.Key) == string(noMerkle.Key) && string(r.Value) == string(noMerkle.Value)
		}) {
			t.Error("no empty locator")
		}
	}
}

// Flags stay, and the wallets that are split off get the same flags.
func TestFlags(t *testing.T) {
	old := legacytest.Make("mixed", net, seen)
	old.Put(walletfile.AvoidReuse | walletfile.KeyOriginMetadata)
	p := params(t)
	files, err := migrate.Wallet(t.Context(), load(t, old.Records, &p), p)
	if err != nil {
		t.Fatal(err)
	}
	both := walletfile.AvoidReuse | walletfile.KeyOriginMetadata | walletfile.Descriptors
	if got := read(t, files.Main, &p).Flags; got != both {
		t.Errorf("flags %q", got.Names())
	}
	if got := read(t, files.Watched, &p).Flags; !got.Has(both | walletfile.DisablePrivateKeys) {
		t.Errorf("flags %q", got.Names())
	}
}

// FuzzMigrate migrates wallets of arbitrary records: nothing panics, and what comes of it can be
// loaded.
func FuzzMigrate(f *testing.F) {
	for _, kind := range []string{"single", "watching", "unsplit", "noprivate"} {
		var packed []byte
		for _, r := range legacytest.Make(kind, net, seen).Records {
			packed = append(append(packed, byte(len(r.Key)), byte(len(r.Key)>>8)), r.Key...)
			packed = append(append(packed, byte(len(r.Value)), byte(len(r.Value)>>8)), r.Value...)
		}
		f.Add(packed)
	}
	f.Fuzz(func(t *testing.T, packed []byte) {
		var records []walletfile.Record
		next := func() []byte {
			if len(packed) < 2 {
				return nil
			}
			n := min(int(packed[0])|int(packed[1])<<8, len(packed)-2)
			taken := packed[2 : 2+n]
			packed = packed[2+n:]
			return taken
		}
		for len(packed) > 2 {
			records = append(records, walletfile.Record{Key: next(), Value: next()})
		}
		p := params(t)
		old, _, err := walletfile.LoadLegacy(slices.Values(records), p.LoadOptions())
		if err != nil || old.Encrypted() || old.Flags.Has(walletfile.Descriptors) {
			return
		}
		files, err := migrate.Wallet(context.Background(), old, p)
		if err != nil {
			return
		}
		for _, made := range [][]walletfile.Record{files.Main, files.Watched, files.Solvable} {
			if made == nil {
				continue
			}
			if _, severity, err := walletfile.Load(t.Context(), slices.Values(made), p.LoadOptions()); err != nil {
				t.Errorf("severity %v: %v", severity, err)
			}
		}
	})
}
