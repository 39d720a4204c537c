package relay

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/peerhandle"
	"github.com/seed61375155/trawl/internal/poolview"
	"github.com/seed61375155/trawl/messages"
)

// received handles a message of a peer. All but transactions is done with at once.
func (r *Relay) received(c actor.Context, m peerhandle.Received) {
	p := r.peers[m.Peer.Info().ID]
	if p == nil {
		m.Handled()
		return
	}
	switch msg := m.Message.Message.(type) {
	case *wire.MsgInv:
		r.inv(p, msg.InvList)
	case *wire.MsgNotFound:
		for _, v := range msg.InvList {
			if w := p.announced[v.Hash]; w != nil {
				r.requests.failed(w, p)
			}
		}
	case *wire.MsgFeeFilter:
		if msg.MinFee >= 0 && msg.MinFee <= maxMoney {
			p.minFee = msg.MinFee
		}
	case *wire.MsgGetData:
		r.getData(p, msg.InvList)
	case *wire.MsgFilterLoad, *wire.MsgFilterClear:
		p.listens = true
	case *wire.MsgMemPool:
		if r.wholePool(c, p, m.Handled) {
			return
		}
	case *wire.MsgTx:
		if r.tx(c, p, msg, m.Handled) {
			return
		}
	}
	m.Handled()
}

// maxMoney bounds the fee rates that a peer may name. In its initial download Core
// names just this.
const maxMoney = 21_000_000 * 100_000_000

// inv notes what a peer has.
func (r *Relay) inv(p *peer, list []*wire.InvVect) {
	now := r.cfg.Now()
	wanted := r.upToDate() && (!r.cfg.BlocksOnly || p.info.Permissions.Relay)
	for _, v := range list {
		wtxid := v.Type == codec.InvWtx
		if wtxid != p.wtxid {
			continue
		}
		p.known.add(v.Hash)
		switch {
		case !wanted:
		case wtxid && r.orphans.has(v.Hash):
			r.announcedOrphan(p, v.Hash, now)
		case !r.knows(v.Hash, wtxid) && !r.poor.has(v.Hash):
			r.requests.announced(p, v.Hash, wtxid, r.readyAt(p, wtxid, now))
		}
	}
	r.request(now)
}

// knows reports whether a transaction is there, or need not be asked for. An orphan
// without witness is known by its txid too, which is its wtxid. Others are not: another
// witness may be the right one.
func (r *Relay) knows(hash chainhash.Hash, wtxid bool) bool {
	if wtxid {
		return r.isSettled(hash) || r.pool.ByWID(hash) != nil
	}
	return r.isSettled(hash) || r.pool.ByID(hash) != nil
}

// isSettled reports whether a transaction that is not in the pool need not be judged.
func (r *Relay) isSettled(hash chainhash.Hash) bool {
	return r.rejected.has(hash) || r.confirmed.has(hash) || r.orphans.has(hash)
}

// getData sends the transactions that a peer asks for, of those announced to it
// of.
func (r *Relay) getData(p *peer, list []*wire.InvVect) {
	if len(list) > 0 {
		corelog.Printf(r.net, slog.LevelDebug, "received getdata for: %s peer=%d", nameOf(list[0]), p.info.ID)
	}
	missing := wire.NewMsgNotFound()
	for _, v := range list {
		if !p.listens {
			continue
		}
		tx := r.find(p, v)
		if tx == nil {
			_ = missing.AddInvVect(v) // no more than were asked for
			continue
		}
		sendTx(p, tx, v.Type)
		if _, isOurs := r.ours[tx.WID]; isOurs {
			delete(r.ours, tx.WID)
			r.cfg.Pool.Tell(nodemsg.MarkBroadcast{ID: tx.ID})
		}
	}
	if len(missing.InvList) > 0 {
		p.Send(missing)
	}
}

// nameOf names an entry of an inventory as logs do.
func nameOf(v *wire.InvVect) string {
	switch v.Type {
	case codec.InvWtx:
		return fmt.Sprintf("wtx %v", v.Hash)
	case wire.InvTypeWitnessTx:
		return fmt.Sprintf("witness-tx %v", v.Hash)
	default:
		return fmt.Sprintf("tx %v", v.Hash)
	}
}

