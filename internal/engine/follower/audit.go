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

// Unaudited implements chainview.FilterAuditor.
func (r reader) Unaudited(from int32) (blocks []*chainview.Block, next int32, err error) {
	active := r.e.tree.Active()
	for next = from; next <= active.Height() && next-from < auditBlocks; next++ {
		b := active.At(next)
		n := r.e.number(b)
		if n == 0 || n > r.e.store.Count() {
			continue
		}
		filter, err := r.e.store.Filter(n)
		if err != nil {
			return nil, from, fmt.Errorf("filter of block %v: %w", b.Hash, err)
		}
		if filter.Source != attachdb.Built && !filter.Verified {
			blocks = append(blocks, b)
		}
	}
	verified := next - 1
	if len(blocks) > 0 {
		verified = blocks[0].Height - 1
	}
	r.e.verified.Store(verified)
	return blocks, next, nil
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
	r.e.verified.Store(b.Height)
	return nil
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
