package relay_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/relay"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/peerhandle"
	"github.com/seed61375155/trawl/messages"
)

// Announcements that are due after the clock was set go out at once, before the peer's
// next request is served.
func TestClockSet(t *testing.T) {
	bubble(t, func(r *rig) {
		p := r.join(p2p.Inbound)
		tx := transaction(1)
		r.takeIn(tx, false)
		p.quiet("before its time")
		r.ahead.Store(int64(5 * time.Minute))
		r.ref.Tell(relay.ClockSet{})
		if got := expect[*wire.MsgInv](p); got.InvList[0].Hash != tx.WitnessHash() {
			t.Errorf("announced %v", got.InvList)
		}
		p.says(getData(tx))
		expect[*wire.MsgTx](p)
	})
}

// A transaction is asked for once, judged, and announced to all peers that lack it;
// these may then ask for the transaction.
func TestPassesOn(t *testing.T) {
	bubble(t, func(r *rig) {
		from, other := r.join(p2p.OutboundFullRelay), r.join(p2p.Inbound)
		tx := transaction(1)
		other.says(getData(tx))
		expect[*wire.MsgNotFound](other)
		from.says(inv(tx))
		if got := expect[*wire.MsgGetData](from); got.InvList[0].Hash != tx.WitnessHash() ||
			got.InvList[0].Type != codec.InvWtx {
			t.Errorf("asked for %v", got.InvList[0])
		}
		from.says(tx)
		time.Sleep(time.Minute)
		from.quiet("its own transaction")
		if got := expect[*wire.MsgInv](other); got.InvList[0].Hash != tx.WitnessHash() {
			t.Errorf("announced %v", got.InvList[0])
		}
		other.says(getData(tx))
		if got := expect[*wire.MsgTx](other); got.WitnessHash() != tx.WitnessHash() {
			t.Errorf("sent %v", got.TxHash())
		}
		from.says(inv(tx))
		from.quiet("known already")
		if from.handled != 3 || other.handled != 2 {
			t.Errorf("handled %d and %d messages", from.handled, other.handled)
		}
	})
}

// A peer that does not deliver is not waited for longer than a minute: another is asked.
func TestAsksAnother(t *testing.T) {
	bubble(t, func(r *rig) {
		slow, liar, last := r.join(p2p.OutboundFullRelay), r.join(p2p.Inbound), r.join(p2p.Inbound)
		tx := transaction(1)
		for _, p := range []*remote{slow, liar, last} {
			p.says(inv(tx))
		}
		expect[*wire.MsgGetData](slow)
		liar.quiet("one at a time")
		time.Sleep(61 * time.Second)
		request := expect[*wire.MsgGetData](liar)
		liar.says(&wire.MsgNotFound{InvList: request.InvList})
		time.Sleep(time.Second)
		expect[*wire.MsgGetData](last)
		r.ref.Tell(peerhandle.Left{ID: last.info.ID})
		slow.says(inv(tx))
		expect[*wire.MsgGetData](slow)
	})
}

// A transaction whose parent is missing waits for the parent.
func TestOrphan(t *testing.T) {
	bubble(t, func(r *rig) {
		p := r.join(p2p.OutboundFullRelay)
		parent := transaction(1)
		child := transaction(2, parent)
		r.verdict[child.TxHash()] = &messages.TxReject{
			Kind: messages.TxMissingInputs, Reason: "bad-txns-inputs-missingorspent",
		}
		p.says(child)
		time.Sleep(3 * time.Second) // by txids it is asked later
		asked := expect[*wire.MsgGetData](p).InvList
		found := false
		for _, v := range asked {
			found = found || v.Hash == parent.TxHash() && v.Type == wire.InvTypeWitnessTx
		}
		if !found {
			t.Fatalf("asked for %v, not for the parent", asked)
		}
		delete(r.verdict, child.TxHash())
		p.says(parent)
		want := []chainhash.Hash{child.TxHash(), parent.TxHash(), child.TxHash()}
		if len(r.offered) != 3 || [3]chainhash.Hash(r.offered) != [3]chainhash.Hash(want) {
			t.Errorf("judged %v, want %v", r.offered, want)
		}
	})
}

