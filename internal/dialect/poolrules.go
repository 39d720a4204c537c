package dialect

import "github.com/seed61375155/trawl/internal/txpool"

// PoolRules returns the rules about single transactions, in the form that the memory pool
// takes.
func (n *Network) PoolRules() txpool.Rules {
	return txpool.Rules{
		Rules: n.Rules, Forms: n.Standard, Verify: n.Verify, VerifyVersion: n.VerifyVersion, Unit: n.Software.Unit,
	}
}
