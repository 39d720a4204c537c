package keys

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/slhdsa"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// checkText checks the text of a refusal; none is wanted for no text.
func checkText(t *testing.T, name string, err error, want string) {
	t.Helper()
	got := ""
	var refused *messages.WalletError
	if errors.As(err, &refused) {
		got = refused.Text
	}
	if got != want || (err != nil) != (want != "") {
		t.Errorf("%s: got %v, want %q", name, err, want)
	}
}

// Invalid imports are refused for the first fault in this order, and leave nothing
// behind. Odd imports get warnings.
func TestImportRefusals(t *testing.T) {
	const ranged, single = "wpkh(" + expandingXpub + "/0/*)", "wpkh(" + expandingXpub + "/0/3)"
	const twoBranches, combo = "wpkh(" + expandingXpub + "/<0;1>/*)", "combo(" + expandingXpub + "/0/*)"
	yes, label, two, nine, hundred := true, "x", int64(2), int64(9), int64(100)
	upTo := func(begin, end int64) *[2]int64 { return &[2]int64{begin, end} }
	noRange := []string{"Range not given, using default keypool range"}
	for name, test := range map[string]struct {
		text     string
		item     messages.ImportItem
		private  bool
		want     string
		warnings []string
	}{
		"single": {text: single},
		"ranged": {text: ranged, item: messages.ImportItem{Range: upTo(0, 9)}},
		"single with a range": {
			text: single, item: messages.ImportItem{Range: upTo(0, 9)},
			want: "Range should not be specified for an un-ranged descriptor",
		},
		"no range": {text: ranged, warnings: noRange},
		"broken range": {
			text: ranged, item: messages.ImportItem{RangeErr: descriptor.ErrRangeEnd},
			want: descriptor.ErrRangeEnd.Error(),
		},
		"range backwards": {
			text: ranged, item: messages.ImportItem{Range: upTo(2, 1)},
			want: "Range specified as [begin,end] must not have begin after end",
		},
		"range to the last index": {
			text: ranged, item: messages.ImportItem{Range: upTo(descriptor.MaxIndex, descriptor.MaxIndex)},
			want: descriptor.ErrRangeEnd.Error(),
		},
		"next at the start": {text: ranged, item: messages.ImportItem{Range: upTo(2, 9), NextIndex: &two}},
		"next at the end":   {text: ranged, item: messages.ImportItem{Range: upTo(2, 9), NextIndex: &nine}},
		"next before the range": {
			text: ranged, item: messages.ImportItem{Range: upTo(3, 9), NextIndex: &two},
			want: "next_index is out of range",
		},
		"next behind the range": {
			text: ranged, item: messages.ImportItem{Range: upTo(0, 8), NextIndex: &nine},
			want: "next_index is out of range",
		},
		"next behind the key pool": {
			text: ranged, item: messages.ImportItem{NextIndex: &hundred}, want: "next_index is out of range",
			warnings: noRange,
		},
		"next of a single one": {text: single, item: messages.ImportItem{NextIndex: &hundred}},
		"active single": {
			text: single, item: messages.ImportItem{Active: true}, want: "Active descriptors must be ranged",
		},
		"label": {text: single, item: messages.ImportItem{Label: &label}},
		"label of two branches": {
			text: twoBranches, item: messages.ImportItem{Label: &label},
			want: "Multipath descriptors should not have a label", warnings: noRange,
		},
		"label of a range": {
			text: ranged, item: messages.ImportItem{Label: &label, Range: upTo(0, 9)},
			want: "Ranged descriptors should not have a label",
		},
		"label of change": {
			text: single, item: messages.ImportItem{Label: &label, Internal: &yes},
			want: "Internal addresses should not have a label",
		},
		"two branches for change": {
			text: twoBranches, item: messages.ImportItem{Internal: &yes},
			want: "Cannot have multipath descriptor while also specifying 'internal'",
		},
		"active combo": {
			text: combo, item: messages.ImportItem{Active: true, Range: upTo(0, 9)},
			want: "Combo descriptors cannot be set to active",
		},
		"private key in a wallet without": {
			text: "wpkh(" + expandingXprv + "/0)",
			want: "Cannot import private keys to a wallet with private keys disabled",
		},
		"public key in a wallet with private ones": {
			text: single, private: true,
			want: "Cannot import descriptor without private keys to a wallet with private keys enabled",
		},
		"some private keys": {
			text: "wsh(multi(1," + expandingXprv + "/0," + foreignXpub() + "/1))", private: true,
			warnings: []string{"Not all private keys provided. Some wallet functionality may return unexpected errors"},
		},
		"all private keys": {text: "wpkh(" + expandingXprv + "/0)", private: true},
		"hardened without private keys": {
			text: "wpkh(" + expandingXpub + "/0h/*)", item: messages.ImportItem{Range: upTo(0, 9)},
			want: "Cannot expand descriptor. Probably because of hardened derivations without private keys provided",
		},
		"active without a type": {
			text: "wsh(multi(1," + expandingXpub + "/0/*))", item: messages.ImportItem{Active: true, Range: upTo(0, 9)},
		},
	} {
		r := newRig(test.private)
		test.item.Desc, test.item.Timestamp = descriptor.AddChecksum(test.text), 50
		done, err := r.importer.Import([]messages.ImportItem{test.item}, ImportTimes{Tip: 100, Median: 90})
		if err != nil {
			t.Fatal(name, err)
		}
		var refused error
		if got := done.Results[0].Err; got != nil {
			refused = got
		}
		checkText(t, name, refused, test.want)
		if got := done.Results[0].Warnings; !slices.Equal(got, test.warnings) {
			t.Errorf("%s: warnings %q, want %q", name, got, test.warnings)
		}
		imported := test.want == ""
		if done.Rescan != imported || done.From != 50 || (r.set.Len() > 0) != imported ||
			(len(r.owned) > 0) != imported {
			t.Errorf("%s: %+v, %d descriptors, %d scripts", name, done, r.set.Len(), len(r.owned))
		}
	}
}

