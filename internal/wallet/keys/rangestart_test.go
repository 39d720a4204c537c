package keys

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/wallet/records"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// file is what a wallet has written so far.
type file map[string][]byte

func (f file) write(changes []records.Change) {
	for _, c := range changes {
		if c.Delete {
			delete(f, string(c.Key))
		} else {
			f[string(c.Key)] = c.Value
		}
	}
}

// reload makes the keys of a wallet that is loaded from its file.
func (r *rig) reload(tb testing.TB, f file) *rig {
	tb.Helper()
	var all []walletfile.Record
	for key, value := range f {
		all = append(all, walletfile.Record{Key: []byte(key), Value: value})
	}
	slices.SortFunc(all, func(a, b walletfile.Record) int { return bytes.Compare(a.Key, b.Key) })
	all = append(all, walletfile.Record{Key: walletfile.Descriptors.Key(), Value: walletfile.Descriptors.Value()})
	p := r.set.params
	content, _, err := walletfile.Load(context.Background(), slices.Values(all), walletfile.LoadOptions{
		Network: p.Network, MerkleRoots: p.Kinds.Has(descriptor.MerkleRoot),
	})
	if err != nil {
		tb.Fatal(err)
	}
	loaded := rigOf(p, !r.flags.Has(walletfile.DisablePrivateKeys))
	if err := loaded.pool.Load(content); err != nil {
		tb.Fatal(err)
	}
	loaded.pool.TopUp()
	return loaded
}

// own returns the scripts in their order of bytes.
func (r *rig) own() [][]byte { return slices.SortedFunc(slices.Values(r.set.Scripts()), bytes.Compare) }

// The wallet has the scripts of the range that listdescriptors shows, and no others. This holds
// after an import that begins above 0, after payments and imports that make the range longer, and
// each time its file is loaded.
func TestOnlyTheRangeIsOwn(t *testing.T) {
	qbit, err := dialect.Named("qbit", "regtest", dialect.Choices{})
	if err != nil {
		t.Fatal(err)
	}
	few := testParams()
	few.KeyPool = 5
	slow := Params{Network: qbit.Descriptors(), Kinds: qbit.Wallet(), CoinType: 1, KeyPool: 3}
	for name, test := range map[string]struct {
		params  Params
		private bool
		text    string
	}{
		"watched":  {few, false, "wpkh(" + expandingXpub + "/0/*)"},
		"combo":    {few, false, "combo(" + expandingXpub + "/0/*)"},
		"private":  {few, true, "wpkh(" + expandingXprv + "/0/*)"},
		"hardened": {few, true, "tr(" + expandingXprv + "/0/*h)"},
		"slow":     {slow, true, "mr(pk(pqc(" + expandingXprv + "/0/*)))"},
	} {
		for _, active := range []bool{false, true} {
			if active && name == "combo" {
				continue
			}
			t.Run(fmt.Sprintf("%s active %v", name, active), func(t *testing.T) {
				r := rigOf(test.params, test.private)
				f := make(file)
				pool := int64(test.params.KeyPool)
				check := func(what string, first, last int64) {
					t.Helper()
					supply(t, r, r.pool.Jobs(1000))
					want := scriptsOf(t, r, first, last)
					f.write(r.log.Take())
					for when, r := range map[string]*rig{"now": r, "loaded": r.reload(t, f)} {
						list, err := r.set.ListDescriptors(false)
						if err != nil || len(list) != 1 || int64(list[0].First) != first ||
							int64(list[0].Last) != last {
							t.Errorf("%s, %s: range %+v, %v, want [%d,%d]", what, when, list, err, first, last)
						}
						if !slices.EqualFunc(r.own(), want, bytes.Equal) {
							t.Errorf("%s, %s: %d scripts, want %d, or others", what, when, len(r.own()), len(want))
						}
					}
				}
				load := func(first, last int64) {
					t.Helper()
					items := []messages.ImportItem{{
						Desc: descriptor.AddChecksum(test.text), Range: &[2]int64{first, last}, Active: active,
					}}
					supply(t, r, r.importer.ImportJobs(items))
					got, err := r.importer.Import(items, ImportTimes{})
					if err != nil || got.Results[0].Err != nil {
						t.Fatal(err, got.Results[0].Err)
					}
					r.pool.Drop()
				}
				load(50, 51)
				check("imported", 50, 49+pool)
				r.pool.Used(firstScript(t, r, 52))
				check("paid", 50, 52+pool)
				r = r.reload(t, f)
				r.pool.Used(firstScript(t, r, 52+pool))
				check("paid after loading", 50, 52+2*pool)
				load(50, 60+2*pool)
				check("imported to a higher end", 50, 60+2*pool)
				load(47, 60+2*pool)
				check("imported from a lower beginning", 47, 60+2*pool)
			})
		}
	}
}

// scriptsOf returns the scripts of some indices of the only descriptor, in their order of bytes.
func scriptsOf(t *testing.T, r *rig, first, last int64) [][]byte {
	t.Helper()
	var scripts [][]byte
	for i := first; i <= last; i++ {
		at, err := r.set.managers[0].desc.Expand(uint32(i))
		if err != nil {
			t.Fatal(i, err)
		}
		scripts = append(scripts, at...)
	}
	slices.SortFunc(scripts, bytes.Compare)
	return scripts
}

