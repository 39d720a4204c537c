package keys

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// A locked wallet takes no descriptors.
func TestLockedImport(t *testing.T) {
	r := setUp(t, true)
	r.vault.Encrypt(walletfile.MasterKey{ID: 1}, walletfile.NewSecret(make([]byte, 32)))
	r.vault.Lock()
	item := messages.ImportItem{Desc: descriptor.AddChecksum("wpkh(" + expandingXprv + "/9)")}
	seed := walletfile.NewSecret(make([]byte, 32))
	for name, err := range map[string]error{
		"import": errorOf(r.importer.Import([]messages.ImportItem{item}, ImportTimes{})),
		"setup":  r.importer.Setup(seed, 1),
		"create": errorOf(r.importer.CreateDescriptor(messages.CreateWalletDescriptor{Type: "bech32"}, 1)),
		"refill": r.pool.Refill(1000),
	} {
		var refused *messages.WalletError
		if !errors.As(err, &refused) || refused.Code != codes.UnlockNeeded {
			t.Errorf("%s: %v", name, err)
		}
	}
	if r.set.Len() != 8 {
		t.Errorf("%d descriptors, want 8", r.set.Len())
	}
}

// AddressInfo has the script behind an address of a script hash.
func TestBehindScriptHash(t *testing.T) {
	r := newRig(false)
	text := "sh(wpkh(" + expandingXpub + "/0/*))"
	r.importOne(t, messages.ImportItem{Desc: descriptor.AddChecksum(text), Range: &[2]int64{0, 0}})
	own := expandOf(t, text, 1)[0]
	info := r.set.AddressInfo(own)
	if len(info.Redeem) != 22 || info.Witness != nil || len(info.PubKey) != 33 || !info.HasPath ||
		info.KeyPath != "m/0/0" {
		t.Errorf("info %+v", info)
	}
	if d, index, ok := r.set.SigningDescriptor(own); !ok || index != 0 || d == nil || d.HasPrivateKeys() {
		t.Errorf("descriptor to sign with: %v, %d, %v", d, index, ok)
	}
	if d, index, ok := r.set.SigningDescriptor([]byte{1}); ok || index != 0 || d != nil {
		t.Error("a foreign script has a descriptor to sign with")
	}
}

// The second branch of a descriptor with two is for change, and the label of all is
// refused before anything else is looked at.
func TestBranchesAndLabels(t *testing.T) {
	r := newRig(false)
	text := "wpkh(" + expandingXpub + "/<0;1>/*)"
	r.importOne(t, messages.ImportItem{Desc: descriptor.AddChecksum(text), Range: &[2]int64{0, 0}, Active: true})
	r.set.ChooseDefaultTypes()
	for branch, change := range []bool{false, true} {
		got, err := r.pool.NewAddress(messages.NewAddress{Change: change})
		own := expandOf(t, "wpkh("+expandingXpub+"/"+strconv.Itoa(branch)+"/*)", 1)[0]
		if want, _ := descriptor.AddressOf(own, testParams().Network); err != nil || got != want {
			t.Errorf("change %v: %s, %v, want %s", change, got, err, want)
		}
		if listed := r.set.listed(own); listed == change {
			t.Errorf("change %v: the address is in the book: %v", change, listed)
		}
	}
	all, text := "*", "no descriptor"
	done, err := r.importer.Import([]messages.ImportItem{{Desc: text, Label: &all}, {Desc: text}}, ImportTimes{})
	if err != nil || done.Rescan || done.Results[0].Err.Code != codes.Label ||
		done.Results[1].Err.Code != codes.AddressOrKey {
		t.Errorf("%+v, %v", done, err)
	}
}

// On chains of P2MR outputs an import tells of a range that has become longer than it was given.
func TestRangeOfImport(t *testing.T) {
	const expanded = "Requested active %s descriptor range [%s] was expanded to effective range [%s] to satisfy wallet " +
		"keypool lookahead"
	for name, test := range map[string]struct {
		slow bool
		item messages.ImportItem
		want string
	}{
		"longer": {
			true,
			messages.ImportItem{Active: true, Range: &[2]int64{0, 20}},
			fmt.Sprintf(expanded, "external", "0,20", "0,99"),
		},
		"for change": {true, messages.ImportItem{
			Active: true, Internal: new(true), Range: &[2]int64{2, 20}, NextIndex: new(int64(7)),
		}, fmt.Sprintf(expanded, "internal", "2,20", "2,106")},
		"long enough":  {true, messages.ImportItem{Active: true, Range: &[2]int64{0, 99}}, ""},
		"inactive":     {true, messages.ImportItem{Range: &[2]int64{0, 20}}, ""},
		"not given":    {true, messages.ImportItem{Active: true}, "Range not given, using default keypool range"},
		"other chains": {false, messages.ImportItem{Active: true, Range: &[2]int64{0, 20}}, ""},
	} {
		p := testParams()
		p.Kinds.SlowKeys = test.slow
		r := rigOf(p, false)
		test.item.Desc = descriptor.AddChecksum("wpkh(" + expandingXpub + "/0/*)")
		got, err := r.importer.Import([]messages.ImportItem{test.item}, ImportTimes{})
		if err != nil || got.Results[0].Err != nil {
			t.Fatal(name, err, got.Results[0].Err)
		}
		if warnings := strings.Join(got.Results[0].Warnings, "; "); warnings != test.want {
			t.Errorf("%s: %q, want %q", name, warnings, test.want)
		}
		// The records of such chains say that the pool is full.
		if full := r.set.managers[0].record.FillPending; (full != nil) != test.slow || test.slow && *full {
			t.Errorf("%s: the record says of a pool that is to be filled: %v", name, full)
		}
	}
}
