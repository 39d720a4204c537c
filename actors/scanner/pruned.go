package scanner

import (
	"bytes"
	"context"
	"fmt"
	"sync"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/match"
)

// A pruned block that matches is fetched again, looked into and dropped. The outputs that
// it spends are not known any more, but most outputs cannot be spent without disclosing
// their script. The scan fails, as in Core, if nobody can say whether the block matches.
// That is so if a script that need not be disclosed matches the filter, and the block may
// spend an output of that kind.

// undisclosed are the scripts of a scan that may be spent without being disclosed, by
// their classes.
type undisclosed struct {
	once    sync.Once
	classes map[match.SpendClass][][]byte
}

// of returns the scripts of the given classes.
func (u *undisclosed) of(q *filters.Query, e *match.Evidence) (some [][]byte) {
	u.once.Do(func() {
		u.classes = map[match.SpendClass][][]byte{}
		for script := range q.Scripts() {
			if c := match.SpendClassOf(script); c != match.ByHash {
				u.classes[c] = append(u.classes[c], bytes.Clone(script))
			}
		}
	})
	for class, list := range u.classes {
		if e.Hides(class) {
			some = append(some, list...)
		}
	}
	return some
}

// inPruned is inBlock for a pruned block.
func (s *scan) inPruned(ctx context.Context, q *filters.Query, hash *chainhash.Hash) (bool, error) {
	var block chainview.Fetched
	var err error
	match.Outside(ctx, func() { block, err = s.cfg.Fetch.Pruned(ctx, hash) })
	if err != nil {
		return false, err
	}
	evidence := match.EvidenceOf(block.Block)
	var found bool
	if s.uses != nil {
		found, err = s.uses.note(q, hash, block.Raw, s.cfg.HeaderLen(block.Raw), evidence.Scripts)
	} else {
		found, err = q.InBlock(block.Raw, s.cfg.HeaderLen(block.Raw), evidence.Scripts)
	}
	if err != nil || found && s.uses == nil {
		return found, err
	}
	doubtful := s.undisclosed.of(q, &evidence)
	if len(doubtful) == 0 {
		return found, nil
	}
	filter, err := s.filterOf(hash)
	if err != nil {
		return false, err
	}
	hit, err := filters.Match(hash, filter, doubtful)
	switch {
	case err != nil || !hit:
		return found, err
	case found:
		return found, s.uses.noteMatches(q, hash, filter, doubtful)
	}
	return false, fmt.Errorf("%w: block %v: %w", chainview.ErrUndo, hash, chainview.ErrPruned)
}

// filterOf reads the filter of a block of the scan. The error for a damaged filter is a
// [*match.DamagedError].
func (s *scan) filterOf(hash *chainhash.Hash) ([]byte, error) {
	view := s.cfg.Scheduler.View()
	defer view.Release()
	var one [1]filters.Filter
	one[0].Block = *hash
	if err := view.Filters(s.reader.Lookup(hash).Height, false, one[:]); err != nil {
		return nil, err
	}
	f := &one[0]
	err := view.Guard(func() { f.Data = bytes.Clone(f.Data) })
	if err == nil && !f.Sound() {
		err = fmt.Errorf("%w: checksum mismatch", filters.ErrBadFilter)
	}
	if err != nil {
		return nil, &match.DamagedError{Block: *hash, Err: err}
	}
	return f.Data, nil
}
