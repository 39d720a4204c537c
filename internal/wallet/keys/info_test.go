package keys

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/slhdsa"
	"github.com/seed61375155/trawl/internal/wallet/book"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// qbitRig is a wallet without keys on a chain of P2MR outputs.
func qbitRig(t *testing.T, private bool) *rig {
	t.Helper()
	qbit, err := dialect.Named("qbit", "regtest", dialect.Choices{})
	if err != nil {
		t.Fatal(err)
	}
	return rigOf(Params{Network: qbit.Descriptors(), Kinds: qbit.Wallet(), CoinType: 1, KeyPool: 3}, private)
}

// The answer about an address depends on its kind: paths of addresses of one key alone, keys of those of several.
func TestInfoOfKinds(t *testing.T) {
	const key = "[d34db33f/44h/0]" + expandingXpub + "/5"
	other := foreignXpub()
	for text, want := range map[string]struct {
		path   string
		public bool
		sigs   int
		keys   int
		redeem int // bytes
		inner  int
	}{
		"pkh(" + key + ")":                              {path: "m/44h/0/5", public: true},
		"wpkh(" + key + ")":                             {path: "m/44h/0/5", public: true},
		"tr(" + key + ")":                               {path: "m/44h/0/5"},
		"sh(wpkh(" + key + "))":                         {path: "m/44h/0/5", public: true, redeem: 22},
		"sh(pkh(" + key + "))":                          {public: true, redeem: 25},
		"pk(" + key + ")":                               {},
		"wsh(multi(2," + key + "," + other + "/1))":     {sigs: 2, keys: 2, redeem: 71},
		"sh(multi(1," + key + "," + other + "/1))":      {sigs: 1, keys: 2, redeem: 71},
		"sh(wsh(multi(1," + key + "," + other + "/1)))": {sigs: 1, keys: 2, redeem: 34, inner: 71},
	} {
		r := newRig(false)
		r.importOne(t, messages.ImportItem{Desc: descriptor.AddChecksum(text), Timestamp: 50})
		info := r.set.AddressInfo(expandOf(t, text, 1)[0])
		fingerprint, at, seed := "", int64(0), ""
		if want.path != "" {
			fingerprint, at, seed = "d34db33f", 50, noSeed
		}
		if info.KeyPath != want.path || info.HasPath != (want.path != "") || info.MasterFP != fingerprint ||
			info.Timestamp != at || info.SeedID != seed {
			t.Errorf("%s: path %s of %s, from %d", text, info.KeyPath, info.MasterFP, info.Timestamp)
		}
		if (len(info.PubKey) == 33) != want.public || info.SigsNeeded != want.sigs || len(info.Keys) != want.keys ||
			len(info.Redeem) != want.redeem || len(info.Witness) != want.inner || !info.Solvable {
			t.Errorf("%s: %+v", text, info)
		}
		if !info.IsMine || info.Desc == "" || info.ParentDesc == "" || len(info.PQCKeys) != 0 {
			t.Errorf("%s: %+v", text, info)
		}
	}
}

// An own address without a label is one for change.
func TestChangeAddress(t *testing.T) {
	r := setUp(t, true)
	address := func(change bool) []byte {
		m := r.set.active[walletfile.Slot{Type: walletfile.Bech32, Internal: change}]
		next := m.scripts[m.record.NextIndex].bytes
		if _, err := r.pool.NewAddress(messages.NewAddress{Change: change, Label: "shop"}); err != nil {
			t.Fatal(err)
		}
		return next
	}
	if info := r.set.AddressInfo(address(false)); info.IsChange || !slices.Equal(info.Labels, []string{"shop"}) {
		t.Errorf("%+v", info)
	}
	if info := r.set.AddressInfo(address(true)); !info.IsChange || len(info.Labels) != 0 {
		t.Errorf("%+v", info)
	}
	if _, err := r.pool.NewAddress(messages.NewAddress{Change: true, Label: "*"}); err != nil {
		t.Errorf("the label of change is looked at: %v", err)
	}
}

// Of an address of P2MR its keys are told, with the signatures that they have made.
func TestInfoOfP2MR(t *testing.T) {
	r := slowRig(t, 2)
	for _, pkScript := range r.owned {
		info := r.set.AddressInfo(pkScript)
		if len(info.PQCKeys) != 1 || info.PQCKeys[0].Made != 0 || info.PQCKeys[0].PublicKey == (slhdsa.PublicKey{}) {
			t.Errorf("%+v", info.PQCKeys)
		}
	}
}

