package relay_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/relay"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/peerhandle"
	"github.com/seed61375155/trawl/messages"
)

// byID is an announcement, or a request, by txid.
func byID(kind wire.InvType, txs ...*wire.MsgTx) (list []*wire.InvVect) {
	for _, tx := range txs {
		id := tx.TxHash()
		list = append(list, wire.NewInvVect(kind, &id))
	}
	return list
}

// announced returns what was announced to a peer, in each message.
func (p *remote) announced() (lists [][]chainhash.Hash) {
	for _, m := range p.got() {
		if inv, ok := m.(*wire.MsgInv); ok {
			var list []chainhash.Hash
			for _, v := range inv.InvList {
				list = append(list, v.Hash)
			}
			lists = append(lists, list)
		}
	}
	return lists
}

// Peers hear of transactions that want to, in the ids that they know; others neither hear of any nor are they sent any,
// until they ask for it by a filter.
func TestWhoHearsOfTransactions(t *testing.T) {
	for _, c := range []struct {
		name      string
		typ       p2p.ConnectionType
		change    func(*peerhandle.Info)
		wantsTxs  bool
		wantsRate bool // is sent a fee rate
	}{
		{"outbound", p2p.OutboundFullRelay, nil, true, true},
		{"inbound", p2p.Inbound, nil, true, true},
		{"for blocks", p2p.BlockRelayOnly, nil, false, false},
		{"a feeler", p2p.Feeler, nil, false, false},
		{"wants none", p2p.Inbound, func(i *peerhandle.Info) { i.Remote.Version.NoTransactions = true }, false, true},
		{"by txid", p2p.Inbound, func(i *peerhandle.Info) { i.Remote.WtxidRelay = false }, true, true},
		{"relayed by force", p2p.Inbound, func(i *peerhandle.Info) { i.Permissions.ForceRelay = true }, true, false},
	} {
		bubble(t, func(r *rig) {
			p := r.joinWith(c.typ, c.change)
			tx := transaction(1)
			r.takeIn(tx, false)
			time.Sleep(time.Minute)
			want := []chainhash.Hash{tx.WitnessHash()}
			if !p.info.Remote.WtxidRelay {
				want[0] = tx.TxHash()
			}
			lists := p.announced()
			if (len(lists) == 1) != c.wantsTxs || c.wantsTxs && !slices.Equal(lists[0], want) {
				t.Errorf("%s: announced %v", c.name, lists)
			}
			if (len(p.filters) > 0) != c.wantsRate {
				t.Errorf("%s: sent the rates %v", c.name, p.filters)
			}
			p.says(&wire.MsgMemPool{})
			p.says(getData(tx))
			if got := p.got(); (len(got) == 1) != c.wantsTxs { // what it knows is not announced again
				t.Errorf("%s: sent %v", c.name, got)
			}
			if c.wantsTxs {
				return
			}
			p.says(&wire.MsgFilterClear{})
			p.says(&wire.MsgMemPool{})
			if lists := p.announced(); len(lists) != 1 || !slices.Equal(lists[0], want) {
				t.Errorf("%s, after a filter: announced %v", c.name, lists)
			}
			p.says(getData(tx))
			expect[*wire.MsgTx](p)
		})
	}
}

