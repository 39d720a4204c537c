package dialect_test

import (
	"encoding/hex"
	"errors"
	"math/big"
	"reflect"
	"testing"

	"github.com/btcsuite/btcd/btcutil"

	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/p2mr/pow"
)

// The choices and values of the other dialect stay out of Bitcoin's networks.
func TestBitcoinIsUntouched(t *testing.T) {
	for _, chain := range dialect.Chains() {
		n, err := dialect.Named("", chain, dialect.Choices{
			Reference: dialect.Core30, AnyOutput: true, ASERT: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		want, err := dialect.Bitcoin(chain)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(plain(n), plain(want)) {
			t.Errorf("%s: choices of the other dialect change it", chain)
		}
		if n.P2MR != nil ||
			n.Engine != dialect.EngineBitcoin || n.Rules.MayPayTo != nil ||
			n.Coin != "Bitcoin" || n.Rules.WitnessScale != 4 || n.Standard.Native != nil || n.Scheduled != nil ||
			n.RollVersion != nil || n.MergedMining != nil ||
			n.Rules.MaxMoney != btcutil.MaxSatoshi || n.Rules.MaxWeight != 4_000_000 || n.Rules.Maturity != 100 ||
			n.Software.Agent != "Satoshi:30.2.0" || n.Software.Version != 300200 ||
			n.Software.ConfigFile != "bitcoin.conf" {
			t.Errorf("%s: %+v", chain, n)
		}
		if n.HeaderLen(nil) != 80 || n.HeaderLen([]byte{0, 1, 0, 0x20}) != 80 {
			t.Errorf("%s: a header is not 80 bytes", chain)
		}
		step := n.Params.SubsidyReductionInterval
		for height, subsidy := range map[int32]btcutil.Amount{
			0: 50e8, step - 1: 50e8, step: 25e8, 33 * step: 0, 64 * step: 0,
		} {
			if got := n.Subsidy(height); got != subsidy {
				t.Errorf("%s: subsidy of %d is %v, want %v", chain, height, got, subsidy)
			}
		}
	}
}

// plain leaves out what cannot be compared: functions, and what btcd makes anew.
func plain(n *dialect.Network) dialect.Network {
	c := *n
	c.Params, c.Subsidy, c.HeaderLen = nil, nil, nil
	c.Rules.IsKept = nil
	c.Proves, c.NextBits, c.MinTime, c.Verify, c.NewSigning, c.DecodePSBT = nil, nil, nil, nil, nil, nil
	c.VerifyVersion = nil
	return c
}

func TestQbitNetworks(t *testing.T) {
	const testRoot = "773941c57f540b7e0f841db6de90bf4f29d305d8233224c2581025c684387313"
	for _, test := range []struct {
		chain, magic, genesis, root, hrp string
		limit                            string
		p2p, rpc                         uint16
	}{
		{
			"main", "444f24a8", "0000000000004d60aa5d46013991d0a0e2995d89ee98e53068ae196d763e79f2",
			"584b62d357e3213ae27815d53b41efc869cc91fcf73d6a81dcab5e08508cb6f1", "qb", "0000ff", 8355, 8352,
		},
		{"test", "c3d30a67", "0000c20791706c6940a43d75db44d1ae9dadeb637cedfbaa5cf293435eeaab3c", testRoot, "tq", "0000ff", 18355, 18352},
		{
			"testnet4", "c7c41640", "000000000000796fe86bbc0bf1b66a07e4b4c0676f74b54cf7e5ce8b3f1a0090",
			"66bf018c3377135cdc87f66ed4926b6a3be5aeef890841a3cfebaff9dfb91ed0", "tq", "0000ff", 48355, 48352,
		},
		{"signet", "54d26fbd", "0000000a5698c727f05cbdaeaff3e48b48ab187aeb03414e783ea81fed14d65c", testRoot, "tq", "0000ff", 38355, 38352},
		{"regtest", "a66b1fda", "0ee96aa77c4b600850e349344fa21b107e805f5370ddc7a6189db12cf69acce6", testRoot, "qbrt", "7fffff", 18460, 18452},
	} {
		n, err := dialect.Named(dialect.NameQbit, test.chain, dialect.Choices{})
		if err != nil {
			t.Fatal(err)
		}
		if got := hex.EncodeToString(n.Magic[:]); got != test.magic {
			t.Errorf("%s: magic %s", test.chain, got)
		}
		if n.Params.GenesisHash.String() != test.genesis ||
			n.Params.GenesisBlock.Header.MerkleRoot.String() != test.root {
			t.Errorf("%s: genesis block %v", test.chain, n.Params.GenesisHash)
		}
		if got := n.Params.GenesisBlock.Transactions[0].TxHash().String(); got != test.root {
			t.Errorf("%s: genesis transaction %s", test.chain, got)
		}
		if n.Params.Bech32HRPSegwit != test.hrp || n.P2PPort != test.p2p || n.RPCPort != test.rpc ||
			n.P2MR.AnyOutput || n.Rules.MayPayTo == nil {
			t.Errorf("%s: %+v", test.chain, n)
		}
		limit := make([]byte, 32)
		n.Params.PowLimit.FillBytes(limit)
		rest := new(big.Int).Add(n.Params.PowLimit, big.NewInt(1))
		if hex.EncodeToString(limit[:3]) != test.limit || rest.TrailingZeroBits() != uint(n.Params.PowLimit.BitLen()) {
			t.Errorf("%s: limit %x", test.chain, limit)
		}
	}
}

func TestQbitSubsidy(t *testing.T) {
	for chain, want := range map[string]map[int32]btcutil.Amount{
		"main": {
			0: 21000000000, 43_199: 21000000000, 43_200: 20092800000, 86_400: 19224791040, 129_600: 18394280067,
			216_000: 16839342410, 432_000: 13503021560, 525_600: 12361560375, 1_051_200: 7276579755,
			2_102_400: 2521362516, 5_256_000: 100364566, 10_512_000: 458936, 20_735_999: 1, 20_736_000: 0,
		},
		"regtest": {149: 21000000000, 150: 20092800000, 1050: 15415849479, 10_000: 1138718273, 72_000: 0},
	} {
		n, err := dialect.Named(dialect.NameQbit, chain, dialect.Choices{})
		if err != nil {
			t.Fatal(err)
		}
		for height, subsidy := range want {
			if got := n.Subsidy(height); got != subsidy {
				t.Errorf("%s: subsidy of %d is %d, want %d", chain, height, got, subsidy)
			}
		}
	}
}

func TestChoices(t *testing.T) {
	n, err := dialect.Named(dialect.NameQbit, "regtest", dialect.Choices{
		AnyOutput: true, ASERT: true, Activation: map[string]int32{"cadence": 7, "csv": 9, "outerwitness": 11},
	})
	if err != nil {
		t.Fatal(err)
	}
	if !n.P2MR.AnyOutput || n.Rules.MayPayTo != nil ||
		n.P2MR.Difficulty != pow.ASERT || !n.P2MR.MinDifficulty || n.P2MR.Cadence != 7 ||
		n.P2MR.OuterWitness != 11 || n.Active("csv", 8) || !n.Active("csv", 9) {
		t.Errorf("%+v", n.P2MR)
	}
	for _, test := range []struct {
		dialect, chain string
		choices        dialect.Choices
		want           error
	}{
		{"moon", "main", dialect.Choices{}, dialect.ErrUnknown},
		{"qbit", "moon", dialect.Choices{}, dialect.ErrUnknownChain},
		{"bitcoin", "moon", dialect.Choices{}, dialect.ErrUnknownChain},
		{"qbit", "main", dialect.Choices{SignetChallenge: []byte{1}}, nil},
		{"qbit", "regtest", dialect.Choices{Activation: map[string]int32{"moon": 1}}, nil},
	} {
		if _, err := dialect.Named(test.dialect, test.chain, test.choices); err == nil || test.want != nil &&
			!errors.Is(err, test.want) {
			t.Errorf("%+v: got %v", test, err)
		}
	}
}

// FuzzHeaderLen walks over payloads that end anywhere.
func FuzzHeaderLen(f *testing.F) {
	n, err := dialect.Named(dialect.NameQbit, "regtest", dialect.Choices{})
	if err != nil {
		f.Fatal(err)
	}
	payload, err := hex.DecodeString("01000000010000000000000000000000000000000000000000000000000000000000000000ffffffff" +
		"0101000000000100000000000000000151000000000000000000000000000000")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(append(append([]byte{0, 0xc1, 0x58, 0x2f}, make([]byte, 76)...), append(payload, make([]byte, 80)...)...))
	f.Add([]byte{0, 0xc1, 0x58, 0x2f})
	f.Fuzz(func(t *testing.T, raw []byte) {
		if got := n.HeaderLen(raw); got != -1 && got != 80 && (got < 80 || got > len(raw)) {
			t.Errorf("%d of %d bytes", got, len(raw))
		}
		if block, size, err := n.ReadBlock(raw); err == nil && (block == nil || size > len(raw)) {
			t.Errorf("block of %d bytes out of %d", size, len(raw))
		}
	})
}
