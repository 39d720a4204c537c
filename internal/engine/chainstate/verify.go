package chainstate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/engine"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/blockfile"
	"github.com/seed61375155/trawl/store/chaindb"
)

// An inspector looks at what an engine has.
type inspector struct{ engine *Engine }

// Invalid implements engine.Validator.
func (i inspector) Invalid() *chainview.Block { return i.engine.choice.Invalid() }

// States implements engine.Validator.
func (i inspector) States() []messages.ChainState {
	e := i.engine
	active := e.state()
	active.Snapshot = e.began
	if e.behind == nil {
		return []messages.ChainState{active}
	}
	active.Validated = false
	return []messages.ChainState{e.behind.state(), active}
}

func (i inspector) state() messages.ChainState {
	e := i.engine
	return messages.ChainState{
		Tip: messages.Tip{Hash: e.tip.Hash, Height: e.tip.Height}, Validated: true, DBCache: chaindb.CacheSize,
		TipCache: e.coins.Limit(),
	}
}

// The levels of [Engine.Verify], each with all that those below it check.
const (
	levelCheck   = 1 // each block by itself
	levelUndo    = 2 // undo data
	levelBack    = 3 // taking blocks back from the unspent outputs
	levelForward = 4 // connecting them again
)

// Verify implements engine.Validator. The changes to the unspent outputs are taken back.
func (i inspector) Verify(ctx context.Context, level int, blocks int32) error {
	e := i.engine
	if e.broken != nil {
		return e.broken
	}
	if e.tip.Parent == nil {
		return nil
	}
	if blocks <= 0 || blocks > e.tip.Height {
		blocks = e.tip.Height
	}
	v := &verifier{Engine: e, level: max(0, min(level, levelForward)), at: e.tip}
	v.printf("Verifying last %d blocks at level %d", blocks, v.level)
	mark := e.coins.Mark()
	err := e.whole(func() error { return v.run(ctx, blocks) })
	e.coins.Rollback(mark)
	if corrupt, ok := errors.AsType[*messages.CorruptError](err); ok {
		v.printf("Verification error: %s", corrupt.Reason)
	}
	return err
}

// A verifier checks blocks from the tip downwards.
type verifier struct {
	*Engine

	level int
	at    *chainview.Block // that the unspent outputs in memory are at
	first *chainview.Block // that was looked at last
	txs   int

	bad      *chainview.Block // the lowest whose effects are not in the unspent outputs
	shortRAM bool             // not all were taken back
	gone     bool             // not all are there
}

func (v *verifier) printf(format string, args ...any) {
	corelog.Printf(v.log, slog.LevelInfo, format, args...)
}

func corrupt(format string, args ...any) error {
	return &messages.CorruptError{Reason: fmt.Sprintf(format, args...)}
}

func (v *verifier) run(ctx context.Context, blocks int32) error {
	end := v.tip.Height - blocks
	for v.first = v.tip; v.first.Height > end; v.first = v.first.Parent {
		if ctx.Err() != nil {
			return messages.ErrPartlyVerified
		}
		s, assumed := v.first.Status(), v.tree.Assumed()
		isBase := assumed != nil && v.first == assumed.Base
		if s&(chainview.Pruned|chainview.NoUndo) != 0 || s&chainview.HasData == 0 || isBase {
			v.printf("Block verification stopping at height %d (no data). This could be due to pruning or use of an "+
				"assumeutxo snapshot.", v.first.Height)
			v.gone = true
			break
		}
		if err := v.look(v.first); err != nil {
			return err
		}
	}
	if v.bad != nil {
		return corrupt("coin database inconsistencies found (last %d blocks, %d good transactions before that)",
			v.tip.Height-v.bad.Height+1, v.txs)
	}
	if v.shortRAM {
		v.printf("Skipped verification of level >=3 (insufficient database cache size). Consider increasing -dbcache.")
	}
	if v.level >= levelForward && !v.shortRAM {
		if err := v.forward(ctx); err != nil {
			return err
		}
	}
	v.printf("Verification: No coin database inconsistencies in last %d blocks (%d transactions)",
		v.tip.Height-v.first.Height, v.txs)
	switch {
	case v.shortRAM:
		return engine.ErrCacheFull
	case v.gone:
		return messages.ErrPartlyVerified
	}
	return nil
}

