package pruning

import (
	"maps"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// A State is what a Pruner was told, which is on no disk: it is handed to the next
// one of the same chain when that is opened again. The zero value is that of a new one.
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
