package relay_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/relay"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/peerhandle"
	"github.com/seed61375155/trawl/messages"
)

func legacy(i *peerhandle.Info) { i.Remote.WtxidRelay = false }

// asked returns what a peer was asked for.
func (p *remote) asked() (list []chainhash.Hash) {
	for _, m := range p.got() {
		if m, ok := m.(*wire.MsgGetData); ok {
			for _, v := range m.InvList {
				list = append(list, v.Hash)
			}
		}
	}
	return list
}

// witnessOf is a transaction with another witness, under the same txid.
func witnessOf(tx *wire.MsgTx) *wire.MsgTx {
	other := tx.Copy()
	other.TxIn[0].Witness = wire.TxWitness{{2}, {3}}
	return other
}

// If a transaction from the first peer that announced it settles nothing, the next is asked by the id of its own
// announcement; otherwise nobody is asked any more.
func TestNextPeerIsAsked(t *testing.T) {
	for _, c := range []struct {
		name        string
		err         error
		wtxid, txid bool // who named it so is asked
	}{
		{"taken", nil, false, false},
		{"refused", &messages.TxReject{Kind: messages.TxPolicy}, false, true},
		{"pays too little by itself", &messages.TxReject{Kind: messages.TxReconsiderable}, false, true},
		{"inputs", &messages.TxReject{Kind: messages.TxInputsNotStandard}, false, false},
		{"without its witness", &messages.TxReject{Kind: messages.TxWitnessStripped}, true, true},
		{"not judged", messages.ErrNodeAway, true, true},
	} {
		bubble(t, func(r *rig) {
			first, second := r.join(p2p.OutboundFullRelay), r.join(p2p.OutboundFullRelay)
			old, oldSecond := r.joinWith(p2p.OutboundFullRelay, legacy), r.joinWith(p2p.OutboundFullRelay, legacy)
			tx := transaction(1)
			r.verdict[tx.TxHash()] = c.err
			for _, p := range []*remote{first, second} {
				p.says(inv(tx))
			}
			for _, p := range []*remote{old, oldSecond} {
				p.says(&wire.MsgInv{InvList: byID(wire.InvTypeTx, tx)})
			}
			time.Sleep(3 * time.Second)
			if len(first.asked()) != 1 || len(old.asked()) != 1 {
				t.Fatalf("%s: not each is asked by its own id", c.name)
			}
			first.says(tx)
			time.Sleep(time.Second)
			if got := second.asked(); (len(got) == 1) != c.wtxid {
				t.Errorf("%s, by wtxid: asked for %v", c.name, got)
			}
			time.Sleep(time.Minute)
			if got := oldSecond.asked(); (len(got) == 1) != c.txid {
				t.Errorf("%s, by txid: asked for %v", c.name, got)
			}
		})
	}
}

// A peer that sends the transaction that it was asked for, under either id, is not waited for any more.
func TestSentByEitherID(t *testing.T) {
	bubble(t, func(r *rig) {
		p, next := r.joinWith(p2p.OutboundFullRelay, legacy), r.joinWith(p2p.OutboundFullRelay, legacy)
		tx := transaction(1)
		for _, p := range []*remote{p, next} {
			p.says(&wire.MsgInv{InvList: byID(wire.InvTypeTx, tx)})
		}
		p.asked()
		r.verdict[tx.TxHash()] = messages.ErrNodeAway
		p.says(tx)
		time.Sleep(time.Second)
		if got := next.asked(); len(got) != 1 {
			t.Errorf("asked for %v", got)
		}
	})
}

// Only the unknown parents of an orphan are asked for: of the first peer, and of a peer that announces the orphan
// later.
func TestKnownParentsAreNotAskedFor(t *testing.T) {
	bubble(t, func(r *rig) {
		p, later := r.join(p2p.OutboundFullRelay), r.join(p2p.OutboundFullRelay)
		pooled, mined, unknown := transaction(1), transaction(2), transaction(3)
		r.takeIn(pooled, false)
		r.feed.Publish(messages.PoolChanged{Changes: []messages.PoolChange{
			{Tx: mined, ID: mined.TxHash(), WID: mined.WitnessHash(), Reason: messages.PoolBlock},
		}})
		child := wire.NewMsgTx(2)
		for _, parent := range []*wire.MsgTx{pooled, mined, unknown, unknown} {
			child.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{
				Hash: parent.TxHash(), Index: uint32(len(child.TxIn)),
			}})
		}
		r.verdict[child.TxHash()] = &messages.TxReject{Kind: messages.TxMissingInputs}
		p.says(child)
		later.says(inv(child))
		time.Sleep(3 * time.Second)
		want := []chainhash.Hash{unknown.TxHash()}
		if got := p.asked(); !slices.Equal(got, want) {
			t.Errorf("asked for %v, want %v", got, want)
		}
		time.Sleep(time.Minute)
		if got := later.asked(); !slices.Equal(got, want) {
			t.Errorf("the second is asked for %v, want %v", got, want)
		}
		// With nothing left to ask for, a peer that announces the orphan is no further source of the orphan.
		r.takeIn(unknown, false)
		r.holds = true
		r.join(p2p.OutboundFullRelay).says(inv(child))
		for _, o := range r.orphans() {
			if len(o.Peers) > 2 {
				t.Errorf("of the peers %v", o.Peers)
			}
		}
	})
}

