package peers

import (
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/messages"
)

// maintain makes the connections that are missing.
func (t *Table) maintain(c actor.Context) {
	if t.ctx.Err() != nil {
		return
	}
	t.seed(c)
	if !t.dialer.active {
		return
	}
	t.dialer.connectAdded(time.Now(), func(a *attempt) { t.dial(c, a) })
	t.connectPrivately(c, time.Now())
	if !t.cfg.Automatic {
		return
	}
	t.fallBack()
	if node := t.seeds.dueNode(t.book.addrs.Len(), t.peers.countType(p2p.OutboundFullRelay)); node != "" {
		t.fetchFrom(c, node)
	}
	if a := t.dialer.choose(time.Now()); a != nil {
		t.dial(c, a)
	}
}

// dial begins to connect.
func (t *Table) dial(c actor.Context, a *attempt) {
	t.dialer.start(t.ctx, t.runner(c), a, func(m dialed) { t.dialed(c, m) })
}

// seed asks DNS seeds for addresses, when it is time. A proxy looks up names only to
// connect to them: then, as where the seed has no addresses, the node behind it is asked.
func (t *Table) seed(c actor.Context) {
	known, peers := t.book.addrs.Len(), t.peers.countType(p2p.OutboundFullRelay)
	name := t.seeds.dueName(time.Now(), known, peers, t.dialer.active)
	switch {
	case name == "":
	case t.cfg.NameProxy:
		t.seeds.answered(0)
		t.fetchFrom(c, name)
	default:
		t.tasks.Go(c, func() func() {
			list := t.seeds.lookUp(t.ctx, name)
			return func() { t.seeded(c, name, list) }
		})
	}
}

// seeded takes the addresses that a DNS seed has.
func (t *Table) seeded(c actor.Context, name string, list []codec.Address) {
	t.seeds.answered(len(list))
	for _, a := range list {
		t.book.store([]codec.Address{a}, a.Addr, 0)
	}
	if len(list) == 0 {
		t.fetchFrom(c, name)
	}
}

// fetchFrom connects to a node for the addresses that it knows.
func (t *Table) fetchFrom(c actor.Context, node string) {
	t.dial(c, &attempt{node: node, typ: p2p.AddrFetch, v2: t.cfg.V2})
}

func (t *Table) connectOnce(c actor.Context, m *ask.Call[messages.ConnectPeer, messages.Done]) {
	typ, ok := connectionType(m.Req.Type)
	if !ok || !t.dialer.mayStart(typ) {
		m.Answer(messages.Done{}, messages.ErrNoSlot)
		return
	}
	t.dial(c, &attempt{
		node: m.Req.Node, typ: typ, v2: t.dialer.wantsV2(m.Req.V2), done: func(err error) {
			if err != nil {
				t.debugf("no connection to %s: %v", m.Req.Node, err)
			}
			m.Answer(messages.Done{}, nil)
		},
	})
}

// dialed enters a connection that was made.
func (t *Table) dialed(c actor.Context, m dialed) {
	err := t.dialer.finish(m)
	if m.attempt.typ == p2p.PrivateBroadcast {
		t.private.dialed(m.attempt, err)
	}
	if err == nil {
		e := &entry{
			name: m.attempt.name(), addr: m.addr, typ: m.attempt.typ, archive: m.attempt.archive, attempt: m.attempt,
		}
		if e.typ != p2p.PrivateBroadcast {
			e.allowed = t.permissions(e)
		}
		t.add(c, m.conn, e, m.attempt.v2)
		t.connectPrivately(c, time.Now())
	}
	m.attempt.end(err)
}

// A ClockSet notifies the table that the clock was set, so that work that is due by the new time
// is done.
type ClockSet struct{}

// clockSet does what is due by a clock that was set.
func (t *Table) clockSet() {
	for _, e := range t.peers {
		_ = e.session.Tick() // ends itself
	}
	t.addrs.sendDue()
}

// A tick is the time to look after connections.
type tick struct{ handled func() }

// interval is how often the table looks after its connections.
const interval = 500 * time.Millisecond

// tick has the table look after its connections every interval. No further tick is sent until
// the last has been handled.
func (t *Table) tick(c actor.Context) {
	to, ctx := t.self, t.ctx
	t.tasks.Go(c, func() func() {
		var waiting atomic.Bool
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-ticker.C:
				if waiting.CompareAndSwap(false, true) {
					to.tell(tick{func() { waiting.Store(false) }})
				}
			}
		}
	})
}
