package follow

import (
	"errors"
	"sort"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chainview"
)

// MaxStaleDepth is how far below the tip a stale branch may begin that a Recorder is led through:
// as many blocks as a pruned node keeps for reorganisations.
const MaxStaleDepth = 288

// maxStaleTries is how often it is tried to read a stale branch. The chain may be at work on the
// branch: its blocks are not on the disk then.
const maxStaleTries = 3

// A Recorder is a Target that has something of every block that was ever connected, as the
// indexes of Bitcoin Core do: they are led through each block. A Recorder that lags is led through the
// branches which have left the chain meanwhile.
type Recorder interface {
	Target

	// Recorded reports whether the target has a block of a stale branch. It runs in the worker.
	Recorded(reader chainview.Reader, b *chainview.Block) (bool, error)
}

// staleBranch returns the end of a stale branch that a Recorder at a position is to be led through
// next, nil where there is none.
func (f *Follower) staleBranch(reader chainview.Reader, active *chainview.Chain, at *chainview.Block) *chainview.Block {
	if _, ok := f.cfg.Target.(Recorder); !ok || at == nil {
		return nil
	}
	if f.stale != nil && !at.Is(f.stale) && !active.Contains(f.stale) {
		return f.stale // the last step has led a part of the way
	}
	f.stale = nil
	if !active.Contains(at) || !f.synced && at.Height < active.Height() {
		return nil
	}
	for _, tip := range reader.Tips() {
		fork := active.ForkHeight(tip)
		if fork == tip.Height || fork > at.Height || fork < active.Height()-MaxStaleDepth {
			continue
		}
		if b := connectedUpTo(tip, fork); b != nil && f.try(active, b) {
			f.stale = b
			return b
		}
	}
	return nil
}

// try notes that it is tried to lead the target through a stale branch, and reports whether that
// has a sense.
func (f *Follower) try(active *chainview.Chain, end *chainview.Block) bool {
	tip, before := active.Tip(), f.tried[end.Hash]
	switch {
	case !end.Status().Invalid() && end.CompareWork(tip) > 0: // the chain is about to move there
		return false
	case end.Status()&(chainview.Pruned|chainview.NoUndo) != 0:
		return false
	case before.times >= maxStaleTries, before.tip == tip.Hash:
		return false
	}
	if f.tried == nil {
		f.tried = make(map[chainhash.Hash]tries)
	}
	f.tried[end.Hash] = tries{before.times + 1, tip.Hash}
	return true
}

// tries says how often it was tried to read a branch, and at which tip the last time.
type tries struct {
	times int
	tip   chainhash.Hash
}

// connectedUpTo returns the last block of a branch that was connected at some time, nil where none
// above its fork was.
func connectedUpTo(tip *chainview.Block, fork int32) *chainview.Block {
	never := sort.Search(int(tip.Height-fork), func(i int) bool {
		return tip.Ancestor(fork+1+int32(i)).Status()&chainview.Valid == 0
	})
	if never == 0 {
		return nil
	}
	return tip.Ancestor(fork + int32(never))
}

// ledThrough deals with a step through a stale branch. A branch that cannot be read is left out:
// nobody else needs it.
func (f *Follower) ledThrough(m *outcome, moved bool, err error) error {
	if moved && err == nil {
		return nil
	}
	f.stale = nil
	switch end := m.stale; {
	case err == nil, errors.Is(err, errNoMove): // it is recorded
		f.tried[end.Hash] = tries{times: maxStaleTries}
	case errors.Is(err, chainview.ErrClosed), errors.Is(err, ErrDamaged):
		delete(f.tried, end.Hash)
		return err
	case f.tried[end.Hash].times == maxStaleTries && f.cfg.LeftOut != nil:
		f.cfg.LeftOut(end, err)
	}
	return nil
}
