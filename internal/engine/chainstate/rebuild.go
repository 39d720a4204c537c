package chainstate

import (
	"context"
	"errors"
	"log/slog"
	"strconv"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/engine/forkchoice"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/chaindb"
)

// loadStripped marks the blocks that are stored without their witnesses.
func (l loader) loadStripped(cfg *StripConfig) error {
	e := l.e
	strip := func(dst, raw []byte) ([]byte, error) { return consensus.Strip(dst, raw, e.net.HeaderLen(raw)) }
	e.strips = newStripper(strippedChain{DB: e.db, Tree: e.tree, Log: e.log, Strip: strip}, cfg)
	e.choice.Withhold(func(b *chainview.Block) bool { return lacksWitnesses(e, b) })
	if !e.db.HasStripped() {
		return nil
	}
	corelog.Printf(e.log, slog.LevelInfo,
		"Loading block index db: Block files have previously been witness-pruned")
	return l.markStripped()
}

func (l loader) markStripped() error {
	return l.e.db.Stripped(func(hash *chainhash.Hash) {
		if b := l.e.tree.Lookup(hash); b != nil {
			l.e.tree.SetStatus(b, b.Status()|chainview.Stripped)
		}
	})
}

// lacksWitnesses reports whether a block cannot be connected as it is stored: its scripts would have to be
// executed, and its witnesses are gone and have not come again.
func lacksWitnesses(e *Engine, b *chainview.Block) bool {
	return b.Status()&chainview.Stripped != 0 && e.net.Active("segwit", b.Height) && !isAssumedAncestor(e, b) &&
		!e.copies.Has(&b.Hash) && !e.steps.tookBack(b)
}

// isAssumedAncestor reports whether a block is an ancestor of the block that is assumed to be valid, in the
// best chain of headers. That chain must have the least work that a chain needs.
func isAssumedAncestor(e *Engine, b *chainview.Block) bool {
	if e.net.AssumeValid == (chainhash.Hash{}) {
		return false
	}
	assumed, best := e.tree.Lookup(&e.net.AssumeValid), e.choice.Header()
	return assumed != nil && assumed.Ancestor(b.Height) == b && best.Ancestor(b.Height) == b && hasWork(e, best)
}

func hasWork(e *Engine, best *chainview.Block) bool { return best.Work().Cmp(e.minWork) >= 0 }

// ErrSnapshot reports a chain state that cannot be rebuilt from the blocks where they lie, because the chain
// begins with a snapshot.
var ErrSnapshot = errors.New("the chain begins with a snapshot")

// startOver has the chain state begin with the genesis block again: what is known of blocks stays. One commit
// makes it so, and leaves the outputs of before to be erased.
func (l loader) startOver() error {
	e := l.e
	if err := l.checkCovered(); err != nil {
		return err
	}
	if e.began != nil || e.tree.Assumed() != nil {
		return ErrSnapshot
	}
	if e.db.HasStripped() {
		corelog.Printf(e.log, slog.LevelInfo, "Witness-pruned node: -reindex-chainstate proceeding under "+
			"assumevalid=%v. The supplied hash covers the witness-pruned range.", e.net.AssumeValid)
	}
	other, err := e.db.CoinStore(e.set.Other())
	for more := true; more && err == nil; {
		more, err = other.Erase(eraseShare)
	}
	if err != nil {
		return err
	}
	change, root := chaindb.Change{}, e.tree.Active().At(0)
	for b := e.tip; b != root; b = b.Parent {
		change.Rows = append(change.Rows, e.kind.Rows.Move(b, true)...)
	}
	e.set, e.tip, e.txs.n = e.set.Other(), root, 0
	e.txs.add(1)
	_, coinsTipKey := e.set.Names()
	change.Rows = append(change.Rows, setsRow(e.set, nil),
		chaindb.Row{Key: []byte(coinsTipKey), Value: root.Hash[:]},
		chaindb.Row{Key: []byte(stateKey), Value: stateRow(root, e.txs.n)})
	if err = e.disk.Commit(&change); err == nil {
		err = e.disk.Sync()
	}
	e.tree.SetActive(root)
	return err
}

// CheckCovered refuses to rebuild the chain state from blocks if some of them have lost witnesses that the
// building needs. The database comes from [chaindb.OpenIndex], and stays open. The error is a
// [messages.StartError], or says what cannot be read.
func CheckCovered(cfg Config, kind Kind) error {
	e := newEngine(&cfg, kind)
	l := loader{e}
	err := l.loadTree()
	if err == nil {
		err = l.markStripped()
	}
	if err != nil {
		return err
	}
	return l.checkCovered()
}

// checkCovered is CheckCovered for a loaded tree.
func (l loader) checkCovered() error {
	if !l.e.db.HasStripped() {
		return nil
	}
	if why := uncovered(l.e); why != "" {
		return messages.StartError("Cannot use -reindex-chainstate on a witness-pruned node " + why)
	}
	return nil
}

// uncovered says why the block that is assumed to be valid does not spare the witnesses that are gone, "" where
// it does.
func uncovered(e *Engine) string {
	const orSync = "or delete the data directory and perform a fresh sync."
	hash := e.net.AssumeValid
	if hash == (chainhash.Hash{}) {
		return "without -assumevalid=<hash>. Without an assumed-valid checkpoint, historical script validation " +
			"requires witness data that has been stripped. Pass -assumevalid=<block hash> to skip historical script " +
			"validation, " + orSync
	}
	best, assumed := e.choice.Header(), e.tree.Lookup(&hash)
	const covering = "Pass a block hash from the best-header chain that covers the witness-pruned range, "
	switch {
	case !hasWork(e, best):
		return "with -assumevalid=" + hash.String() + " because the best header does not satisfy nMinimumChainWork."
	case assumed == nil:
		return "with unknown -assumevalid block " + hash.String() + ". " + covering + orSync
	case best.Ancestor(assumed.Height) != assumed:
		return "with -assumevalid=" + hash.String() + " because that block is not on the best-header chain. " +
			covering + orSync
	}
	for b := best; b != nil; b = b.Parent {
		if b.Status()&chainview.Stripped == 0 || !e.net.Active("segwit", b.Height) {
			continue
		}
		if assumed.Ancestor(b.Height) == b {
			return ""
		}
		height := strconv.Itoa(int(b.Height))
		return "with -assumevalid=" + hash.String() + " because it does not cover witness-pruned block " +
			b.Hash.String() + " at height " + height + ". Pass an assumed-valid block on the best-header chain at or " +
			"above height " + height + ", " + orSync
	}
	return ""
}

// catchUp makes the best block the tip, and removes witnesses that are old then. With a context it ends with
// that, between some blocks and the next.
func (l loader) catchUp(ctx context.Context) error {
	e := l.e
	if ctx == nil {
		return e.activate(e.choice.Best(e.tip), nil) //nolint:contextcheck // reads without one, as each new block does
	}
	for ctx.Err() == nil {
		best := e.choice.Best(e.tip)
		to := best
		if next := e.tip.Height + maxSteps; best.Height > next && forkchoice.Fork(e.tip, best) == e.tip {
			to = best.Ancestor(next)
		}
		if err := e.activate(to, nil); err != nil { //nolint:contextcheck // as above
			return err
		}
		if to == best {
			break
		}
		corelog.Printf(e.log, slog.LevelInfo, "Connected blocks again: height %d of %d", e.tip.Height, best.Height)
	}
	for done := true; done && ctx.Err() == nil; {
		e.strips.Want()
		var err error
		if done, err = e.strips.Step(); err != nil {
			return e.guard(err)
		}
	}
	return context.Cause(ctx)
}