// A peer that sends an orphan has its parents: they are not announced to this peer.
func TestParentsAreKnownToChildsPeer(t *testing.T) {
	bubble(t, func(r *rig) {
		p, other := r.joinWith(p2p.OutboundFullRelay, legacy), r.join(p2p.OutboundFullRelay)
		parent := transaction(1)
		child := transaction(2, parent)
		r.verdict[child.TxHash()] = &messages.TxReject{Kind: messages.TxMissingInputs}
		p.says(child)
		p.got()
		r.takeIn(parent, false)
		time.Sleep(time.Minute)
		if got := p.announced(); len(got) > 0 {
			t.Errorf("announced %v", got)
		}
		if got := other.announced(); len(got) != 1 {
			t.Errorf("announced to another peer: %v", got)
		}
	})
}

// A transaction of the pool is not judged again with another witness, and is not announced to a peer that has
// announced it before.
func TestOtherWitness(t *testing.T) {
	bubble(t, func(r *rig) {
		p, announcer := r.join(p2p.OutboundFullRelay), r.join(p2p.OutboundFullRelay)
		tx := transaction(1)
		announcer.says(inv(tx))
		announcer.got()
		p.says(tx)
		p.says(witnessOf(tx))
		time.Sleep(time.Minute)
		if len(r.offered) != 1 {
			t.Errorf("judged %d times", len(r.offered))
		}
		if got := announcer.announced(); len(got) > 0 {
			t.Errorf("announced to its sender: %v", got)
		}
	})
}

// A child whose id is refused for its inputs is not offered with its parent, whatever its witness is.
func TestRefusedChildIsNotOffered(t *testing.T) {
	bubble(t, func(r *rig) {
		p := r.join(p2p.OutboundFullRelay)
		parent := transaction(1)
		child := transaction(2, parent)
		r.verdict[child.TxHash()] = &messages.TxReject{Kind: messages.TxMissingInputs}
		p.says(child)
		r.verdict[child.TxHash()] = &messages.TxReject{Kind: messages.TxInputsNotStandard}
		p.says(witnessOf(child))
		r.verdict[parent.TxHash()] = &messages.TxReject{Kind: messages.TxReconsiderable}
		p.says(parent)
		if len(r.packages) > 0 || len(r.offered) != 3 {
			t.Errorf("offered %v together, judged %d", r.packages, len(r.offered))
		}
	})
}

// A block clears all refusals: of a transaction by itself, for its fee rate, or together with its child.
func TestBlockForgetsRefusals(t *testing.T) {
	bubble(t, func(r *rig) {
		p := r.join(p2p.OutboundFullRelay)
		parent, refused := transaction(1), transaction(5)
		child := transaction(2, parent)
		r.verdict[refused.TxHash()] = &messages.TxReject{Kind: messages.TxPolicy}
		r.verdict[parent.TxHash()] = &messages.TxReject{Kind: messages.TxReconsiderable}
		r.verdict[child.TxHash()] = &messages.TxReject{Kind: messages.TxMissingInputs}
		r.outcome = func(nodemsg.OfferPackage) messages.PackageResult {
			return messages.PackageResult{
				Failed: &messages.TxReject{Kind: messages.TxPolicy}, Results: make([]messages.TxResult, 2),
			}
		}
		offer := func() (judged, packages int) {
			r.offered, r.packages = nil, nil
			for _, tx := range []*wire.MsgTx{refused, child, parent} {
				p.says(tx)
			}
			return len(r.offered), len(r.packages)
		}
		if judged, packages := offer(); judged != 3 || packages != 2 {
			t.Fatalf("judged %d, together %d", judged, packages)
		}
		if judged, packages := offer(); judged != 0 || packages != 0 {
			t.Errorf("the same again: judged %d, together %d", judged, packages)
		}
		tip := messages.TipChanged{Height: 2}
		r.tip.Publish(tip)
		synctest.Wait()
		if judged, packages := offer(); judged != 2 || packages != 2 { // the child waits still
			t.Errorf("after a block: judged %d, together %d", judged, packages)
		}
		r.tip.Publish(tip)
		synctest.Wait()
		if judged, packages := offer(); judged != 0 || packages != 0 {
			t.Errorf("after the same block again: judged %d, together %d", judged, packages)
		}
	})
}

// A package that was not judged may be offered again.
func TestPackageNotJudged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 0)
		p := r.join(p2p.OutboundFullRelay)
		parent := transaction(1)
		child := transaction(2, parent)
		r.verdict[parent.TxHash()] = &messages.TxReject{Kind: messages.TxReconsiderable}
		r.verdict[child.TxHash()] = &messages.TxReject{Kind: messages.TxMissingInputs}
		r.fails = errors.New("away")
		p.says(child)
		for range 2 {
			p.says(parent)
		}
		if len(r.packages) != 4 || len(r.orphans()) != 1 || p.handled != 3 {
			t.Errorf("together %d, %d orphans, handled %d", len(r.packages), len(r.orphans()), p.handled)
		}
	})
}

