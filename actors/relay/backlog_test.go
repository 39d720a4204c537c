package relay_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/actors/relay"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/peerhandle"
	"github.com/seed61375155/trawl/messages"
)

// rated is a rig that announces so many transactions a second.
func rated(t *testing.T, rate int, test func(r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newRigWith(t, 0, func(_ *rig, c *relay.Config) { c.SendRate = rate })
		test(r)
		r.leave()
	})
}

func (r *rig) sending() nodemsg.TxSending {
	r.t.Helper()
	s, err := ask.Ask(r.t.Context(), r.ref, nodemsg.GetTxSending{})
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

// flood takes transactions in, of which the last pays most.
func (r *rig) flood(n int) (wids []chainhash.Hash) {
	synctest.Wait() // the pool may be asked
	for range n {
		tx := transaction(uint32(1000 + len(r.arrived)))
		r.takeIn(tx, false)
		wids = append(wids, tx.WitnessHash())
	}
	r.mu.Lock()
	r.order = slices.Clone(r.arrived)
	slices.Reverse(r.order)
	r.mu.Unlock()
	synctest.Wait()
	return wids
}

// all returns what was announced to a peer.
func (p *remote) all() (list []chainhash.Hash) {
	for _, one := range p.announced() {
		list = append(list, one...)
	}
	return list
}

// Announcements go out in the order in which transactions are mined, however they came.
func TestBestFirst(t *testing.T) {
	rated(t, 14, func(r *rig) {
		p := r.join(p2p.OutboundFullRelay)
		r.flood(100)
		time.Sleep(time.Minute)
		lists := p.announced()
		if len(lists) != 1 || !slices.Equal(lists[0], r.order) {
			t.Errorf("announced %d messages", len(lists))
		}
		synctest.Wait()
		r.fails = messages.ErrNodeAway // then as they came
		wids := r.flood(3)
		time.Sleep(time.Minute)
		if lists := p.announced(); len(lists) != 1 || !slices.Equal(lists[0], wids) {
			t.Errorf("without the pool: announced %v", lists)
		}
	})
}

// More than a burst of thirty seconds waits, the best go first, and what has left the pool meanwhile is not announced.
func TestFlood(t *testing.T) {
	for _, typ := range []p2p.ConnectionType{p2p.Inbound, p2p.OutboundFullRelay} {
		rated(t, 2, func(r *rig) {
			p := r.join(typ)
			inbound := func() nodemsg.TxBacklog {
				if s := r.sending(); typ == p2p.Inbound {
					return s.Inbound
				}
				return r.sending().Outbound
			}
			wids := r.flood(80)
			if b := inbound(); b.Waiting != 20 || b.Txs != 0 || r.sending().Rate != 2 {
				t.Fatalf("waiting: %+v", b)
			}
			leave := func(wids ...chainhash.Hash) {
				synctest.Wait()
				for _, wid := range wids {
					r.feed.Publish(messages.PoolChanged{Changes: []messages.PoolChange{
						{WID: wid, Reason: messages.PoolReplaced, Sequence: 1},
					}})
				}
				isGone := func(wid chainhash.Hash) bool { return slices.Contains(wids, wid) }
				r.mu.Lock()
				defer r.mu.Unlock()
				r.order = slices.DeleteFunc(r.order, isGone)
			}
			leave(wids[79])
			if typ == p2p.Inbound {
				time.Sleep(4 * time.Second)
				if b := inbound(); b.Waiting != 20 || b.Txs < 7 {
					t.Errorf("a few at a time: %+v", b)
				}
				time.Sleep(2500 * time.Millisecond)
				if b := inbound(); b.Waiting != 9 {
					t.Errorf("after six seconds: %+v", b)
				}
				leave(wids[60:69]...) // the others were handed out
			}
			time.Sleep(2 * time.Minute)
			if got := p.all(); len(got) != len(r.order) || inbound().Waiting != 0 {
				t.Errorf("announced %d of %d, left %+v", len(got), len(r.order), inbound())
			}
		})
	}
}

// A transaction that no peer lacks costs nothing. A peer that is never banned has no limit. Each direction has its own.
func TestLimitsCount(t *testing.T) {
	rated(t, 1, func(r *rig) {
		r.flood(40)
		if s := r.sending(); s.Inbound.Waiting+s.Outbound.Waiting != 0 || s.Inbound.Txs != 30 || s.Outbound.Txs != 30 {
			t.Errorf("without peers: %+v", s)
		}
		trusted := r.joinWith(p2p.Inbound, func(i *peerhandle.Info) { i.Permissions.NoBan = true })
		r.flood(40)
		time.Sleep(time.Second)
		if n, s := len(trusted.all()), r.sending(); n != 40 || s.Inbound.Txs != 30 {
			t.Errorf("a trusted peer was told of %d; %+v", n, s)
		}
		p := r.join(p2p.Inbound)
		tx := transaction(1)
		p.says(inv(tx))
		r.takeIn(tx, false)
		if s := r.sending(); s.Inbound.Txs != 30 {
			t.Errorf("what the peer has: %+v", s)
		}
		before := r.sending().Inbound.Bytes
		other := transaction(2)
		r.takeIn(other, false)
		s := r.sending()
		if s.Inbound.Txs != 29 || s.Outbound.Txs != 30 || before-s.Inbound.Bytes != float64(other.SerializeSize()) {
			t.Errorf("what the peer lacks: %+v", s)
		}
		time.Sleep(time.Hour)
		if s := r.sending(); s.Inbound.Txs != 30 || s.Outbound.Txs != 30 || s.Inbound.Bytes != 50e6 {
			t.Errorf("after an hour: %+v", s)
		}
	})
}

// Large transactions wait although few came.
func TestLargeFlood(t *testing.T) {
	rated(t, 1000, func(r *rig) {
		p := r.join(p2p.Inbound)
		for range 150 {
			tx := transaction(uint32(1000 + len(r.arrived)))
			tx.TxIn[0].Witness[0] = make([]byte, 100_000)
			r.takeIn(tx, false)
		}
		synctest.Wait()
		if s := r.sending(); s.Inbound.Waiting != 30 {
			t.Errorf("%+v", s.Inbound)
		}
		time.Sleep(10 * time.Minute)
		if s := r.sending(); s.Inbound.Waiting != 0 || len(p.all()) != 150 {
			t.Errorf("later: %+v", s.Inbound)
		}
	})
}
