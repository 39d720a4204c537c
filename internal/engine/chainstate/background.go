package chainstate

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/engine/coincache"
	"github.com/seed61375155/trawl/internal/engine/forkchoice"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/chaindb"
)

// A background validates the blocks up to the base, the block that the active chain began
// with. It has a state of its own: unspent outputs, and the tip that they belong to. On the
// disk only its unspent outputs say how far it is.
type background struct {
	*Engine // its own, with the tree, the choice and the database of the other

	main  *Engine
	known dialect.Snapshot
	base  *chainview.Block
	sum   *setHash // of the unspent outputs at the base; nil: they are not there yet
}

func newBackground(
	main *Engine, known dialect.Snapshot, base, at *chainview.Block, coins *coincache.Cache,
) *background {
	own := &Engine{
		checks: main.checks, minWork: main.minWork, db: main.db, disk: main.disk, tree: main.tree, choice: main.choice,
		clock: main.clock, log: main.log, coins: coins, tip: at, scripts: noBlockYet, hidden: true,
		odd: oddOutputs{kept: main.odd.kept, db: main.db, tree: main.tree, any: main.odd.any},
	}
	own.inspector = inspector{own}
	return &background{Engine: own, main: main, known: known, base: base}
}

// publish tells readers how far the background is.
func (b *background) publish() {
	b.tree.SetAssumed(&chainview.Assumed{Base: b.base, Txs: b.known.Txs, Validated: b.tip})
}

// manyBehind is how many blocks the tip is behind the best header where the active chain is still
// catching up.
const manyBehind = 144

// balance gives most of the memory to the set that changes more at the moment.
func (b *background) balance() {
	e := b.main
	sum := e.coins.Limit() + b.coins.Limit()
	small := sum / 20
	if e.choice.Header().Height-e.tip.Height > manyBehind {
		b.coins.SetLimit(small)
		e.coins.SetLimit(sum - small)
		return
	}
	e.coins.SetLimit(small)
	b.coins.SetLimit(sum - small)
}

// Behind implements engine.Validator.
func (a assuming) Behind() bool {
	e := a.engine
	return e.behind != nil || e.erasing != nil
}

// Background implements engine.Validator.
func (a assuming) Background(ctx context.Context, d time.Duration) (more bool, err error) {
	e := a.engine
	switch {
	case e.broken != nil:
		return false, e.broken
	case e.behind != nil:
		return e.behind.step(ctx, d)
	case e.erasing != nil:
		more, err := e.erasing.Erase(eraseShare)
		if err == nil && !more {
			e.erasing = nil
		}
		return more, e.guard(err)
	}
	return false, nil
}

// stepBlocks is how many blocks are validated before the time is looked at.
const stepBlocks = 8

// step validates blocks for about a time.
func (b *background) step(ctx context.Context, d time.Duration) (more bool, err error) {
	began := time.Now()
	b.balance()
	for {
		to := b.next()
		if to == b.tip {
			break
		}
		var wanting *chainview.Block
		var reason error
		err := b.whole(func() (err error) { //nolint:contextcheck // a block is connected as a whole
			wanting, reason, err = b.activateTo(to, nil)
			return err
		})
		if err != nil {
			return false, b.broke(err)
		}
		if wanting != nil {
			return false, b.refuse(wanting, reason)
		}
		if err := b.broke(b.save()); err != nil {
			return false, err
		}
		b.publish()
		if b.coins.Full() {
			if err := b.broke(b.flush()); err != nil {
				return false, err
			}
		}
		if time.Since(began) >= d {
			return true, nil
		}
	}
	if b.tip != b.base {
		return false, nil
	}
	same, err := b.compare(ctx, began.Add(d))
	if err == nil && same {
		err = b.complete() //nolint:contextcheck // a block is connected as a whole
	}
	return err == nil && ctx.Err() == nil, err
}

// broke has an error of the background be one of the whole engine.
func (b *background) broke(err error) error {
	if err != nil && b.broken != nil {
		return b.main.guard(err)
	}
	return err
}

// next returns a block on the way to the base that the tip can be moved to, some blocks on; the
// tip where there is none.
func (b *background) next() *chainview.Block {
	to := forkchoice.Fork(b.tip, b.base)
	for n := 0; to != b.base; n++ {
		if n >= stepBlocks && to.CompareWork(b.tip) > 0 {
			return to
		}
		next := b.base.Ancestor(to.Height + 1)
		if s := next.Status(); s&chainview.HasData == 0 || s&chainview.Pruned != 0 {
			break
		}
		to = next
	}
	if to.CompareWork(b.tip) > 0 && b.choice.CanReturn(b.tip, forkchoice.Fork(b.tip, to)) {
		return to
	}
	return b.tip
}

// flushCoins writes the unspent outputs, if there is a background.
func (b *background) flushCoins() error {
	if b == nil || unsettled(b.Engine) {
		return nil
	}
	return b.broke(b.flush())
}

// close gives up what is in memory.
func (b *background) close() {
	if b == nil {
		return
	}
	b.coins.Close()
	if b.sum != nil {
		b.sum.release()
	}
}

