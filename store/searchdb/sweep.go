package searchdb

import (
	"bytes"
	"context"
	"sync"

	"github.com/seed61375155/trawl/store/internal/ledger"
)

// sweepRows is how many rows a step of [Store.Sweep] deletes. Other writers wait for a step.
const sweepRows = 5_000

// swept are the kinds of rows that [Store.Sweep] deletes, in the order of their keys.
var swept = [][]byte{entryPrefix, objectPrefix, scriptPrefix}

// rowsOf returns between which keys the rows of a kind are that searches from one to another have.
func rowsOf(prefix []byte, first, last ID) (from, end []byte) {
	return key(prefix, first), append(key(prefix, last), bytes.Repeat([]byte{0xff}, PlaceSize+1)...)
}

// sweeper knows how far [Store.Sweep] is.
type sweeper struct {
	mu sync.Mutex // one step at a time

	ended map[ID]bool // those all rows of which are deleted

	// at is the search whose rows are deleted, and behind up to which: to look at them again would be a look at each
	// that was deleted.
	at     ID
	behind []byte // nil: none is deleted yet
}

// Sweep deletes some of what removed searches have left, and in the end takes its room on the disk back, which may
// take seconds. It reports whether there is more to do. The next run of the program continues an unfinished sweep.
func (s *Store) Sweep(ctx context.Context) (more bool, err error) {
	w := &s.sweeper
	w.mu.Lock()
	defer w.mu.Unlock()
	removed, err := s.ids(removedPrefix)
	if err != nil || len(removed) == 0 {
		return false, err
	}
	b := new(ledger.Batch)
	if more, err = s.sweep(b, removed); err == nil && b.Len() > 0 {
		more, err = true, s.commit(b)
	}
	if err != nil {
		w.ended, w.behind = nil, nil // it is not known what is deleted
		return false, err
	}
	if more {
		return true, nil
	}
	return false, s.takeBack(ctx, removed)
}

// sweep has a batch delete rows of removed searches, and reports whether it is full. sweeper.mu is held.
func (s *Store) sweep(b *ledger.Batch, removed []ID) (full bool, err error) {
	w := &s.sweeper
	if w.ended == nil {
		w.ended = map[ID]bool{}
	}
	for _, id := range removed {
		if w.ended[id] {
			continue
		}
		if w.at != id {
			w.at, w.behind = id, nil
		}
		if full, err = s.sweepOne(b); full || err != nil {
			return full, err
		}
		w.ended[id] = true
	}
	return false, nil
}

// sweepOne has a batch delete the rows of the search whose turn it is, and reports whether it is full.
func (s *Store) sweepOne(b *ledger.Batch) (full bool, err error) {
	w := &s.sweeper
	for _, prefix := range swept {
		from, end := rowsOf(prefix, w.at, w.at)
		if bytes.Compare(w.behind, from) >= 0 {
			from = append(bytes.Clone(w.behind), 0)
		}
		if bytes.Compare(from, end) >= 0 {
			continue
		}
		for pair, err := range s.ledger.Load().Between(from, end) {
			if err != nil {
				return false, err
			}
			w.behind = append(w.behind[:0], pair.Key...)
			if b.Delete(pair.Key); b.Len() >= sweepRows {
				return true, nil
			}
		}
	}
	return false, nil
}

// takeBack has the database give the room of deleted rows back, and forgets the searches. sweeper.mu is held.
func (s *Store) takeBack(ctx context.Context, removed []ID) error {
	kept, err := s.ids(definitionPrefix)
	if err != nil {
		return err
	}
	for _, run := range runs(removed, kept) {
		for _, prefix := range swept {
			from, end := rowsOf(prefix, run[0], run[1])
			if err := s.ledger.Load().Compact(ctx, from, end); err != nil {
				return err
			}
		}
	}
	b := new(ledger.Batch)
	for _, id := range removed {
		b.Delete(key(removedPrefix, id))
	}
	if err := s.commit(b); err != nil {
		return err
	}
	clear(s.sweeper.ended)
	return s.forgetModes(removed)
}

// runs puts removed searches together that have none that is kept between them: the first and the last of each run.
// Both are in order.
func runs(removed, kept []ID) (all [][2]ID) {
	for _, id := range removed {
		for len(kept) > 0 && len(all) > 0 && kept[0] < all[len(all)-1][1] {
			kept = kept[1:]
		}
		if n := len(all); n > 0 && (len(kept) == 0 || kept[0] > id) {
			all[n-1][1] = id
			continue
		}
		all = append(all, [2]ID{id, id})
	}
	return all
}
