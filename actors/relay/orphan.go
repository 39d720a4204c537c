package relay

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/nodemsg"
)

// Limits of what waits for its parents (src/node/txorphanage.h).
const (
	maxOrphanWeight = 400_000
	peerOrphans     = 404_000 // weight that each peer with orphans adds to what all may have
	maxLatency      = 3000    // of all, see orphan.latency
)

// orphanage holds transactions whose parents are not known, each with the peers that
// announced it. A peer's announcements within its share stay, whatever other peers
// announce.
type orphanage struct {
	byWID  map[chainhash.Hash]*orphan
	spends map[wire.OutPoint]map[*orphan]struct{}
	peers  map[int64]*orphanPeer

	scale   int // weight of a byte outside the witness
	weight  int // of all orphans
	latency int // that their inputs add
	count   int // of announcements
}

// An orphan is a transaction whose parents are not known.
type orphan struct {
	tx      *wire.MsgTx
	id, wid chainhash.Hash
	weight  int
	latency int // that its inputs add to the time that removing it takes
	from    map[int64]*announcement
	again   bool // it is to be judged again, since a parent has come
}

// An announcement is an orphan of a peer.
type announcement struct {
	*orphan

	again bool // the orphan is to be judged again on behalf of this peer
}

// An orphanPeer is a peer with orphans.
type orphanPeer struct {
	list            []*announcement // oldest first
	weight, latency int
}

func newOrphanage(scale int) orphanage {
	return orphanage{
		scale: scale,
		byWID: make(map[chainhash.Hash]*orphan), spends: make(map[wire.OutPoint]map[*orphan]struct{}),
		peers: make(map[int64]*orphanPeer),
	}
}

func (o *orphanage) has(wid chainhash.Hash) bool { return o.byWID[wid] != nil }

// hasFrom reports whether a peer has announced an orphan.
func (o *orphanage) hasFrom(wid chainhash.Hash, peer int64) bool {
	one := o.byWID[wid]
	return one != nil && one.from[peer] != nil
}

// add keeps a transaction that a peer has announced, unless it is too large. Where
// there is no room, older ones go of the peer that takes most.
func (o *orphanage) add(tx *wire.MsgTx, peer int64) {
	wid := tx.WitnessHash()
	one := o.byWID[wid]
	if one == nil {
		one = &orphan{
			tx: tx, id: tx.TxHash(), wid: wid, weight: tx.SerializeSizeStripped()*(o.scale-1) + tx.SerializeSize(),
			latency: len(tx.TxIn) / 10, from: make(map[int64]*announcement),
		}
		if one.weight > maxOrphanWeight {
			return
		}
		o.insert(one)
	}
	if one.from[peer] != nil {
		return
	}
	a := &announcement{orphan: one}
	one.from[peer] = a
	by := o.peers[peer]
	if by == nil {
		by = new(orphanPeer)
		o.peers[peer] = by
	}
	by.list = append(by.list, a)
	by.weight, by.latency = by.weight+one.weight, by.latency+1+one.latency
	o.count++
	o.limit()
}

func (o *orphanage) insert(one *orphan) {
	o.byWID[one.wid] = one
	for _, in := range one.tx.TxIn {
		set := o.spends[in.PreviousOutPoint]
		if set == nil {
			set = make(map[*orphan]struct{})
			o.spends[in.PreviousOutPoint] = set
		}
		set[one] = struct{}{}
	}
	o.weight, o.latency = o.weight+one.weight, o.latency+one.latency
}

// full reports whether something has to go.
func (o *orphanage) full() bool {
	return o.latency+o.count > maxLatency || o.weight > max(1, len(o.peers))*peerOrphans
}

// limit drops announcements until the rest fits: the oldest of the peer that uses
// most of its share, until another peer uses more.
func (o *orphanage) limit() {
	if !o.full() {
		return
	}
	share := float64(maxLatency / max(1, len(o.peers)))
	score := func(by *orphanPeer) float64 {
		return max(float64(by.latency)/share, float64(by.weight)/peerOrphans)
	}
	for o.full() {
		var worst int64
		highest, next := -1.0, 1.0
		for id, by := range o.peers {
			if s := score(by); s > highest {
				worst, highest, next = id, s, max(next, highest)
			} else {
				next = max(next, s)
			}
		}
		by := o.peers[worst]
		for first := true; o.full() && o.peers[worst] != nil && (first || score(by) > next); first = false {
			o.forget(by.oldest(), worst)
		}
	}
}

