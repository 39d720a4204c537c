package pow

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus"
)

func golden(tb testing.TB, name string, to any) {
	tb.Helper()
	packed, err := os.Open("testdata/" + name)
	if err != nil {
		tb.Fatal(err)
	}
	defer packed.Close()
	text, err := gzip.NewReader(packed)
	if err != nil {
		tb.Fatal(err)
	}
	if err := json.NewDecoder(text).Decode(to); err != nil {
		tb.Fatal(err)
	}
}

func bitsOf(tb testing.TB, text string) uint32 {
	tb.Helper()
	var bits uint32
	if _, err := fmt.Sscanf(text, "%x", &bits); err != nil {
		tb.Fatal(err)
	}
	return bits
}

// below is the greatest number of so many bits.
func below(bits uint) *big.Int {
	n := new(big.Int).Lsh(big.NewInt(1), bits)
	return n.Sub(n, big.NewInt(1))
}

func TestTargetVectors(t *testing.T) {
	var set struct {
		Vectors []struct {
			Anchor  string `json:"anchor_bits"`
			Limit   string `json:"limit_bits"`
			Spacing int64
			Time    int64 `json:"time_diff"`
			Height  int64 `json:"height_diff"`
			Bits    string
			Target  string
		}
	}
	golden(t, "asert.json.gz", &set)
	if len(set.Vectors) != 200 {
		t.Fatalf("%d vectors", len(set.Vectors))
	}
	for i, v := range set.Vectors {
		limit := below(255)
		if v.Limit == "1f00ffff" {
			limit = below(240)
		}
		got := asertTarget(bitsOf(t, v.Anchor), v.Time, v.Height, v.Spacing, limit)
		compact := consensus.TargetBits(got)
		rounded := fmt.Sprintf("%064x", consensus.TargetOf(compact))
		if rounded != v.Target && fmt.Sprintf("%064x", got) != v.Target || compact != bitsOf(t, v.Bits) {
			t.Errorf("vector %d: %064x, %08x, want %s, %s", i, got, compact, v.Target, v.Bits)
		}
	}
}

// TestTargetChain follows a recorded chain of both lanes by its times.
func TestTargetChain(t *testing.T) {
	var set struct{ Blocks [][4]any }
	golden(t, "asert-chain.json.gz", &set)
	first := wire.BlockHeader{Timestamp: time.Unix(genesisTime, 0), Bits: 0x207fffff}
	p := &Params{
		Difficulty: ASERT, MinDifficulty: true, Anchors: Anchors{Permissionless: 0x207fffff, AuxPoW: 0x207fffff},
		Limit: below(255), LimitBits: 0x207fffff, Start: genesisTime,
	}
	tree := chainview.NewTree(&first, big.NewInt(1))
	parent := tree.Active().Tip()
	next := [Lanes]func(*chainview.Block, int64) uint32{p.NextBits(Permissionless), p.NextBits(MergeMined)}
	place := Place{}.After(parent, Permissionless)
	for _, row := range set.Blocks {
		height, seconds := int32(row[0].(float64)), int64(row[1].(float64)) //nolint:forcetypeassert // recorded so
		aux := row[2].(bool)                                                //nolint:forcetypeassert // recorded so
		of := Permissionless
		if aux {
			of = MergeMined
		}
		want := bitsOf(t, row[3].(string)) //nolint:forcetypeassert // recorded so
		if got := p.Bits(parent, &place, of, seconds); got != want {
			t.Fatalf("block %d: %08x, want %08x", height, got, want)
		}
		if got := next[of](parent, seconds); got != want {
			t.Fatalf("block %d: readers are told %08x, want %08x", height, got, want)
		}
		version := map[bool]int32{true: 0x20000100}[aux]
		header := wire.BlockHeader{
			Version: version, PrevBlock: parent.Hash, Timestamp: time.Unix(seconds, 0), Bits: want,
		}
		b, err := tree.Add(&header, big.NewInt(1), chainview.HasData)
		if err != nil {
			t.Fatal(err)
		}
		place, parent = place.After(b, of), b
	}
	if parent.Height != 419 {
		t.Errorf("%d blocks", parent.Height)
	}
}

// genesisTime is that of the chain which was recorded.
const genesisTime = 1738713602
