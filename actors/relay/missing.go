package relay

import (
	"log/slog"
	"slices"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/corelog"
)

// parentsOf returns the ids of the transactions that tx spends from, each once.
func parentsOf(tx *wire.MsgTx) []chainhash.Hash {
	parents := make([]chainhash.Hash, 0, len(tx.TxIn))
	seen := make(map[chainhash.Hash]struct{}, len(tx.TxIn))
	for _, in := range tx.TxIn {
		id := in.PreviousOutPoint.Hash
		if _, duplicate := seen[id]; !duplicate {
			seen[id] = struct{}{}
			parents = append(parents, id)
		}
	}
	return parents
}

// missing keeps a transaction whose parents are not known, and asks all peers that
// have announced the transaction for its parents.
func (r *Relay) missing(p *peer, tx *wire.MsgTx) {
	id, wid := tx.TxHash(), tx.WitnessHash()
	if r.rejected.has(wid) {
		return
	}
	parents := parentsOf(tx)
	if r.hopeless(parents) {
		log := r.cfg.Log.With(corelog.CategoryKey, "mempool")
		corelog.Printf(log, slog.LevelDebug, "not keeping orphan with rejected parents %v (wtxid=%v)", id, wid)
		r.rejected.add(id) // whatever its witness is
		r.rejected.add(wid)
		r.requests.forget(id, wid)
		return
	}
	if p != nil {
		for _, parent := range parents {
			p.known.add(parent)
		}
	}
	parents = slices.DeleteFunc(parents, func(id chainhash.Hash) bool { return r.knows(id, false) })
	now := r.cfg.Now()
	for _, from := range r.requests.peersOf(p, id, wid) {
		if r.resolves(from, parents, wid, now) {
			r.orphans.add(tx, from.info.ID)
		}
	}
	r.requests.forget(id, wid)
	r.request(now)
}

// hopeless reports whether parents were refused such that no child can help: a
// child can pay for one parent that pays too little.
func (r *Relay) hopeless(parents []chainhash.Hash) bool {
	poor := 0
	for _, id := range parents {
		if r.rejected.has(id) {
			return true
		}
		if r.poor.has(id) && r.pool.ByID(id) == nil {
			poor++
		}
	}
	return poor > 1
}

// resolves has a peer asked for the parents of an orphan that it has announced. It
// reports false for a peer that is asked already, or that announces too much.
func (r *Relay) resolves(p *peer, parents []chainhash.Hash, wid chainhash.Hash, now time.Time) bool {
	if r.orphans.hasFrom(wid, p.info.ID) || !p.info.Permissions.Relay && len(p.announced)+len(parents) > maxAnnounced {
		return false
	}
	ready := r.readyAt(p, false, now)
	for _, parent := range parents {
		r.requests.announced(p, parent, false, ready)
	}
	corelog.Printf(r.packages, slog.LevelDebug, "added peer=%d as a candidate for resolving orphan %v", p.info.ID, wid)
	return true
}

// announcedOrphan notes a further peer that has announced an orphan.
func (r *Relay) announcedOrphan(p *peer, wid chainhash.Hash, now time.Time) {
	tx := r.orphans.byWID[wid].tx
	parents := slices.DeleteFunc(parentsOf(tx), func(id chainhash.Hash) bool { return r.knows(id, false) })
	if len(parents) > 0 && r.resolves(p, parents, wid, now) {
		r.orphans.add(tx, p.info.ID)
	}
}
