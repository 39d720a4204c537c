package relay_test

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/peerhandle"
	"github.com/seed61375155/trawl/messages"
)

// children has peers send children of a transaction that is missing yet. The rig judges the children again one by one.
func (r *rig) children(parent *wire.MsgTx, of ...*remote) (list []chainhash.Hash) {
	r.t.Helper()
	for i, p := range of {
		child := transaction(uint32(100+i), parent)
		id := child.TxHash()
		r.verdict[id] = &messages.TxReject{Kind: messages.TxMissingInputs}
		p.says(child)
		delete(r.verdict, id)
		r.delays[id] = true
		list = append(list, id)
	}
	r.offered = nil
	return list
}

// A peer is read on after a transaction when what that has brought back is judged: all orphans of the peer, and one of
// each other peer.
func TestReadOnAfterOrphans(t *testing.T) {
	bubble(t, func(r *rig) {
		p, other := r.join(p2p.OutboundFullRelay), r.join(p2p.Inbound)
		parent := transaction(1)
		ids := r.children(parent, p, p, other, other)
		grandchild := transaction(200, transaction(100, parent))
		r.verdict[grandchild.TxHash()] = &messages.TxReject{Kind: messages.TxMissingInputs}
		p.says(grandchild)
		delete(r.verdict, grandchild.TxHash())
		r.delays[grandchild.TxHash()] = true
		r.offered = nil
		p.says(parent)
		left := map[chainhash.Hash]bool{ids[0]: true, ids[1]: true, grandchild.TxHash(): true}
		for step := 0; ; step++ {
			for _, id := range r.offered {
				delete(left, id)
			}
			if p.handled == p.said {
				break
			}
			if len(r.delayed) > 2 {
				t.Fatalf("%d are judged at a time for two peers", len(r.delayed))
			}
			if step == 0 && len(r.delayed) != 2 {
				t.Fatalf("%d are judged", len(r.delayed))
			}
			r.judge()
		}
		if len(left) > 0 {
			t.Errorf("read on before %d of its orphans were judged", len(left))
		}
		if !slices.Contains(r.offered, ids[2]) {
			t.Error("read on before the first orphan of another was judged")
		}
		other.says(inv(transaction(5)))
		if other.handled != other.said {
			t.Error("a peer whose orphans are judged waits for what another has sent")
		}
		for len(r.delayed) > 0 {
			r.judge()
		}
		if !slices.Contains(r.offered, ids[3]) || len(r.orphans()) != 0 {
			t.Errorf("left over: %v", r.orphans())
		}
	})
}

// A peer is not held up by many orphans of another.
func TestOrphansOfOthersHoldNobodyUp(t *testing.T) {
	bubble(t, func(r *rig) {
		p, other := r.join(p2p.OutboundFullRelay), r.join(p2p.Inbound)
		parent := transaction(1)
		r.children(parent, other, other, other)
		p.says(parent)
		if len(r.delayed) != 1 || p.handled == p.said {
			t.Fatalf("%d are judged, handled %d", len(r.delayed), p.handled)
		}
		if r.judge(); p.handled != p.said {
			t.Error("waits for the second orphan of another")
		}
	})
}

// Nobody waits for the orphans of a peer that leaves, or for an answer that does not come.
func TestWaitingEnds(t *testing.T) {
	for _, leaves := range []bool{true, false} {
		bubble(t, func(r *rig) {
			p, other := r.join(p2p.OutboundFullRelay), r.join(p2p.Inbound)
			parent := transaction(1)
			id := r.children(parent, other)[0]
			p.says(parent)
			if p.handled == p.said {
				t.Fatal("not waited for")
			}
			if leaves {
				r.ref.Tell(peerhandle.Left{ID: other.info.ID})
			} else {
				r.verdict[id] = messages.ErrNodeAway
				r.judge()
			}
			synctest.Wait()
			if p.handled != p.said {
				t.Errorf("leaves %v: waits still", leaves)
			}
			for len(r.delayed) > 0 {
				r.judge()
			}
		})
	}
}

// An orphan whose second parent comes while it is judged for the first is judged once more.
func TestSecondParentComesMeanwhile(t *testing.T) {
	bubble(t, func(r *rig) {
		p, other := r.join(p2p.OutboundFullRelay), r.join(p2p.Inbound)
		first, second := transaction(1), transaction(2)
		child := transaction(3, first, second)
		missing := &messages.TxReject{Kind: messages.TxMissingInputs}
		r.verdict[child.TxHash()] = missing
		p.says(child)
		r.delays[child.TxHash()] = true
		p.says(first)
		other.says(second)
		r.judge() // misses its second parent still
		delete(r.verdict, child.TxHash())
		r.judge()
		if len(r.orphans()) != 0 || p.handled != p.said || other.handled != other.said {
			t.Errorf("left over: %v; handled %d, %d", r.orphans(), p.handled, other.handled)
		}
	})
}
