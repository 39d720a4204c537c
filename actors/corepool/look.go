package corepool

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/corenode"
	"github.com/seed61375155/trawl/internal/corenode/poolcopy"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
)

const (
	minInterval = time.Second
	maxInterval = time.Minute
	lastRetry   = 10 * time.Second
	againAfter  = 100 * time.Millisecond // where the chain has moved during a look

	share     = 20 // of the time that looks leave to the other node, by themselves
	shareSoon = 4  // the same where they are asked for

	// maxBatch is how many transactions are fetched at once.
	maxBatch = 100

	// maxBlocks is how many blocks of the chain are looked through for transactions that
	// have left the pool.
	maxBlocks = 24
)

// A look is what is under way to make the pool what the other one is.
type look struct {
	callers []*followPool
	began   time.Time
	cost    time.Duration // of the list
	missing []chainhash.Hash
	batch   int
	tip     chainhash.Hash // of the other chain when its pool was listed; zero: not known
	again   bool           // the chain has moved since: what is missing is listed once more
}

// begin begins a look, where none is under way: the timer is set between looks alone.
func (p *Mirror) begin(c actor.Context) {
	l := &look{callers: p.waiting, began: time.Now(), batch: maxBatch}
	p.look, p.waiting = l, nil
	p.pool.Begin()
	wasAway := p.away
	p.tasks.Go(c, func() func() {
		got, err := list(p.ctx, p.cfg.Node, wasAway)
		l.cost = time.Since(l.began)
		return func() { p.listed(c, l, got, err) }
	})
}

// listed compares the other node's list with the mirror.
func (p *Mirror) listed(c actor.Context, l *look, got *listing, err error) {
	if err != nil {
		p.end(c, err)
		return
	}
	p.away = !got.loaded
	l.tip, l.again = got.tip, got.moved
	p.lease(c, func() func() {
		missing, gone := p.pool.Compare(got.ids)
		if !got.loaded {
			gone = nil
		}
		return func() {
			l.missing = missing
			if len(gone) == 0 && (len(missing) == 0 || p.isAt(l)) {
				p.next(c)
				return
			}
			p.leave(c, gone)
		}
	})
}

// isAt reports whether the chain is where the other node was when its pool was listed, as far
// as that is known. A listener that is notified of a transaction after the block that excludes it
// would wait in vain for the confirmation.
func (p *Mirror) isAt(l *look) bool {
	reader := p.cfg.View.Open()
	return l.tip == (chainhash.Hash{}) || reader != nil && reader.Active().Tip().Hash == l.tip
}

// leave removes the transactions that have left the other pool, once the chain is where
// the other node was: listeners see the blocks first.
func (p *Mirror) leave(c actor.Context, gone []*poolcopy.Tx) {
	ask.Then(p.ctx, c, p.cfg.Chain, nodemsg.FollowNode{}, func(_ messages.Tip, err error) any {
		return chainFollowed{gone, err}
	})
}

// chainFollowed says that the chain is where it was when transactions had left.
type chainFollowed struct {
	gone []*poolcopy.Tx
	err  error
}

func (p *Mirror) chainFollowed(c actor.Context, m chainFollowed) {
	if m.err != nil {
		p.end(c, m.err)
		return
	}
	seen := p.seen
	p.tasks.Go(c, func() func() {
		mined, tip := minedSince(p.ctx, p.cfg.View, seen)
		left := make([]newTx, len(m.gone))
		for i, tx := range m.gone {
			left[i] = newTx{tx, tx.Msg()}
		}
		return func() {
			p.seen = tip
			p.removed(left, mined)
			p.next(c)
		}
	})
}

func (p *Mirror) removed(gone []newTx, mined map[chainhash.Hash]bool) {
	var changes []messages.PoolChange
	for _, tx := range gone {
		if !p.pool.Remove(tx.ID) {
			continue
		}
		// The other node does not tell why: it was replaced, or there was no room, or
		// time is up.
		reason := messages.PoolReplaced
		if mined[tx.ID] {
			reason = messages.PoolBlock
		}
		changes = append(changes, tx.Change(tx.msg, reason))
	}
	p.publish(changes...)
}

// next fetches the next transactions that are missing.
func (p *Mirror) next(c actor.Context) {
	l := p.look
	if room := p.pool.Room(); len(l.missing) > room && room == 0 {
		p.pool.SetLeft(len(l.missing))
		l.missing = nil
	}
	l.again = l.again || !p.isAt(l)
	if len(l.missing) == 0 || l.again {
		p.end(c, nil)
		return
	}
	ids := l.missing[:min(l.batch, len(l.missing), p.pool.Room())]
	p.tasks.Go(c, func() func() {
		got, err := fetch(p.ctx, p.cfg.Node, ids)
		return func() { p.fetched(c, ids, got, err) }
	})
}

