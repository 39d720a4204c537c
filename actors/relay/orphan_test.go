package relay_test

import (
	"slices"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/peerhandle"
	"github.com/seed61375155/trawl/messages"
)

// Orphans have all peers that announce them; each of these is asked for the parents, and
// the orphan stays until the last one has left.
func TestOrphanOfSeveralPeers(t *testing.T) {
	bubble(t, func(r *rig) {
		first, second, third := r.join(p2p.OutboundFullRelay), r.join(p2p.Inbound), r.join(p2p.Inbound)
		parent := transaction(1)
		child := transaction(2, parent)
		r.verdict[child.TxHash()] = &messages.TxReject{Kind: messages.TxMissingInputs}
		first.says(inv(child))
		second.says(inv(child)) // before it is known to be an orphan
		first.says(child)
		third.says(inv(child)) // after that
		if got := r.orphans(); len(got) != 1 || !slices.Equal(got[0].Peers, []int64{1, 2, 3}) {
			r.t.Fatalf("orphans: %+v", got)
		}
		time.Sleep(3 * time.Second) // by txid
		first.got()
		second.quiet("another peer is asked")
		r.ref.Tell(peerhandle.Left{ID: first.info.ID})
		time.Sleep(3 * time.Second)
		if got := expect[*wire.MsgGetData](second).InvList[0]; got.Hash != (chainhash.Hash{}) &&
			got.Hash != parent.TxHash() {
			t.Errorf("asked for %v", got)
		}
		for _, p := range []*remote{second, third} {
			if len(r.orphans()) != 1 {
				t.Error("forgotten before its last peer left")
			}
			r.ref.Tell(peerhandle.Left{ID: p.info.ID})
		}
		if got := r.orphans(); len(got) != 0 {
			t.Errorf("left over: %+v", got)
		}
	})
}

// Orphans have bounds: for the size of each, for all that a peer may announce, and for
// the time that removing them takes. A flooding peer drives out nobody else's orphans.
func TestOrphanBounds(t *testing.T) {
	bubble(t, func(r *rig) {
		honest, flooding := r.join(p2p.Inbound), r.join(p2p.Inbound)
		orphan := func(p *remote, salt uint32, inputs, witness int) *wire.MsgTx {
			tx := wire.NewMsgTx(2)
			for i := range uint32(inputs) {
				tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{
					Hash: chainhash.Hash{byte(p.info.ID), byte(salt), byte(salt >> 8)}, Index: i,
				}})
			}
			tx.TxIn[0].Witness = wire.TxWitness{make([]byte, witness)}
			tx.AddTxOut(wire.NewTxOut(1, []byte{0x51}))
			r.verdict[tx.TxHash()] = &messages.TxReject{Kind: messages.TxMissingInputs}
			p.says(tx)
			return tx
		}
		count := func() (honestly, all int) {
			for _, o := range r.orphans() {
				if slices.Contains(o.Peers, honest.info.ID) {
					honestly++
				}
				all++
			}
			return honestly, all
		}
		large := r.join(p2p.Inbound)
		heaviest := orphan(large, 99, 1, 400_000-4*61-8)
		orphan(large, 98, 1, 400_000-4*61-7)
		if _, n := count(); n != 1 || 3*heaviest.SerializeSizeStripped()+heaviest.SerializeSize() != 400_000 {
			r.t.Fatalf("%d orphans, the first of weight %d", n, 3*heaviest.SerializeSizeStripped()+heaviest.SerializeSize())
		}
		r.ref.Tell(peerhandle.Left{ID: large.info.ID})
		for salt := range uint32(20) {
			orphan(honest, salt, 1, 10)
		}
		// Two peers may have 808,000 together, of which the honest one uses 6,000.
		for salt := range uint32(10) {
			orphan(flooding, 100+salt, 1, 99_000)
		}
		if n, all := count(); n != 20 || all != 20+8 {
			t.Errorf("by weight: %d of %d are the honest peer's", n, all)
		}
		for salt := range uint32(3200) {
			orphan(flooding, 1000+salt, 1, 1)
		}
		if n, all := count(); n != 20 || all != 3000 {
			t.Errorf("by number: %d of %d are the honest peer's", n, all)
		}
		for salt := range uint32(60) { // each counts for 51
			orphan(flooding, 5000+salt, 500, 1)
		}
		if n, all := count(); n != 20 || all > 3000-57*50 {
			t.Errorf("by inputs: %d of %d are the honest peer's", n, all)
		}
	})
}

func (r *rig) orphans() []nodemsg.Orphan {
	r.t.Helper()
	list, err := ask.Ask(r.t.Context(), r.ref, nodemsg.GetOrphans{})
	if err != nil {
		r.t.Fatal(err)
	}
	return list
}