// A peer is sent what was announced to it or could have been, with the witness unless it asks without; all else is not
// found.
func TestWhatPeersAreSent(t *testing.T) {
	bubble(t, func(r *rig) {
		p := r.join(p2p.OutboundFullRelay)
		tx, later := transaction(1), transaction(2)
		r.takeIn(tx, false)
		time.Sleep(time.Minute)
		p.got()
		r.takeIn(later, false)
		for _, c := range []struct {
			name    string
			list    []*wire.InvVect
			sent    bool
			witness bool
		}{
			{"by wtxid", inv(tx).InvList, true, true},
			{"with its witness", byID(wire.InvTypeWitnessTx, tx), true, true},
			{"without its witness", byID(wire.InvTypeTx, tx), true, false},
			{"by the txid as if it were a wtxid", byID(codec.InvWtx, tx), false, false},
			{"what came just now", inv(later).InvList, false, false},
		} {
			p.says(&wire.MsgGetData{InvList: c.list})
			got := p.got()
			if len(got) != 1 {
				t.Fatalf("%s: %v", c.name, got)
			}
			switch m := got[0].(type) {
			case *wire.MsgTx:
				if !c.sent || m.TxHash() != tx.TxHash() || m.HasWitness() != c.witness {
					t.Errorf("%s: sent %v, with a witness: %v", c.name, m.TxHash(), m.HasWitness())
				}
			case *wire.MsgNotFound:
				if c.sent || len(m.InvList) != 1 || *m.InvList[0] != *c.list[0] {
					t.Errorf("%s: not found: %v", c.name, m.InvList)
				}
			}
		}
		if !tx.HasWitness() {
			t.Error("the transaction of the pool has lost its witness")
		}
	})
}

// Transactions that the last block has confirmed are still sent, by their own ids; transactions confirmed before are
// not.
func TestLastBlockIsSent(t *testing.T) {
	bubble(t, func(r *rig) {
		p := r.join(p2p.OutboundFullRelay)
		first, second, dropped := transaction(1), transaction(2), transaction(3)
		for _, tx := range []*wire.MsgTx{first, second, dropped} {
			r.takeIn(tx, false)
		}
		leave := func(tx *wire.MsgTx, reason messages.PoolReason) {
			r.feed.Publish(messages.PoolChanged{Changes: []messages.PoolChange{
				{Tx: tx, ID: tx.TxHash(), WID: tx.WitnessHash(), Reason: reason},
			}})
		}
		sent := func(list []*wire.InvVect) bool {
			p.got()
			p.says(&wire.MsgGetData{InvList: list})
			_, ok := p.got()[0].(*wire.MsgTx)
			return ok
		}
		leave(dropped, messages.PoolReplaced)
		leave(first, messages.PoolBlock)
		if !sent(inv(first).InvList) || !sent(byID(wire.InvTypeWitnessTx, first)) || sent(byID(codec.InvWtx, first)) {
			t.Error("what is in the last block is not sent by its ids alone")
		}
		if sent(inv(dropped).InvList) {
			t.Error("what was replaced is sent")
		}
		leave(second, messages.PoolBlock)
		if sent(inv(first).InvList) || !sent(inv(second).InvList) {
			t.Error("what is in the block before is sent, or not what is in the last one")
		}
		p.says(inv(first))
		p.quiet("it is confirmed")
	})
}

// A transaction of our own is ours until a peer has asked for it, of which the pool is notified once.
func TestPoolHearsWhatIsOut(t *testing.T) {
	bubble(t, func(r *rig) {
		p := r.join(p2p.OutboundFullRelay)
		tx, other := transaction(1), transaction(2)
		r.takeIn(tx, true)
		r.takeIn(other, false)
		time.Sleep(time.Minute)
		for range 2 {
			p.says(getData(tx, other))
		}
		if !slices.Equal(r.marked, []chainhash.Hash{tx.TxHash()}) {
			t.Errorf("marked %v", r.marked)
		}
	})
}

// A peer that may have all relayed has what it sends announced again, if the pool has it.
func TestForceRelay(t *testing.T) {
	for _, may := range []bool{false, true} {
		bubble(t, func(r *rig) {
			p := r.joinWith(p2p.Inbound, func(i *peerhandle.Info) { i.Permissions.ForceRelay = may })
			tx, refused := transaction(1), transaction(2)
			r.takeIn(tx, false)
			r.verdict[refused.TxHash()] = &messages.TxReject{Kind: messages.TxPolicy}
			p.says(refused)
			time.Sleep(time.Minute)
			late := r.join(p2p.OutboundFullRelay)
			p.says(tx)
			p.says(refused)
			time.Sleep(time.Minute)
			lists := late.announced()
			want := []chainhash.Hash{tx.WitnessHash()}
			if (len(lists) > 0) != may || may && !slices.Equal(slices.Concat(lists...), want) {
				t.Errorf("allowed %v: announced %v", may, lists)
			}
			if len(r.offered) != 1 || p.handled != 3 {
				t.Errorf("judged %v, handled %d messages", r.offered, p.handled)
			}
		})
	}
}