// find returns a transaction that a peer may ask for.
func (r *Relay) find(p *peer, v *wire.InvVect) *poolview.Tx {
	tx := r.pool.ByID(v.Hash)
	if v.Type == codec.InvWtx {
		tx = r.pool.ByWID(v.Hash)
	}
	if tx != nil && tx.Order <= p.sequence {
		return tx
	}
	if tx := r.recent[v.Hash]; tx != nil && (v.Hash == tx.WID) == (v.Type == codec.InvWtx || tx.ID == tx.WID) {
		return tx
	}
	return nil
}

// sendTx sends a transaction, without its witnesses if kind is InvTypeTx.
func sendTx(p *peer, tx *poolview.Tx, kind wire.InvType) {
	if kind != wire.InvTypeTx || !tx.Tx.HasWitness() {
		p.Send(tx.Tx)
		return
	}
	plain := tx.Tx.Copy()
	for _, in := range plain.TxIn {
		in.Witness = nil
	}
	p.Send(plain)
}

// wholePool announces all that is in the pool, and reports whether the message ends later.
func (r *Relay) wholePool(c actor.Context, p *peer, handled func()) (later bool) {
	if !p.listens {
		return false
	}
	var list []*poolview.Tx
	for tx := range r.pool.All() {
		delete(p.pending, tx.WID)
		if !p.known.has(p.name(tx)) && p.accepts(tx) {
			list = append(list, tx)
		}
	}
	p.done = handled
	sender{r}.tell(c, []outgoing{{p, list, true}})
	return true
}

func sortBySequence(list []*poolview.Tx) {
	slices.SortFunc(list, func(a, b *poolview.Tx) int { return cmp.Compare(a.Order, b.Order) })
}

// judged brings what the pool says of a transaction.
type judged struct {
	tx      *wire.MsgTx
	peer    int64
	err     error
	handled func() // nil for an orphan
	orphan  bool   // it had waited for its parents
}

// tx has a transaction of a peer judged. It reports false if nothing is to be
// judged: the transaction is known, or the node is not up to date.
func (r *Relay) tx(c actor.Context, p *peer, tx *wire.MsgTx, handled func()) bool {
	id, wid := tx.TxHash(), tx.WitnessHash()
	p.known.add(id)
	p.known.add(wid)
	for _, hash := range []chainhash.Hash{id, wid} {
		if w := p.announced[hash]; w != nil {
			r.requests.failed(w, p)
		}
	}
	if r.pool.ByWID(wid) != nil || r.pool.ByID(id) != nil {
		r.forceRelay(p, id, wid)
		return false
	}
	switch {
	case !r.upToDate():
		return false
	case r.poor.has(wid): // its child may have come meanwhile
		corelog.Printf(r.packages, slog.LevelDebug,
			"found tx %v (wtxid=%v) in reconsiderable rejects, looking for child in orphanage", id, wid)
		p.done = handled
		if r.together(c, judged{tx: tx, peer: p.info.ID, handled: handled}) {
			return true
		}
		p.done = nil
		return false
	case r.isSettled(wid):
		r.forceRelay(p, id, wid)
		return false
	}
	p.done = handled
	r.submit(c, tx, p.info.ID, handled)
	return true
}

// forceRelay announces a transaction of the pool again, if the peer has the
// permission to force relay.
func (r *Relay) forceRelay(p *peer, id, wid chainhash.Hash) {
	switch {
	case !p.info.Permissions.ForceRelay:
	case r.pool.ByWID(wid) == nil:
		corelog.Printf(
			r.cfg.Log, slog.LevelInfo, "Not relaying non-mempool transaction %v (wtxid=%v) from forcerelay peer=%d", id,
			wid, p.info.ID,
		)
	default:
		corelog.Printf(r.cfg.Log, slog.LevelInfo, "Force relaying tx %v (wtxid=%v) from peer=%d", id, wid, p.info.ID)
		sender{r}.announce(wid)
	}
}

// submit has the pool judge a transaction.
func (r *Relay) submit(c actor.Context, tx *wire.MsgTx, peer int64, handled func()) {
	ask.Then(r.ctx, c, r.cfg.Pool, nodemsg.OfferTx{Tx: tx}, func(_ messages.Done, err error) any {
		return judged{tx, peer, err, handled, false}
	})
}

