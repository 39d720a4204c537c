package relay_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/relay"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/bloom"
	"github.com/seed61375155/trawl/internal/p2p/peerhandle"
	"github.com/seed61375155/trawl/messages"
)

// leaves makes transactions leave the pool.
func (r *rig) leaves(reason messages.PoolReason, txs ...*wire.MsgTx) {
	var m messages.PoolChanged
	for _, tx := range txs {
		m.Changes = append(m.Changes, messages.PoolChange{
			Tx: tx, ID: tx.TxHash(), WID: tx.WitnessHash(), Reason: reason,
		})
	}
	r.feed.Publish(m)
}

// later sets the clock forward, and waits until everything that is due then has happened.
func (r *rig) later(d time.Duration) {
	r.ahead.Add(int64(d))
	r.ref.Tell(relay.ClockSet{})
	synctest.Wait()
}

// Transactions that the pool had before are given to peers. They are announced again if they are our own and no peer
// has asked yet.
func TestPoolAtTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		own, other := transaction(1), transaction(2)
		r := newRigWith(t, 0, func(r *rig, _ *relay.Config) {
			for _, tx := range []*wire.MsgTx{own, other} {
				r.contents = append(r.contents, messages.PoolTx{
					Tx: tx, ID: tx.TxHash(), WID: tx.WitnessHash(), Fee: 1000, VSize: 100, Sequence: 1,
					Unbroadcast: tx == own,
				})
			}
		})
		p := r.join(p2p.OutboundFullRelay)
		p.says(getData(other))
		expect[*wire.MsgTx](p)
		r.later(9 * time.Minute)
		p.quiet("before its time")
		r.later(7 * time.Minute)
		if got := p.announced(); len(got) != 1 || !slices.Equal(got[0], []chainhash.Hash{own.WitnessHash()}) {
			t.Errorf("announced %v", got)
		}
	})
}

// A transaction that is announced before it is known to be in the pool, or that has left it, is announced to
// nobody; the relay goes on.
func TestAnnouncedButGone(t *testing.T) {
	bubble(t, func(r *rig) {
		p := r.join(p2p.OutboundFullRelay)
		gone := transaction(1)
		r.feed.Publish(messages.PoolChanged{
			Announce: []messages.RelayTx{{ID: gone.TxHash(), WID: gone.WitnessHash(), Own: true}},
		})
		replaced := transaction(2)
		r.takeIn(replaced, true)
		r.leaves(messages.PoolReplaced, replaced)
		r.later(20 * time.Minute)
		p.quiet("nothing is in the pool")
		r.takeIn(replaced, false) // by a peer now
		time.Sleep(time.Minute)
		expect[*wire.MsgInv](p)
		next := r.join(p2p.OutboundFullRelay)
		r.later(20 * time.Minute)
		next.quiet("it is not our own any more")
	})
}

// A pool that begins anew has nothing of before: not what the last block held, nor what was our own.
func TestPoolBeginsAnew(t *testing.T) {
	bubble(t, func(r *rig) {
		p := r.join(p2p.OutboundFullRelay)
		pooled, mined := transaction(1), transaction(2)
		r.takeIn(pooled, true)
		r.takeIn(mined, false)
		r.leaves(messages.PoolBlock, mined)
		time.Sleep(time.Minute)
		p.got()
		r.feed.Publish(messages.PoolChanged{Reset: true})
		p.says(getData(pooled, mined))
		if got := expect[*wire.MsgNotFound](p).InvList; len(got) != 2 {
			t.Errorf("not found: %v", got)
		}
		r.takeIn(pooled, false)
		late := r.join(p2p.OutboundFullRelay)
		r.later(20 * time.Minute)
		late.quiet("it is not our own any more")
	})
}

// A transaction that comes into the pool from elsewhere is not asked for any more, and waits for no parents.
func TestComesFromElsewhere(t *testing.T) {
	bubble(t, func(r *rig) {
		p, next := r.join(p2p.OutboundFullRelay), r.join(p2p.OutboundFullRelay)
		tx, orphan := transaction(1), transaction(2, transaction(3))
		r.verdict[orphan.TxHash()] = &messages.TxReject{Kind: messages.TxMissingInputs}
		p.says(orphan)
		p.says(inv(tx))
		next.says(inv(tx))
		r.takeIn(tx, false)
		r.takeIn(orphan, false)
		if got := r.orphans(); len(got) != 0 {
			t.Errorf("orphans: %+v", got)
		}
		time.Sleep(2 * time.Minute)
		if got := next.asked(); slices.Contains(got, tx.WitnessHash()) {
			t.Errorf("asked for %v", got)
		}
	})
}

// The whole pool is announced at once to a peer that asks, in its order, without transactions that the peer has or
// that pay too little. Then the peer may ask for any transaction, and gets no announcement again.
func TestWholePool(t *testing.T) {
	bubble(t, func(r *rig) {
		has, cheap := transaction(1), transaction(2)
		p := r.join(p2p.Inbound)
		p.says(has)
		p.says(wire.NewMsgFeeFilter(10_000))
		var want []chainhash.Hash
		for salt := range uint32(20) {
			tx := transaction(10 + salt)
			r.takeIn(tx, false)
			want = append(want, tx.WitnessHash())
		}
		r.takeInAt(cheap, 999)
		p.got()
		p.says(&wire.MsgMemPool{})
		if got := p.announced(); len(got) != 1 || !slices.Equal(got[0], want) {
			t.Errorf("announced %v, want %v", got, want)
		}
		p.says(getData(cheap))
		expect[*wire.MsgTx](p)
		p.says(wire.NewMsgFeeFilter(0))
		time.Sleep(time.Minute)
		p.quiet("its transactions were announced")
	})
}

