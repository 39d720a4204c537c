package follower_test

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/attachdb"
)

// A header that breaks a rule of the network is not taken, whatever Core says.
func TestHeaderBreaksRule(t *testing.T) {
	for name, template := range map[string]chaintest.Template{
		"version": {Version: 1, Solved: true},
		"work":    {},
		"time":    {Solved: true, Time: regtest(t).Params.GenesisBlock.Header.Timestamp},
	} {
		core := newFakeCore(t)
		e := open(t, core.config(t, t.TempDir()))
		good := core.mine(core.Active().Tip(), 2, 1)
		bad := core.MineOn(good, template)
		for name == "work" && solved(bad.Hash) {
			bad = core.MineOn(good, chaintest.Template{})
		}
		core.goTo(good)
		follow(t, e)
		core.goTo(bad)
		refusedWith(t, e, messages.AttachOther, nil)
		at(t, e, good)
		core.goTo(core.mine(bad, 100, 1)) // by the thousand
		refusedWith(t, e, messages.AttachOther, nil)
		at(t, e, good)
	}
}

// solved reports whether a hash has the work of regtest.
func solved(hash chainhash.Hash) bool { return hash[31] < 0x80 }

// Bytes that are not what was asked for are never taken: the chain stays where it is, and
// blocks are not here yet.
func TestOtherBytes(t *testing.T) {
	for _, rest := range []bool{true, false} {
		core := newFakeCore(t)
		e := open(t, core.config(t, t.TempDir()))
		first := core.mine(core.Active().Tip(), 3, 1)
		tip := core.mine(core.mineSpending(first, first.Parent, 1), 1, 1)
		core.set(func(f *fakeCore) { f.tip, f.rest = tip, rest })
		follow(t, e)
		spending := tip.Parent.Hash
		cut := func(reply []byte) []byte { return reply[:len(reply)-1] }
		flip := func(reply []byte) []byte { reply[len(reply)-9] ^= 1; return reply }
		text := func([]byte) []byte { return []byte(`"00"`) }
		object := func([]byte) []byte { return []byte(`{"tx":[{"vin":[{}]},{"vin":[]}]}`) }
		higher := core.mine(tip, 60, 1)
		changes := []func([]byte) []byte{text, object}
		if rest {
			changes = append(changes, cut, flip)
		}
		for _, change := range changes {
			core.set(func(f *fakeCore) {
				f.spoil = func(what string, reply []byte) []byte {
					if what == "getblockheader" || what == "getblock" || what[0] == '/' {
						return change(bytes.Clone(reply))
					}
					return reply
				}
			})
			if raw, err := e.Reader().Raw(&tip.Hash); !errors.Is(err, chainview.ErrNotYet) {
				t.Errorf("rest %t: %d bytes, %v", rest, len(raw), err)
			}
			if scripts, err := e.Reader().SpentScripts(&spending); !errors.Is(err, chainview.ErrNotYet) {
				t.Errorf("rest %t: %x, %v", rest, scripts, err)
			}
			if spent, err := e.Reader().Spent(&spending); !errors.Is(err, chainview.ErrNotYet) {
				t.Errorf("rest %t: %v, %v", rest, spent, err)
			}
			core.goTo(higher)
			err := e.Follow(t.Context())
			if _, ok := errors.AsType[messages.Refusal](err); !ok {
				t.Errorf("rest %t: %v", rest, err)
			}
			at(t, e, tip)
			core.set(func(f *fakeCore) { f.spoil, f.tip = nil, tip })
			follow(t, e)
		}
	}
}

