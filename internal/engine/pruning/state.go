package pruning

import (
	"maps"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// A State holds the settings of a Pruner that are on no disk. The next Pruner of
// the same chain gets it when the chain is opened again. The zero value is the
// State of a new Pruner.
type State struct {
	started bool
	locks   map[string]int32
	tip     chainhash.Hash // of the chain that the locks are of
}

// PruneState returns what the next Pruner of the chain has to know.
func (p *Pruner) PruneState() State {
	return State{started: p.on, locks: maps.Clone(p.locks), tip: p.chain.Tree.Active().Tip().Hash}
}

// ResumePruning goes on from where another Pruner of the chain was, before locks are
// set. Where the chain is on another branch now, locks are moved back as
// [Pruner.MoveLocksBack] does.
func (p *Pruner) ResumePruning(s State) error {
	maps.Copy(p.locks, s.locks)
	active := p.chain.Tree.Active()
	switch was := p.chain.Tree.Lookup(&s.tip); {
	case was == nil:
		p.limitLocks(active.Height())
	case !active.Contains(was):
		p.limitLocks(active.ForkHeight(was))
	}
	if !s.started {
		return nil
	}
	return p.StartPruning()
}

func (p *Pruner) limitLocks(height int32) {
	for name, lock := range p.locks {
		p.locks[name] = min(lock, height)
	}
}
