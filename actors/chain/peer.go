package chain

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/engine"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
)

// peerSyncEvery is how often blocks of peers are made to survive a loss of power.
// Later blocks are then asked of the peers again.
const peerSyncEvery = 5 * time.Second

// fromPeer makes the handler of what a peer has sent, which comes after the requests.
func fromPeer[Q messages.Request[R], R any](jobOf func(*Chain, *ask.Call[Q, R]) job) ask.Handler[*Chain] {
	return ask.On(func(s *Chain, c actor.Context, m *ask.Call[Q, R]) {
		s.blocks = append(s.blocks, jobOf(s, m))
		s.next(c)
	})
}

func (s *Chain) acceptBlocks(m *ask.Call[nodemsg.AcceptBlocks, nodemsg.AcceptedBlocks]) job {
	return (&batch{chain: s, call: m}).step
}

// written makes the handler that answers when the work is in the hands of the
// operating system: one sync for each block would take longer than the block. Work
// that nobody waits for is left out.
func written[Q messages.Request[R], R any](work func(engine.Engine, *Q) (R, error)) ask.Handler[*Chain] {
	return fromPeer(func(s *Chain, m *ask.Call[Q, R]) job {
		return func(e engine.Engine) (func(), error) {
			select {
			case <-m.Ctx.Done():
				return nil, nil
			default:
			}
			got, err := work(e, &m.Req)
			answer := func() { m.Answer(got, err) }
			if err != nil && !rejected(err) {
				return answer, err
			}
			return answer, s.syncSometimes(e)
		}
	})
}

// syncSometimes makes what peers sent survive a loss of power, if it is time to.
func (s *Chain) syncSometimes(e engine.Engine) error {
	if time.Since(s.synced) < peerSyncEvery {
		return nil
	}
	s.synced = time.Now()
	return e.Sync()
}

// restore stores a block again, where the engine prunes.
func restore(e engine.Engine, q *nodemsg.RestoreBlock) (messages.Done, error) {
	if r, ok := e.(engine.Restorer); ok {
		return messages.Done{}, r.Restore(q.Raw)
	}
	return messages.Done{}, &messages.RejectError{Reason: "duplicate"}
}

// recoverWitnesses takes a block again, where the engine deletes witnesses.
func recoverWitnesses(e engine.Engine, q *nodemsg.RecoverWitnesses) (messages.Done, error) {
	if r, ok := e.(engine.Restorer); ok {
		return messages.Done{}, r.Recover(q.Raw)
	}
	return messages.Done{}, &messages.RejectError{Reason: "duplicate"}
}

func acceptHeaders(e engine.Engine, q *nodemsg.AcceptHeaders) (nodemsg.AcceptedHeaders, error) {
	last, added, err := e.AcceptHeaders(q.Headers)
	if err != nil || last == nil {
		return nodemsg.AcceptedHeaders{New: added}, err
	}
	return nodemsg.AcceptedHeaders{Last: last.Hash, New: added}, nil
}
