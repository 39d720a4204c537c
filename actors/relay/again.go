package relay

import (
	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
)

// work is what is judged again on behalf of a peer, one orphan at a time: so no peer with many orphans holds up the
// transactions of others.
type work struct {
	atPool bool    // one is being judged
	after  []*peer // whose messages end when it is judged
}

// A reviewer is the actor where it has orphans judged again.
type reviewer struct{ *Relay }

// adopt has the orphans judged again that spend from a transaction which came into the pool.
func (r reviewer) adopt(c actor.Context, tx *wire.MsgTx) {
	r.judgeAgain(c, r.orphans.reconsider(tx)...)
}

// judgeAgain has the next orphan judged of each of some peers. A message of a peer ends when the peer has none left.
func (r reviewer) judgeAgain(c actor.Context, peers ...int64) {
	for _, id := range peers {
		p := r.peers[id]
		if p == nil || p.work.atPool {
			continue
		}
		one := r.orphans.next(id)
		if one == nil {
			r.readOn(p)
			continue
		}
		p.work.atPool = true
		ask.Then(r.ctx, c, r.cfg.Pool, nodemsg.OfferTx{Tx: one.tx}, func(_ messages.Done, err error) any {
			return judged{tx: one.tx, peer: id, err: err, orphan: true}
		})
	}
}

// judgedAgain goes on with the orphans of a peer.
func (r reviewer) judgedAgain(c actor.Context, id int64) {
	p := r.peers[id]
	if p == nil {
		return // which nobody waits for any more
	}
	p.work.atPool = false
	r.release(p)
	r.judgeAgain(c, id)
}

// release ends the waiting of others for an orphan of a peer.
func (r reviewer) release(p *peer) {
	after := p.work.after
	p.work.after = nil
	for _, other := range after {
		other.waits--
		r.readOn(other)
	}
}

// settle has the message of a peer end when the orphans are judged that it has let in: all of the peer, and one of each
// other peer. So the peer's next message finds the effects, as in Core, where peers take turns.
func (r reviewer) settle(p *peer) {
	p.settling = true
	for _, other := range r.peers {
		if other != p && other.work.atPool {
			other.work.after = append(other.work.after, p)
			p.waits++
		}
	}
	r.readOn(p)
}

// readOn ends the message of a peer if nothing is left to wait for.
func (reviewer) readOn(p *peer) {
	if p.settling && p.waits == 0 && !p.work.atPool {
		p.settling = false
		p.handled()
	}
}