// A block that Core has deleted is pruned here. Its header, its number of
// transactions and, where Core keeps filters, its filter are left.
func TestPruned(t *testing.T) {
	core := newFakeCore(t)
	cfg := core.config(t, t.TempDir())
	e := open(t, cfg)
	tip := core.mine(core.Active().Tip(), 30, 1)
	core.set(func(f *fakeCore) { f.tip, f.pruneHeight, f.filters = tip, 20, true })
	follow(t, e)
	reader, ok := e.Reader().(chainview.FilterReader)
	if !ok {
		t.Fatal("no filters")
	}
	for h := range tip.Height {
		b := reader.Active().At(h + 1)
		pruned := h+1 < 20
		if got := b.Status()&chainview.Pruned != 0; got != pruned {
			t.Errorf("height %d: pruned %t", h+1, got)
		}
		if _, err := reader.Raw(&b.Hash); errors.Is(err, chainview.ErrPruned) != pruned {
			t.Errorf("height %d: %v", h+1, err)
		}
		if _, err := reader.SpentScripts(&b.Hash); errors.Is(err, chainview.ErrPruned) != pruned {
			t.Errorf("height %d: %v", h+1, err)
		}
		if n, err := b.TxCount(reader); n != 1 || err != nil {
			t.Errorf("height %d: %d transactions: %v", h+1, n, err)
		}
		filter, ok, err := reader.Filter(&b.Hash)
		if err != nil || ok != pruned || pruned && !bytes.Equal(filter, core.filter(tip.Ancestor(h+1))) {
			t.Errorf("height %d: filter %x, %t: %v", h+1, filter, ok, err)
		}
	}
	core.set(func(f *fakeCore) { f.pruneHeight = 0 }) // another directory
	follow(t, e)
	if b := reader.Active().At(7); b.Status()&chainview.Pruned != 0 {
		t.Error("a block is pruned that Core has")
	}
	core.set(func(f *fakeCore) { f.down = true })
	if _, n, err := reader.Size(&reader.Active().At(25).Hash); n != 1 || err != nil {
		t.Errorf("%d transactions: %v", n, err)
	}
}

// Where Core keeps no filters of pruned blocks, there is nothing to make the filters
// from. At the beginning of the chain this is an error for the operator; later the
// engine keeps what it has until Core has filters.
func TestPrunedWithoutFilters(t *testing.T) {
	core := newFakeCore(t)
	e := open(t, core.config(t, t.TempDir()))
	tip := core.mine(core.Active().Tip(), 30, 1)
	core.set(func(f *fakeCore) { f.tip, f.pruneHeight = tip, 20 })
	follow(t, e)
	reader, ok := e.Reader().(chainview.FilterReader)
	if !ok {
		t.Fatal("no filters")
	}
	for h := int32(1); h <= tip.Height; h++ {
		_, ok, err := reader.Filter(&reader.Active().At(h).Hash)
		told := err != nil && strings.Contains(err.Error(), "below height 20") &&
			strings.Contains(err.Error(), "blockfilterindex=1")
		if ok || told != (h < 20) || told && errors.Is(err, chainview.ErrNotYet) != (h > 1) {
			t.Errorf("height %d: %t, %v", h, ok, err)
		}
	}
	core.set(func(f *fakeCore) { f.filters, f.down = true, true })
	_ = e.Follow(t.Context())
	core.set(func(f *fakeCore) { f.down, f.tip = false, core.mine(tip, 1, 1) })
	follow(t, e)
	if _, ok, err := reader.Filter(&reader.Active().At(7).Hash); !ok || err != nil {
		t.Errorf("Core keeps filters now: %t, %v", ok, err)
	}
}

// Where what blocks spend can be had by getblock alone, filters are Core's, and it is
// noted that they are.
func TestCoreFilters(t *testing.T) {
	core := newFakeCore(t)
	cfg := core.config(t, t.TempDir())
	e := open(t, cfg)
	tip := core.mine(core.Active().Tip(), 10, 1)
	core.set(func(f *fakeCore) { f.tip, f.spent, f.filters = tip, false, true })
	follow(t, e)
	reader, _ := e.Reader().(chainview.FilterReader)
	want := map[uint32]attachdb.Filter{}
	for h := range int32(11) {
		core.set(func(f *fakeCore) { f.rest = h < 5 })
		hash := reader.Active().At(h).Hash
		_, _ = reader.SpentScripts(&hash) // finds out that REST has them not
		filter, ok, err := reader.Filter(&hash)
		if err != nil || ok != (h > 0) || ok && !bytes.Equal(filter, core.filter(tip.Ancestor(h))) {
			t.Fatalf("height %d: %x, %t: %v", h, filter, ok, err)
		}
		switch {
		case h == 0:
		case h < 5:
			want[uint32(h)] = attachdb.Filter{Source: attachdb.CoreREST}
		default:
			want[uint32(h)] = attachdb.Filter{Source: attachdb.CoreRPC}
		}
	}
	core.set(func(f *fakeCore) { f.spoil = func(string, []byte) []byte { return []byte(`{"filter":"x"}`) } })
	if _, _, err := reader.Filter(&reader.Active().At(3).Hash); !errors.Is(err, chainview.ErrNotYet) {
		t.Errorf("no filter: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	store, err := attachdb.Open(attachdb.Options{Dir: cfg.Dir, Network: cfg.Network.Magic})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	got := map[uint32]attachdb.Filter{}
	if err := store.Imported(func(n uint32, f attachdb.Filter) bool { got[n] = f; return true }); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("noted %v, want %v", got, want)
	}
}