// The path of a key names its hardened steps.
func TestKeyPath(t *testing.T) {
	for want, path := range map[string][]uint32{
		"m": nil, "m/0": {0}, "m/0h": {hardenedBit}, "m/44h/1/2147483647h": {44 | hardenedBit, 1, 1<<32 - 1},
	} {
		if got := keyPath(path); got != want {
			t.Errorf("%v: %s, want %s", path, got, want)
		}
	}
}

// The names of types in the options are checked: whether there are such, and then whether the chain has them.
func TestCheckTypes(t *testing.T) {
	bitcoin, restricted := testParams().Kinds, qbitRig(t, false).set.params.Kinds
	for _, test := range []struct {
		kinds dialect.Wallet
		types AddressTypes
		want  string
	}{
		{bitcoin, AddressTypes{}, ""}, {bitcoin, AddressTypes{"bech32", "legacy"}, ""},
		{bitcoin, AddressTypes{"x", "y"}, "Unknown address type 'x'"},
		{bitcoin, AddressTypes{"", "y"}, "Unknown change type 'y'"},
		{restricted, AddressTypes{"p2mr", "p2mr"}, ""},
		{restricted, AddressTypes{"bech32", "x"}, "Unknown change type 'x'"},
		{restricted, AddressTypes{"bech32", "legacy"}, "Address type 'bech32' is not available on this chain"},
		{restricted, AddressTypes{"", "legacy"}, "Change type 'legacy' is not available on this chain"},
	} {
		err := CheckTypes(test.kinds, test.types)
		if got := fmt.Sprint(err); (err == nil) != (test.want == "") || err != nil && got != test.want {
			t.Errorf("%+v: %v, want %s", test.types, err, test.want)
		}
	}
}

// Change has the type of a payment that the wallet has too, in the order of newness, or the newest it has.
func TestChangeType(t *testing.T) {
	r := setUp(t, true)
	scripts := func(kinds ...string) (all [][]byte) {
		for _, kind := range kinds {
			all = append(all, exampleScripts[kind])
		}
		return all
	}
	for _, test := range []struct {
		payments [][]byte
		want     string
	}{
		{nil, "bech32m"}, {scripts("p2pk"), "bech32m"}, {scripts("p2wpkh"), "bech32"}, {scripts("p2pkh"), "legacy"},
		{scripts("p2sh"), "p2sh-segwit"}, {scripts("p2tr"), "bech32m"}, {scripts("p2pkh", "p2sh"), "p2sh-segwit"},
		{scripts("p2pkh", "p2wpkh", "p2pk"), "bech32"}, {scripts("p2pkh", "p2tr", "p2wpkh"), "bech32m"},
	} {
		if got := r.set.ChangeType(test.payments); got != test.want {
			t.Errorf("%x: %s, want %s", test.payments, got, test.want)
		}
	}
	delete(r.set.active, walletfile.Slot{Type: walletfile.Bech32m, Internal: true})
	if got := r.set.ChangeType(scripts("p2tr")); got != "bech32" {
		t.Errorf("without a descriptor for it: %s", got)
	}
	r.set.defaultType = walletfile.Legacy
	if got := r.set.ChangeType(scripts("p2wpkh")); got != "legacy" {
		t.Errorf("of a wallet of old addresses: %s", got)
	}
	r.set.params.Types.Change = "bech32m"
	if got := r.set.ChangeType(nil); got != "bech32m" {
		t.Errorf("as the operator says: %s", got)
	}
}

