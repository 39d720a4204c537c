package main

import (
	"slices"

	"github.com/seed61375155/trawl"
	"github.com/seed61375155/trawl/internal/options"
)

// manualPrune is the value of -prune that leaves it to the method pruneblockchain.
const manualPrune = 1

// prunings reads which blocks are deleted, and whether old ones lose their witnesses.
func prunings(o *options.Settings) (prune *trawl.PruneConfig, strip bool, err error) {
	if prune, err = pruneConfig(o); err == nil {
		strip, err = prunesWitnesses(o)
	}
	return prune, strip, err
}

// pruneConfig reads -prune; nil when blocks are kept.
func pruneConfig(o *options.Settings) (*trawl.PruneConfig, error) {
	target := o.Int("prune", 0)
	if target == 0 {
		return nil, nil
	}
	switch {
	case o.Bool("txindex", false):
		return nil, refuse("Prune mode is incompatible with -txindex.")
	case o.Bool("txospenderindex", false):
		return nil, refuse("Prune mode is incompatible with -txospenderindex.")
	case o.Bool("scriptindex", false):
		return nil, refuse("Prune mode is incompatible with -scriptindex.")
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

// noStripping is the test option that has -prunewitnesses do nothing.
const noStripping = "disable_witness_pruning"

// prunesWitnesses reads -prunewitnesses, which other dialects do not have.
func prunesWitnesses(o *options.Settings) (bool, error) {
	if !o.Bool("prunewitnesses", false) || o.Dialect() != dialectQbit {
		return false, nil
	}
	for _, index := range []string{"txindex", "txospenderindex"} {
		if o.Bool(index, false) {
			return false, refuse("Witness pruning is incompatible with -%s. Disable -prunewitnesses to keep "+
				"%[1]s-backed full transaction history.", index)
		}
	}
	return !slices.Contains(o.Strings("test"), noStripping), nil
}