// fetched adds what has come.
func (p *Mirror) fetched(c actor.Context, ids []chainhash.Hash, got []newTx, err error) {
	l := p.look
	switch {
	case errors.Is(err, corenode.ErrTooLarge) && len(ids) > 1:
		l.batch = len(ids) / 2
		p.next(c)
		return
	case err != nil && !errors.Is(err, corenode.ErrTooLarge):
		p.end(c, err)
		return
	}
	if !p.isAt(l) {
		l.again = true
		p.end(c, nil)
		return
	}
	l.missing = l.missing[len(ids):]
	p.publishAt(l.tip, p.add(got))
	p.next(c)
}

// add adds transactions, and returns what has changed.
func (p *Mirror) add(got []newTx) (changes []messages.PoolChange) {
	for _, tx := range got {
		if p.pool.Add(tx.Tx) {
			changes = append(changes, tx.Change(tx.msg, 0))
		}
	}
	return changes
}

// publishAt notifies the listeners of changes after a block, which the chain has; zero: of
// changes alone.
func (p *Mirror) publishAt(tip chainhash.Hash, changes []messages.PoolChange) {
	at := p.tipOf(tip)
	if len(changes) == 0 || at == (messages.Tip{}) {
		p.publish(changes...)
		return
	}
	p.cfg.Feed.Publish(messages.PoolChanged{
		Changes: changes, Blocks: []messages.PoolStep{{Tip: at, Connected: true, Leap: true}}, Alone: true,
	})
}

// tipOf returns a block of the chain by its hash, zero where the chain does not know it.
func (p *Mirror) tipOf(hash chainhash.Hash) messages.Tip {
	reader := p.cfg.View.Open()
	if reader == nil {
		return messages.Tip{}
	}
	b := reader.Lookup(&hash)
	if b == nil {
		return messages.Tip{}
	}
	return messages.Tip{Hash: b.Hash, Height: b.Height}
}

// end ends a look, and says when the next one is due.
func (p *Mirror) end(c actor.Context, err error) {
	l := p.look
	p.look = nil
	wait := min(max(share*l.cost, minInterval), maxInterval)
	p.free = time.Now().Add(min(shareSoon*l.cost, maxInterval))
	switch {
	case err == nil && p.away:
		p.show("Bitcoin Core reads its pool from disk")
	case err == nil && l.again:
		p.waiting, l.callers = append(l.callers, p.waiting...), nil
	case err == nil:
		p.retry, p.updated, p.at = minInterval, time.Now(), l.tip
		p.show("")
	default:
		p.away = p.away || errors.Is(err, corenode.ErrAway) || errors.Is(err, messages.ErrNodeAway)
		wait = p.retry
		if errors.Is(err, corenode.ErrForbidden) {
			wait = maxInterval
		}
		p.retry = min(2*p.retry, lastRetry)
		p.free = time.Now().Add(minInterval)
		p.show(err.Error())
		err = refused(err)
	}
	for _, call := range l.callers {
		call.Answer(messages.Done{}, err)
	}
	switch {
	case err == nil && l.again:
		wait = max(time.Until(p.free), againAfter)
	case len(p.waiting) > 0:
		wait = time.Until(p.free)
	}
	p.after(c, wait)
}

// show notes why the copy is not kept up to date, and writes one line when that changes.
func (p *Mirror) show(reason string) {
	if reason == p.reason {
		return
	}
	p.reason = reason
	if reason == "" {
		p.cfg.Log.Info("Memory pool of the attached node is followed", "transactions", p.pool.Len())
		return
	}
	p.cfg.Log.Log(p.ctx, slog.LevelWarn, "Memory pool of the attached node is kept as it was",
		"transactions", p.pool.Len(), "reason", reason)
}

// minedSince returns the transactions of at most maxBlocks last blocks of the chain,
// above the block seen, and the tip. It ends at a block that cannot be read.
func minedSince(
	ctx context.Context, view *chainview.Current, seen chainhash.Hash,
) (mined map[chainhash.Hash]bool, tip chainhash.Hash) {
	reader := view.Open()
	if reader == nil {
		return nil, seen
	}
	mined = map[chainhash.Hash]bool{}
	at := reader.Active().Tip()
	tip = at.Hash
	for range maxBlocks {
		if at == nil || at.Hash == seen || ctx.Err() != nil {
			break
		}
		block, err := reader.Block(&at.Hash)
		if err != nil {
			break
		}
		for _, tx := range block.Transactions {
			mined[tx.TxHash()] = true
		}
		at = at.Parent
	}
	return mined, tip
}