// The address for change that was named is given out as long as nobody else has got it.
func TestTakeChange(t *testing.T) {
	r := setUp(t, true)
	first, err := r.pool.NextChange("bech32")
	if err != nil || !r.pool.TakeChange("bech32", first) || r.pool.TakeChange("bech32", first) {
		t.Errorf("%x is not given out once: %v", first, err)
	}
	second, err := r.pool.NextChange("bech32")
	if err != nil || bytes.Equal(first, second) {
		t.Errorf("%x follows %x, %v", second, first, err)
	}
	if again, err := r.pool.NextChange("bech32"); err != nil || !bytes.Equal(again, second) {
		t.Errorf("to look takes it: %x, %v", again, err)
	}
	if _, err := r.pool.NewAddress(messages.NewAddress{Change: true}); err != nil {
		t.Fatal(err)
	}
	if r.pool.TakeChange("bech32", second) || r.pool.TakeChange("x", second) {
		t.Error("what others have got is given out")
	}
	watching := newRig(false)
	_, err = watching.pool.NextChange("bech32")
	checkText(t, "none", err, "Error: No bech32 addresses available.")
	_, err = watching.pool.NextChange("x")
	checkText(t, "no type", err, "Unknown address type 'x'")
	watching.importOne(t, messages.ImportItem{
		Desc: descriptor.AddChecksum("wpkh(" + expandingXpub + "/1/*)"), Range: &[2]int64{0, 0}, Active: true,
		Internal: new(true),
	})
	m := watching.set.managers[0]
	m.record.NextIndex, watching.set.params.Kinds.Answers.EndsRanges = m.record.RangeEnd, true
	_, err = watching.pool.NextChange("bech32")
	checkText(t, "used up", err, "No addresses available")
}

// The size of an input is that of the descriptor's script, for each form of a combo, and is asked for once. Of
// scripts that nobody knows how to spend there is none, and none of others'.
func TestInputSizes(t *testing.T) {
	r := newRig(false)
	combo := "combo(" + expandingXpub + "/0/*)"
	r.importOne(t, messages.ImportItem{Desc: descriptor.AddChecksum(combo), Range: &[2]int64{0, 2}})
	r.importOne(t, messages.ImportItem{Desc: descriptor.AddChecksum("raw(6a0551)")})
	d := parsed(t, combo)
	for range 2 {
		for index := range uint32(3) {
			scripts, err := d.Expand(index)
			if err != nil || len(scripts) != 4 {
				t.Fatal(len(scripts), err)
			}
			for _, script := range scripts {
				for _, large := range []bool{false, true} {
					want, _ := d.InputSize(index, script, large)
					if got, ok := r.set.InputSize(script, large); !ok || got != want ||
						got == (descriptor.InputSize{}) {
						t.Errorf("%x: %+v, %v, want %+v", script, got, ok, want)
					}
				}
			}
		}
		for _, script := range [][]byte{{0x6a, 5, 0x51}, nil, {}, exampleScripts["p2tr"]} {
			if size, ok := r.set.InputSize(script, false); ok || size != (descriptor.InputSize{}) {
				t.Errorf("%x: %+v", script, size)
			}
		}
	}
	if !r.set.IsMine([]byte{0x6a, 5, 0x51}) {
		t.Error("the raw script is not the wallet's")
	}
}

// Keys are in the order of their bytes, and then of their places: what is not known comes first.
func TestComparePubKeys(t *testing.T) {
	no, yes, one, two := false, true, int64(1), int64(2)
	var ordered []messages.PubKey
	for _, key := range []slhdsa.PublicKey{{1}, {2}} {
		for _, account := range []*int64{nil, &one, &two} {
			for _, change := range []*bool{nil, &no, &yes} {
				for _, index := range []*int64{nil, &one, &two} {
					ordered = append(ordered, messages.PubKey{Key: key, Account: account, Change: change, Index: index})
				}
			}
		}
	}
	for i := range ordered {
		for j := range ordered {
			want := 0
			if i < j {
				want = -1
			} else if i > j {
				want = 1
			}
			if got := comparePubKeys(ordered[i], ordered[j]); got != want {
				t.Fatalf("%+v and %+v: %d", ordered[i], ordered[j], got)
			}
		}
	}
	for step, want := range map[string]int64{
		"87h": 87, "87'": 87, "0h": 0, "87": -1, "87hh": -1, "87h'": -1, "h": -1, "xh": -1,
	} {
		if n, ok := hardenedNumber(step); ok != (want >= 0) || ok && n != want {
			t.Errorf("%s: %d, %v", step, n, ok)
		}
	}
}

// A public key that descriptors name is exported with the place that is known of it, once.
func TestExportOnce(t *testing.T) {
	r := qbitRig(t, false)
	keys := NewPubKeys(r.pool, payments{})
	key := slhdsa.PublicKey{7}
	if _, err := keys.Import(messages.ImportPubKeys{
		Timestamp: 7, Entries: []messages.PubKeyItem{{Key: key, Text: "7"}},
	}, 50); err != nil {
		t.Fatal(err)
	}
	got := keys.Export()
	if len(got) != 1 || got[0].Key != key || got[0].Account != nil || got[0].Index != nil || got[0].Change == nil {
		t.Errorf("%+v", got)
	}
	if _, err := hexKey(hex.EncodeToString(key[:]) + "00"); err == nil {
		t.Error("a key of 33 bytes")
	}
	if text := pubKeyScript(key); !r.set.IsMine(text) || r.set.OutputType(text) != walletfile.MerkleRoot {
		t.Error("its script is not the wallet's")
	}
}

