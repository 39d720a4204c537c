package keys

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/wallet/book"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// importOne imports a descriptor that has to be taken.
func (r *rig) importOne(t *testing.T, item messages.ImportItem) {
	t.Helper()
	done, err := r.importer.Import([]messages.ImportItem{item}, ImportTimes{Tip: 100, Median: 90})
	if err != nil || done.Results[0].Err != nil {
		t.Fatal(err, done.Results)
	}
	r.importer.EndImport()
}

// expandOf returns the scripts of a descriptor from 0 on.
func expandOf(t *testing.T, text string, n int) [][]byte {
	t.Helper()
	branches, err := descriptor.Parse(text, testParams().Network, descriptor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var scripts [][]byte
	for index := range n {
		of, err := branches[0].Expand(uint32(index))
		if err != nil {
			t.Fatal(err)
		}
		scripts = append(scripts, of[0])
	}
	return scripts
}

// TestUsed lets random scripts of a descriptor be used, and compares the pool with
// the scripts up to as many after the last used one as it holds.
func TestUsed(t *testing.T) {
	const text, pool = "wpkh(" + expandingXpub + "/0/*)", 7
	all := expandOf(t, text, 80)
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 5))
		p := testParams()
		p.KeyPool = pool
		r := rigOf(p, false)
		r.importOne(t, messages.ImportItem{
			Desc: descriptor.AddChecksum(text), Range: &[2]int64{0, 0}, Active: true, Timestamp: 50,
		})
		next := 0
		for range 8 {
			switch index := random.IntN(next + pool); random.IntN(4) {
			case 0: // given out
				address, err := r.pool.NewAddress(messages.NewAddress{Type: "bech32", HasType: true})
				if want, _ := descriptor.AddressOf(all[next], p.Network); err != nil || address != want {
					t.Errorf("address %d: %s, %v, want %s", next, address, err, want)
				}
				next++
				r.pool.TopUp()
			default:
				r.pool.Used(all[index])
				next = max(next, index+1)
			}
			if got := r.set.Scripts(); !slices.EqualFunc(got, all[:next+pool], bytes.Equal) {
				t.Fatalf("seed %d: %d scripts, want %d", seed, len(got), next+pool)
			}
			if !slices.EqualFunc(r.owned, r.set.Scripts(), bytes.Equal) {
				t.Fatalf("seed %d: the listener was told of %d scripts", seed, len(r.owned))
			}
			for i, pkScript := range all {
				if mine := r.set.IsMine(pkScript); mine != (i < next+pool) {
					t.Fatalf("seed %d: script %d is the wallet's: %v", seed, i, mine)
				}
				if listed := r.set.listed(pkScript); listed != (i < next) {
					t.Fatalf("seed %d: address %d is in the book: %v, next is %d", seed, i, listed, next)
				}
			}
		}
	}
}

// The birth time is that of the oldest descriptor. The birth time that clients are
// told moves later, unless the descriptor is active.
func TestBirth(t *testing.T) {
	item := func(path string, active bool, at int64) messages.ImportItem {
		text := descriptor.AddChecksum("wpkh(" + expandingXpub + path + "/*)")
		return messages.ImportItem{Desc: text, Range: &[2]int64{0, 99}, Active: active, Timestamp: at}
	}
	r := newRig(false)
	if r.set.Birth() != NoTime || r.set.ReportedBirth() != NoTime || r.set.Len() != 0 {
		t.Errorf("a new wallet is from %d", r.set.Birth())
	}
	for _, step := range []struct {
		item            messages.ImportItem
		birth, reported int64
	}{
		{item("/0", true, 50), 50, 50},
		{item("/1", false, 60), 50, 50},
		{item("/1", false, 40), 40, 50},
		{item("/0", true, 45), 40, 45},
		{item("/2", false, messages.NowTimestamp), 40, 45},
		{item("/0", true, 0), 1, 1},
	} {
		r.importOne(t, step.item)
		if r.set.Birth() != step.birth || r.set.ReportedBirth() != step.reported {
			t.Errorf("after %d: from %d, told %d, want %d, %d",
				step.item.Timestamp, r.set.Birth(), r.set.ReportedBirth(), step.birth, step.reported)
		}
	}
	if r.set.Len() != 3 {
		t.Errorf("%d descriptors, want 3", r.set.Len())
	}
}

