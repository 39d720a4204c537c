package searches

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/ctxext"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/search"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/searchdb"
)

// mailbox is the context of a state without its actor: what that sends itself goes to a probe.
type mailbox struct {
	actor.Context

	pid     *actor.PID
	system  *actor.ActorSystem
	message any
}

func (m mailbox) Self() *actor.PID                                    { return m.pid }
func (m mailbox) ActorSystem() *actor.ActorSystem                     { return m.system }
func (m mailbox) Message() any                                        { return m.message }
func (mailbox) Get(ctxext.ContextExtensionID) ctxext.ContextExtension { return nil }

// probe gets what a state sends itself. It takes nothing, and so no worker's end is dealt with, but while the test
// waits: the state is the test's otherwise.
type probe struct {
	*actortest.Probe

	s  *Searches
	on chan struct{} // closed: it goes on
}

// probed has a probe get what a state sends itself. It is for bubbles.
func probed(t *testing.T, s *Searches) *probe {
	t.Helper()
	sys := actortest.New(t)
	p := &probe{Probe: sys.Probe("searches"), s: s}
	s.c = mailbox{pid: p.PID(), system: sys.Root.ActorSystem()}
	p.hold()
	t.Cleanup(func() { close(p.on) })
	return p
}

// hold returns when the probe takes nothing.
func (p *probe) hold() {
	on, held := make(chan struct{}), make(chan struct{})
	ask.Then(context.Background(), p.s.c, nil, messages.GetPoolTxs{}, func(messages.PoolTxs, error) any {
		close(held)
		<-on
		return nil
	})
	<-held
	p.on = on
}

// settle waits until all is done that is to be done now.
func (p *probe) settle() {
	close(p.on)
	synctest.Wait()
	p.hold()
}

// expect returns what the state has sent itself next.
func expect[T any](p *probe) T {
	close(p.on)
	defer p.hold()
	return actortest.Expect[T](p.Probe)
}

// receive has a state take a message, as its actor does.
func (s *Searches) receive(message any) {
	c := s.c.(mailbox)
	c.message = message
	s.Receive(c)
}

// answer is what a caller got.
type answer[R any] struct {
	val R
	err error
}

// coming is an answer that is to come.
type coming[R any] struct {
	p       *probe
	answers chan answer[R]
}

// called returns a request as the actor gets it, and its answer.
func called[Q messages.Request[R], R any](ctx context.Context, p *probe, q Q) (*ask.Call[Q, R], *coming[R]) {
	c := &coming[R]{p, make(chan answer[R], 1)}
	go func() {
		val, err := ask.Ask(ctx, p.Ref, q)
		c.answers <- answer[R]{val, err}
	}()
	return expect[*ask.Call[Q, R]](p), c
}

// answered returns the answer that has come.
func answered[R any](t *testing.T, c *coming[R]) (a answer[R]) {
	t.Helper()
	c.p.settle()
	select {
	case a = <-c.answers:
	default:
		t.Fatal("no answer has come")
	}
	return a
}

// unanswered reports an answer that has come.
func unanswered[R any](t *testing.T, c *coming[R]) {
	t.Helper()
	c.p.settle()
	select {
	case a := <-c.answers:
		t.Errorf("an answer has come: %+v", a)
	default:
	}
}

// listOf is what searches have found, the same for each.
type listOf struct {
	entries []searchdb.Entry
	err     error // that ends it
}

func (l listOf) Entries(
	_ searchdb.ID, after, to searchdb.Place, visit func(searchdb.Place, *search.Entry) bool,
) error {
	for i := range l.entries {
		if e := &l.entries[i]; after.Less(e.Place) && !to.Less(e.Place) && !visit(e.Place, &e.Entry) {
			return nil
		}
	}
	return l.err
}