func firstScript(t *testing.T, r *rig, index int64) []byte {
	t.Helper()
	at, err := r.set.managers[0].desc.Expand(uint32(index))
	if err != nil {
		t.Fatal(err)
	}
	return at[0]
}

// The highest indices can be imported, and the scripts derived ahead end there.
func TestRangeAtTheTop(t *testing.T) {
	r := newRig(false)
	const last = math.MaxInt32 - 1
	r.importOne(t, messages.ImportItem{
		Desc: descriptor.AddChecksum("wpkh(" + expandingXpub + "/0/*)"), Range: &[2]int64{last - 9, last},
	})
	if n := len(r.set.Scripts()); n != 10 {
		t.Errorf("%d scripts, want 10", n)
	}
	r.pool.Used(firstScript(t, r, last))
	if n := len(r.set.Scripts()); n != 10 {
		t.Errorf("%d scripts, want 10", n)
	}
}

// An import that fails leaves nothing, in memory or in the file, whichever branch of it fails and why.
func TestFailedImportLeavesNothing(t *testing.T) {
	multi := "wpkh(" + expandingXpub + "/<0;1>/*)"
	for name, test := range map[string]struct {
		keyPool int32
		private bool
		before  []messages.ImportItem
		item    messages.ImportItem
		want    string
	}{
		"too long a range": {
			keyPool: maxIndices + 1, item: messages.ImportItem{Desc: "wpkh(" + expandingXpub + "/0/*)"},
			want: "Could not add descriptor '%s': Could not top up scriptPubKeys",
		},
		"the second branch has a longer range": {
			keyPool: 2,
			before: []messages.ImportItem{{
				Desc: descriptor.AddChecksum("wpkh(" + expandingXpub + "/1/*)"), Range: &[2]int64{0, 30},
			}},
			item: messages.ImportItem{Desc: multi, Range: &[2]int64{0, 20}, Active: true},
			want: "Could not add descriptor '%s': new range must include current range = [0,30]",
		},
		"the range begins above that of the wallet": {
			keyPool: 2,
			before: []messages.ImportItem{{
				Desc: descriptor.AddChecksum("wpkh(" + expandingXpub + "/0/*)"), Range: &[2]int64{5, 30},
			}},
			item: messages.ImportItem{Desc: "wpkh(" + expandingXpub + "/0/*)", Range: &[2]int64{6, 40}, Active: true},
			want: "Could not add descriptor '%s': new range must include current range = [5,30]",
		},
		"a branch without private key": {
			keyPool: 2, private: true,
			item: messages.ImportItem{Desc: multi, Range: &[2]int64{0, 3}},
			want: "Cannot import descriptor without private keys to a wallet with private keys enabled",
		},
		"hardened steps without private key": {
			keyPool: 2,
			item:    messages.ImportItem{Desc: "wpkh(" + expandingXpub + "/0h/*)", Range: &[2]int64{0, 3}},
			want:    "Cannot expand descriptor. Probably because of hardened derivations without private keys provided",
		},
		"a label for a range": {
			keyPool: 2,
			item: messages.ImportItem{
				Desc: "wpkh(" + expandingXpub + "/0/*)", Range: &[2]int64{0, 3}, Label: new("x"),
			},
			want: "Ranged descriptors should not have a label",
		},
		"several types that are active": {
			keyPool: 2,
			item: messages.ImportItem{
				Desc: "combo(" + expandingXpub + "/0/*)", Range: &[2]int64{0, 3}, Active: true,
			},
			want: "Combo descriptors cannot be set to active",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := testParams()
			p.KeyPool = test.keyPool
			r := rigOf(p, test.private)
			for _, item := range test.before {
				r.importOne(t, item)
			}
			r.log.Take()
			list, _ := r.set.ListDescriptors(false)
			own, birth := r.set.Scripts(), r.set.Birth()
			test.item.Desc = descriptor.AddChecksum(test.item.Desc)
			test.item.Timestamp = 7
			got, err := r.importer.Import([]messages.ImportItem{test.item}, ImportTimes{Tip: 10, Median: 10})
			if err != nil || got.Rescan {
				t.Fatal(err, got)
			}
			want := test.want
			if bytes.Contains([]byte(want), []byte("%s")) {
				want = fmt.Sprintf(want, test.item.Desc)
			}
			if refused := got.Results[0].Err; refused == nil || refused.Text != want {
				t.Errorf("got %v, want %s", refused, want)
			}
			after, _ := r.set.ListDescriptors(false)
			if fmt.Sprint(after) != fmt.Sprint(list) || len(r.set.Scripts()) != len(own) || r.set.Birth() != birth {
				t.Errorf("%v and %d scripts, want %v and %d", after, len(r.set.Scripts()), list, len(own))
			}
			if changes := r.log.Take(); len(changes) > 0 {
				t.Errorf("%d records are to be written", len(changes))
			}
			if r.vault.HasKeys(walletfile.DescriptorID(parsed(t, test.item.Desc))) && len(test.before) == 0 {
				t.Error("private keys stay")
			}
		})
	}
}

func parsed(t *testing.T, text string) *descriptor.Descriptor {
	t.Helper()
	branches, err := descriptor.Parse(text, testParams().Network, descriptor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return branches[0]
}