func TestTypes(t *testing.T) {
	qbit, err := dialect.Named("qbit", "main", dialect.Choices{})
	if err != nil {
		t.Fatal(err)
	}
	bitcoin, restricted := testParams(), testParams()
	restricted.Kinds = qbit.Wallet()
	for _, test := range []struct {
		p    Params
		name string
		want walletfile.OutputType
		text string
	}{
		{bitcoin, "legacy", walletfile.Legacy, ""},
		{bitcoin, "bech32m", walletfile.Bech32m, ""},
		{bitcoin, "p2mr", 0, "Unknown address type 'p2mr'"},
		{bitcoin, "Bech32", 0, "Unknown address type 'Bech32'"},
		{restricted, "p2mr", walletfile.MerkleRoot, ""},
		{restricted, "bech32", 0, "address type 'bech32' is not available on this chain"},
		{restricted, "", 0, "Unknown address type ''"},
	} {
		got, err := test.p.outputType(test.name)
		text := ""
		var refused *messages.WalletError
		if errors.As(err, &refused) && refused.Code == codes.AddressOrKey {
			text = refused.Text
		}
		if got != test.want || text != test.text {
			t.Errorf("%q: got %v, %v, want %v %s", test.name, got, err, test.want, test.text)
		}
	}
}

// The types of new addresses are those that the options name; that of change follows the other where none is named.
func TestChosenTypes(t *testing.T) {
	for types, want := range map[AddressTypes][2]walletfile.OutputType{
		{}:                                    {walletfile.Bech32, walletfile.Bech32},
		{Receive: "legacy"}:                   {walletfile.Legacy, walletfile.Legacy},
		{Change: "bech32m"}:                   {walletfile.Bech32, walletfile.Bech32m},
		{Receive: "legacy", Change: "bech32"}: {walletfile.Legacy, walletfile.Bech32},
	} {
		p := testParams()
		p.Types = types
		r := rigOf(p, false)
		r.set.ChooseDefaultTypes()
		if got := [2]walletfile.OutputType{r.set.defaultFor(false), r.set.defaultFor(true)}; got != want {
			t.Errorf("%+v: got %v, want %v", types, got, want)
		}
	}
}

// With Core 30 a descriptor without private keys gives addresses up to the end of its range alone.
func TestRangeIsUsedUp(t *testing.T) {
	p := testParams()
	p.Kinds.Answers.EndsRanges = true
	r := rigOf(p, false)
	r.importOne(t, messages.ImportItem{
		Desc: descriptor.AddChecksum("wpkh(" + expandingXpub + "/0/*)"), Range: &[2]int64{0, 0}, Active: true,
	})
	r.set.ChooseDefaultTypes()
	m := r.set.active[walletfile.Slot{Type: walletfile.Bech32}]
	m.record.NextIndex = m.record.RangeEnd - 1
	if _, err := r.pool.NewAddress(messages.NewAddress{}); err != nil {
		t.Error("the last one:", err)
	}
	m.record.NextIndex = m.record.RangeEnd
	_, err := r.pool.NewAddress(messages.NewAddress{})
	checkText(t, "behind the last one", err, "Error: This wallet has no available keys")
}

