package dialect_test

import (
	"encoding/hex"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
)

func spoken(t *testing.T, chain string, reference int) *dialect.Network {
	t.Helper()
	n, err := dialect.Named("", chain, dialect.Choices{Reference: reference})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Each version of Bitcoin Core has its own values, on each chain. Where nobody chooses, one version counts.
func TestReferences(t *testing.T) {
	for _, chain := range dialect.Chains() {
		old, later := spoken(t, chain, dialect.Core30), spoken(t, chain, dialect.Core32)
		if plainly, err := dialect.Bitcoin(chain); err != nil || plainly.Reference != dialect.Core30 {
			t.Errorf("%s: %v, %v", chain, plainly, err)
		}
		if chosen := spoken(t, chain, 0); chosen.Reference != dialect.DefaultReference {
			t.Errorf("%s: speaks as %d where nobody chooses", chain, chosen.Reference)
		}
		if old.Software.Agent != "Satoshi:30.2.0" || old.Software.Version != 300200 || old.ProtocolVersion != 70016 ||
			old.PSBTVersions[0] != 0 || !old.PaddedCoinbase ||
			old.UnspentOverhead != 41 || old.TxNotes != nil || old.CountsUnsent || old.DeprecatedLast ||
			old.MaxMockTime != 9223372036 || old.HeaderSync != (dialect.HeaderSync{Period: 632, Lookout: 15009}) {
			t.Errorf("%s: of 30: %+v", chain, old)
		}
		if later.Software.Agent != "Satoshi:32.0.0" || later.Software.Version != 320000 ||
			later.ProtocolVersion != 70017 || !slices.Equal(later.PSBTVersions, []uint32{2, 0}) ||
			later.PaddedCoinbase || later.UnspentOverhead != 40 || later.Signals.Bits != 5 || !later.CountsUnsent ||
			!later.DeprecatedLast || later.MaxMockTime != 4294967295 ||
			!slices.Equal(later.SegwitRules, []string{"!segwit", "taproot"}) {
			t.Errorf("%s: of 32: %+v", chain, later)
		}
		has := func(n *dialect.Network) bool {
			return slices.ContainsFunc(n.Deployments, func(d dialect.Deployment) bool { return d.Name == "taproot" })
		}
		if !has(old) || has(later) {
			t.Errorf("%s: taproot is decided by miners in the wrong version", chain)
		}
		if later.HeaderSync.Lookout/int(later.HeaderSync.Period) < 21 || later.HeaderSync == old.HeaderSync {
			t.Errorf("%s: %+v", chain, later.HeaderSync)
		}
		// The rules of blocks are the same.
		genesis := chainview.NewTree(&old.Params.GenesisBlock.Header, new(big.Int)).Active().Tip()
		if *old.Params.GenesisHash != *later.Params.GenesisHash ||
			old.BlockFlags(genesis) != later.BlockFlags(genesis) {
			t.Errorf("%s: other rules", chain)
		}
	}
}

// A version of Bitcoin Core knows more of a chain than versions before.
func TestKnownChains(t *testing.T) {
	for chain, want := range map[string]struct {
		from      int32
		work      string // end of the least work
		snapshots []int32
		txs       int64
	}{
		"main":     {711648, "2f4c366153a3a030", []int32{840_000, 880_000, 910_000, 935_000}, 1315805869},
		"test":     {2013984, "e1c649f3708d14b6", []int32{2_500_000, 4_840_000}, 536108416},
		"testnet4": {0, "0fe15d0177d086304", []int32{90_000, 120_000}, 14191421},
		"signet":   {0, "00000b463ea0a4b8", []int32{160_000, 290_000}, 28676833},
		"regtest":  {0, "", []int32{110, 200, 299}, 0},
	} {
		old, n := spoken(t, chain, dialect.Core30), spoken(t, chain, dialect.Core32)
		var heights []int32
		for i, s := range n.Snapshots {
			heights = append(heights, s.Height)
			if i < len(old.Snapshots) && chain != "regtest" && s != old.Snapshots[i] {
				t.Errorf("%s: another snapshot at %d", chain, s.Height)
			}
		}
		if n.Signals.From != want.from || !strings.HasSuffix(n.MinimumChainWork, want.work) ||
			!slices.Equal(heights, want.snapshots) || n.ChainTx.Count != want.txs {
			t.Errorf("%s: %+v", chain, n)
		}
		if chain != "regtest" && n.MinimumChainWork <= old.MinimumChainWork {
			t.Errorf("%s: less work", chain)
		}
	}
	challenge, err := hex.DecodeString("51")
	if err != nil {
		t.Fatal(err)
	}
	own, err := dialect.Named("", "signet", dialect.Choices{Reference: 32, SignetChallenge: challenge})
	if err != nil || own.MinimumChainWork != "" || own.ChainTx.Count != 0 || len(own.Snapshots) != 2 {
		t.Errorf("of a challenge: %+v, %v", own, err)
	}
}

func TestWrongReferences(t *testing.T) {
	for _, test := range []struct {
		dialect string
		choices dialect.Choices
	}{
		{"", dialect.Choices{Reference: 31}},
		{"", dialect.Choices{Reference: -30}},
		{"qbit", dialect.Choices{Reference: 30}},
		{"qbit", dialect.Choices{Reference: 32}},
		{"", dialect.Choices{Reference: 32, VersionBits: map[string]dialect.VersionBits{"taproot": {}}}},
	} {
		if n, err := dialect.Named(test.dialect, "regtest", test.choices); err == nil {
			t.Errorf("%+v: %+v", test, n)
		}
	}
	for version, want := range map[int]int{
		0: 0, 220000: 30, 300200: 30, 309999: 30, 310000: 32, 319900: 32, 330100: 32,
	} {
		if got := dialect.ReferenceOf(version); got != want {
			t.Errorf("%d: %d", version, got)
		}
	}
}
