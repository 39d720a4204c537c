package wallet_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/slhdsa"
	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// p2mrParams are those of a wallet on a network that pays to P2MR.
func p2mrParams(tb testing.TB, unrestricted bool) wallet.Params {
	tb.Helper()
	n, err := dialect.Named("qbit", "regtest", dialect.Choices{AnyOutput: unrestricted})
	if err != nil {
		tb.Fatal(err)
	}
	return wallet.ParamsOf(n, "new", 2)
}

func createP2MR(tb testing.TB, p wallet.CreateParams) *wallet.Wallet {
	tb.Helper()
	p.Params = p2mrParams(tb, false)
	w, err := wallet.Create(tb.Context(), p)
	if err != nil {
		tb.Fatal(err)
	}
	return w
}

// TestCreateP2MR looks at the files of new wallets, which are the same after they
// have been opened again.
func TestCreateP2MR(t *testing.T) {
	common := map[string]int{"flags": 1, "version": 1}
	plain := map[string]int{
		"walletdescriptor": 2, "walletdescriptorcache": 2, "walletdescriptorlhcache": 2, "walletdescriptorkey": 2, "walletdescriptorpqc" +
			"key": 4, "walletdescriptorp2mrcache": 4,
		"activeexternalspk": 1, "activeinternalspk": 1,
	}
	sealed := maps.Clone(plain)
	delete(sealed, "walletdescriptorkey")
	delete(sealed, "walletdescriptorpqckey")
	sealed["walletdescriptorckey"], sealed["walletdescriptorpqc_ckey"], sealed["mkey"] = 2, 4, 1
	for name, test := range map[string]struct {
		params wallet.CreateParams
		want   map[string]int
	}{
		"default":    {wallet.CreateParams{Seed: secretOf(1)}, plain},
		"encrypted":  {wallet.CreateParams{Seed: secretOf(1), Encryption: encryption()}, sealed},
		"blank":      {wallet.CreateParams{Blank: true}, nil},
		"watch-only": {wallet.CreateParams{DisablePrivateKeys: true}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := createP2MR(t, test.params)
			want := maps.Clone(common)
			maps.Copy(want, test.want)
			records := fileRecords(w)
			if got := count(records); !maps.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
			again := reopen(t, records, p2mrParams(t, false))
			got, _ := again.Keys().ListDescriptors(false)
			if was, _ := w.Keys().ListDescriptors(false); !reflect.DeepEqual(got, was) {
				t.Errorf("after opening again: got %v, want %v", got, was)
			}
			if got, was := again.PubKeys().Export(), w.PubKeys().Export(); len(got) != len(was) {
				t.Errorf("after opening again: %d public keys, were %d", len(got), len(was))
			}
		})
	}
}

// Signatures are counted all at once or not at all, up to the limit.
func TestReserveSignatures(t *testing.T) {
	w := createP2MR(t, wallet.CreateParams{Seed: secretOf(1)})
	fileRecords(w)
	keys := w.PubKeys().Export()
	one, two := slhdsa.PublicKey(keys[0].Key), slhdsa.PublicKey(keys[1].Key)
	uses, reserved, err := w.Vault().ReserveSignatures(map[slhdsa.PublicKey]uint32{
		one: slhdsa.MaxSignatures - 1, two: 1,
	})
	if err != nil || reserved == nil || len(uses) != 2 {
		t.Fatalf("%v, %+v", err, uses)
	}
	if got := len(w.TakeChanges()); got != 2 {
		t.Errorf("%d records", got)
	}
	_, reserved, err = w.Vault().ReserveSignatures(map[slhdsa.PublicKey]uint32{one: 2, two: 1})
	if !errors.Is(err, slhdsa.ErrLimit) || reserved != nil {
		t.Errorf("beyond the limit: %v", err)
	}
	if got := len(w.TakeChanges()); got != 0 {
		t.Errorf("%d records although nothing was reserved", got)
	}
	uses, _, err = w.Vault().ReserveSignatures(map[slhdsa.PublicKey]uint32{one: 1})
	if err != nil || uses[0].Made != slhdsa.MaxSignatures || w.Vault().CanSign(one) || !w.Vault().CanSign(two) {
		t.Errorf("%v, %+v, can sign: %v", err, uses, w.Vault().CanSign(one))
	}
}

// Public keys go from a wallet with private keys into one without, which hands
// out the same addresses.
func TestPubKeyPools(t *testing.T) {
	from := createP2MR(t, wallet.CreateParams{Seed: secretOf(1)})
	to := createP2MR(t, wallet.CreateParams{DisablePrivateKeys: true})
	var items messages.ImportPubKeys
	for _, key := range from.PubKeys().Export() {
		if key.Account == nil || key.Index == nil || key.Change == nil {
			t.Fatalf("a key without a place: %+v", key)
		}
		items.Entries = append(items.Entries,
			messages.PubKeyItem{Key: key.Key, Internal: *key.Change, Account: *key.Account, Index: key.Index})
	}
	for range 2 { // the second time it changes nothing
		if _, err := to.PubKeys().Import(items, 1); err != nil {
			t.Fatal(err)
		}
	}
	records := fileRecords(to)
	again := reopen(t, records, p2mrParams(t, false))
	for range 2 {
		want, err := from.Pool().NewAddress(messages.NewAddress{})
		if err != nil {
			t.Fatal(err)
		}
		for name, w := range map[string]*wallet.Wallet{"first": to, "opened again": again} {
			if got, err := w.PubKeys().Next(messages.NextPubKey{}); err != nil || got.Address != want {
				t.Errorf("%s: got %v (%v), want %s", name, got.Address, err, want)
			}
		}
	}
	if _, err := to.PubKeys().Next(messages.NextPubKey{}); err == nil {
		t.Error("there is a third key")
	}
	if pools := to.PubKeys().Pools(); len(pools) != 2 || pools[0].Remaining != 0 || pools[1].Remaining != 2 {
		t.Errorf("pools %+v", pools)
	}
}

