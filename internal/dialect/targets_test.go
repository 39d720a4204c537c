package dialect_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/p2mr/pow"
)

// The targets equal the targets of recorded regtests of qbit 1.0.0, with the options of each. The chains have late
// blocks, blocks of both lanes, blocks before there are lanes, and the end of a period.
func TestRecordedTargets(t *testing.T) {
	packed, err := os.Open("testdata/targets.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = packed.Close() }()
	text, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	var chains []struct {
		Options []string
		Blocks  []struct {
			Time int64 // in seconds after the genesis block
			Aux  bool  // merge-mined
			Bits uint32
		}
	}
	if err := json.NewDecoder(text).Decode(&chains); err != nil {
		t.Fatal(err)
	}
	if len(chains) != 4 {
		t.Fatalf("%d chains", len(chains))
	}
	for _, c := range chains {
		t.Run(strings.Join(c.Options, " "), func(t *testing.T) {
			n := qbitRegtest(t, choicesOf(c.Options))
			tree := chainview.NewTree(&n.Params.GenesisBlock.Header, new(big.Int))
			parent := tree.Active().Tip()
			place := pow.Place{}.After(parent, pow.Permissionless)
			for i, b := range c.Blocks {
				at := n.Params.GenesisBlock.Header.Timestamp.Unix() + b.Time
				of, version, nextBits := pow.Permissionless, int32(0x20000000), n.NextBits
				if b.Aux {
					of, version, nextBits = pow.MergeMined, n.MergedMining.Version(0), n.MergedMining.NextBits
				}
				if got := n.P2MR.Bits(parent, &place, of, at); got != b.Bits {
					t.Fatalf("block %d: %08x, want %08x", i+1, got, b.Bits)
				}
				if got := nextBits(parent, at); got != b.Bits {
					t.Fatalf("block %d: readers are told %08x, want %08x", i+1, got, b.Bits)
				}
				parent, err = tree.Add(&wire.BlockHeader{
					Version: version, PrevBlock: parent.Hash, Timestamp: time.Unix(at, 0), Bits: b.Bits,
				}, new(big.Int), chainview.HasData)
				if err != nil {
					t.Fatal(err)
				}
				place = place.After(parent, of)
			}
		})
	}
}

// choicesOf reads the few options that were recorded.
func choicesOf(options []string) dialect.Choices {
	c := dialect.Choices{
		Periodic: slices.Contains(options, "-legacyretarget"), ASERT: slices.Contains(options, "-asert"),
		BIP94: slices.Contains(options, "-test=bip94"), Activation: map[string]int32{},
	}
	for _, o := range options {
		var height int32
		if _, err := fmt.Sscanf(o, "-testactivationheight=cadence@%d", &height); err == nil {
			c.Activation["cadence"] = height
		}
	}
	return c
}

// Blocks have the version that the operator chooses only where the difficulty is fixed.
func TestChosenVersionByDifficulty(t *testing.T) {
	version := int32(0x20000007)
	for _, test := range []struct {
		choices dialect.Choices
		chosen  bool
	}{
		{dialect.Choices{BlockVersion: &version}, true},
		{dialect.Choices{BlockVersion: &version, ASERT: true}, false},
		{dialect.Choices{BlockVersion: &version, Periodic: true}, false},
	} {
		if n := qbitRegtest(t, test.choices); (n.BlockVersion != nil) != test.chosen {
			t.Errorf("%+v: %v", test.choices, n.BlockVersion)
		}
	}
	// The rate of hashes is measured since the last change.
	for height, want := range map[int32][2]int32{1439: {1440, 1}, 1440: {1, 1}, 3000: {121, 1}} {
		periodic := qbitRegtest(t, dialect.Choices{Periodic: true}).SinceRetarget(height)
		always := qbitRegtest(t, dialect.Choices{ASERT: true}).SinceRetarget(height)
		if got := [2]int32{periodic, always}; got != want {
			t.Errorf("height %d: %d, want %d", height, got, want)
		}
	}
}