// A descriptor of the wallet can be imported again if the new range holds its
// present range.
func TestImportAgain(t *testing.T) {
	const text = "wpkh(" + expandingXpub + "/0/*)"
	p := testParams()
	p.KeyPool = 1
	r := rigOf(p, false)
	steps := []struct {
		begin, end int64
		want       string
	}{
		{5, 9, ""},
		{5, 9, ""},
		{6, 9, "new range must include current range = [5,9]"},
		{5, 8, "new range must include current range = [5,9]"},
		{4, 9, ""},
		{4, 12, ""},
		{5, 12, "new range must include current range = [4,12]"},
	}
	for _, step := range steps {
		desc := descriptor.AddChecksum(text)
		item := messages.ImportItem{Desc: desc, Range: &[2]int64{step.begin, step.end}, Timestamp: 50}
		done, err := r.importer.Import([]messages.ImportItem{item}, ImportTimes{Tip: 100})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if refused := done.Results[0].Err; refused != nil {
			got = refused.Text
		}
		want := ""
		if step.want != "" {
			want = "Could not add descriptor '" + desc + "': " + step.want
		}
		if got != want {
			t.Errorf("[%d,%d]: %q, want %q", step.begin, step.end, got, want)
		}
		if r.set.Len() != 1 {
			t.Errorf("[%d,%d]: %d descriptors", step.begin, step.end, r.set.Len())
		}
	}
}

// Descriptors for receiving and change, or for one of them, are made once for a type.
func TestCreateDescriptor(t *testing.T) {
	no, yes := false, true
	for name, test := range map[string]struct {
		internal []*bool
		want     []int // texts of each request
	}{
		"both":        {[]*bool{nil, nil}, []int{2, 0}},
		"receiving":   {[]*bool{&no, &no, nil}, []int{1, 0, 1}},
		"change":      {[]*bool{&yes, nil, &yes}, []int{1, 1, 0}},
		"each alone":  {[]*bool{&yes, &no, nil}, []int{1, 1, 0}},
		"other first": {[]*bool{&no, &yes, nil}, []int{1, 1, 0}},
	} {
		r := newRig(true)
		seed := walletfile.NewSecret([]byte(strings.Repeat("\x07", 32)))
		root, err := rootOf(seed)
		if err != nil {
			t.Fatal(err)
		}
		slot := walletfile.Slot{Type: walletfile.Legacy}
		d, err := r.importer.standard(root, slot)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.importer.setupOne(root, d, slot, 5); err != nil {
			t.Fatal(err)
		}
		for i, internal := range test.internal {
			got, err := r.importer.CreateDescriptor(messages.CreateWalletDescriptor{Type: "bech32", Internal: internal}, 9)
			want := ""
			if test.want[i] == 0 {
				want = "Descriptor already exists"
			}
			checkText(t, name, err, want)
			if len(got) != test.want[i] {
				t.Errorf("%s, request %d: %q, want %d", name, i, got, test.want[i])
			}
			for _, text := range got {
				change := strings.Contains(text, "/1/*")
				if internal != nil && *internal != change {
					t.Errorf("%s, request %d: %s", name, i, text)
				}
			}
		}
		if got := r.set.Len(); got != 3 {
			t.Errorf("%s: %d descriptors, want 3", name, got)
		}
	}
}