func (r *Relay) judged(c actor.Context, m judged) {
	p := r.peers[m.peer]
	reject, isReject := errors.AsType[*messages.TxReject](m.err)
	wid := m.tx.WitnessHash()
	switch {
	case m.err == nil:
		if p != nil {
			p.lastTx = r.cfg.Now()
		}
		r.requests.forget(m.tx.TxHash(), wid)
	case !isReject:
		r.cfg.Log.Debug("transaction not judged", "txid", m.tx.TxHash(), "err", m.err)
	case reject.Kind == messages.TxMissingInputs && m.orphan: // it waits for another parent
	case reject.Kind == messages.TxMissingInputs:
		corelog.Printf(
			r.cfg.Log, slog.LevelDebug, "%v (wtxid=%v) from peer=%d was not accepted: %v", m.tx.TxHash(), wid, m.peer,
			reject,
		)
		r.missing(p, m.tx)
	default:
		corelog.Printf(
			r.cfg.Log, slog.LevelDebug, "%v (wtxid=%v) from peer=%d was not accepted: %v", m.tx.TxHash(), wid, m.peer,
			reject,
		)
		r.reject(m, reject.Kind)
		if reject.Kind != messages.TxReconsiderable || m.orphan {
			break
		}
		corelog.Printf(r.packages, slog.LevelDebug,
			"tx %v (wtxid=%v) failed but reconsiderable, looking for child in orphanage", m.tx.TxHash(), wid)
		if r.together(c, m) {
			return // which is handled with its child
		}
	}
	r.end(m)
}

// end lets the peer of a transaction be read on; a peer that has left is not read any more.
func (r *Relay) end(m judged) {
	if p := r.peers[m.peer]; p != nil && m.handled != nil {
		reviewer{r}.settle(p)
	}
}

// reject remembers what need not be asked for again.
func (r *Relay) reject(m judged, kind messages.TxRejectKind) {
	id, wid := m.tx.TxHash(), m.tx.WitnessHash()
	if r.orphans.remove(wid) {
		corelog.Printf(r.packages, slog.LevelDebug, "   removed orphan tx %v (wtxid=%v)", id, wid)
	}
	switch kind { //nolint:exhaustive // all others are remembered
	case messages.TxWitnessStripped:
		return // it may come with its witness
	case messages.TxReconsiderable:
		r.poor.add(wid)
		r.requests.forget(wid)
		return
	case messages.TxInputsNotStandard:
		r.rejected.add(id)
		r.requests.forget(id)
	}
	r.rejected.add(wid)
	r.requests.forget(wid)
}

// packageResult brings what the pool says of a parent with its child.
type packageResult struct {
	judged

	child  *orphan
	result messages.PackageResult
	err    error
}

// together offers a transaction that pays too little along with an orphan of the
// same peer, its child. Children of other peers are left alone: a parent with a
// wrong witness must not do them harm. It reports false where there is no such
// child.
func (r *Relay) together(c actor.Context, m judged) bool {
	for _, child := range r.orphans.children(m.tx.TxHash(), m.peer) {
		if r.pairs.has(pairOf(m.tx, child)) || r.rejected.has(child.id) {
			continue
		}
		q := nodemsg.OfferPackage{Txs: []*wire.MsgTx{m.tx, child.tx}}
		ask.Then(r.ctx, c, r.cfg.Pool, q, func(result messages.PackageResult, err error) any {
			return packageResult{m, child, result, err}
		})
		return true
	}
	return false
}

// pairOf names a parent with its child.
func pairOf(parent *wire.MsgTx, child *orphan) chainhash.Hash {
	wid := parent.WitnessHash()
	return chainhash.HashH(append(wid[:], child.wid[:]...))
}

// packageDone remembers a package that was refused, and what of it is wrong by itself.
func (r *Relay) packageDone(m packageResult) {
	if m.err == nil && m.result.Failed != nil {
		r.cfg.Log.Debug(
			"package refused", "parent", m.tx.TxHash(), "child", m.child.id, "peer", m.peer, "reason",
			m.result.Failed.Error(),
		)
		r.pairs.add(pairOf(m.tx, m.child))
		for i, tx := range []*wire.MsgTx{m.tx, m.child.tx} {
			reject := m.result.Results[i].Rejected
			if reject != nil && reject.Kind != messages.TxMissingInputs {
				r.reject(judged{tx: tx}, reject.Kind)
			}
		}
	}
	r.end(m.judged)
}
