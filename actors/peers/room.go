package peers

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/internal/p2p"
)

// A merit is what is known of the guests when one of them must go: what the
// actors of blocks and transactions know of them.
type merit struct {
	accepted accepted
	sync     map[int64]nodemsg.PeerSync
	relay    map[int64]nodemsg.PeerRelay
	asked    int // of the two actors
}

// makeRoom finds out about the guests, then evicts one for a connection that is
// there already, and takes that.
func (t *Table) makeRoom(c actor.Context, m merit) {
	switch {
	case m.asked == 0 && !t.cfg.Sync.IsAbsent():
		ask.Then(t.ctx, c, t.cfg.Sync, nodemsg.GetPeerSync{}, func(got map[int64]nodemsg.PeerSync, _ error) any {
			m.sync, m.asked = got, 1
			return m
		})
	case m.asked <= 1 && !t.cfg.Relay.IsAbsent():
		ask.Then(t.ctx, c, t.cfg.Relay, nodemsg.GetPeerRelay{}, func(got map[int64]nodemsg.PeerRelay, _ error) any {
			m.relay, m.asked = got, 2
			return m
		})
	default:
		defer m.accepted.handled()
		t.evict(m)
		t.take(c, m.accepted, true)
	}
}

// evict ends one of the inbound connections, if one can be spared.
func (t *Table) evict(m merit) {
	guests := t.guests()
	for i := range guests {
		g := &guests[i]
		g.lastBlock, g.lastTx = m.sync[g.id].LastBlock, m.relay[g.id].LastTx
	}
	id, ok := evict(guests)
	if !ok {
		return
	}
	e := t.byID(id)
	t.debugf("selected %s connection for eviction, %s", e.typ, e.disconnecting())
	e.session.Close(errEvicted)
}

const errEvicted closed = "evicted"

// guestCount is how many inbound connections there are that are not about to end.
func (t *Table) guestCount() (n int) {
	for _, e := range t.peers {
		if e.typ == p2p.Inbound && !isClosed(e.session) {
			n++
		}
	}
	return n
}
