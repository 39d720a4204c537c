package relay_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/peerhandle"
	"github.com/seed61375155/trawl/messages"
)

// A refused transaction is remembered as far as it cannot become right by another witness, another child or another
// peer.
func TestWhatIsRemembered(t *testing.T) {
	for _, c := range []struct {
		name        string
		err         error
		wtxid, txid bool // is asked for again
		judged      int  // when it is sent twice
	}{
		{"refused", &messages.TxReject{Kind: messages.TxPolicy}, false, true, 1},
		{"invalid", &messages.TxReject{Kind: messages.TxInvalid}, false, true, 1},
		{"inputs", &messages.TxReject{Kind: messages.TxInputsNotStandard}, false, false, 1},
		{"without its witness", &messages.TxReject{Kind: messages.TxWitnessStripped}, true, true, 2},
		{"pays too little by itself", &messages.TxReject{Kind: messages.TxReconsiderable}, false, true, 1},
		{"not judged", messages.ErrNodeAway, true, true, 2},
	} {
		bubble(t, func(r *rig) {
			p := r.join(p2p.OutboundFullRelay)
			old := r.joinWith(p2p.OutboundFullRelay, func(i *peerhandle.Info) { i.Remote.WtxidRelay = false })
			tx := transaction(1)
			r.verdict[tx.TxHash()] = c.err
			p.says(tx)
			p.says(tx)
			if len(r.offered) != c.judged || p.handled != 2 {
				t.Errorf("%s: judged %d times, handled %d messages", c.name, len(r.offered), p.handled)
			}
			p.says(inv(tx))
			if got := p.got(); (len(got) == 1) != c.wtxid {
				t.Errorf("%s, by wtxid: sent %v", c.name, got)
			}
			old.says(&wire.MsgInv{InvList: byID(wire.InvTypeTx, tx)})
			time.Sleep(5 * time.Second)
			if got := old.got(); (len(got) == 1) != c.txid {
				t.Errorf("%s, by txid: sent %v", c.name, got)
			}
		})
	}
}

// A child whose parent was refused is not kept; with one parent that pays too little it is, with two it is not.
func TestOrphanOfRefused(t *testing.T) {
	poor := &messages.TxReject{Kind: messages.TxReconsiderable}
	for _, c := range []struct {
		name    string
		parents []error
		kept    bool
	}{
		{"one refused by all its ids", []error{&messages.TxReject{Kind: messages.TxInputsNotStandard}}, false},
		{"a poor one", []error{poor}, true},
		{"two poor ones", []error{poor, poor}, false},
	} {
		bubble(t, func(r *rig) {
			p := r.join(p2p.OutboundFullRelay)
			var parents []*wire.MsgTx
			for i, err := range c.parents {
				tx := transaction(uint32(i + 1))
				tx.TxIn[0].Witness = nil // one id
				r.verdict[tx.TxHash()] = err
				p.says(tx)
				parents = append(parents, tx)
			}
			child := transaction(9, parents...)
			r.verdict[child.TxHash()] = &messages.TxReject{Kind: messages.TxMissingInputs}
			p.says(child)
			if got := len(r.orphans()); (got == 1) != c.kept {
				t.Errorf("%s: %d orphans", c.name, got)
			}
			judged := len(r.offered)
			if p.says(child); len(r.offered) != judged {
				t.Errorf("%s: judged again", c.name)
			}
		})
	}
}