// compare goes on comparing the unspent outputs at the base with the snapshot until a time, and reports
// whether they are known to be the same. When ctx ends before, the next start does it.
func (b *background) compare(ctx context.Context, until time.Time) (same bool, err error) {
	if b.sum == nil {
		if err := b.broke(b.flush()); err != nil {
			return false, err
		}
		corelog.Printf(b.log, slog.LevelInfo, "[snapshot] computing UTXO stats for background chainstate to validate "+
			"snapshot - this could take a few minutes")
		if b.sum, err = b.main.newSetHash(b.main.set.Other(), b.base, nil); err != nil {
			return false, err
		}
	}
	for !b.sum.done() {
		if err := b.sum.next(ctx); err != nil {
			b.sum.release()
			b.sum = nil
			if ctx.Err() != nil {
				return false, nil //nolint:nilerr // the node ends
			}
			return false, err
		}
		if !b.sum.done() && time.Now().After(until) {
			return false, nil
		}
	}
	if hash := b.sum.hash(); hash != b.known.Hash {
		corelog.Printf(b.log, slog.LevelWarn, "[snapshot] hash mismatch: actual=%v, expected=%v", hash, b.known.Hash)
		return false, b.reset(fmt.Errorf("unspent outputs at height %d have the hash %v, not %v", b.base.Height, hash,
			b.known.Hash))
	}
	return true, nil
}

// complete leaves one state: the unspent outputs at the base are those of the snapshot. From then on the
// chain may go back behind it.
func (b *background) complete() error {
	e := b.main
	before, err := b.db.CoinStore(e.set.Other())
	if err != nil {
		return err
	}
	stays, err := b.db.CoinStore(e.set)
	if err != nil {
		return err
	}
	if err := e.flush(); err != nil {
		return err
	}
	b.tree.SetAssumed(nil)
	b.relink()
	e.pending.put(setsRow(e.set, nil))
	if err := e.save(); err != nil {
		return err
	}
	if err := e.guard(e.disk.Sync()); err != nil {
		return err
	}
	e.choice.Assume(nil)
	e.odd.any = e.odd.any || b.odd.any
	limit := e.coins.Limit() + b.coins.Limit()
	e.coins.Close()
	b.close()
	e.coins, e.behind, e.erasing = coincache.New(stays, limit), nil, before
	corelog.Printf(e.log, slog.LevelInfo, "[snapshot] snapshot beginning at %v has been fully validated", b.base.Hash)
	return e.activate(e.choice.Best(e.tip), nil) // a branch from before the base may have been waiting
}

// relink has the rows of the base and of all stored blocks on it written as those of blocks
// before which none is lacking.
func (b *background) relink() {
	seen := map[*chainview.Block]bool{}
	for _, leaf := range b.tree.Tips() {
		if leaf.Ancestor(b.base.Height) != b.base {
			continue
		}
		for at := leaf; at != b.base.Parent && !seen[at]; at = at.Parent {
			if seen[at] = true; at.Order != 0 {
				b.main.pending.link(at, true)
			}
		}
	}
}

// refuse ends the use of the snapshot over a block before it that breaks a rule.
func (b *background) refuse(wanting *chainview.Block, reason error) error {
	b.log.Info("InvalidChainFound: invalid block", "hash", wanting.Hash, "height", wanting.Height, "reason", reason)
	if err := b.broke(b.save()); err != nil {
		return err
	}
	b.choice.Fail(wanting, b.tip)
	return b.reset(fmt.Errorf("block %v at height %d: %w", wanting.Hash, wanting.Height, reason))
}

// countTxs counts the transactions up to the tip.
func (b *background) countTxs() (n uint64, err error) {
	for at := b.tip; at != nil; at = at.Parent {
		txs, err := b.db.TxCount(&at.Hash)
		if err != nil {
			return 0, err
		}
		n += uint64(txs)
	}
	return n, nil
}

// reset has the next start go on from the validated blocks, without the snapshot, and ends
// this run. The rows of the blocks on the base stay rows of blocks that may lack a block
// before them: at the next start they may.
func (b *background) reset(why error) error {
	if err := b.broke(b.flush()); err != nil {
		return err
	}
	e := b.main
	txs, err := b.countTxs()
	if err != nil {
		return err
	}
	e.pending.put(setsRow(e.set.Other(), nil))
	e.pending.put(chaindb.Row{Key: []byte(stateKey), Value: stateRow(b.tip, txs)})
	if err := e.save(); err != nil {
		return err
	}
	if err := e.guard(e.disk.Sync()); err != nil {
		return err
	}
	e.broken = why // nothing of the snapshot is written any more
	if err := e.assuming.mark.Remove(); err != nil {
		e.log.Warn("mark of the snapshot stays until the next start", "err", err)
	}
	return &messages.FatalError{Summary: fmt.Sprintf(
		"Trawl failed to validate the -assumeutxo snapshot state. This indicates a hardware problem, or a bug in the "+
			"software, or a bad software modification that allowed an invalid snapshot to be loaded. As a result of "+
			"this, the node will shut down and stop using any state that was built on the snapshot, resetting the "+
			"chain height from %d to %d. On the next restart, the node will resume syncing from %d without using any "+
			"snapshot data.", e.tip.Height, b.tip.Height, b.tip.Height), Err: why}
}
