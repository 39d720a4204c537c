package searches

import (
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/poolview"
	"github.com/seed61375155/trawl/internal/search"
	"github.com/seed61375155/trawl/messages"
)

// forget forgets a search's entry of a transaction, and notifies clients.
func (s mempool) forget(j *job, id chainhash.Hash) {
	for _, e := range s.drop(j, id) {
		s.notifyPool(j, &e, true)
	}
}

// drop forgets what a search has of a transaction, and returns it.
func (s mempool) drop(j *job, id chainhash.Hash) []search.Entry {
	u := &s.unconfirmed
	entries := j.pool.of(id)
	j.pool.remove(id)
	u.entries -= len(entries)
	if u.holders[id] = slices.DeleteFunc(u.holders[id], func(o *job) bool { return o == j }); len(u.holders[id]) == 0 {
		delete(u.holders, id)
	}
	return entries
}

// removed forgets what a search has that is removed.
func (s mempool) removed(j *job) {
	for id := range j.pool.byWID {
		s.drop(j, id)
	}
	s.moreRoom()
}

// found notes the entries of transactions for a search, and notifies clients of those that are new.
func (s mempool) found(j *job, txs []*poolview.Tx, found []poolEntries) {
	u := &s.unconfirmed
	for i, tx := range txs {
		if len(found[i].entries) == 0 {
			continue
		}
		known := j.pool.of(tx.WID)
		more := len(found[i].entries) - len(known)
		if u.entries+more > s.cfg.Limits.pool() {
			j.poolCut, u.cut = true, true
			continue
		}
		if len(known) == 0 {
			if u.holders == nil {
				u.holders = map[chainhash.Hash][]*job{}
			}
			u.holders[tx.WID] = append(u.holders[tx.WID], j)
		}
		j.pool.set(tx.WID, found[i].order, found[i].entries)
		u.entries += more
		for k := range found[i].entries {
			if e := &found[i].entries[k]; !slices.Contains(known, *e) {
				s.notifyPool(j, e, false)
			}
		}
	}
}

// left notes that a transaction is not in the pool any more.
func (s mempool) left(tx *poolview.Tx) {
	for _, j := range slices.Clone(s.unconfirmed.holders[tx.WID]) {
		s.forget(j, tx.WID)
	}
	s.moreRoom()
}

// moreRoom has the pool be looked at again for those searches of which entries were left out, when there is room.
func (s mempool) moreRoom() {
	u := &s.unconfirmed
	if !u.cut || u.entries > s.cfg.Limits.pool()/2 {
		return
	}
	u.cut = false
	for _, j := range s.jobs {
		if j.poolCut {
			j.poolCut = false
			u.queue = append(u.queue, poolWork{job: j})
		}
	}
}

func (s mempool) notifyPool(j *job, e *search.Entry, removed bool) {
	s.notify(messages.SearchPool{ID: j.ID.String(), Name: j.Name, Removed: removed, Entry: entryOf(j.texts(), e)})
}
