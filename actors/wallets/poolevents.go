package wallets

import (
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/wallet/poolorder"
	"github.com/seed61375155/trawl/internal/wallet/rescan"
	"github.com/seed61375155/trawl/internal/wallet/txs"
	"github.com/seed61375155/trawl/messages"
)

// A moment is when the wallet has taken all announcements up to a number, and has seen a block.
type moment struct {
	number uint64
	tip    messages.Tip // zero: the active tip
}

// notified queues what the pool tells, and takes what is due. A wallet that cannot follow the
// chain for long reads the pool again when it can.
func (p *poolState) notified(m *messages.PoolChanged) {
	if p.lost {
		p.events.Last++
		return
	}
	p.events.Add(m, p.cfg.Chain.Open())
	if len(p.events.Events) > poolorder.MaxEvents {
		p.useAll()
		p.events.Events, p.events.At, p.events.Pool, p.lost = nil, messages.Tip{}, messages.Tip{}, true
	}
	p.take()
	p.follower.Wake(p.c)
}

// target returns the block that the wallet is to go to: where the pool was when it told the
// next event, or the active tip.
func (p *poolState) target(reader chainview.Reader) *chainview.Block {
	if p.ledger == nil {
		return reader.Active().Tip()
	}
	return p.events.Target(reader, p.ledger.Txs().Tip())
}

// arrived reports whether the wallet is where the next events are to be taken.
func (p *poolState) arrived() bool {
	reader := p.cfg.Chain.Open()
	return reader != nil && p.target(reader).Hash == p.ledger.Txs().Tip().Hash
}

// mayTake reports whether events may be taken now.
func (p *poolState) mayTake() bool {
	return p.ledger != nil && p.live && p.joined && p.scans == 0 && !p.awaitsKeys && !p.follower.Busy()
}

// take takes the events that are due where the wallet is. The caller of take wakes the wallet, which may have to go on
// to another block.
func (p *poolState) take() {
	taken := false
	for p.mayTake() && len(p.events.Events) > 0 {
		next := p.events.Events[0]
		if next.To == nil && !p.arrived() {
			break
		}
		p.events.Events = p.events.Events[1:]
		p.apply(&next)
		taken = true
	}
	if taken && p.ledger != nil {
		p.write()
		p.look()
	}
	if (p.lost || p.back) && p.mayTake() && p.arrived() {
		p.readAgain()
	}
	p.changes.notify()
}

// readAgain reads the pool again, because the wallet may not know all its transactions.
func (p *poolState) readAgain() {
	lost := p.lost
	p.lost, p.back = false, false
	p.readBeside(nil, func(pool messages.PoolTxs) {
		if all := (&poolorder.Contents{PoolTxs: pool, Clear: lost}); lost {
			p.events.Begin(all)
		} else {
			p.events.Insert(all)
		}
	})
}

// left notes that a block has left the wallet's chain and given transactions back. The pool
// tells which of them it gets back, but only if it has seen the block: a wallet that
// follows the chain alone may have seen other blocks.
func (p *poolState) left(b *chainview.Block, reader chainview.Reader) {
	if p.cfg.Pool.IsAbsent() || len(p.events.Events) > 0 && p.events.Events[0].All != nil {
		return // contents are taken over next
	}
	pool := reader.Lookup(&p.events.Pool.Hash)
	p.back = p.back || pool == nil || !pool.Ancestor(b.Height).Is(b)
}

func (p *poolState) apply(e *poolorder.Event) {
	txs := p.ledger.Txs()
	switch {
	case e.To != nil:
		p.events.At, p.events.Pool = *e.To, *e.To
	case e.Alone:
		p.events.At = messages.Tip{}
	case e.Reset:
		p.events.At, p.events.Pool = messages.Tip{}, messages.Tip{}
		txs.ClearMempool()
	case e.All != nil:
		p.use(e.All)
	case e.Change.Added:
		txs.AddMempoolTx(e.Change.Tx, p.cfg.now())
	case e.Change.Reason != messages.PoolBlock:
		txs.RemoveMempoolTx(e.Change.Tx)
		if e.Change.Reason == messages.PoolConflict {
			p.publishConflict(e.Change.ID)
		}
	}
}

