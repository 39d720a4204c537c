package relay

import (
	"bytes"
	"maps"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/messages"
)

// Limits of what waits for its parents.
const (
	maxOrphans      = 3000
	maxOrphanWeight = 400_000
	peerOrphans     = 404_000 // weight of those of one peer
)

// orphanage holds transactions whose parents are not known.
type orphanage struct {
	byWID    map[chainhash.Hash]*orphan
	byParent map[chainhash.Hash]map[*orphan]struct{}
	ofPeer   map[int64][]*orphan // oldest first
	weight   map[int64]int
}

// An orphan is one of them.
type orphan struct {
	tx      *wire.MsgTx
	id, wid chainhash.Hash
	weight  int
	peer    int64 // that sent it
}

func newOrphanage() orphanage {
	return orphanage{
		byWID: make(map[chainhash.Hash]*orphan), byParent: make(map[chainhash.Hash]map[*orphan]struct{}),
		ofPeer: make(map[int64][]*orphan), weight: make(map[int64]int),
	}
}

func (o *orphanage) has(wid chainhash.Hash) bool { return o.byWID[wid] != nil }

// add keeps a transaction, and lets older ones of the peer go where there is no
// room. It reports false for one that is too large.
func (o *orphanage) add(tx *wire.MsgTx, peer int64) bool {
	one := &orphan{
		tx: tx, id: tx.TxHash(), wid: tx.WitnessHash(), peer: peer,
		weight: tx.SerializeSizeStripped()*3 + tx.SerializeSize(),
	}
	if one.weight > maxOrphanWeight {
		return false
	}
	if o.has(one.wid) {
		return true
	}
	for o.weight[peer]+one.weight > peerOrphans {
		o.drop(o.ofPeer[peer][0])
	}
	if len(o.byWID) >= maxOrphans {
		o.drop(o.ofPeer[o.largest()][0])
	}
	o.byWID[one.wid] = one
	for _, in := range tx.TxIn {
		set := o.byParent[in.PreviousOutPoint.Hash]
		if set == nil {
			set = make(map[*orphan]struct{})
			o.byParent[in.PreviousOutPoint.Hash] = set
		}
		set[one] = struct{}{}
	}
	o.ofPeer[peer] = append(o.ofPeer[peer], one)
	o.weight[peer] += one.weight
	return true
}

// largest returns the peer with most orphans.
func (o *orphanage) largest() int64 {
	var peer int64
	most := -1
	for id, list := range o.ofPeer {
		if len(list) > most {
			peer, most = id, len(list)
		}
	}
	return peer
}

func (o *orphanage) remove(wid chainhash.Hash) {
	if one := o.byWID[wid]; one != nil {
		o.drop(one)
	}
}

func (o *orphanage) drop(one *orphan) {
	delete(o.byWID, one.wid)
	for _, in := range one.tx.TxIn {
		parent := in.PreviousOutPoint.Hash
		delete(o.byParent[parent], one)
		if len(o.byParent[parent]) == 0 {
			delete(o.byParent, parent)
		}
	}
	list := o.ofPeer[one.peer]
	for i := range list {
		if list[i] == one {
			o.ofPeer[one.peer] = append(list[:i:i], list[i+1:]...)
			break
		}
	}
	o.weight[one.peer] -= one.weight
	if len(o.ofPeer[one.peer]) == 0 {
		delete(o.ofPeer, one.peer)
		delete(o.weight, one.peer)
	}
}

func (o *orphanage) dropPeer(id int64) {
	for len(o.ofPeer[id]) > 0 {
		o.drop(o.ofPeer[id][0])
	}
}

// list returns all of them, by witness id.
func (o *orphanage) list() []messages.Orphan {
	wids := slices.SortedFunc(maps.Keys(o.byWID), func(a, b chainhash.Hash) int { return bytes.Compare(a[:], b[:]) })
	list := make([]messages.Orphan, len(wids))
	for i, wid := range wids {
		list[i] = messages.Orphan{Tx: o.byWID[wid].tx, Peer: o.byWID[wid].peer}
	}
	return list
}

// children returns the orphans that spend from a transaction.
func (o *orphanage) children(id chainhash.Hash) []*orphan {
	var list []*orphan
	for one := range o.byParent[id] {
		list = append(list, one)
	}
	return list
}
