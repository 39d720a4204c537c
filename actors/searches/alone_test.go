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

// probed has a probe get what a state sends itself. What workers leave is done in the probe: wait for it. It is for
// bubbles.
func probed(t *testing.T, s *Searches) *actortest.Probe {
	t.Helper()
	sys := actortest.New(t)
	p := sys.Probe("searches")
	s.c = mailbox{pid: p.PID(), system: sys.Root.ActorSystem()}
	return p
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

// called returns a request as the actor gets it, and where its answer comes.
func called[Q messages.Request[R], R any](
	ctx context.Context, p *actortest.Probe, q Q,
) (call *ask.Call[Q, R], answers chan answer[R]) {
	answers = make(chan answer[R], 1)
	go func() {
		val, err := ask.Ask(ctx, p.Ref, q)
		answers <- answer[R]{val, err}
	}()
	return actortest.Expect[*ask.Call[Q, R]](p), answers
}

// answered returns the answer that has come.
func answered[R any](t *testing.T, answers chan answer[R]) (a answer[R]) {
	t.Helper()
	synctest.Wait()
	select {
	case a = <-answers:
	default:
		t.Fatal("no answer has come")
	}
	return a
}

// unanswered reports an answer that has come.
func unanswered[R any](t *testing.T, answers chan answer[R]) {
	t.Helper()
	synctest.Wait()
	select {
	case a := <-answers:
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
