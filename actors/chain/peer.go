package chain

import (
	"time"

	"github.com/seed61375155/trawl/internal/engine"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
)

// peerSyncEvery is how often blocks of peers are made to survive a loss of power.
// What comes after is asked of the peers again.
const peerSyncEvery = 5 * time.Second

// peerJob returns the work on what a peer has sent.
func (s *Chain) peerJob(msg any) job {
	switch m := msg.(type) {
	case *acceptBlocks:
		return (&batch{chain: s, call: m}).step
	case *restoreBlock:
		return s.written(func(e engine.Engine) (func(), error) {
			err := restore(e, m.Req.Raw)
			return func() { m.Answer(messages.Done{}, err) }, err
		}, m.Ctx.Done())
	case *recoverBlock:
		return s.written(func(e engine.Engine) (func(), error) {
			err := recoverWitnesses(e, m.Req.Raw)
			return func() { m.Answer(messages.Done{}, err) }, err
		}, m.Ctx.Done())
	case *headers:
		return s.written(func(e engine.Engine) (func(), error) {
			accepted, err := acceptHeaders(e, m.Req.Headers)
			return func() { m.Answer(accepted, err) }, err
		}, m.Ctx.Done())
	}
	return nil
}

// written makes the job that answers when the work is in the hands of the
// operating system: one sync for each block would take longer than the block. Work
// that nobody waits for is left out.
func (s *Chain) written(work func(engine.Engine) (answer func(), err error), gone <-chan struct{}) job {
	return func(e engine.Engine) (func(), error) {
		select {
		case <-gone:
			return nil, nil
		default:
		}
		answer, err := work(e)
		if err != nil && !rejected(err) {
			return answer, err
		}
		return answer, s.syncSometimes(e)
	}
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
func restore(e engine.Engine, raw []byte) error {
	if r, ok := e.(engine.Restorer); ok {
		return r.Restore(raw)
	}
	return &messages.RejectError{Reason: "duplicate"}
}

// recoverWitnesses takes a block again, where the engine deletes witnesses.
func recoverWitnesses(e engine.Engine, raw []byte) error {
	if r, ok := e.(engine.Restorer); ok {
		return r.Recover(raw)
	}
	return &messages.RejectError{Reason: "duplicate"}
}

func acceptHeaders(e engine.Engine, raw [][]byte) (nodemsg.AcceptedHeaders, error) {
	last, added, err := e.AcceptHeaders(raw)
	if err != nil || last == nil {
		return nodemsg.AcceptedHeaders{New: added}, err
	}
	return nodemsg.AcceptedHeaders{Last: last.Hash, New: added}, nil
}
