package chainstate

import (
	"fmt"
	"log/slog"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/engine"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/store/blockfile"
)

// A recovery has blocks again, with their witnesses, which the block files have lost. A copy of a block is kept
// until the block is connected.
type recovery struct {
	engine *Engine
	copies *blockfile.Copies  // nil: of the background of a snapshot, which has none
	used   []*chainview.Block // connected since the last commit, some of them taken back again
}

var _ engine.Restorer = (*Engine)(nil)

// A copyError reports a copy that cannot be read, or is not valid. The copy is gone then; of the block it says nothing.
type copyError struct{ hash chainhash.Hash }

// Error implements error.
func (e *copyError) Error() string { return fmt.Sprintf("copy of block %v with its witnesses", e.hash) }

// Recover takes a block again whose witnesses are wanted, see [chainview.WitnessesOf], and moves to the best chain. A
// copy that cannot be kept is [nodemsg.ErrNotKept].
func (r *recovery) Recover(raw []byte) error {
	e := r.engine
	if e.broken != nil {
		return e.broken
	}
	b, err := e.readBlock(raw)
	if err != nil {
		return badBlock(err)
	}
	at := e.tree.Lookup(&b.Hash)
	if at == nil || !lacksWitnesses(e, at) {
		return reject("duplicate", "")
	}
	if err := r.checkCopy(b, at); err != nil {
		return err
	}
	if err := r.copies.Put(&b.Hash, raw); err != nil {
		e.log.Error("a block that came again with its witnesses cannot be kept", "hash", b.Hash, "err", err)
		return nodemsg.ErrNotKept
	}
	return e.activate(e.choice.Best(e.tip), verdicts{})
}

// checkCopy checks a copy like a block that comes for the first time: only the block to which the header commits
// may be connected.
func (r *recovery) checkCopy(b *block, at *chainview.Block) error {
	if err := r.engine.solved(b); err != nil {
		return err
	}
	return r.engine.checkPlace(b, at.Parent)
}

// fetchCopy returns the copy of a block that is to be connected, nil where there is none.
func (r *recovery) fetchCopy(at *chainview.Block) (*block, error) {
	if r.copies == nil || !r.copies.Has(&at.Hash) {
		return nil, nil
	}
	b, err := r.read(at)
	if err == nil {
		return b, nil
	}
	corelog.Printf(r.engine.log, slog.LevelWarn, "Recovered witness block %v could not be read; discarding recovered "+
		"payload and retrying recovery", at.Hash)
	r.drop(&at.Hash)
	return nil, &copyError{at.Hash}
}

func (r *recovery) read(at *chainview.Block) (*block, error) {
	raw, err := r.copies.Get(&at.Hash, r.engine.net.MaxBlockSize)
	if err != nil {
		return nil, err
	}
	b, err := r.engine.readBlock(raw)
	if err != nil {
		return nil, err
	}
	if b.Hash != at.Hash {
		return nil, blockfile.ErrCorrupt
	}
	return b, r.checkCopy(b, at)
}

// failed gives up a copy that breaks a rule.
func (r *recovery) failed(at *chainview.Block, why error) error {
	corelog.Printf(r.engine.log, slog.LevelWarn, "Recovered witness block %v failed validation (%v); discarding "+
		"recovered payload and retrying recovery", at.Hash, why)
	r.drop(&at.Hash)
	return &copyError{at.Hash}
}

// drop removes a copy. A copy that cannot be removed now is removed at the next start.
func (r *recovery) drop(hash *chainhash.Hash) {
	if err := r.copies.Drop(hash); err != nil {
		r.engine.log.Error("a block that came again with its witnesses is not removed", "hash", hash, "err", err)
	}
}

// settle removes the copies of blocks that are connected, and says which block's witnesses are wanted now.
func (r *recovery) settle() {
	e := r.engine
	for _, b := range r.used {
		if e.tip.Ancestor(b.Height) == b {
			r.drop(&b.Hash)
		}
	}
	r.used = nil
	var wanted *chainview.Block
	if e.db.HasStripped() {
		wanted = e.choice.Wanted(e.tip)
	}
	before := e.tree.WantsWitnesses()
	if wanted == before {
		return
	}
	e.tree.WantWitnesses(wanted)
	if wanted == nil {
		return
	}
	if before != nil {
		corelog.Printf(e.log, slog.LevelInfo, "Replacing pending temporary witness recovery for block %v with block "+
			"%v at height %d", before.Hash, wanted.Hash, wanted.Height)
	}
	corelog.Printf(e.log, slog.LevelInfo, "Scheduling temporary witness recovery for block %v at height %d",
		wanted.Hash, wanted.Height)
}

// tookBack reports whether a block was taken back since the last commit: then it is connected again unread.
func (s steps) tookBack(b *chainview.Block) bool {
	return slices.ContainsFunc(s, func(one step) bool { return one.back && one.block == b })
}
