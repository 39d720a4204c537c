package follower

import (
	"context"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/corenode"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/attachdb"
)

// ErrOther reports a node that cannot be followed: it is on another chain, or breaks the
// rules of this one.
var ErrOther = errors.New("this is not the chain of this node")

// A refusal is an error about the other node. It implements [messages.Refusal], so that
// it does not end this one.
type refusal struct{ error }

// AboutRequest implements messages.Refusal.
func (refusal) AboutRequest() {}

// Unwrap returns what has happened.
func (r refusal) Unwrap() error { return r.error }

// Is reports whether target says what r does in the words of messages.
func (r refusal) Is(target error) bool {
	return target == messages.ErrNodeAway && errors.Is(r.error, corenode.ErrAway)
}

// aboutCore tells errors of the other node from those of the engine.
func aboutCore(err error) bool {
	var answer *corenode.Error
	for _, is := range []error{
		corenode.ErrAway, corenode.ErrForbidden, corenode.ErrNoREST, corenode.ErrReply,
		ErrOther, errUnlinked, errHeader,
	} {
		if errors.Is(err, is) {
			return true
		}
	}
	return errors.As(err, &answer)
}

// Follow implements engine.Follower. An error about Core wraps [messages.ErrNodeAway],
// [corenode.ErrForbidden], [corenode.ErrReply] or [ErrOther].
func (e *Engine) Follow(ctx context.Context) error {
	phase, err := e.follow(ctx)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil && !aboutCore(err):
		return err
	}
	if failed := e.flush(nil); failed != nil { // what was learned before the error
		return failed
	}
	if err != nil {
		e.greeted = false
		err = refusal{err}
	}
	e.state.enter(e, phase, err)
	return err
}

// maxRounds is how often Core is asked for its tip in one call of Follow, where its chain
// has changed while it was read.
const maxRounds = 5

func (e *Engine) follow(ctx context.Context) (phase messages.AttachPhase, err error) {
	for range maxRounds {
		if phase, err = e.followOnce(ctx); !errors.Is(err, errUnlinked) {
			return phase, err
		}
	}
	return phase, err
}

func (e *Engine) followOnce(ctx context.Context) (messages.AttachPhase, error) {
	info, err := e.ask(ctx)
	if err != nil {
		return phaseOf(err), err
	}
	hash := chainhash.Hash(info.BestBlockHash)
	tip, err := e.learn(ctx, hash, info.Blocks)
	if err != nil {
		return phaseOf(err), err
	}
	holds, err := e.holds(ctx, tip, &info)
	if err != nil {
		return phaseOf(err), err
	}
	if holds {
		e.markPruned(&info)
		return messages.AttachHolding, nil
	}
	first := e.source.files.Load() == nil
	if first { // or blocks that are in the files would be asked for
		e.lookAtFiles(ctx)
	}
	if err := e.moveTo(tip); err != nil {
		return "", err
	}
	e.markPruned(&info)
	if !first {
		e.lookAtFiles(ctx)
	}
	return messages.AttachFollowing, nil
}

// phaseOf returns the phase of an engine that cannot follow.
func phaseOf(err error) messages.AttachPhase {
	if errors.Is(err, ErrOther) || errors.Is(err, errHeader) || errors.Is(err, corenode.ErrForbidden) {
		return messages.AttachOther
	}
	return messages.AttachAway
}

// ask asks Core where it is and, when it was away, who it is.
func (e *Engine) ask(ctx context.Context) (corenode.ChainInfo, error) {
	if !e.greeted {
		if err := e.greet(ctx); err != nil {
			return corenode.ChainInfo{}, err
		}
	}
	var info corenode.ChainInfo
	if err := e.core.Call(ctx, &info, "getblockchaininfo"); err != nil {
		return info, err
	}
	if info.Chain != e.net.Name {
		return info, fmt.Errorf("%w: Bitcoin Core is on chain %q, not %q", ErrOther, info.Chain, e.net.Name)
	}
	e.state.setChain(&info)
	return info, nil
}

