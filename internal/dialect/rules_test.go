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

// The first block of a period may not lie far before the one that it follows, on
// Bitcoin's chains.
func TestMinTime(t *testing.T) {
	for _, test := range []struct {
		dialect string
		height  int32 // of the parent
		early   bool
	}{
		{dialect.NameBitcoin, 142, true},
		{dialect.NameBitcoin, 143, false},
		{dialect.NameBitcoin, 144, true},
		{dialect.NameQbit, 1439, true},
	} {
		n, err := dialect.Named(test.dialect, "regtest", dialect.Choices{BIP94: true})
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
		if !test.early {
			want = 2e9 - 600
		}
		if got := n.MinTime(b); got != want {
			t.Errorf("%s, after height %d: from %d on, want %d", test.dialect, test.height, got, want)
		}
		if test.dialect == dialect.NameBitcoin && n.TooEarly(b, want) {
			t.Errorf("%s, after height %d: %d is too early", test.dialect, test.height, want)
		}
		if !test.early && !n.TooEarly(b, want-1) {
			t.Errorf("after height %d: %d is not too early", test.height, want-1)
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
	n, err := dialect.Named(dialect.NameQbit, "regtest", dialect.Choices{})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		version, rolled int32
		mask            uint32
	}{{0x20000001, 0x20000001, 0x1fffe000}, {0x2f58c101, 0x20000001, 0x1fffe000}, {4, 4, 0}} {
		if rolled, mask := n.RollVersion(test.version); rolled != test.rolled || mask != test.mask {
			t.Errorf("%08x: %08x, %08x", test.version, rolled, mask)
		}
	}
}
