package dialect_test

import (
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/dialect"
)

// The numbers that the reference nodes of both dialects go by are those of the networks.
func TestConstants(t *testing.T) {
	for _, c := range []struct {
		what                         string
		of                           func(*dialect.Network) any
		bitcoin, bitcoinTest         any // of main, and of regtest
		qbit, qbitTest, qbitTestnet4 any
	}{
		{
			"age of a tip", func(n *dialect.Network) any { return n.Traffic.MaxTipAge },
			24 * time.Hour, 24 * time.Hour, 3 * time.Hour, 3 * time.Hour, 3 * time.Hour,
		},
		{
			"wait for headers", func(n *dialect.Network) any { return n.Traffic.HeadersWithin },
			2 * time.Minute, 2 * time.Minute, 30 * time.Second, 30 * time.Second, 30 * time.Second,
		},
		{"headers announced", func(n *dialect.Network) any { return n.Traffic.MaxAnnounced }, 8, 8, 16, 16, 16},
		{
			"depths",
			func(n *dialect.Network) any { return [2]int32{n.Traffic.CompactDepth, n.Traffic.BlockTxDepth} },
			[2]int32{5, 10},
			[2]int32{5, 10},
			[2]int32{10, 20},
			[2]int32{10, 20},
			[2]int32{10, 20},
		},
		{
			"trickle of inbound peers", func(n *dialect.Network) any { return n.Traffic.Inbound },
			5 * time.Second, 5 * time.Second, time.Second, time.Second, time.Second,
		},
		{
			"trickle of outbound peers", func(n *dialect.Network) any { return n.Traffic.Outbound },
			2 * time.Second, 2 * time.Second, time.Second, time.Second, time.Second,
		},
		{
			"fee filter", func(n *dialect.Network) any { return n.Traffic.FeeFilter },
			10 * time.Minute, 10 * time.Minute, 2 * time.Minute, 2 * time.Minute, 2 * time.Minute,
		},
		{
			"first seed", func(n *dialect.Network) any { return n.DNSSeeds(nil)[0] },
			"seed.bitcoin.sipa.be.", "dummySeed.invalid.",
			"flux-mainnet.qbit.org", "dummySeed.invalid.", "coherence-testnet4.qbit.org",
		},
		{"near work", func(n *dialect.Network) any { return n.Traffic.NearWork }, false, false, true, true, true},
		{
			"signals", func(n *dialect.Network) any { return n.Signals },
			dialect.Signals{From: 483840, Bits: 29, Period: 2016, Threshold: 1815},
			dialect.Signals{Bits: 29, Period: 144, Threshold: 108},
			dialect.Signals{Bits: 8, Period: 2016, Threshold: 1815},
			dialect.Signals{Bits: 8, Period: 144, Threshold: 108},
			dialect.Signals{Bits: 8, Period: 20160, Threshold: 15120},
		},
		{
			"data carrier", func(n *dialect.Network) any { return n.DataCarrier },
			100_000, 100_000, 200_000, 200_000, 200_000,
		},
		{
			"chain size", func(n *dialect.Network) any { return n.ChainVSize },
			int64(101_000), int64(101_000), int64(404_000), int64(404_000), int64(404_000),
		},
		{
			"block size", func(n *dialect.Network) any { return n.MaxBlockSize },
			4_000_000, 4_000_000, 2_000_000, 2_000_000, 2_000_000,
		},
		{
			"recent tip", func(n *dialect.Network) any { return n.RecentTip },
			2 * time.Hour, 2 * time.Hour, 15 * time.Minute, 15 * time.Minute, 15 * time.Minute,
		},
		{
			"names", func(n *dialect.Network) any { return n.Software.Daemon },
			"bitcoind", "bitcoind", "qbitd", "qbitd", "qbitd",
		},
	} {
		t.Run(c.what, func(t *testing.T) {
			for _, of := range []struct {
				dialect, chain string
				want           any
			}{
				{"bitcoin", "main", c.bitcoin},
				{"bitcoin", "regtest", c.bitcoinTest},
				{"qbit", "main", c.qbit},
				{"qbit", "regtest", c.qbitTest},
				{"qbit", "testnet4", c.qbitTestnet4},
			} {
				choices := dialect.Choices{}
				if of.dialect != dialect.NameQbit {
					choices.Reference = dialect.Core30
				}
				n, err := dialect.Named(of.dialect, of.chain, choices)
				if err != nil {
					t.Fatal(err)
				}
				if got := c.of(n); got != of.want {
					t.Errorf("%s %s: %v, want %v", of.dialect, of.chain, got, of.want)
				}
			}
		})
	}
}
