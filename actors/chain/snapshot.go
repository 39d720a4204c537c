package chain

import (
	"context"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/engine"
	"github.com/seed61375155/trawl/messages"
)

// A reading is a file of unspent outputs that is read beside the engine, which goes on meanwhile.
type reading struct {
	call     *ask.Call[messages.LoadSnapshot, messages.LoadedSnapshot]
	snapshot engine.Snapshot
}

// loadSnapshot has the engine look at a file. It is read when the engine agrees, and then used, also
// when the caller has gone meanwhile: a file takes longer than many callers wait.
func (s *Chain) loadSnapshot(m *ask.Call[messages.LoadSnapshot, messages.LoadedSnapshot]) job {
	return func(e engine.Engine) (func(), error) {
		select {
		case <-m.Ctx.Done():
			return func() { m.Answer(messages.LoadedSnapshot{}, context.Cause(m.Ctx)) }, nil
		default:
		}
		snapshot, err := e.LoadSnapshot(m.Req)
		after := func() {
			if snapshot == nil {
				m.Answer(messages.LoadedSnapshot{}, err)
				return
			}
			s.toRead = append(s.toRead, reading{m, snapshot})
		}
		if rejected(err) {
			return after, nil
		}
		return after, err
	}
}

// readSnapshots begins to read what is to be read.
func (s *Chain) readSnapshots(c actor.Context) {
	for _, r := range s.toRead {
		s.beside.Go(c, func() func() {
			read := r.snapshot.Read(s.ctx)
			return func() {
				s.queue = append(s.queue, r.use(read))
				s.next(c)
			}
		})
	}
	s.toRead = nil
}

// use returns the job that uses the snapshot that was read, and answers once it is on disk.
func (r reading) use(read error) job {
	return func(e engine.Engine) (func(), error) {
		got, err := r.snapshot.Use(read)
		if err != nil && !rejected(err) {
			return func() { r.call.Answer(got, err) }, err
		}
		failed := e.Sync()
		if failed != nil {
			err = failed
		}
		return func() { r.call.Answer(got, err) }, failed
	}
}
