package trawl

import (
	"cmp"
	"time"

	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/txpool"
)

// MempoolConfig says which unconfirmed transactions a node keeps and relays. The
// defaults are those of Bitcoin Core 30.2. Fees are in the smallest unit, for
// 1000 virtual bytes.
type MempoolConfig struct {
	MaxBytes       int64         // of memory, default 300,000,000
	Expiry         time.Duration // after which a transaction is dropped, default 336 hours
	MinRelayFee    *int64        // default: the network's, 100 on Bitcoin's
	IncrementalFee *int64        // what a replacement must add, default: the network's, 100 on Bitcoin's
	DustFee        *int64        // defines dust, default: the network's, 3000 on Bitcoin's

	AcceptNonStandard bool // also take what is valid and not of a standard form
	NoBareMultisig    bool // such outputs are not standard
	DataCarrier       *int // bytes of scripts that carry data, default 100,000
	BytesPerSigOp     int  // virtual bytes that a signature operation counts for, default 20

	// Limits of what a transaction may depend on, and what may depend on it,
	// itself included: default 25 transactions and 101,000 virtual bytes.
	Ancestors, Descendants         int
	AncestorVSize, DescendantVSize int64

	NoPersist bool // do not keep the pool in a file between two runs
	OldFile   bool // write that file in the format of old versions
}

// policy returns what the pool of a network is told.
func (c *MempoolConfig) policy(n *dialect.Network) txpool.Policy {
	p := txpool.DefaultPolicy()
	p.Limits.AncestorVSize, p.Limits.DescendantVSize = n.ChainVSize, n.ChainVSize
	p.MinRelayFee, p.IncrementalFee = txpool.PerKvB(int64(n.RelayFee)), txpool.PerKvB(int64(n.IncrementalFee))
	p.DustFee = txpool.PerKvB(int64(n.DustRate))
	p.MaxBytes = cmp.Or(c.MaxBytes, p.MaxBytes)
	p.Expiry = cmp.Or(int64(c.Expiry/time.Second), p.Expiry)
	for _, rate := range []struct {
		from *int64
		to   *txpool.FeeRate
	}{{c.MinRelayFee, &p.MinRelayFee}, {c.IncrementalFee, &p.IncrementalFee}, {c.DustFee, &p.DustFee}} {
		if rate.from != nil {
			*rate.to = txpool.PerKvB(*rate.from)
		}
	}
	p.RequireStandard, p.BareMultisig = !c.AcceptNonStandard, !c.NoBareMultisig
	if c.DataCarrier != nil {
		p.DataCarrier = *c.DataCarrier
	}
	p.BytesPerSigOp = cmp.Or(int64(c.BytesPerSigOp), p.BytesPerSigOp)
	p.Limits.Ancestors = cmp.Or(c.Ancestors, p.Limits.Ancestors)
	p.Limits.Descendants = cmp.Or(c.Descendants, p.Limits.Descendants)
	p.Limits.AncestorVSize = cmp.Or(c.AncestorVSize, p.Limits.AncestorVSize)
	p.Limits.DescendantVSize = cmp.Or(c.DescendantVSize, p.Limits.DescendantVSize)
	return p
}
