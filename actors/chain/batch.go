package chain

import (
	"slices"
	"time"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/cores"
	"github.com/seed61375155/trawl/internal/engine"
	"github.com/seed61375155/trawl/internal/nodemsg"
)

// A batch is blocks of peers on their way into the engine.
type batch struct {
	chain    *Chain
	call     *ask.Call[nodemsg.AcceptBlocks, nodemsg.AcceptedBlocks]
	prefetch *cores.Prefetch[func() error] // checks them; nil: not begun
	refused  []error
}

// step is the job that hands blocks to the engine for importStepTime, then lets requests
// come before the rest. Blocks that nobody waits for are left out.
func (b *batch) step(e engine.Engine) (func(), error) {
	select {
	case <-b.call.Ctx.Done():
		b.end()
		return nil, nil
	default:
	}
	if b.prefetch == nil {
		e.Late() // of earlier requests
		b.prefetch, b.chain.batch = prefetchChecks(e, b.call.Req.Raw), b
	}
	more, err := b.take()
	if more && err == nil {
		return func() { b.chain.blocks = slices.Insert(b.chain.blocks, 0, b.step) }, b.chain.syncSometimes(e)
	}
	b.end()
	if err != nil {
		return func() { b.call.Answer(nodemsg.AcceptedBlocks{}, err) }, err
	}
	got := nodemsg.AcceptedBlocks{Refused: b.refused, Late: e.Late()}
	return func() { b.call.Answer(got, nil) }, b.chain.syncSometimes(e)
}

// end ends the checking.
func (b *batch) end() {
	if b.prefetch != nil {
		b.prefetch.Close()
	}
	b.chain.batch = nil
}

// take hands over the next blocks, and reports whether there are more. The error is the
// engine's.
func (b *batch) take() (more bool, err error) {
	began := time.Now()
	for len(b.refused) < len(b.call.Req.Raw) {
		if time.Since(began) >= importStepTime {
			return true, nil
		}
		accept, ok := b.prefetch.Take(b.chain.ctx.Done())
		if !ok {
			return true, nil // the actor stops
		}
		refused := accept()
		if refused != nil && !rejected(refused) {
			return false, refused
		}
		b.refused = append(b.refused, refused)
	}
	return false, nil
}