// A node for blocks asks no peer for transactions but those with the permission, and tells none a fee rate.
func TestBlocksOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRigWith(t, 0, func(_ *rig, c *relay.Config) { c.BlocksOnly = true })
		for _, may := range []bool{false, true} {
			p := r.joinWith(p2p.OutboundFullRelay, func(i *peerhandle.Info) { i.Permissions.Relay = may })
			p.says(inv(transaction(uint32(r.peers))))
			if got := p.got(); (len(got) == 1) != may {
				t.Errorf("allowed %v: sent %v", may, got)
			}
			time.Sleep(time.Minute)
			if len(p.filters) > 0 {
				t.Errorf("sent the rates %v", p.filters)
			}
		}
	})
}

// Announcements in ids of the other kind are left alone; of a peer that knows no wtxids they are asked for as it can
// give them.
func TestKindOfIDs(t *testing.T) {
	for _, c := range []struct {
		name    string
		wtxid   bool
		witness bool
		says    wire.InvType
		asks    wire.InvType // 0: nothing
	}{
		{"wtxids of a peer that names these", true, true, codec.InvWtx, codec.InvWtx},
		{"txids of a peer that names wtxids", true, true, wire.InvTypeTx, 0},
		{"wtxids of a peer that names txids", false, true, codec.InvWtx, 0},
		{"txids with witnesses", false, true, wire.InvTypeTx, wire.InvTypeWitnessTx},
		{"txids without witnesses", false, false, wire.InvTypeTx, wire.InvTypeTx},
	} {
		bubble(t, func(r *rig) {
			p := r.joinWith(p2p.OutboundFullRelay, func(i *peerhandle.Info) {
				if i.Remote.WtxidRelay = c.wtxid; !c.witness {
					i.Remote.Version.Services = 0
				}
			})
			p.says(&wire.MsgInv{InvList: []*wire.InvVect{wire.NewInvVect(c.says, &chainhash.Hash{5})}})
			got := p.got()
			if c.asks == 0 {
				if len(got) != 0 {
					t.Errorf("%s: sent %v", c.name, got)
				}
				return
			}
			if len(got) != 1 || got[0].(*wire.MsgGetData).InvList[0].Type != c.asks {
				t.Errorf("%s: sent %v", c.name, got)
			}
		})
	}
}

// The state of a peer tells when its last transaction was taken, and the fee rate that it wants.
func TestDescribe(t *testing.T) {
	bubble(t, func(r *rig) {
		p := r.join(p2p.OutboundFullRelay)
		p.says(wire.NewMsgFeeFilter(7))
		for _, rate := range []int64{-1, 21_000_000*100_000_000 + 1} {
			p.says(wire.NewMsgFeeFilter(rate)) // no rate
		}
		state := func() nodemsg.PeerRelay {
			all, err := ask.Ask(r.t.Context(), r.ref, nodemsg.GetPeerRelay{})
			if err != nil || len(all) != 1 {
				t.Fatalf("%v, %v", all, err)
			}
			return all[p.info.ID]
		}
		refused := transaction(1)
		r.verdict[refused.TxHash()] = &messages.TxReject{Kind: messages.TxPolicy}
		p.says(refused)
		if s := state(); s.MinFeeFilter != btcutil.Amount(7) || !s.LastTx.IsZero() {
			t.Errorf("%+v", s)
		}
		p.says(wire.NewMsgFeeFilter(21_000_000 * 100_000_000))
		p.says(transaction(2))
		if s := state(); s.MinFeeFilter != 21_000_000*100_000_000 || !s.LastTx.Equal(time.Now()) {
			t.Errorf("%+v", s)
		}
	})
}

