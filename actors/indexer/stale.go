package indexer

import (
	"errors"
	"slices"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/messages"
)

// staleBuild builds filters of blocks that somebody waits for and that are not in the
// active chain. It works when the index is in step with that, and the follower is paused
// meanwhile.
type staleBuild struct {
	worker ask.Tasks // at most one
	tips   bool      // a tip was announced since the worker began
}

// buildStale starts to build what is missing up to a block that somebody waits for.
func (i *Indexer) buildStale(c actor.Context) {
	reader := i.cfg.Chain.Open()
	target := i.staleTarget(reader)
	if target == nil || i.stale.worker.Len() > 0 || i.wrong.worker.Len() > 0 {
		return
	}
	i.stale.tips = false
	i.stale.worker.Go(c, func() func() {
		b := batch{cfg: &i.cfg, reader: reader, blocks: i.missingBelow(target)}
		_, err := b.run(i.ctx)
		return func() { i.staleBuilt(c, target, err) }
	})
}

// staleTarget returns a block that a caller waits for although it left the active chain before
// its filter was built, nil when there is none.
func (i *Indexer) staleTarget(reader chainview.Reader) *chainview.Block {
	for _, call := range i.waiting {
		if call.Ctx.Err() == nil && !i.indexed(&call.Req.Block) {
			return reader.Lookup(&call.Req.Block)
		}
	}
	return nil
}

// missingBelow returns the lowest blocks without a filter on the chain that ends in
// target, as many as fit a batch.
func (i *Indexer) missingBelow(target *chainview.Block) []*chainview.Block {
	var missing []*chainview.Block
	for b := target; b != nil && !i.indexed(&b.Hash); b = b.Parent {
		missing = append(missing, b)
	}
	slices.Reverse(missing)
	return missing[:min(len(missing), batchBlocks)]
}

// staleBuilt goes on after the worker.
func (i *Indexer) staleBuilt(c actor.Context, target *chainview.Block, err error) {
	switch {
	case errors.Is(err, chainview.ErrClosed):
		if !i.stale.tips {
			return // the chain's actor opens it again, and announces its tip then
		}
	case err != nil:
		i.refuse(target, err)
	}
	i.answerWaiting(c)
	i.follower.Wake(c)
}

// refuse answers callers that wait for a block of a branch that was never connected: the data
// for its filter is missing.
func (i *Indexer) refuse(target *chainview.Block, err error) {
	for _, call := range i.waiting {
		if call.Req.Block == target.Hash {
			call.Answer(messages.Done{}, err)
		}
	}
	i.waiting = slices.DeleteFunc(i.waiting, func(call *wait) bool { return call.Req.Block == target.Hash })
}