// Transactions of blocks are known by both ids, from one block to the next; a block that cannot be read keeps no
// other block from being read.
func TestBlocksInARow(t *testing.T) {
	bubble(t, func(r *rig) {
		p, old := r.join(p2p.OutboundFullRelay), r.joinWith(p2p.OutboundFullRelay, legacy)
		mine := func(height int32) *chainview.Block {
			tx := wire.NewMsgTx(2)
			coin := blockOf(r, height).Transactions[0].TxHash()
			tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: coin}, Witness: wire.TxWitness{{1}}})
			tx.AddTxOut(wire.NewTxOut(1, []byte{0x51}))
			return r.chain.Mine(chaintest.Template{Time: time.Now(), Txs: []*wire.MsgTx{tx}})
		}
		tell := func(b *chainview.Block) {
			r.tip.Publish(messages.TipChanged{Hash: b.Hash, Height: b.Height})
			synctest.Wait()
		}
		first := mine(1)
		tell(first)
		broken := mine(2)
		last := mine(3)
		r.chain.Fail(broken, errors.New("broken"))
		tell(last)
		r.chain.Fail(broken, nil)
		for height, known := range map[int32]bool{first.Height: true, broken.Height: false, last.Height: true} {
			tx := blockOf(r, height).Transactions[1]
			p.says(inv(tx))
			if got := p.asked(); (len(got) == 0) != known {
				t.Errorf("block %d: asked for %v", height, got)
			}
			old.says(&wire.MsgInv{InvList: byID(wire.InvTypeTx, tx)})
			time.Sleep(3 * time.Second)
			if got := old.asked(); (len(got) == 0) != known {
				t.Errorf("block %d, by txid: asked for %v", height, got)
			}
		}
	})
}

// A requested transaction is not waited for once a block holds the transaction.
func TestBlockEndsRequests(t *testing.T) {
	bubble(t, func(r *rig) {
		p, next := r.join(p2p.OutboundFullRelay), r.join(p2p.OutboundFullRelay)
		coin := wire.OutPoint{Hash: blockOf(r, 1).Transactions[0].TxHash()}
		mined := wire.NewMsgTx(2)
		mined.AddTxIn(&wire.TxIn{PreviousOutPoint: coin})
		mined.AddTxOut(wire.NewTxOut(1, []byte{0x51}))
		p.says(inv(mined))
		next.says(inv(mined))
		p.got()
		b := r.chain.Mine(chaintest.Template{Time: time.Now(), Txs: []*wire.MsgTx{mined}})
		r.tip.Publish(messages.TipChanged{Hash: b.Hash, Height: b.Height})
		time.Sleep(2 * time.Minute)
		next.quiet("it is in the chain")
	})
}

// A relay that stops while it reads a block leaves nothing behind.
func TestStopWhileReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &slowChain{}
		r := newRigWith(t, 0, func(r *rig, c *relay.Config) {
			slow.Reader = r.chain
			view := new(chainview.Current)
			view.Set(slow)
			c.Chain = view
		})
		lost := r.lost()
		b := r.chain.Mine(chaintest.Template{Time: time.Now()})
		r.tip.Publish(messages.TipChanged{Hash: b.Hash, Height: b.Height})
		synctest.Wait()
		if err := r.ref.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := lost(); n != 0 || slow.read != 1 {
			t.Errorf("%d messages went to a relay that has stopped, %d blocks were read", n, slow.read)
		}
	})
}

// A block that leaves the chain while it is read settles nothing.
func TestBlockLeavesWhileItIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &slowChain{}
		r := newRigWith(t, 0, func(r *rig, c *relay.Config) {
			slow.Reader = r.chain
			view := new(chainview.Current)
			view.Set(slow)
			c.Chain = view
		})
		p := r.join(p2p.OutboundFullRelay)
		fork := r.chain.Active().Tip()
		first := r.chain.Mine(chaintest.Template{Time: time.Now(), Script: []byte{0x52}})
		tx := blockOf(r, first.Height).Transactions[0]
		r.tip.Publish(messages.TipChanged{Hash: first.Hash, Height: first.Height})
		synctest.Wait()
		b := r.chain.MineOn(fork, chaintest.Template{Time: time.Now(), Version: 0x20000002})
		b = r.chain.MineOn(b, chaintest.Template{Time: time.Now()})
		r.tip.Publish(messages.TipChanged{Hash: b.Hash, Height: b.Height})
		time.Sleep(time.Minute)
		synctest.Wait()
		p.says(inv(tx))
		expect[*wire.MsgGetData](p)
		p.says(inv(blockOf(r, b.Height).Transactions[0]))
		p.quiet("it is in the chain")
	})
}

// A slowChain takes a while to read blocks.
type slowChain struct {
	chainview.Reader

	read int
}

func (c *slowChain) Block(hash *chainhash.Hash) (*wire.MsgBlock, error) {
	time.Sleep(time.Second)
	c.read++
	return c.Reader.Block(hash)
}