// Peers are sent the rate of the pool, rounded, where it is above what is relayed, and never less; the same rate is
// sent once.
func TestToldFeeRates(t *testing.T) {
	for _, c := range []struct {
		minFee int64
		want   []int64 // any of these
	}{{0, []int64{100}}, {100, []int64{100}}, {101, []int64{100, 107}}, {5000, []int64{4850, 5335}}} {
		synctest.Test(t, func(t *testing.T) {
			r := newRigWith(t, 0, func(r *rig, _ *relay.Config) { r.minFee = c.minFee })
			p := r.join(p2p.OutboundFullRelay)
			time.Sleep(40 * time.Minute)
			other := func(f int64) bool { return !slices.Contains(c.want, f) }
			if len(p.filters) == 0 || slices.ContainsFunc(p.filters, other) ||
				len(slices.Compact(slices.Clone(p.filters))) != len(p.filters) {
				t.Errorf("%d: sent %v, want of %v", c.minFee, p.filters, c.want)
			}
		})
	}
}

// Peers are sent another rate of the pool when it is their time, not of the one at the start.
func TestToldNewFeeRate(t *testing.T) {
	bubble(t, func(r *rig) {
		p := r.join(p2p.OutboundFullRelay)
		time.Sleep(time.Minute)
		synctest.Wait()
		r.minFee = 5000
		time.Sleep(2 * time.Hour)
		if last := p.filters[len(p.filters)-1]; p.filters[0] != 100 || last != 4850 && last != 5335 {
			t.Errorf("sent %v", p.filters)
		}
	})
}

// Only so many of the last blocks are read when the chain has moved far.
func TestLastBlocksAreRead(t *testing.T) {
	bubble(t, func(r *rig) {
		p := r.join(p2p.OutboundFullRelay)
		first := r.chain.Active().Height() + 1
		for range 13 {
			r.chain.Mine(chaintest.Template{Time: time.Now()})
		}
		tip := r.chain.Active().Tip()
		r.tip.Publish(messages.TipChanged{Hash: tip.Hash, Height: tip.Height})
		synctest.Wait()
		for height, want := range map[int32]bool{first: true, first + 1: false, first + 12: false} {
			p.says(inv(blockOf(r, height).Transactions[0]))
			if got := p.got(); (len(got) == 1) != want {
				t.Errorf("block %d: sent %v, asks for what it holds: %v", height, got, want)
			}
		}
	})
}

// The state of a peer tells how many transactions are to be announced to it, and the pool's number of the next change
// at the latest announcement.
func TestDescribeAnnounced(t *testing.T) {
	bubble(t, func(r *rig) {
		p, silent := r.join(p2p.Inbound), r.join(p2p.BlockRelayOnly)
		check := func(lastInv uint64, left int) {
			t.Helper()
			all, err := ask.Ask(r.t.Context(), r.ref, nodemsg.GetPeerRelay{})
			if s := all[p.info.ID]; err != nil || s.LastInv != lastInv || s.ToAnnounce != left {
				t.Errorf("%+v, %v, want %d, %d", s, err, lastInv, left)
			}
			if s := all[silent.info.ID]; s.LastInv != 0 || s.ToAnnounce != 0 {
				t.Errorf("a peer that hears of none: %+v", s)
			}
		}
		check(1, 0)
		tx := transaction(1)
		id, wid := tx.TxHash(), tx.WitnessHash()
		r.feed.Publish(messages.PoolChanged{
			Changes: []messages.PoolChange{
				{Tx: tx, ID: id, WID: wid, Fee: 1000, VSize: 100, Added: true, Sequence: 1, Number: 41},
			},
			Announce: []messages.RelayTx{{ID: id, WID: wid}},
		})
		check(1, 1)
		time.Sleep(10 * time.Minute)
		check(42, 0)
	})
}
