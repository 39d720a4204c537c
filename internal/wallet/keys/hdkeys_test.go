package keys

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

const (
	spareXPrv = "tprv8ZgxMBicQKsPeEsFp13ComgBi5ciWYmEa21i1DydTSvtaLWPStfbF6SV" +
		"z3Wuw8ApDTGpM5TF7jycqG8qNUozDT9AwNv1EyrnEeFC4D6veSs"
	otherXPub = "tpubD6NzVbkrYhZ4XZLzmeTuf1y1sr6fZSwqdTvgq4Ne9qXnVaYezqZNi7rW" +
		"CsAjNgJYZyFiicRcL95qDFiGjsuuv5DwsoDirjNBQCwyiY9c5TR"
)

// addKey adds a key to a wallet, or a random one.
func (r *rig) addKey(key *string) (string, error) {
	random := walletfile.NewSecret([]byte("a seed that is thirty-two bytes."))
	defer random.Zero()
	return r.importer.AddHDKey(messages.AddHDKey{Key: key}, random, 7)
}

// A key that is added has no addresses. It is found again when the file is loaded.
func TestAddHDKey(t *testing.T) {
	t.Parallel()
	r := setUp(t, true)
	owned, descriptors := len(r.owned), r.set.Len()
	xpub, err := r.addKey(new(spareXPrv))
	if err != nil {
		t.Fatal(err)
	}
	random, err := r.addKey(nil)
	if err != nil || random == xpub || len(r.owned) != owned || r.set.Len() != descriptors+2 {
		t.Fatalf("%s, %v: %d scripts, %d descriptors", random, err, len(r.owned), r.set.Len())
	}
	for key, want := range map[string]string{
		spareXPrv: "HD key already exists (-4)",
		xpub:      "Extended public key (xpub) provided, but extended private key (xprv) is required (-5)",
		"":        "Could not parse HD key (-5)", "x": "Could not parse HD key (-5)",
		"[00000000/1]" + spareXPrv: "Could not parse HD key (-5)",
	} {
		if _, err := r.addKey(&key); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", key, err, want)
		}
	}
	if _, err := r.addKey(nil); err == nil || err.Error() != "HD key already exists (-4)" {
		t.Errorf("the same again: %v", err)
	}
	listed, err := r.set.ListDescriptors(true)
	want := descriptor.AddChecksum("unused(" + spareXPrv + ")")
	at := slices.IndexFunc(listed, func(d messages.WalletDescriptor) bool { return string(d.Desc) == want })
	if err != nil || at < 0 || listed[at].Active || listed[at].Ranged || listed[at].Timestamp != 7 {
		t.Errorf("%v, %v", listed, err)
	}
	keys, err := r.set.HDKeys(false, true)
	has := func(k messages.HDKey) bool {
		return k.XPub == xpub && string(k.XPrv) == spareXPrv && len(k.Descriptors) == 1
	}
	if err != nil || !slices.ContainsFunc(keys, has) {
		t.Errorf("%v, %v", keys, err)
	}
	r.flags.Set(r.flags.Value() | walletfile.Descriptors)
	var records []walletfile.Record
	for _, change := range r.log.Take() {
		if !change.Delete {
			records = append(records, walletfile.Record{Key: change.Key, Value: change.Value})
		}
	}
	content, severity, err := walletfile.Load(context.Background(), slices.Values(records), walletfile.LoadOptions{
		Network: testParams().Network,
	})
	if err != nil || severity != walletfile.OK || len(content.Descriptors) != descriptors+2 {
		t.Errorf("loaded again: %v, %v", severity, err)
	}
	watching := newRig(false)
	const notHere = "addhdkey is not available for wallets without private keys (-4)"
	if _, err := watching.addKey(nil); err == nil || err.Error() != notHere {
		t.Errorf("without private keys: %v", err)
	}
}

