package sync

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/nodemsg"
)

// headersAnswer is what the chain says of headers.
type headersAnswer struct {
	to    *Sync // who asked: an actor that was restarted may get it
	peer  int64
	list  []header
	full  bool // the peer may have more
	isNew bool // the last one was not known
	// they come from a sync of low work, which asks for the next itself
	synced  bool
	compact bool                                      // they come with a compact block
	then    func(actor.Context, *peer) (pending bool) // nil: as headers
	handled func()
	err     error
}

// headersReceived handles headers of a peer, and reports whether that goes on.
func (s *Sync) headersReceived(c actor.Context, p *peer, list []header, handled func()) (pending bool) {
	if !s.chain.imported {
		s.log.debugf("Unexpected headers message received from peer %d", p.info.ID)
		return false
	}
	a, ok := s.headers.received(p, list)
	if !ok {
		s.headers.askForInv(p)
		return false
	}
	a.handled = handled
	s.accept(c, p, a)
	return true
}

// accept asks the chain to take headers.
func (s *Sync) accept(c actor.Context, p *peer, a headersAnswer) {
	p.busy = true
	a.to = s
	s.headersInFlight++
	raw := make([][]byte, len(a.list))
	for i := range a.list {
		raw[i] = a.list[i].Raw
	}
	ask.Then(s.ctx, c, s.cfg.Chain, nodemsg.AcceptHeaders{Headers: raw},
		func(_ nodemsg.AcceptedHeaders, err error) any {
			a.err = err
			return a
		})
}

func (s *Sync) headersAccepted(c actor.Context, a headersAnswer) {
	if a.to != s {
		a.handled()
		return
	}
	s.headersInFlight--
	s.chain.findBest()
	p := s.peers.byID(a.peer)
	if p == nil {
		a.handled()
		s.resume(c)
		return
	}
	last := s.chain.reader.Lookup(&a.list[len(a.list)-1].Hash)
	switch {
	case a.err != nil:
		s.headers.logRefused(p, &a)
		punish(p, a.err, a.compact, s.headers.refusalText(&a))
	case last == nil:
	case a.then != nil:
		if a.then(c, p) {
			a.handled = func() {} // somebody else calls it
		}
	default:
		if a.isNew {
			s.headers.logNew(p, last, "")
		}
		s.extended(p, last, a)
	}
	s.done(c, p, a.handled)
}

// extended goes on after a peer's headers were taken.
func (s *Sync) extended(p *peer, last *chainview.Block, a headersAnswer) {
	if a.full && !a.synced && s.headers.ask(p, last) {
		s.log.debugf(
			"more getheaders (%d) to end to peer=%d (startheight:%d)", last.Height, p.info.ID,
			p.info.Remote.Version.StartHeight,
		)
	}
	if a.isNew {
		s.headers.logHeaders(last)
	}
	s.chain.learn(p, last.Hash)
	s.headers.askForInv(p)
	if s.chain.initialDownload() && !a.full && p.best != nil && p.best.Work().Cmp(s.cfg.MinimumWork) < 0 &&
		p.isAutomatic() {
		s.log.printf("outbound peer headers chain has insufficient work, %s", p.info.Disconnecting())
		p.Disconnect("headers chain has insufficient work")
		return
	}
	s.headers.protect(p)
	s.download.fetchDirectly(p, last)
}