// look checks a block up to level 3.
func (v *verifier) look(at *chainview.Block) error {
	b, err := v.fetch(at)
	if err != nil {
		return corrupt("ReadBlock failed at %d, hash=%v", at.Height, at.Hash)
	}
	if v.level >= levelCheck {
		if err := v.checkSolved(b); err != nil {
			return corrupt("found bad block at %d, hash=%v (%v)", at.Height, at.Hash, err)
		}
	}
	if v.level < levelUndo {
		return nil
	}
	undo, err := v.db.Undo(&at.Hash)
	if err != nil || !suits(b, undo) {
		return corrupt("found bad undo data at %d, hash=%v", at.Height, at.Hash)
	}
	switch {
	case v.level < levelBack:
	case v.coins.Full():
		v.shortRAM = true
	default:
		return v.back(at, b, undo)
	}
	return nil
}

// suits reports whether undo data has a coin for each input of a block.
func suits(b *block, undo [][]blockfile.Coin) bool {
	if len(undo) != len(b.List)-1 {
		return false
	}
	for i, coins := range undo {
		if len(coins) != len(b.List[i+1].TxIn) {
			return false
		}
	}
	return true
}

// back takes a block back from the unspent outputs in memory, after a look at whether its
// effects are there.
func (v *verifier) back(at *chainview.Block, b *block, undo [][]blockfile.Coin) error {
	clean, err := v.applied(at, b, undo)
	if err != nil {
		return err
	}
	if err := v.disconnect(at, b); err != nil {
		return corrupt("irrecoverable inconsistency in block data at %d, hash=%v", at.Height, at.Hash)
	}
	if v.at = at.Parent; clean {
		v.txs += len(b.List)
	} else {
		v.bad, v.txs = at, 0
	}
	return nil
}

// applied reports whether the unspent outputs are as after a block: what it spends is not
// among them, and what it creates is, but for what the block itself spends.
func (v *verifier) applied(at *chainview.Block, b *block, undo [][]blockfile.Coin) (bool, error) {
	spent := make(map[wire.OutPoint]bool, b.Inputs)
	for i, tx := range b.List[1:] {
		for n, in := range tx.TxIn {
			spent[in.PreviousOutPoint] = true
			if v.odd.is(undo[i][n].Script) {
				continue
			}
			if value, err := v.coins.Get(appendKey(nil, &in.PreviousOutPoint)); err != nil || value != nil {
				return false, err
			}
		}
	}
	for i, tx := range b.List {
		out := wire.OutPoint{Hash: b.IDs[i]}
		for n, o := range tx.TxOut {
			out.Index = uint32(n)
			if spent[out] || consensus.Unspendable(o.PkScript) || v.odd.is(o.PkScript) {
				continue
			}
			value, err := v.coins.Get(appendKey(nil, &out))
			if err != nil {
				return false, err
			}
			want := blockfile.AppendUnspent(nil, blockfile.Coin{
				Height: at.Height, Coinbase: i == 0, Amount: o.Value, Script: o.PkScript,
			})
			if !bytes.Equal(value, want) && !v.mayRepeat(at) {
				return false, nil
			}
		}
	}
	return true, nil
}

// mayRepeat reports whether the outputs of a block may have been replaced by those of a
// later one with the same ids, as two on Bitcoin's chain were.
func (v *verifier) mayRepeat(at *chainview.Block) bool { return !v.net.Active("bip34", at.Height) }

// forward connects the blocks again that were taken back.
func (v *verifier) forward(ctx context.Context) error {
	for v.at != v.tip {
		if ctx.Err() != nil {
			return messages.ErrPartlyVerified
		}
		next := v.tip.Ancestor(v.at.Height + 1)
		b, err := v.fetch(next)
		if err != nil {
			return corrupt("ReadBlock failed at %d, hash=%v", next.Height, next.Hash)
		}
		if _, err := v.connect(next, b); err != nil { //nolint:contextcheck // a block is not left half done
			return corrupt("found unconnectable block at %d, hash=%v (%v)", next.Height, next.Hash, err)
		}
		v.at = next
	}
	return nil
}