// Entries that are refused end an import of public keys, and so does a time that cannot be read; what came before
// stays. Pools are listed by account, those for receiving first, and go on where they were when they are loaded.
func TestPubKeyPools(t *testing.T) {
	r := qbitRig(t, false)
	keys := NewPubKeys(r.pool, payments{})
	item := func(n byte, account, index int64, internal bool) messages.PubKeyItem {
		return messages.PubKeyItem{
			Key: slhdsa.PublicKey{n}, Text: strconv.FormatUint(uint64(n), 10),
			Account: account, Index: &index, Internal: internal,
		}
	}
	refused := &messages.WalletError{Text: "refused"}
	bad := item(9, 0, 9, false)
	bad.Refused = refused
	for name, request := range map[string]messages.ImportPubKeys{
		"time": {BadTime: refused, Entries: []messages.PubKeyItem{item(1, 0, 0, false)}},
		"item": {Entries: []messages.PubKeyItem{item(1, 3, 0, true), bad, item(2, 0, 0, false)}},
		"last": {Refused: refused, Entries: []messages.PubKeyItem{
			item(3, 2, 5, true), item(4, 2, 5, false), item(5, 2, 6, false),
		}},
	} {
		_, err := keys.Import(request, 50)
		checkText(t, name, err, "refused")
	}
	var pools []string
	for _, p := range keys.Pools() {
		pools = append(pools, fmt.Sprint(p.Account, p.Internal, p.Next, p.Highest, p.Remaining))
	}
	if got := strings.Join(pools, ", "); got != "2 false 5 6 2, 2 true 5 5 1, 3 true 0 0 1" {
		t.Errorf("pools %s", got)
	}
	next := func(keys *PubKeys, want byte) {
		t.Helper()
		got, err := keys.Next(messages.NextPubKey{Account: 2})
		if want == 0 && err == nil || want != 0 && (err != nil || got.Key != slhdsa.PublicKey{want}) {
			t.Errorf("%v, %v, want key %d", got.Key, err, want)
		}
	}
	next(keys, 4)
	var content walletfile.Wallet
	for _, c := range []struct {
		n        byte
		account  int64
		index    int64
		internal bool
	}{{4, 2, 5, false}, {5, 2, 6, false}} {
		content.PubKeys = append(content.PubKeys, walletfile.PubKeyEntry{
			Account: c.account, Internal: c.internal, Index: c.index, Public: slhdsa.PublicKey{c.n},
		})
	}
	content.PubKeyCursors = []walletfile.PubKeyCursor{{Account: 2, Next: 6}}
	loaded := NewPubKeys(qbitRig(t, false).pool, payments{})
	loaded.Load(&content)
	for _, keys := range []*PubKeys{keys, loaded} {
		next(keys, 5)
		keys.log.Take()
		next(keys, 0)
		next(keys, 0)
		if changes := keys.log.Take(); len(changes) != 0 {
			t.Errorf("%d changes for a pool that is used up", len(changes))
		}
	}
	if got := keys.Pools()[0]; got.Next != 7 || got.Remaining != 0 {
		t.Errorf("used up: %+v", got)
	}
}

// Requests for what there is not change nothing: for no descriptor, a script of nobody, a wallet without descriptors.
func TestNothingThere(t *testing.T) {
	r := newRig(false)
	done, err := r.importer.Import([]messages.ImportItem{{NoDesc: true}}, ImportTimes{})
	if err != nil || done.Results[0].Err == nil || done.Results[0].Err.Text != "Descriptor not found." {
		t.Errorf("%+v, %v", done, err)
	}
	if r.set.listed(exampleScripts["p2tr"]) || r.book.Label(book.DestinationOf(r.set.params.Network, nil)) != nil {
		t.Error("an address is in the book")
	}
	r.pool.Used(exampleScripts["p2tr"]) // of nobody
	if errors.Is(r.pool.Refill(0), errTopUp) {
		t.Error("nothing is to be derived")
	}
}
