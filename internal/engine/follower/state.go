package follower

import (
	"fmt"
	"sync"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/corenode"
	"github.com/seed61375155/trawl/messages"
)

// state is what [Engine.State] tells, as far as it is kept.
type state struct {
	mu  sync.Mutex
	now messages.AttachState
}

// State implements engine.Follower.
func (e *Engine) State() messages.AttachState {
	e.state.mu.Lock()
	now := e.state.now
	e.state.mu.Unlock()
	fine := now.Phase != messages.AttachAway && now.Phase != messages.AttachOther
	if since, silent := e.core.Silent(); silent && fine {
		now.Phase, now.Since, now.Reason = messages.AttachAway, since, errSilent.Error()
	}
	tip := e.tree.Active().Tip()
	now.Tip = messages.BlockID{Hash: tip.Hash, Height: tip.Height}
	if now.Node.Tip != tip.Hash {
		now.Lag = max(0, now.Node.Blocks-tip.Height)
	}
	c := &e.source.counts
	now.Verified, now.Refused = e.verified.Load(), e.refused.Load()
	now.Files = e.source.files.Load() != nil
	now.Sources = []messages.AttachSource{
		{Name: "files", Blocks: c.blocks.files.Load(), Undo: c.undo.files.Load(), Filters: c.filters.files.Load()},
		{Name: "rest", Blocks: c.blocks.rest.Load(), Undo: c.undo.rest.Load(), Filters: c.filters.rest.Load()},
		{Name: "rpc", Blocks: c.blocks.rpc.Load(), Undo: c.undo.rpc.Load(), Filters: c.filters.rpc.Load()},
	}
	return now
}

// errSilent is why a Core is away that was not noticed to be by the engine itself yet.
var errSilent = fmt.Errorf("%w: no reply in time", corenode.ErrAway)

func (s *state) begin(e *Engine) {
	s.now = messages.AttachState{
		Phase: messages.AttachStarting, Since: time.Now(), Node: messages.AttachedNode{Address: e.core.Address()},
	}
}

// enter notes the phase and, unless err is nil, why it is no good one.
func (s *state) enter(e *Engine, phase messages.AttachPhase, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now.Reason = ""
	switch {
	case err != nil:
		s.now.Reason = err.Error()
	case phase == messages.AttachHolding:
		s.now.Reason = "Bitcoin Core is behind where it was"
	}
	if s.now.Phase == phase {
		return
	}
	s.now.Phase, s.now.Since = phase, time.Now()
	if phase == messages.AttachHeaders { // the others are told by whoever asked
		e.log.Info("reading headers from Bitcoin Core", "height", e.tree.Active().Height(), "blocks", s.now.Node.Blocks)
	}
}

// setCore notes what Core is.
func (s *state) setCore(info *corenode.Info) {
	_, filters := info.Indexes[corenode.FilterIndex]
	s.mu.Lock()
	defer s.mu.Unlock()
	node := &s.now.Node
	node.Version, node.Subversion = info.Version, info.Subversion
	node.REST, node.FilterIndex = info.REST, filters
}

// setChain notes where Core is.
func (s *state) setChain(info *corenode.ChainInfo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	node := &s.now.Node
	node.Chain, node.Tip = info.Chain, chainhash.Hash(info.BestBlockHash)
	node.Blocks, node.Headers, node.InitialDownload = info.Blocks, info.Headers, info.InitialBlockDownload
	node.PruneHeight = nil
	if info.Pruned {
		node.PruneHeight = info.PruneHeight
	}
}
