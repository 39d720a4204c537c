package main

import (
	"github.com/seed61375155/trawl"
	"github.com/seed61375155/trawl/internal/options"
)

// manualPrune is the value of -prune that leaves it to the method pruneblockchain.
const manualPrune = 1

// pruneConfig reads -prune; nil when blocks are kept.
func pruneConfig(o *options.Settings) (*trawl.PruneConfig, error) {
	target := o.Int("prune", 0)
	if target == 0 {
		return nil, nil
	}
	switch {
	case o.Bool("txindex", false):
		return nil, refuse("Prune mode is incompatible with -txindex.")
	case o.Bool("reindex-chainstate", false):
		return nil, refuse("Prune mode is incompatible with -reindex-chainstate. Use full -reindex instead.")
	case target < 0:
		return nil, refuse("Prune cannot be configured with a negative value.")
	case target == manualPrune:
		return &trawl.PruneConfig{}, nil
	case target < trawl.MinPruneTarget>>20:
		return nil, refuse(
			"Prune configured below the minimum of %d MiB.  Please use a higher number.", trawl.MinPruneTarget>>20,
		)
	}
	return &trawl.PruneConfig{Target: min(target, 1<<40) << 20}, nil
}