// greet asks Core what it is and what it can do.
func (e *Engine) greet(ctx context.Context) error {
	info, err := e.core.Info(ctx)
	if err != nil {
		return err
	}
	var genesis corenode.Hash
	if err := e.core.Call(ctx, &genesis, "getblockhash", 0); err != nil {
		return err
	}
	if hash := chainhash.Hash(genesis); !e.source.genesis(&hash) {
		return fmt.Errorf("%w: Bitcoin Core's first block is %v", ErrOther, hash)
	}
	e.source.setCore(&info)
	e.state.setCore(&info)
	e.greeted = true
	return nil
}

// holds reports whether the present chain stays although Core's tip has less work: it is
// on its way back to where it was, after a crash or while it reindexes. Where an
// operator has taken blocks out of Core's chain it is followed.
func (e *Engine) holds(ctx context.Context, tip *chainview.Block, info *corenode.ChainInfo) (bool, error) {
	now := e.tree.Active().Tip()
	if tip.CompareWork(now) >= 0 || !info.InitialBlockDownload && info.Headers <= info.Blocks {
		return false, nil
	}
	var tips []struct {
		Hash   corenode.Hash `json:"hash"`
		Status string        `json:"status"`
	}
	err := e.core.Call(ctx, &tips, "getchaintips")
	var answer *corenode.Error
	if errors.Is(err, corenode.ErrForbidden) || errors.As(err, &answer) && !errors.Is(err, corenode.ErrAway) {
		return true, nil // it may not be asked
	}
	if err != nil {
		return false, err
	}
	for _, t := range tips {
		hash := chainhash.Hash(t.Hash)
		if b := e.tree.Lookup(&hash); t.Status == "invalid" && b != nil && b.ForkHeight(now) == now.Height {
			return false, nil
		}
	}
	return true, nil
}

// moveTo makes the chain that ends in a block the active one.
func (e *Engine) moveTo(tip *chainview.Block) error {
	e.head = tip
	if tip == e.tree.Active().Tip() {
		return e.flush(nil)
	}
	if err := e.flush(tip); err != nil {
		return err
	}
	// A header that was read is of a block which Core has connected. Before this node has
	// followed, requests for data of the block are answered that the node has not got the
	// block yet.
	for b := tip; b != nil && b.Status()&chainview.Valid == 0; b = b.Parent {
		e.tree.SetStatus(b, b.Status()|chainview.Valid)
	}
	e.tree.SetActive(tip)
	return nil
}

// markPruned notes which blocks Core has deleted.
func (e *Engine) markPruned(info *corenode.ChainInfo) {
	var first int32
	if info.Pruned && info.PruneHeight != nil {
		first = *info.PruneHeight
	}
	active := e.tree.Active()
	first = min(max(first, 0), active.Height())
	for h := e.pruned; h < first; h++ {
		if b := active.At(h); h > 0 {
			e.tree.SetStatus(b, b.Status()|chainview.Pruned)
		}
	}
	for h := first; h < min(e.pruned, active.Height()+1); h++ {
		b := active.At(h)
		e.tree.SetStatus(b, b.Status()&^chainview.Pruned)
	}
	e.pruned = first
}

// flush stores what was learned, and the tip unless it is nil.
func (e *Engine) flush(tip *chainview.Block) error {
	change := &attachdb.Change{Add: e.adding}
	if tip != nil {
		change.Tip = &attachdb.Tip{Number: uint32(tip.Order), Hash: tip.Hash}
		if tip.Parent == nil {
			change.Tip.Number = 0
		}
	}
	if err := e.setLearned(change); err != nil {
		return err
	}
	if len(change.Add) == 0 && len(change.Set) == 0 && tip == nil {
		return nil
	}
	if err := e.store.Commit(change); err != nil {
		return err
	}
	e.adding = nil
	return nil
}
