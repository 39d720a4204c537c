package follower

import (
	"fmt"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/store/attachdb"
)

// auditBlocks is how many blocks [reader.Unaudited] looks at.
const auditBlocks = 1000

// refusedNumber is the number, of no block, under which is noted that a filter of Core's
// was wrong: of no more blocks they are taken.
const refusedNumber = 0

// An audit is how far it is with comparing filters of Core's. One goroutine at a time
// moves it.
type audit struct {
	seen     *chainview.Block // the last block that was looked at
	verified *chainview.Block // its filter and all before it were built here
}

// Unaudited implements chainview.FilterAuditor. Blocks that cannot be read again, or only
// as text, are left out: where filters had to be taken for that reason, the whole chain
// would have to be asked for.
func (r reader) Unaudited(from, to int32) (blocks []*chainview.Block, next int32, err error) {
	active := r.e.tree.Active()
	from = r.e.audit.resume(active, from)
	for next = from; next <= min(to, active.Height()) && next-from < auditBlocks; next++ {
		b := active.At(next)
		built, err := r.e.builtHere(b)
		if err != nil {
			return nil, from, err
		}
		if !built && r.e.readable(b) {
			blocks = append(blocks, b)
		}
		r.e.audit.seen = b
	}
	return blocks, next, r.e.noteVerified(active)
}

// resume returns the height from which on to look for blocks: from, or the lower
// height where the active chain leaves the blocks that were looked at.
func (a *audit) resume(active *chainview.Chain, from int32) int32 {
	if a.seen == nil || active.Contains(a.seen) {
		return from
	}
	fork := a.seen
	for !active.Contains(fork) {
		fork = fork.Parent
	}
	return min(from, fork.Height+1)
}

// readable reports whether a block and what it spends can be read at little cost.
func (e *Engine) readable(b *chainview.Block) bool {
	return e.source.inFiles(&b.Hash) || e.source.spentREST.Load() && b.Status()&chainview.Pruned == 0
}

// builtHere reports whether the filter of a block was built here, or is not there yet.
func (e *Engine) builtHere(b *chainview.Block) (bool, error) {
	n := e.number(b)
	if n == 0 || n > e.store.Count() {
		return true, nil
	}
	filter, err := e.store.Filter(n)
	if err != nil {
		return false, fmt.Errorf("filter of block %v: %w", b.Hash, err)
	}
	return filter.Source == attachdb.Built || filter.Verified, nil
}

// noteVerified moves on to which block all filters were built here, as far as was looked.
func (e *Engine) noteVerified(active *chainview.Chain) error {
	a := &e.audit
	if a.verified == nil {
		a.verified = active.At(0)
	}
	for !active.Contains(a.verified) {
		a.verified = a.verified.Parent
	}
	for a.seen != nil && a.verified.Height < min(a.seen.Height, active.Height()) {
		b := active.At(a.verified.Height + 1)
		if built, err := e.builtHere(b); err != nil || !built {
			e.verified.Store(a.verified.Height)
			return err
		}
		a.verified = b
	}
	e.verified.Store(a.verified.Height)
	return nil
}

// Audited implements chainview.FilterAuditor.
func (r reader) Audited(b *chainview.Block) error {
	n := r.e.number(b)
	filter, err := r.e.store.Filter(n)
	if err == nil && filter.Source != attachdb.Built {
		filter.Verified = true
		err = r.e.store.Commit(&attachdb.Change{Filters: map[uint32]attachdb.Filter{n: filter}})
	}
	if err != nil {
		return fmt.Errorf("filter of block %v: %w", b.Hash, err)
	}
	return r.e.noteVerified(r.e.tree.Active())
}

// RefuseFilters implements chainview.FilterAuditor. It holds for later starts, too.
func (r reader) RefuseFilters() error {
	r.e.refused.Store(true)
	refused := map[uint32]attachdb.Filter{refusedNumber: {Source: attachdb.CoreFiles}}
	return r.e.store.Commit(&attachdb.Change{Filters: refused})
}

// loadRefused reads whether a filter of Core's was wrong.
func (e *Engine) loadRefused() error {
	filter, err := e.store.Filter(refusedNumber)
	e.refused.Store(filter.Source != attachdb.Built)
	return err
}
