package dialect

import "github.com/seed61375155/trawl/internal/txpool"

// PoolRules are the rules about single transactions, as the memory pool asks for them.
func (n *Network) PoolRules() txpool.Rules {
	return txpool.Rules{
		Rules: n.Rules, Forms: n.Standard, Verify: n.Verify, VerifyVersion: n.VerifyVersion, Unit: n.Software.Unit,
	}
}