// A parent that pays too little is offered together with its child, whichever comes
// first.
func TestParentThatPaysTooLittle(t *testing.T) {
	for _, parentFirst := range []bool{true, false} {
		bubble(t, func(r *rig) {
			p := r.join(p2p.OutboundFullRelay)
			parent := transaction(1)
			child := transaction(2, parent)
			r.verdict[parent.TxHash()] = &messages.TxReject{Kind: messages.TxReconsiderable}
			r.verdict[child.TxHash()] = &messages.TxReject{Kind: messages.TxMissingInputs}
			if parentFirst {
				p.says(parent)
			}
			p.says(child)
			time.Sleep(3 * time.Second)
			expect[*wire.MsgGetData](p)
			p.says(parent)
			if len(r.packages) != 2 || r.packages[0] != parent.TxHash() || r.packages[1] != child.TxHash() {
				t.Errorf("parent first %v: offered %v together", parentFirst, r.packages)
			}
		})
	}
}

// A refused transaction is not asked for again, until a block comes.
func TestRefusedIsRemembered(t *testing.T) {
	bubble(t, func(r *rig) {
		p := r.join(p2p.OutboundFullRelay)
		tx := transaction(1)
		r.verdict[tx.TxHash()] = &messages.TxReject{Kind: messages.TxPolicy, Reason: "min relay fee not met"}
		p.says(tx)
		p.says(inv(tx))
		p.says(tx)
		p.quiet("refused")
		if len(r.offered) != 1 {
			t.Errorf("judged %d times", len(r.offered))
		}
		r.ref.Tell(messages.TipChanged{})
		p.says(inv(tx))
		expect[*wire.MsgGetData](p)
	})
}

// Neither announcements nor orphans of a peer take more than their share.
func TestBounds(t *testing.T) {
	bubble(t, func(r *rig) {
		p := r.join(p2p.OutboundFullRelay)
		flood := wire.NewMsgInv()
		for i := range 20_000 {
			flood.InvList = append(
				flood.InvList, wire.NewInvVect(codec.InvWtx, &chainhash.Hash{byte(i), byte(i >> 8), 1}),
			)
		}
		p.says(flood)
		asked := 0
		for _, m := range p.got() {
			asked += len(m.(*wire.MsgGetData).InvList)
		}
		if asked != 5000 {
			t.Errorf("asked for %d transactions, want 5000", asked)
		}
		for i := range uint32(4000) {
			tx := transaction(i)
			r.verdict[tx.TxHash()] = &messages.TxReject{Kind: messages.TxMissingInputs}
			p.says(tx)
		}
		if p.handled != 4001 {
			t.Errorf("handled %d messages", p.handled)
		}
	})
}

// A transaction of our own is announced again until a peer has asked for the
// transaction.
func TestAnnouncedAgain(t *testing.T) {
	bubble(t, func(r *rig) {
		tx := transaction(1)
		r.takeIn(tx, true)
		late := r.join(p2p.OutboundFullRelay)
		time.Sleep(5 * time.Minute)
		late.quiet("it was not there yet")
		time.Sleep(11 * time.Minute)
		expect[*wire.MsgInv](late)
		late.says(getData(tx))
		expect[*wire.MsgTx](late)
		next := r.join(p2p.OutboundFullRelay)
		time.Sleep(20 * time.Minute)
		next.quiet("a peer has it")
	})
}

// A transaction of our own that the pool had already in the last run is announced
// together with transactions that no peer has asked for, and not before. Timers may be
// set forward.
func TestAnnouncedLater(t *testing.T) {
	bubble(t, func(r *rig) {
		tx := transaction(1)
		p := r.join(p2p.OutboundFullRelay)
		id, wid := tx.TxHash(), tx.WitnessHash()
		r.feed.Publish(messages.PoolChanged{
			Changes: []messages.PoolChange{
				{Tx: tx, ID: id, WID: wid, Fee: 1000, VSize: 100, Added: true, Sequence: 1},
			},
			Announce: []messages.RelayTx{{ID: id, WID: wid, Own: true, Later: true}},
		})
		time.Sleep(time.Minute)
		p.quiet("later")
		if _, err := ask.Ask(r.t.Context(), r.ref, messages.AdvanceTimers{By: 16 * time.Minute}); err != nil {
			r.t.Fatal(err)
		}
		time.Sleep(time.Minute)
		expect[*wire.MsgInv](p)
	})
}