func TestNewAddressRefusals(t *testing.T) {
	empty, watching := newRig(false), newRig(false)
	empty.set.ChooseDefaultTypes()
	watching.importOne(t, messages.ImportItem{
		Desc: descriptor.AddChecksum("wpkh(" + expandingXpub + "/0/*)"), Range: &[2]int64{0, 0}, Active: true,
	})
	watching.set.ChooseDefaultTypes()
	for name, test := range map[string]struct {
		r       *rig
		request messages.NewAddress
		code    int
		text    string
	}{
		"no keys":      {empty, messages.NewAddress{}, codes.Wallet, "Error: This wallet has no available keys"},
		"no change":    {watching, messages.NewAddress{Change: true}, codes.Wallet, "Error: This wallet has no available keys"},
		"another type": {watching, messages.NewAddress{Type: "legacy", HasType: true}, codes.Keypool, "Error: No legacy addresses available."},
		"unknown type": {
			watching, messages.NewAddress{Type: "x", HasType: true}, codes.AddressOrKey, "Unknown address type 'x'",
		},
		"label of all":  {watching, messages.NewAddress{Label: "*"}, codes.Label, "Invalid label name"},
		"default, fine": {watching, messages.NewAddress{}, 0, ""},
	} {
		_, err := test.r.pool.NewAddress(test.request)
		var refused *messages.WalletError
		if !errors.As(err, &refused) {
			refused = &messages.WalletError{}
		}
		if refused.Code != test.code || refused.Text != test.text {
			t.Errorf("%s: got %v, want %d %s", name, err, test.code, test.text)
		}
	}
}

// The information about a script's address comes from its descriptor.
func TestScripts(t *testing.T) {
	const text = "wpkh(" + expandingXpub + "/0/*)"
	r := newRig(false)
	r.importOne(t, messages.ImportItem{Desc: descriptor.AddChecksum(text), Range: &[2]int64{0, 0}})
	r.importOne(t, messages.ImportItem{Desc: descriptor.AddChecksum("combo(" + expandingXpub + "/0/3)")})
	own := expandOf(t, text, 4)[3]
	if got := r.set.Parents(own); len(got) != 2 || got[0] == got[1] {
		t.Errorf("parents %q", got)
	}
	if s := r.set.Solve(own); s == nil || !s.Solvable {
		t.Errorf("solution %+v", s)
	}
	info := r.set.AddressInfo(own)
	if !info.IsMine || info.IsChange || info.ParentDesc != r.set.Parents(own)[0] {
		t.Errorf("info %+v", info)
	}
	foreign := append([]byte{0, 20}, make([]byte, 20)...)
	if info := r.set.AddressInfo(foreign); info.IsMine || info.IsChange || r.set.Solve(foreign) != nil ||
		r.set.Parents(foreign) == nil || len(r.set.Parents(foreign)) > 0 {
		t.Errorf("a foreign address: %+v", info)
	}
	for kind, want := range map[string]walletfile.OutputType{
		"p2wpkh": walletfile.Bech32, "p2pkh": walletfile.Legacy, "p2sh": walletfile.P2SHSegwit,
		"p2tr": walletfile.Bech32m,
		"p2pk": noType,
	} {
		if got := r.set.OutputType(exampleScripts[kind]); got != want {
			t.Errorf("%s: type %v, want %v", kind, got, want)
		}
	}
	if r.book.Label(book.DestinationOf(testParams().Network, own)) == nil {
		t.Error("an imported address has no label")
	}
}

// exampleScripts are output scripts by their kind.
var exampleScripts = map[string][]byte{
	"p2wpkh": append([]byte{0, 20}, make([]byte, 20)...),
	"p2pkh":  slices.Concat([]byte{0x76, 0xa9, 20}, make([]byte, 20), []byte{0x88, 0xac}),
	"p2sh":   slices.Concat([]byte{0xa9, 20}, make([]byte, 20), []byte{0x87}),
	"p2tr":   append([]byte{0x51, 32}, make([]byte, 32)...),
	"p2pk":   slices.Concat([]byte{33, 2}, make([]byte, 32), []byte{0xac}),
}
