package dialect

import (
	"math/big"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
)

// extend returns a block after parent, or a first block at a height.
func extend(parent *chainview.Block, height int32, seconds int64, bits uint32) *chainview.Block {
	b := chainview.NewBlock(nil, &wire.BlockHeader{Timestamp: time.Unix(seconds, 0), Bits: bits}, new(big.Int))
	b.Parent, b.Height = parent, height
	return b
}

// Periods of the main chain, and two at the limits.
func TestRetarget(t *testing.T) {
	tests := []struct {
		name        string
		height      int32
		first, last int64
		bits, want  uint32
	}{
		{"first harder one", 32255, 1261130161, 1262152739, 0x1d00ffff, 0x1d00d86a},
		{"never easier than the least", 2015, 1231006505, 1233061996, 0x1d00ffff, 0x1d00ffff},
		{"not more than four times harder", 68543, 1279008237, 1279297671, 0x1c05a3f4, 0x1c0168fd},
		{"not more than four times easier", 46367, 1263163443, 1269211443, 0x1c387f6f, 0x1d00e1fd},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var b *chainview.Block
			for height := test.height - 2015; height <= test.height; height++ {
				seconds := test.first
				if height == test.height {
					seconds = test.last
				}
				b = extend(b, height, seconds, test.bits)
			}
			if got := nextBits(&chaincfg.MainNetParams, b, 0); got != test.want {
				t.Errorf("got %08x, want %08x", got, test.want)
			}
			if got := nextBits(&chaincfg.MainNetParams, b.Parent, 0); got != test.bits {
				t.Errorf("a block before: got %08x, want %08x", got, test.bits)
			}
			if got := nextBits(&chaincfg.RegressionNetParams, b, 0); got != test.bits {
				t.Errorf("regtest: got %08x, want %08x", got, test.bits)
			}
		})
	}
}

// On testnets late blocks may have the least difficulty.
func TestLateBlocks(t *testing.T) {
	const least, hard = 0x1d00ffff, 0x1c05a3f4
	first := extend(nil, 2016, 0, hard)
	late := extend(first, 2017, 10_000, least)
	tests := []struct {
		name string
		tip  *chainview.Block
		now  int64
		want uint32
	}{
		{"in time", first, 1200, hard},
		{"late", first, 1201, least},
		{"in time after a late one", late, 11_200, hard},
		{"late after a late one", late, 11_201, least},
		{"not before its parents", late, 0, hard},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			at := max(test.tip.MedianTimePast()+1, test.now)
			if got := nextBits(&chaincfg.TestNet3Params, test.tip, at); got != test.want {
				t.Errorf("got %08x, want %08x", got, test.want)
			}
		})
	}
}

// On testnet4 the first block of a period tells its difficulty.
func TestRetargetFromFirst(t *testing.T) {
	const least, hard = 0x1d00ffff, 0x1c05a3f4
	var b *chainview.Block
	for height := int32(2016); height < 2*2016; height++ {
		bits := uint32(least)
		if height == 2016 {
			bits = hard
		}
		seconds := int64(height) * 600
		if height == 2*2016-1 {
			seconds = 2016*600 + 14*24*3600
		}
		b = extend(b, height, seconds, bits)
	}
	if got := nextBits(&chaincfg.TestNet4Params, b, 0); got != hard {
		t.Errorf("testnet4: got %08x, want %08x", got, hard)
	}
	if got := nextBits(&chaincfg.TestNet3Params, b, 0); got != least {
		t.Errorf("testnet3: got %08x, want %08x", got, least)
	}
}

// No network that speaks as Core 30 deals with its peers as Core 32 does.
func TestRelay32(t *testing.T) {
	for family, networks := range dialects {
		for chain := range networks {
			n, err := Named(family, chain, map[string]Choices{NameBitcoin: {Reference: Core30}}[family])
			if err != nil {
				t.Fatal(err)
			}
			values := func() [6]bool {
				t := &n.Traffic
				return [6]bool{
					t.OwnAddressFirst, t.QuietFeelers, t.StrictCompact, t.DefendedOnion, t.TimesByAddress,
					t.ZeroFeeParents,
				}
			}
			if words := n.Traffic.InvalidChain; values() != [6]bool{} || words != invalidChain30 {
				t.Errorf("%s %s: %v, %+v", family, chain, values(), words)
			}
			n.setRelay32()
			if words := n.Traffic.InvalidChain; values() != [6]bool{true, true, true, true, true, true} ||
				words != invalidChain32 || n.PoolRules().ZeroFeeParents != true {
				t.Errorf("%s %s as Core 32 has it: %v, %+v", family, chain, values(), words)
			}
		}
	}
}