// oldest returns the oldest announcement, of those that are judged again only if there
// is no other.
func (by *orphanPeer) oldest() *announcement {
	if i := slices.IndexFunc(by.list, func(a *announcement) bool { return !a.again }); i >= 0 {
		return by.list[i]
	}
	return by.list[0]
}

// forget takes an announcement back, and the orphan with its last one.
func (o *orphanage) forget(a *announcement, peer int64) {
	by := o.peers[peer]
	i := slices.Index(by.list, a)
	by.list = slices.Delete(by.list, i, i+1)
	by.weight, by.latency = by.weight-a.weight, by.latency-1-a.latency
	if len(by.list) == 0 {
		delete(o.peers, peer)
	}
	delete(a.from, peer)
	o.count--
	if a.again {
		a.orphan.again = false
	}
	if len(a.from) > 0 {
		return
	}
	delete(o.byWID, a.wid)
	for _, in := range a.tx.TxIn {
		set := o.spends[in.PreviousOutPoint]
		delete(set, a.orphan)
		if len(set) == 0 {
			delete(o.spends, in.PreviousOutPoint)
		}
	}
	o.weight, o.latency = o.weight-a.weight, o.latency-a.latency
}

// remove lets go of an orphan. It reports false where there is none.
func (o *orphanage) remove(wid chainhash.Hash) bool {
	one := o.byWID[wid]
	if one == nil {
		return false
	}
	for peer, a := range maps.Clone(one.from) {
		o.forget(a, peer)
	}
	o.limit()
	return true
}

// dropPeer takes back what a peer has announced. It returns the other peers on whose behalf its orphans are judged now.
func (o *orphanage) dropPeer(id int64) (heirs []int64) {
	for by := o.peers[id]; by != nil && len(by.list) > 0; {
		a := by.list[0]
		o.forget(a, id)
		if a.again && len(a.from) > 0 {
			heirs = append(heirs, a.judgeAgain())
		}
	}
	o.limit()
	return heirs
}

// spent lets go of the orphans that spend what a block spends, those in the block
// included, and returns how many.
func (o *orphanage) spent(outs []wire.OutPoint) (count int) {
	for _, at := range outs {
		for one := range maps.Clone(o.spends[at]) {
			o.remove(one.wid)
			count++
		}
	}
	return count
}

// list returns all of them, by witness id.
func (o *orphanage) list() []nodemsg.Orphan {
	wids := slices.SortedFunc(maps.Keys(o.byWID), func(a, b chainhash.Hash) int { return bytes.Compare(a[:], b[:]) })
	list := make([]nodemsg.Orphan, len(wids))
	for i, wid := range wids {
		one := o.byWID[wid]
		list[i] = nodemsg.Orphan{Tx: one.tx, Peers: slices.Sorted(maps.Keys(one.from))}
	}
	return list
}

// reconsider has the orphans judged again that spend outputs of a transaction which has come. It returns the peers on
// whose behalf.
func (o *orphanage) reconsider(tx *wire.MsgTx) (peers []int64) {
	id := tx.TxHash()
	for i := range tx.TxOut {
		for one := range o.spends[wire.OutPoint{Hash: id, Index: uint32(i)}] {
			if !one.again {
				peers = append(peers, one.judgeAgain())
			}
		}
	}
	return peers
}

// judgeAgain has an orphan judged again on behalf of one of its peers: chance decides, so that none can keep it from
// being judged.
func (one *orphan) judgeAgain() (peer int64) {
	peers := slices.Sorted(maps.Keys(one.from))
	peer = peers[rand.IntN(len(peers))] //nolint:gosec // no secret
	one.again, one.from[peer].again = true, true
	return peer
}

// next takes the oldest orphan that is to be judged again on behalf of a peer; nil where there is none. It stays until
// it is judged.
func (o *orphanage) next(peer int64) *orphan {
	by := o.peers[peer]
	if by == nil {
		return nil
	}
	for _, a := range by.list {
		if a.again {
			a.again, a.orphan.again = false, false
			return a.orphan
		}
	}
	return nil
}

// children returns the orphans of a peer that spend from a transaction, the latest
// first.
func (o *orphanage) children(parent chainhash.Hash, peer int64) []*orphan {
	by := o.peers[peer]
	if by == nil {
		return nil
	}
	var list []*orphan
	for _, a := range slices.Backward(by.list) {
		if slices.ContainsFunc(a.tx.TxIn, func(in *wire.TxIn) bool { return in.PreviousOutPoint.Hash == parent }) {
			list = append(list, a.orphan)
		}
	}
	return list
}