// A peer that names all the money as its fee rate, as Core does in its initial download,
// hears of no transaction, however large.
func TestFeeFilter(t *testing.T) {
	bubble(t, func(r *rig) {
		for _, test := range []struct {
			rate, vsize, fee int64
			wants            bool
		}{
			{21e14, 100, 1e8, false},
			{21e14, 8785, 2e12, false}, // the product has more than 64 bits
			{21e14, 100_000, 1e8, false},
			{1000, 200, 200, true},
			{1000, 200, 199, false},
			{1, 200, 0, false}, // fractions count as a whole
			{0, 200, 0, true},
		} {
			p := r.join(p2p.OutboundFullRelay)
			p.says(wire.NewMsgFeeFilter(test.rate))
			tx := transaction(uint32(r.peers))
			id, wid := tx.TxHash(), tx.WitnessHash()
			r.feed.Publish(messages.PoolChanged{
				Changes: []messages.PoolChange{
					{Tx: tx, ID: id, WID: wid, Added: true, Fee: test.fee, VSize: test.vsize, Sequence: 1},
				},
				Announce: []messages.RelayTx{{ID: id, WID: wid}},
			})
			time.Sleep(time.Minute)
			if got := p.got(); (len(got) > 0) != test.wants {
				t.Errorf("%+v: sent %v", test, got)
			}
			r.ref.Tell(peerhandle.Left{ID: p.info.ID})
		}
	})
}

// Orphans that a block holds or conflicts with are dropped, and the block's
// transactions are not asked for.
func TestBlocksSettle(t *testing.T) {
	bubble(t, func(r *rig) {
		p := r.join(p2p.OutboundFullRelay)
		coin := wire.OutPoint{Hash: blockOf(r, 1).Transactions[0].TxHash()}
		in := func(salt int64, from ...wire.OutPoint) *wire.MsgTx {
			tx := wire.NewMsgTx(2)
			for _, at := range from {
				tx.AddTxIn(&wire.TxIn{PreviousOutPoint: at})
			}
			tx.AddTxOut(wire.NewTxOut(salt, []byte{0x51}))
			return tx
		}
		mined := in(1, coin)
		missing := wire.OutPoint{Index: 77}
		conflict, other := in(2, coin, missing), in(3, missing)
		for _, tx := range []*wire.MsgTx{conflict, other} {
			r.verdict[tx.TxHash()] = &messages.TxReject{Kind: messages.TxMissingInputs}
			p.says(tx)
		}
		b := r.chain.Mine(chaintest.Template{Time: time.Now(), Txs: []*wire.MsgTx{mined}})
		r.tip.Publish(messages.TipChanged{Hash: b.Hash, Height: b.Height})
		synctest.Wait()
		if got := r.orphans(); len(got) != 1 || got[0].Tx != other {
			t.Errorf("orphans: %+v", got)
		}
		time.Sleep(3 * time.Second)
		p.got()
		p.says(inv(mined))
		p.quiet("it is in the chain")
	})
}

func blockOf(r *rig, height int32) *wire.MsgBlock {
	r.t.Helper()
	block, err := r.chain.Block(&r.chain.Active().At(height).Hash)
	if err != nil {
		r.t.Fatal(err)
	}
	return block
}

// In the initial download peers are told to announce nothing, and nothing is taken; later
// they are told the least rate of the pool.
func TestInitialDownload(t *testing.T) {
	bubbleOf(t, 25*time.Hour, func(r *rig) {
		p := r.join(p2p.OutboundFullRelay)
		time.Sleep(time.Minute)
		p.says(inv(transaction(1)))
		p.says(transaction(2))
		p.quiet("in the initial download")
		if len(r.offered) > 0 || p.handled != 2 {
			t.Errorf("judged %v, handled %d messages", r.offered, p.handled)
		}
		r.chain.Mine(chaintest.Template{Time: time.Now()})
		time.Sleep(time.Minute)
		if !slices.Equal(p.filters, []int64{9_936_506, 100}) { // the first is the highest of Core's steps
			t.Errorf("sent the rates %v", p.filters)
		}
		p.says(transaction(3))
		if len(r.offered) != 1 {
			t.Errorf("judged %v", r.offered)
		}
	})
}
