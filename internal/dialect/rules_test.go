package dialect_test

import (
	"bytes"
	"math/big"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
)

// The first block of every network proves its work, and no other header with its
// target does by chance.
func TestProves(t *testing.T) {
	for _, name := range []string{dialect.NameBitcoin, dialect.NameQbit} {
		for _, chain := range dialect.Chains() {
			n, err := dialect.Named(name, chain, dialect.Choices{})
			if err != nil {
				t.Fatal(err)
			}
			var raw bytes.Buffer
			_ = n.Params.GenesisBlock.Header.Serialize(&raw) // to memory
			if !n.Proves(raw.Bytes()) {
				t.Errorf("%s %s: the first block proves nothing", name, chain)
			}
			if n.Proves(raw.Bytes()[:79]) || n.Proves(append(raw.Bytes(), 0)) {
				t.Errorf("%s %s: a header of another length proves something", name, chain)
			}
			proven := 0
			for i := range byte(100) {
				other := bytes.Clone(raw.Bytes())
				other[36] ^= i + 1
				if n.Proves(other) {
					proven++
				}
			}
			if chain != "regtest" && proven > 5 || proven == 100 {
				t.Errorf("%s %s: %d of 100 headers are proven", name, chain, proven)
			}
		}
	}
}

// The first block of a period may not lie far before its parent, where the difficulty changes by periods.
func TestMinTime(t *testing.T) {
	bip94 := dialect.Choices{BIP94: true}
	for _, test := range []struct {
		dialect string
		choices dialect.Choices
		height  int32 // of the parent
		back    int64 // how far the block may lie before it; 0: as far as the median
		refused bool  // if it does
	}{
		{dialect.NameBitcoin, bip94, 142, 0, false},
		{dialect.NameBitcoin, bip94, 143, 600, true},
		{dialect.NameBitcoin, bip94, 144, 0, false},
		{dialect.NameBitcoin, dialect.Choices{}, 143, 600, false},
		{dialect.NameQbit, bip94, 1438, 0, false},
		{dialect.NameQbit, bip94, 1439, 60, true},
		{dialect.NameQbit, bip94, 1440, 0, false},
		{dialect.NameQbit, dialect.Choices{}, 1439, 0, false},
		{dialect.NameQbit, dialect.Choices{BIP94: true, ASERT: true}, 1439, 0, false},
	} {
		n, err := dialect.Named(test.dialect, "regtest", test.choices)
		if err != nil {
			t.Fatal(err)
		}
		early, late := &wire.BlockHeader{Timestamp: time.Unix(1e9, 0)}, &wire.BlockHeader{Timestamp: time.Unix(2e9, 0)}
		b := chainview.NewBlock(nil, early, new(big.Int))
		for b.Height < test.height-1 {
			b = chainview.NewChild(b, early)
		}
		b = chainview.NewChild(b, late)
		want := int64(1e9 + 1)
		if test.back > 0 {
			want = 2e9 - test.back
		}
		if got := n.MinTime(b); got != want {
			t.Errorf("%+v: from %d on, want %d", test, got, want)
		}
		if n.TooEarly(b, want) || n.TooEarly(b, want-1) != test.refused {
			t.Errorf("%+v: refused differently", test)
		}
	}
}

// A rule's limit changes at its height, also where that is chosen.
func TestScheduled(t *testing.T) {
	n, err := dialect.Named(dialect.NameQbit, "regtest", dialect.Choices{
		Activation: map[string]int32{"futuretime": 7, "p2mrweightv2": 9},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[dialect.RuleKind][3]int64{
		dialect.SigOpWeight: {9, dialect.SigWeightV1, dialect.SigWeightV2},
		dialect.FutureTime:  {7, dialect.MaxFutureV1, dialect.MaxFutureV2},
	}
	if len(n.Scheduled) != len(want) {
		t.Fatalf("%d rules", len(n.Scheduled))
	}
	for _, r := range n.Scheduled {
		w := want[r.Kind]
		if int64(r.Height) != w[0] || r.At(r.Height-1) != w[1] || r.At(r.Height) != w[2] ||
			r.Active(r.Height-1) || !r.Active(r.Height) {
			t.Errorf("%+v, want %v", r, w)
		}
		if r.Kind == dialect.FutureTime && (n.P2MR.MaxFuture(6) != r.At(6) || n.P2MR.MaxFuture(7) != r.At(7)) {
			t.Error("the engine has another limit")
		}
	}
}

// Miners count in versions of blocks that are not merge-mined.
func TestRollVersion(t *testing.T) {
	n := qbitRegtest(t, dialect.Choices{})
	for _, test := range []struct {
		version, rolled int32
		mask            uint32
	}{
		{0x20000001, 0x20000001, 0x1fffe000},
		{0x2f58c101, 0x20000001, 0x1fffe000},
		{0x20001e00, 0x20000000, 0x1fffe000},
		{4, 4, 0},
	} {
		if rolled, mask := n.RollVersion(test.version); rolled != test.rolled || mask != test.mask {
			t.Errorf("%08x: %08x, %08x", test.version, rolled, mask)
		}
	}
}

func qbitRegtest(t *testing.T, c dialect.Choices) *dialect.Network {
	t.Helper()
	n, err := dialect.Named(dialect.NameQbit, "regtest", c)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A chosen version marks no block as merge-mined, for blocks made here have no payload.
func TestChosenVersion(t *testing.T) {
	for chosen, want := range map[int32]int32{
		4: 4, 0x20000001: 0x20000001, 0x20002000: 0x20002000, 0x20000100: 0x20000000, 0x2f58c1ff: 0x200000ff,
		0x3fffffff: 0x200000ff, 0x100: 0x100, 0x40000100: 0x40000100, -1: -1,
	} {
		if got := *qbitRegtest(t, dialect.Choices{BlockVersion: &chosen}).BlockVersion; got != want {
			t.Errorf("%08x becomes %08x, want %08x", chosen, got, want)
		}
	}
	bitcoin, err := dialect.Named("", "regtest", dialect.Choices{BlockVersion: new(int32(0x20000100))})
	if err != nil || *bitcoin.BlockVersion != 0x20000100 || bitcoin.MergedMining != nil {
		t.Errorf("of Bitcoin's: %v, %v", bitcoin, err)
	}
}

// Merge-mined blocks are marked in their version, which keeps the votes alone.
func TestMergedVersion(t *testing.T) {
	m := qbitRegtest(t, dialect.Choices{Activation: map[string]int32{"cadence": 5, "auxpowcommitment": 9}}).MergedMining
	if m.ChainID != 31430 || m.From != 5 || m.DisplayOrder != 9 {
		t.Errorf("%+v", m)
	}
	for version, want := range map[int32]int32{0x20000000: 0x2f58c100, 0x20000081: 0x2f58c181, 4: 0x2f58c104} {
		if got := m.Version(version); got != want || m.Marked(version) || !m.Marked(got) {
			t.Errorf("%08x: %08x, want %08x", version, got, want)
		}
	}
}