// atTip waits until the wallet has seen the tip that is active now and all that the pool has told until now, or
// says why it cannot.
func (t *caller) atTip(j *ask.Job) error {
	p := &t.pool
	var now *moment
	fails := 0
	return t.until(j, func() (bool, error) {
		reader := p.cfg.Chain.Open()
		if now == nil {
			now, fails = &moment{number: p.events.Last}, p.fails
			if reader != nil {
				tip := reader.Active().Tip()
				now.tip = messages.Tip{Hash: tip.Hash, Height: tip.Height}
			}
			p.take()
			p.follower.Wake(p.c)
		}
		switch {
		case reader == nil: // until the chain is there again
			return false, nil
		case p.isOver(reader, now):
			return true, nil
		case p.fails != fails:
			return false, p.failure
		}
		return false, nil
	})
}

// isOver reports whether the wallet has seen and taken what somebody waits for.
func (p *poolState) isOver(reader chainview.Reader, m *moment) bool {
	active, tip := reader.Active(), p.ledger.Txs().Tip()
	if m.tip == (messages.Tip{}) {
		m.tip = messages.Tip{Hash: active.Tip().Hash, Height: active.Height()}
	}
	if p.scans > 0 || p.again != nil || p.events.After(m.number) > 0 {
		return false
	}
	if tip.Hash == m.tip.Hash {
		return true
	}
	at, wanted := reader.Lookup(&tip.Hash), reader.Lookup(&m.tip.Hash)
	if at == nil || !active.Contains(at) {
		return false
	}
	return wanted != nil && at.Ancestor(wanted.Height).Is(wanted) ||
		at.Is(active.Tip()) && (wanted == nil || !active.Contains(wanted))
}

// fail ends the waits for the tip: the wallet cannot follow the chain. Queued contents of
// the pool are taken over at the block where the wallet is.
func (p *poolState) fail(err error) {
	p.useAll()
	p.failure = rescan.Behind(err)
	p.fails++
	p.changes.notify()
}

// useAll takes over the contents of the pool that are queued.
func (p *poolState) useAll() {
	for _, all := range p.events.TakeAll() {
		p.use(all)
	}
}

// look takes over the transactions of the pool that concern scripts which
// payments have made the wallet's, unless the pool was compared with these
// scripts before.
func (p *poolState) look() {
	if ledger := p.ledger; ledger != nil && txs.Reach(ledger.Txs()) > p.seen {
		p.lookFor()
	}
}

// lookFor takes over the transactions of the pool that concern scripts which have
// become the wallet's. They are picked out where the answer comes in: the pool is
// large, and few transactions concern few scripts.
func (p *poolState) lookFor() {
	if p.cfg.Pool.IsAbsent() || !p.live || !p.joined || p.scans > 0 {
		return // the end of a scan looks again
	}
	scripts := p.ledger.Keys().Scripts()
	fresh := scripts[min(p.seen, len(scripts)):]
	if len(fresh) == 0 {
		return
	}
	coins := txs.OutputsTo(p.ledger.Txs(), fresh)
	pick := func(pool []messages.PoolTx) []messages.PoolTx { return txs.Concerned(pool, fresh, coins) }
	p.readBeside(pick, func(pool messages.PoolTxs) {
		p.events.Insert(&poolorder.Contents{PoolTxs: pool, Seen: len(scripts)})
	})
}

// readBeside has a job read the pool.
func (p *poolState) readBeside(
	pick func([]messages.PoolTx) []messages.PoolTx, use func(messages.PoolTxs),
) {
	p.scans++
	p.beside(func(j *ask.Job) { _ = p.read(j, pick, use) })
}