// A peer may ask at once for transactions that were in the pool when it joined.
func TestMayAskOnceItJoined(t *testing.T) {
	bubble(t, func(r *rig) {
		tx := transaction(1)
		r.takeIn(tx, false)
		p := r.join(p2p.OutboundFullRelay)
		p.says(getData(tx))
		expect[*wire.MsgTx](p)
		p.says(&wire.MsgGetData{})
		p.quiet("it asks for nothing")
	})
}

// Only transactions that the filter lets through are announced to a peer with a filter.
func TestFilteredPeer(t *testing.T) {
	bubble(t, func(r *rig) {
		filter := new(bloom.Filter)
		p := r.joinWith(p2p.Inbound, func(i *peerhandle.Info) { i.Filter = filter })
		wanted, other := transaction(1), transaction(2)
		id := wanted.TxHash()
		filter.Load(&wire.MsgFilterLoad{Filter: make([]byte, 512), HashFuncs: 10})
		if err := filter.Add(id[:]); err != nil {
			t.Fatal(err)
		}
		r.takeIn(wanted, false)
		r.takeIn(other, false)
		time.Sleep(time.Minute)
		want := []chainhash.Hash{wanted.WitnessHash()}
		if got := p.announced(); len(got) != 1 || !slices.Equal(got[0], want) {
			t.Errorf("announced %v, want %v", got, want)
		}
		p.says(&wire.MsgMemPool{})
		p.quiet("nothing else is relevant")
	})
}

// A peer that joins twice is the same peer.
func TestJoinsTwice(t *testing.T) {
	bubble(t, func(r *rig) {
		p := r.join(p2p.OutboundFullRelay)
		if !slices.Equal(p.filters, []int64{100}) {
			t.Errorf("sent the rates %v when it joined", p.filters)
		}
		tx := transaction(1)
		p.says(inv(tx))
		p.got()
		r.ref.Tell(peerhandle.Joined{Peer: p})
		r.takeIn(tx, false)
		time.Sleep(time.Minute)
		p.quiet("it has announced this before")
	})
}

// Outbound peers get announcements after two seconds on average, inbound ones after five.
func TestTimesOfAnnouncements(t *testing.T) {
	for typ, share := range map[p2p.ConnectionType]int{p2p.OutboundFullRelay: 63, p2p.Inbound: 33} {
		bubble(t, func(r *rig) {
			p := r.join(typ)
			count := 0
			for salt := range uint32(200) {
				r.takeIn(transaction(salt), false)
				r.later(2 * time.Second)
				count += len(p.announced())
			}
			if got := count / 2; got < share-17 || got > share+17 {
				t.Errorf("type %v: %d %% are announced in two seconds, want %d", typ, got, share)
			}
		})
	}
}

// All inbound peers get announcements at one time, or, where it is the network's way, those do that came by one address
// of the node. Outbound peers have times of their own.
func TestSharedTimesOfAnnouncements(t *testing.T) {
	for _, apart := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r := newRigWith(t, 0, func(_ *rig, c *relay.Config) { c.Network.Traffic.TimesByAddress = apart })
			come := func(by string) *remote {
				return r.joinWith(p2p.Inbound, func(i *peerhandle.Info) { i.CameBy = by })
			}
			first, same, other := come("a"), come("a"), come("b")
			outbound := r.join(p2p.OutboundFullRelay)
			differs := map[*remote]int{}
			for salt := range uint32(40) {
				r.takeIn(transaction(salt), false)
				for range 80 {
					r.later(500 * time.Millisecond)
					told := len(first.announced()) > 0
					for _, p := range []*remote{same, other, outbound} {
						if (len(p.announced()) > 0) != told {
							differs[p]++
						}
					}
				}
			}
			if differs[same] > 0 || differs[other] > 0 != apart || differs[outbound] == 0 {
				t.Errorf("apart %v: the same %d times, another %d, outbound %d", apart, differs[same], differs[other],
					differs[outbound])
			}
			r.leave()
		})
	}
}

// Without a chain nothing of peers is judged or asked for; both begin once there is a chain.
func TestWithoutChain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		view := new(chainview.Current)
		r := newRigWith(t, 0, func(_ *rig, c *relay.Config) { c.Chain = view })
		p := r.join(p2p.OutboundFullRelay)
		r.tip.Publish(messages.TipChanged{Height: 1})
		p.says(inv(transaction(1)))
		p.says(transaction(2))
		p.quiet("there is no chain")
		if len(r.offered) > 0 || p.handled != 2 {
			t.Errorf("judged %v, handled %d", r.offered, p.handled)
		}
		view.Set(r.chain)
		p.says(inv(transaction(1)))
		expect[*wire.MsgGetData](p)
		first := r.chain.MineN(1)
		r.tip.Publish(messages.TipChanged{Hash: first.Hash, Height: first.Height})
		synctest.Wait()
		second := r.chain.MineN(1)
		r.tip.Publish(messages.TipChanged{Hash: second.Hash, Height: second.Height})
		synctest.Wait()
		p.says(inv(blockOf(r, second.Height).Transactions[0]))
		p.quiet("it is in the chain")
	})
}

// Where no peer knows wtxids, an outbound one is asked at once for what an orphan of its spends from.
func TestParentsAreAskedForAtOnce(t *testing.T) {
	bubble(t, func(r *rig) {
		p := r.joinWith(p2p.OutboundFullRelay, legacy)
		parent := transaction(1)
		child := wire.NewMsgTx(2)
		child.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: parent.TxHash()}})
		r.verdict[child.TxHash()] = &messages.TxReject{Kind: messages.TxMissingInputs}
		p.says(child)
		if got := p.asked(); !slices.Equal(got, []chainhash.Hash{parent.TxHash()}) {
			t.Errorf("asked for %v", got)
		}
	})
}
