package txpool

import (
	"cmp"
	"time"
)

// Choices are an operator's settings of a pool; zero values keep the defaults. Fees are
// in the smallest unit, for 1000 virtual bytes.
type Choices struct {
	MaxBytes       int64 // negative: nothing is kept
	Expiry         time.Duration
	MinRelayFee    *int64
	IncrementalFee *int64
	DustFee        *int64

	AcceptNonStandard bool
	NoBareMultisig    bool
	DataCarrier       *int
	BytesPerSigOp     int

	Ancestors, Descendants         int
	AncestorVSize, DescendantVSize int64
	Cluster, ClusterVSize          *int64

	// For the owner of the pool; the policy does not have these.
	NoPersist bool
	OldFile   bool
}

// With returns the policy with the choices applied.
func (p Policy) With(c Choices) Policy {
	p.MaxBytes = max(cmp.Or(c.MaxBytes, p.MaxBytes), 0)
	p.Expiry = cmp.Or(int64(c.Expiry/time.Second), p.Expiry)
	for _, rate := range []struct {
		from *int64
		to   *FeeRate
	}{{c.MinRelayFee, &p.MinRelayFee}, {c.IncrementalFee, &p.IncrementalFee}, {c.DustFee, &p.DustFee}} {
		if rate.from != nil {
			*rate.to = PerKvB(*rate.from)
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
	if c.Cluster != nil {
		p.Limits.Cluster = int(*c.Cluster)
	}
	p.Limits.ClusterVSize = *cmp.Or(c.ClusterVSize, &p.Limits.ClusterVSize)
	return p
}
