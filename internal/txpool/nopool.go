package txpool

import "github.com/seed61375155/trawl/messages"

// NoPool is the default policy, used if there is no memory pool that could tell its own.
func NoPool() messages.PoolClusters {
	policy := DefaultPolicy()
	return messages.PoolClusters{
		MinRelayFee: policy.MinRelayFee.PerKvB(), IncrementalFee: policy.IncrementalFee.PerKvB(),
		DustFee:      policy.DustFee.PerKvB(),
		MaxAncestors: policy.Limits.Ancestors, MaxDescendants: policy.Limits.Descendants,
		MaxAncestorVSize: policy.Limits.AncestorVSize, MaxDescVSize: policy.Limits.DescendantVSize,
	}
}
