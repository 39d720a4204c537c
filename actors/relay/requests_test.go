package relay

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/peerhandle"
)

// FuzzRequests does what peers may do in any order: what is kept of their
// announcements agrees, and no transaction is asked of two peers at a time.
func FuzzRequests(f *testing.F) {
	f.Add([]byte{0, 1, 2, 0, 0x11, 3, 0x22, 1, 0x33, 2, 4, 5})
	f.Add([]byte{0, 0, 0, 0x10, 0x50, 0x50, 0x20, 0x50, 0x40, 0x31, 0x50})
	f.Fuzz(func(t *testing.T, steps []byte) { doRequests(t, steps) })
}

// The same in some orders by chance.
func TestRequestsInAnyOrder(t *testing.T) {
	for seed := range uint64(100) {
		random := rand.New(rand.NewPCG(seed, 2))
		steps := make([]byte, 100)
		for i := range steps {
			steps[i] = byte(random.Uint32())
		}
		doRequests(t, steps)
	}
}

// doRequests has four peers announce four transactions, fail, leave, and be asked.
func doRequests(t *testing.T, steps []byte) {
	t.Helper()
	q, now := newRequests(), time.Unix(1, 0)
	peers := make([]*peer, 4)
	for i := range peers {
		peers[i] = newTestPeer(int64(i))
	}
	for i, step := range steps {
		p, hash := peers[step&3], chainhash.Hash{step >> 2 & 3}
		switch step >> 4 & 7 {
		case 0, 1:
			q.announced(p, hash, true, now.Add(time.Duration(step&1)*time.Second))
		case 2:
			if q.forget(hash); q.byHash[hash] != nil {
				t.Fatalf("step %d: it is wanted still", i)
			}
		case 3:
			if w := p.announced[hash]; w != nil {
				q.failed(w, p)
			}
		case 4:
			q.drop(p)
			peers[step&3] = newTestPeer(int64(100 + i))
		default:
			now = now.Add(time.Duration(step&0xf) * 10 * time.Second)
			for p, list := range q.next(now) {
				for _, w := range list {
					if w.asked == nil || w.asked.peer != p || w.asked.ready.After(now) ||
						!w.due.Equal(now.Add(requestTimeout)) {
						t.Fatalf("step %d: a peer is asked that may not be", i)
					}
				}
			}
			for _, w := range q.byHash {
				if !w.due.After(now) {
					t.Fatalf("step %d: something is due that was not done", i)
				}
			}
		}
		if err := q.check(peers); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
	}
}

func newTestPeer(id int64) *peer {
	typ := p2p.Inbound
	if id%2 == 0 {
		typ = p2p.OutboundFullRelay
	}
	return &peer{info: peerhandle.Info{ID: id, Type: typ}, announced: make(map[chainhash.Hash]*txRequest)}
}

// check compares what is kept in several places.
func (q *requests) check(peers []*peer) error {
	flights := make(map[*peer]int)
	announcers := make(map[*peer]int)
	for hash, w := range q.byHash {
		if len(w.from) == 0 || w.place < 0 || q.queue[w.place] != w {
			return fmt.Errorf("%v is wanted of nobody, or not in the queue", hash)
		}
		asked := w.asked == nil
		for _, o := range w.from {
			announcers[o.peer]++
			asked = asked || o == w.asked
			if o.peer.announced[hash] != w {
				return fmt.Errorf("%v: peer %d does not know of its offer", hash, o.peer.info.ID)
			}
		}
		if !asked {
			return fmt.Errorf("%v is asked of a peer that does not offer it", hash)
		}
		if w.asked != nil {
			flights[w.asked.peer]++
		}
	}
	for i, w := range q.queue {
		if i > 0 && q.queue.Less(i, (i-1)/2) {
			return fmt.Errorf("%v is not where it belongs in the queue", w.hash)
		}
		if w.asked != nil {
			continue
		}
		for _, o := range w.from {
			if o.ready.Before(w.due) {
				return fmt.Errorf("%v is due after a peer may be asked", w.hash)
			}
		}
	}
	if len(q.queue) != len(q.byHash) {
		return fmt.Errorf("%d in the queue, %d wanted", len(q.queue), len(q.byHash))
	}
	for _, p := range peers {
		if p.inFlight != flights[p] || len(p.announced) != announcers[p] {
			return fmt.Errorf("peer %d: %d in flight and %d offers, want %d and %d",
				p.info.ID, p.inFlight, len(p.announced), flights[p], announcers[p])
		}
	}
	return nil
}