// foreignXpub is an extended key that no wallet of these tests has.
func foreignXpub() string {
	key, _, _ := descriptor.Master([]byte(strings.Repeat("\x09", 32)))
	return descriptor.EncodeXPub(key, testParams().Network)
}

func TestCreateDescriptorRefusals(t *testing.T) {
	xpub := foreignXpub()
	const undecided = "Unable to determine which HD key to use from active descriptors. Please specify with 'hdkey'"
	for name, test := range map[string]struct {
		r    *rig
		key  string
		want string
	}{
		"no key":      {newRig(true), "", undecided},
		"no text":     {newRig(true), "x", "Unable to parse HD key. Please provide a valid xpub"},
		"foreign key": {setUp(t, true), xpub, "Private key for " + xpub + " is not known"},
		"all there":   {setUp(t, true), "", "Descriptor already exists"},
	} {
		_, err := test.r.importer.CreateDescriptor(messages.CreateWalletDescriptor{Type: "bech32", HDKey: test.key}, 9)
		checkText(t, name, err, test.want)
	}
}

// A standard descriptor whose pool would be larger than a wallet may have is refused before anything of it is kept.
func TestSetupOfLargePool(t *testing.T) {
	p := testParams()
	p.KeyPool = maxIndices + 1
	r := rigOf(p, true)
	err := r.importer.Setup(walletfile.NewSecret([]byte(strings.Repeat("\x07", 32))), 5)
	if !errors.Is(err, errRange) || r.set.Len() != 0 || len(r.owned) > 0 {
		t.Errorf("%v: %d descriptors, %d scripts", err, r.set.Len(), len(r.owned))
	}
}

// A range larger than a wallet may have is refused before it is derived.
func TestRangeBound(t *testing.T) {
	r := newRig(false)
	r.importOne(t, messages.ImportItem{
		Desc: descriptor.AddChecksum("wpkh(" + expandingXpub + "/0/*)"), Range: &[2]int64{0, 0}, Timestamp: 50,
	})
	before := len(r.owned)
	m := r.set.managers[0]
	for _, first := range []int32{0, 1_000} {
		if err := r.pool.derive(m, first, first+maxIndices); !errors.Is(err, errRange) {
			t.Errorf("from %d: %v", first, err)
		}
	}
	if len(r.owned) != before {
		t.Errorf("%d scripts of a range that is refused", len(r.owned)-before)
	}
	// A range of few indices counts as few wherever it lies.
	if err := r.pool.derive(m, maxIndices, maxIndices+9); err != nil || len(r.owned) != before+10 {
		t.Errorf("%v, %d scripts", err, len(r.owned)-before)
	}
}

// A key pool of slow keys that is nearly used up is filled again: the last addresses
// are given out while that is done.
func TestRefillSoon(t *testing.T) {
	const pool = warmPool + 2
	r := slowRig(t, pool)
	r.pool.FillDeferred()
	supply(t, r, r.pool.Jobs(100))
	for given := 1; given <= 3; given++ {
		if _, err := r.pool.NewAddress(messages.NewAddress{}); err != nil {
			t.Fatal(err)
		}
		if left := pool - given; r.pool.Wanting() != (left <= warmPool) {
			t.Errorf("%d of %d addresses left, and keys are wanted: %v", left, pool, r.pool.Wanting())
		}
	}
	if jobs := r.pool.Jobs(100); len(jobs) != 1 || jobs[0].Size() != 3 {
		t.Errorf("jobs %v", jobs)
	}
}

// The key of a single descriptor is one for change where its address is not listed.
func TestPlaceOfSingle(t *testing.T) {
	p := slowRig(t, 1).set.params
	r := rigOf(p, false)
	keys := NewPubKeys(r.pool, payments{})
	request := messages.ImportPubKeys{Timestamp: 7, Entries: []messages.PubKeyItem{
		{Key: slhdsa.PublicKey{1}, Text: "1"}, {Key: slhdsa.PublicKey{2}, Text: "2", Internal: true},
	}}
	if _, err := keys.Import(request, 50); err != nil {
		t.Fatal(err)
	}
	for i, change := range []bool{false, true} {
		if place := keys.placeOf(r.set.managers[i]); place.Change == nil || *place.Change != change {
			t.Errorf("key %d: %+v, want change: %v", i+1, place, change)
		}
	}
}