// Faults of payments are reported after faults of the type of change, and before faults of the inputs.
func TestRefusedPayments(t *testing.T) {
	w := createP2MR(t, wallet.CreateParams{Blank: true})
	refused := &messages.WalletError{Code: -8, Text: "no such output"}
	unknown := []messages.SpendInput{{At: wire.OutPoint{Index: 7}}}
	for name, test := range map[string]struct {
		spend messages.Spend
		want  string
	}{
		"refused": {messages.Spend{Refused: refused, Inputs: unknown}, "no such output (-8)"},
		"with a type of change": {
			messages.Spend{Refused: refused, ChangeType: "p2mr"}, "change type 'p2mr' is not available in this wallet (-5)",
		},
	} {
		if _, err := w.Fund(&test.spend); err == nil || err.Error() != test.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestEncryptP2MR encrypts a wallet: no private key stays in the clear.
func TestEncryptP2MR(t *testing.T) {
	w := createP2MR(t, wallet.CreateParams{Seed: secretOf(1)})
	records := fileRecords(w)
	var secrets [][]byte
	for key, value := range records {
		entry, err := walletfile.Parse(walletfile.Record{Key: []byte(key), Value: value})
		if err != nil {
			t.Fatal(err)
		}
		if key, ok := entry.(walletfile.PQCKey); ok {
			secrets = append(secrets, slices.Clone(key.Secret.Bytes()[:32]))
		}
	}
	if err := w.Encrypt(*encryption(), nil, 5); err != nil {
		t.Fatal(err)
	}
	for _, change := range w.TakeChanges() {
		if change.Delete {
			delete(records, string(change.Key))
		} else {
			records[string(change.Key)] = change.Value
		}
	}
	for key, value := range records {
		for _, secret := range secrets {
			if bytes.Contains([]byte(key), secret) || bytes.Contains(value, secret) {
				t.Fatalf("a private key is in %x", key)
			}
		}
	}
	if got := count(records); got["walletdescriptorpqckey"] != 0 || got["walletdescriptorpqc_ckey"] != 4 {
		t.Errorf("records %v", got)
	}
	public := slhdsa.PublicKey(w.PubKeys().Export()[0].Key)
	w.Vault().Lock()
	if w.Vault().PQCSecret(public) != nil {
		t.Error("a locked wallet has private keys")
	}
	if err := w.Unlock(secretOf(7)); err != nil {
		t.Fatal(err)
	}
	if key := w.Vault().PQCSecret(public); key == nil || key.Public() != public {
		t.Error("an unlocked wallet has no private key")
	}
}

// FuzzOpenP2MR opens wallets of P2MR of any content and asks everything.
func FuzzOpenP2MR(f *testing.F) {
	p := p2mrParams(f, false)
	for _, create := range []wallet.CreateParams{
		{Seed: secretOf(1)}, {Seed: secretOf(1), Encryption: encryption()}, {DisablePrivateKeys: true},
	} {
		var records []walletfile.Record
		made := fileRecords(createP2MR(f, create))
		for _, key := range slices.Sorted(maps.Keys(made)) {
			records = append(records, walletfile.Record{Key: []byte(key), Value: made[key]})
		}
		f.Add(pack(records))
	}
	f.Fuzz(func(t *testing.T, packed []byte) {
		content, _, err := walletfile.Load(context.Background(), slices.Values(unpack(packed)), p.LoadOptions())
		if err != nil {
			return
		}
		for _, d := range content.Descriptors {
			if d.RangeEnd > maxFuzzRange || d.NextIndex > maxFuzzRange {
				return
			}
		}
		w, err := wallet.Open(content, true, p, newTestChain())
		if err != nil {
			return
		}
		askAll(w)
		w.PubKeys().Export()
		w.PubKeys().Pools()
		w.Vault().Validation()
		w.Vault().UncheckedKeys(1)
		w.Pool().Jobs(1)
		w.Pool().FillDeferred()
		_, _ = w.PubKeys().Next(messages.NextPubKey{})
		if err := w.Verify(); err != nil {
			t.Error(err)
		}
	})
}

// TestUnrestrictedP2MR makes the descriptors of all kinds of outputs, where a
// network has them.
func TestUnrestrictedP2MR(t *testing.T) {
	w, err := wallet.Create(t.Context(), wallet.CreateParams{Params: p2mrParams(t, true), Seed: secretOf(1)})
	if err != nil {
		t.Fatal(err)
	}
	list, err := w.Keys().ListDescriptors(false)
	if err != nil || len(list) != 10 {
		t.Errorf("%d descriptors, %v", len(list), err)
	}
	kinds := make(map[descriptor.OutputType]int)
	for _, d := range list {
		parsed, err := descriptor.Parse(string(d.Desc), p2mrParams(t, true).Network, descriptor.Options{})
		if err != nil {
			t.Fatal(err)
		}
		kinds[parsed[0].OutputType()]++
	}
	if len(kinds) != 5 || kinds[descriptor.MerkleRoot] != 2 {
		t.Errorf("kinds %v", kinds)
	}
}