// A key is derived from the unused key before those of addresses, or from the key that is named.
func TestDeriveHDKey(t *testing.T) {
	t.Parallel()
	const hardened = 1 << 31
	account := []uint32{87 | hardened, 1}
	r := newRig(true)
	derive := func(key *string) (messages.DerivedHDKey, error) {
		return r.importer.DeriveHDKey(messages.DeriveHDKey{Path: account, HDKey: key, Private: true})
	}
	refused := func(key *string, want string) {
		t.Helper()
		if _, err := derive(key); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	refused(nil, "No active or unused(KEY) descriptor found (-5)")
	refused(new("bad"), "Unable to parse HD key. Please provide a valid xpub (-5)")
	refused(new(otherXPub), "HD key is not used by an active or unused(KEY) descriptor (-5)")
	r = setUp(t, true)
	active, err := r.set.HDKeys(true, false)
	if err != nil || len(active) != 1 {
		t.Fatalf("%v, %v", active, err)
	}
	byDefault, err := derive(nil)
	if err != nil {
		t.Fatal(err)
	}
	named, err := derive(new(active[0].XPub))
	if err != nil || named.XPub != byDefault.XPub {
		t.Errorf("%v, %v", named, err)
	}
	spare, err := r.addKey(new(spareXPrv))
	if err != nil {
		t.Fatal(err)
	}
	got, err := derive(nil)
	if err != nil || got.XPub == byDefault.XPub || !strings.HasSuffix(got.Origin, "/87h/1]") {
		t.Errorf("%v, %v", got, err)
	}
	text := strings.ReplaceAll("pkh("+got.Origin+"KEY)", "KEY", string(got.XPrv))
	derived, err := descriptor.Parse(text, testParams().Network, descriptor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	whole, err := descriptor.Parse("pkh("+spareXPrv+"/87h/1)", testParams().Network, descriptor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	one, _ := derived[0].Expand(0)
	other, _ := whole[0].Expand(0)
	if len(one) == 0 || !slices.Equal(one[0], other[0]) {
		t.Errorf("%x, want %x", one, other)
	}
	if origin, _, _ := strings.Cut(derived[0].String(), "]"); !strings.HasPrefix(derived[0].String(), origin) {
		t.Error(origin)
	}
	if _, err := r.addKey(nil); err != nil {
		t.Fatal(err)
	}
	refused(nil, "Unable to determine which HD key to use. Please specify with 'hdkey' (-5)")
	if again, err := derive(&spare); err != nil || again.XPub != got.XPub {
		t.Errorf("%v, %v", again, err)
	}
	public, err := r.importer.DeriveHDKey(messages.DeriveHDKey{Path: account, HDKey: &spare})
	if err != nil || len(public.XPrv) != 0 || public.XPub != got.XPub {
		t.Errorf("%v, %v", public, err)
	}
	account = make([]uint32, 256)
	refused(&spare, "Unable to derive HD key at the requested path (-8)")
	r = newRig(false)
	refused(&spare, "derivehdkey is not available for watch-only wallets (-4)")
}

// unused() is imported with a private key that the wallet does not have.
func TestImportUnused(t *testing.T) {
	t.Parallel()
	r := newRig(true)
	try := func(text, want string) {
		t.Helper()
		item := messages.ImportItem{Desc: descriptor.AddChecksum(text), Timestamp: 5}
		done, err := r.importer.Import([]messages.ImportItem{item}, ImportTimes{Tip: 9, Median: 9})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if refused := done.Results[0].Err; refused != nil {
			got = refused.Text
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	const known = "Cannot import an unused() descriptor when its private key is already in the wallet"
	try("unused("+otherXPub+")", "Cannot import descriptor without private keys to a wallet with private keys enabled")
	try("unused("+spareXPrv+"/<0;1>)", known)
	try("unused("+spareXPrv+")", "")
	try("unused("+spareXPrv+")", known)
	try("unused("+spareXPrv+"/1)", known)
	try("wpkh("+spareXPrv+"/*)", "")
	if _, err := r.addKey(new(spareXPrv)); err == nil || err.Error() != "HD key already exists (-4)" {
		t.Error(err)
	}
	r = newRig(true)
	try("pkh("+spareXPrv+")", "")
	try("unused("+spareXPrv+")", known)
	if xpub, err := r.addKey(new(spareXPrv)); err != nil || xpub == "" {
		t.Errorf("added beside a descriptor with it: %v", err)
	}
	r = newRig(false)
	try("unused("+otherXPub+")", "Cannot import unused() to wallet without private keys enabled")
}
