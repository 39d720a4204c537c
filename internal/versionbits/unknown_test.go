package versionbits_test

import (
	"cmp"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/versionbits"
)

// headers is a chain of headers on a regtest.
type headers struct {
	t    *testing.T
	net  *dialect.Network
	tree *chainview.Tree
	tip  *chainview.Block
}

func newHeaders(t *testing.T, net *dialect.Network) *headers {
	t.Helper()
	tree := chainview.NewTree(&net.Params.GenesisBlock.Header, big.NewInt(1))
	return &headers{t, net, tree, tree.Active().Tip()}
}

// add adds blocks of a version.
func (h *headers) add(n int, version int32) {
	h.t.Helper()
	for range n {
		header := wire.BlockHeader{
			Version: version, PrevBlock: h.tip.Hash, Timestamp: h.tip.Time().Add(time.Minute),
			Nonce: uint32(h.tip.Height),
		}
		var err error
		if h.tip, err = h.tree.Add(&header, big.NewInt(1), 0); err != nil {
			h.t.Fatal(err)
		}
	}
}

// regtest returns a network where all 29 bits may be a vote, as before Core 32, unless c says otherwise.
func regtest(t *testing.T, c dialect.Choices) *dialect.Network {
	t.Helper()
	c.Reference = cmp.Or(c.Reference, dialect.Core30)
	n, err := dialect.Named("", "regtest", c)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A rule needs 108 of the 144 votes of one period, and is active a period later.
func TestUnknown(t *testing.T) {
	const none, one = 0x20000000, 0x20000000 | 1<<27
	for _, test := range []struct {
		name             string
		first            int32 // version of the first period
		votes            int   // in the second
		version          int32
		lockedIn, active []int // after the second, and after the third
	}{
		{"one too few", none, 107, one, nil, nil},
		{"enough", none, 108, one, []int{27}, []int{27}},
		{"all", none, 144, one, []int{27}, []int{27}},
		{"two bits", none, 144, one | 1, []int{0, 27}, []int{0, 27}},
		{"the first period does not count", one, 0, one, nil, nil},
		{"known rule", none, 144, none | 1<<28, nil, nil},
		{"no votes at all", none, 144, 1<<27 | 4, nil, nil},
		{"the highest bits", none, 144, -1, nil, nil},
	} {
		h := newHeaders(t, regtest(t, dialect.Choices{}))
		u := versionbits.NewUnknown(h.net)
		h.add(143, test.first) // with the genesis block, a period
		check := func(when string, lockedIn, active []int) {
			t.Helper()
			gotLocked, gotActive := u.After(h.tip)
			if !slices.Equal(gotLocked, lockedIn) || !slices.Equal(gotActive, active) {
				t.Errorf("%s, %s: locked in %v, active %v", test.name, when, gotLocked, gotActive)
			}
		}
		check("first period", nil, nil)
		h.add(test.votes, test.version)
		h.add(144-test.votes-1, none)
		if test.votes < 144 {
			check("one block before the end", nil, nil)
			h.add(1, none)
		}
		check("second period", test.lockedIn, nil)
		h.add(143, none)
		check("one block before the end of the third", test.lockedIn, nil)
		h.add(1, none)
		check("third period", nil, test.active)
		h.add(1000, none)
		check("later", nil, test.active)
	}
}

// Remembered states, also of other branches, equal those of a fresh walk.
func TestUnknownRemembers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	h := newHeaders(t, regtest(t, dialect.Choices{}))
	u := versionbits.NewUnknown(h.net)
	tips := []*chainview.Block{h.tip}
	for range 60 {
		h.tip = tips[rng.IntN(len(tips))]
		version := int32(0x20000000)
		for range rng.IntN(3) {
			version |= 1 << rng.IntN(29)
		}
		h.add(1+rng.IntN(200), version)
		tips = append(tips, h.tip)
		tip := tips[rng.IntN(len(tips))]
		locked, active := u.After(tip)
		wantLocked, wantActive := versionbits.NewUnknown(h.net).After(tip)
		if !slices.Equal(locked, wantLocked) || !slices.Equal(active, wantActive) {
			t.Fatalf("at height %d: %v and %v, want %v and %v", tip.Height, locked, active, wantLocked, wantActive)
		}
	}
}

// Before a height the votes of a main chain do not count, and its periods are long.
func TestUnknownOfMain(t *testing.T) {
	net, err := dialect.Bitcoin("main")
	if err != nil {
		t.Fatal(err)
	}
	net.Signals.From = 2016 + 202 // as on the real chain, within a period
	h := newHeaders(t, net)
	h.add(2015, 0x20000000)
	h.add(2016, 0x20000000|1<<5)
	u := versionbits.NewUnknown(net)
	if locked, _ := u.After(h.tip); locked != nil {
		t.Errorf("1814 votes that count lock %v in", locked)
	}
	net.Signals.From--
	if locked, _ := versionbits.NewUnknown(net).After(h.tip); !slices.Equal(locked, []int{5}) {
		t.Errorf("1815 votes lock %v in", locked)
	}
}

// The operator's version is that of the blocks made here.
func TestChosenVersion(t *testing.T) {
	h := newHeaders(t, regtest(t, dialect.Choices{}))
	h.add(143, 4)
	if got := versionbits.NextVersion(h.net, h.tip); got != 0x30000000 {
		t.Errorf("got %x", got)
	}
	h.net.BlockVersion = new(int32(2))
	if got := versionbits.NextVersion(h.net, h.tip); got != 2 {
		t.Errorf("got %x", got)
	}
}

// On qbit's chains eight bits count, in the longest period of the deployments. The other bits
// are for lanes, or miners count with these bits.
func TestUnknownOfQbit(t *testing.T) {
	net, err := dialect.Named("qbit", "regtest", dialect.Choices{})
	if err != nil {
		t.Fatal(err)
	}
	for bit, want := range map[int][]int{5: {5}, 7: {7}, 8: nil, 13: nil, 28: nil} {
		h := newHeaders(t, net)
		h.add(143, 0x20000000)
		h.add(144, 0x20000000|1<<bit)
		if lockedIn, _ := versionbits.NewUnknown(net).After(h.tip); !slices.Equal(lockedIn, want) {
			t.Errorf("bit %d: locked in are %v", bit, lockedIn)
		}
	}
}