// A parent is offered once with each child, and what of a package is wrong by itself is remembered.
func TestRefusedPackage(t *testing.T) {
	for _, c := range []struct {
		name  string
		child *messages.TxReject
		kept  bool // the child
	}{
		{"together they pay too little", nil, true},
		{"the child is wrong", &messages.TxReject{Kind: messages.TxPolicy}, false},
		{"the child misses others", &messages.TxReject{Kind: messages.TxMissingInputs}, true},
	} {
		bubble(t, func(r *rig) {
			r.outcome = func(nodemsg.OfferPackage) messages.PackageResult {
				return messages.PackageResult{
					Failed:  &messages.TxReject{Kind: messages.TxPolicy, Reason: "transaction failed"},
					Results: []messages.TxResult{{}, {Rejected: c.child}},
				}
			}
			p := r.join(p2p.OutboundFullRelay)
			parent := transaction(1)
			child := transaction(2, parent)
			r.verdict[parent.TxHash()] = &messages.TxReject{Kind: messages.TxReconsiderable}
			r.verdict[child.TxHash()] = &messages.TxReject{Kind: messages.TxMissingInputs}
			p.says(child)
			for range 3 {
				p.says(parent)
			}
			if len(r.packages) != 2 || p.handled != 4 {
				t.Errorf("%s: offered %d together, handled %d messages", c.name, len(r.packages), p.handled)
			}
			if got := len(r.orphans()); (got == 1) != c.kept {
				t.Errorf("%s: %d orphans", c.name, got)
			}
		})
	}
}

// Transactions of a block that has left the chain are asked for again; transactions in the chain are not.
func TestBlocksThatLeave(t *testing.T) {
	bubble(t, func(r *rig) {
		p := r.join(p2p.OutboundFullRelay)
		fork := r.chain.Active().Tip()
		mined := wire.NewMsgTx(2)
		mined.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: blockOf(r, 1).Transactions[0].TxHash()}})
		mined.AddTxOut(wire.NewTxOut(1, []byte{0x51}))
		mine := func(on *chainview.Block, template chaintest.Template) *chainview.Block {
			template.Time = time.Now()
			b := r.chain.MineOn(on, template)
			r.tip.Publish(messages.TipChanged{Hash: b.Hash, Height: b.Height})
			synctest.Wait()
			return b
		}
		mine(fork, chaintest.Template{Txs: []*wire.MsgTx{mined}})
		p.says(inv(mined))
		p.quiet("it is in the chain")
		tip := mine(mine(fork, chaintest.Template{Version: 0x20000002}), chaintest.Template{})
		p.says(inv(blockOf(r, tip.Height).Transactions[0]))
		p.quiet("it is in the new chain")
		p.says(inv(mined))
		expect[*wire.MsgGetData](p)
	})
}

// A peer is told at its time of all that may be announced, in the order of the pool. A peer that is trusted need not
// wait, and is told of all at once.
func TestSizeOfAnnouncements(t *testing.T) {
	for _, count := range []int{1, 420, 2005} {
		bubble(t, func(r *rig) {
			trusted := r.joinWith(p2p.Inbound, func(i *peerhandle.Info) { i.Permissions.NoBan = true })
			p := r.join(p2p.Inbound)
			m, want := messages.PoolChanged{}, []chainhash.Hash{}
			for n := range count {
				tx := transaction(uint32(n))
				id, wid := tx.TxHash(), tx.WitnessHash()
				m.Changes = append(m.Changes, messages.PoolChange{
					Tx: tx, ID: id, WID: wid, Fee: 1000, VSize: 100, Added: true, Sequence: uint64(n + 1),
				})
				m.Announce = append(m.Announce, messages.RelayTx{ID: id, WID: wid})
				want = append(want, wid)
			}
			r.arrived = want
			r.feed.Publish(m)
			time.Sleep(200 * time.Millisecond)
			if lists := trusted.announced(); len(lists) != 1 || !slices.Equal(lists[0], want) {
				t.Errorf("of %d the trusted peer gets %d messages", count, len(lists))
			}
			if s := r.sending(); s.Inbound.Waiting > max(0, count-420) || s.Inbound.Waiting < count-420-10 {
				t.Errorf("of %d wait %d", count, s.Inbound.Waiting)
			}
			time.Sleep(10 * time.Minute)
			lists := p.announced()
			if got := slices.Concat(lists...); !slices.Equal(got, want) || count <= 420 && len(lists) != 1 {
				t.Errorf("of %d: %d are announced in %d messages, or in another order", count, len(got), len(lists))
			}
		})
	}
}
