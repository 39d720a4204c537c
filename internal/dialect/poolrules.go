package dialect

import "github.com/seed61375155/trawl/internal/txpool"

// PoolPolicy returns what the pool of the network keeps by default.
func (n *Network) PoolPolicy() txpool.Policy {
	p := txpool.DefaultPolicy()
	p.DataCarrier, p.Limits.AncestorVSize, p.Limits.DescendantVSize = n.DataCarrier, n.ChainVSize, n.ChainVSize
	p.MinRelayFee, p.IncrementalFee = txpool.PerKvB(int64(n.RelayFee)), txpool.PerKvB(int64(n.IncrementalFee))
	p.Order = n.PoolOrder
	p.DustFee = txpool.PerKvB(int64(n.DustRate))
	return p
}

// Clusters reports whether the pool of the network judges by clusters.
func (n *Network) Clusters() bool { return n.PoolOrder == txpool.ByClusters }

// PoolRules returns the rules about single transactions, in the form that the memory pool
// takes.
func (n *Network) PoolRules() txpool.Rules {
	return txpool.Rules{
		Rules: n.Rules, Forms: n.Standard, Verify: n.Verify, VerifyVersion: n.VerifyVersion, Unit: n.Software.Unit,
		ZeroFeeParents: n.Traffic.ZeroFeeParents, TellsInputs: !n.Answers.SilentInputs,
	}
}
