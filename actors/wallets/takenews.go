package wallets

import (
	"slices"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/messages"
)

// waiting is a function to be called when the wallet has taken all announcements up to a
// number, and has seen a block.
type waiting struct {
	number uint64
	tip    messages.Tip // zero: the active tip
	then   func(error)
}

// hear queues what the pool tells, and takes what is due. A wallet that cannot follow the
// chain for long reads the pool again when it can.
func (p *poolState) hear(c actor.Context, m *messages.PoolChanged) {
	if p.lost {
		p.news.last++
		return
	}
	p.news.add(m, p.cfg.Chain.Open())
	if len(p.news.queue) > maxEvents {
		p.runAll()
		p.news.queue, p.news.at, p.news.pool, p.lost = nil, messages.Tip{}, messages.Tip{}, true
	}
	p.take(c)
	p.follower.Wake(c)
}

// target returns the block that the wallet is to go to: where the pool was when it told the
// next news, or the active tip.
func (p *poolState) target(reader chainview.Reader) *chainview.Block {
	if p.ledger == nil {
		return reader.Active().Tip()
	}
	return p.news.target(reader, p.ledger.Txs().Tip())
}

// arrived reports whether the wallet is where the next news are to be taken.
func (p *poolState) arrived() bool {
	reader := p.cfg.Chain.Open()
	return reader != nil && p.target(reader).Hash == p.ledger.Txs().Tip().Hash
}

// mayTake reports whether news may be taken now.
func (p *poolState) mayTake() bool {
	return p.ledger != nil && p.live && p.joined && p.scans == 0 && !p.awaitsKeys && !p.follower.Busy()
}

// take takes the news that are due where the wallet is, and calls the functions that waited
// for these news. The caller of take wakes the wallet, which may have to go on to another
// block.
func (p *poolState) take(c actor.Context) {
	taken := false
	for p.mayTake() && len(p.news.queue) > 0 {
		next := p.news.queue[0]
		if next.to == nil && !p.arrived() {
			break
		}
		p.news.queue = p.news.queue[1:]
		p.takeOne(&next)
		taken = true
	}
	if taken && p.ledger != nil {
		p.write(c)
		p.look(c)
	}
	if (p.lost || p.back) && p.mayTake() && p.arrived() {
		p.readAgain(c)
	}
	p.callBack(nil)
}

// readAgain reads the pool again, because the wallet may not know all its transactions.
func (p *poolState) readAgain(c actor.Context) {
	lost := p.lost
	p.lost, p.back = false, false
	p.read(c, nil, func(pool messages.PoolTxs) {
		if !lost {
			p.news.insert(&pool, func() { p.add(pool) })
			return
		}
		p.news.begin(&pool, func() {
			p.ledger.Txs().ClearMempool()
			p.add(pool)
		})
	})
}

// left notes that a block has left the wallet's chain and given transactions back. The pool
// tells which of them it gets back, but only if it has seen the block: a wallet that
// follows the chain alone may have seen other blocks.
func (p *poolState) left(b *chainview.Block, reader chainview.Reader) {
	if p.cfg.Pool.IsAbsent() || len(p.news.queue) > 0 && p.news.queue[0].run != nil {
		return // contents are taken over next
	}
	pool := reader.Lookup(&p.news.pool.Hash)
	p.back = p.back || pool == nil || !pool.Ancestor(b.Height).Is(b)
}

func (p *poolState) takeOne(e *event) {
	txs := p.ledger.Txs()
	switch {
	case e.to != nil:
		p.news.at, p.news.pool = *e.to, *e.to
	case e.alone:
		p.news.at = messages.Tip{}
	case e.reset:
		p.news.at, p.news.pool = messages.Tip{}, messages.Tip{}
		txs.ClearMempool()
	case e.run != nil:
		e.run()
	case e.change.Added:
		txs.AddMempoolTx(e.change.Tx, p.cfg.now())
	case e.change.Reason != messages.PoolBlock:
		txs.RemoveMempoolTx(e.change.Tx)
		if e.change.Reason == messages.PoolConflict {
			p.publishConflict(e.change.ID)
		}
	}
}

// whenCurrent calls back when the wallet has seen the tip that is active now and all that the
// pool has told until now, or cannot.
func (p *poolState) whenCurrent(c actor.Context, then func(err error)) {
	w := waiting{number: p.news.last, then: then}
	if reader := p.cfg.Chain.Open(); reader != nil {
		tip := reader.Active().Tip()
		w.tip = messages.Tip{Hash: tip.Hash, Height: tip.Height}
	}
	p.waiting = append(p.waiting, w)
	p.take(c)
	p.follower.Wake(c)
}

// callBack calls the functions that have waited long enough. With an error it calls the
// others, too.
func (p *poolState) callBack(err error) {
	reader := p.cfg.Chain.Open()
	if p.ledger == nil || reader == nil {
		return // callers are answered as the actor stops, or when the chain is there again
	}
	waited := p.waiting
	p.waiting = nil
	for _, w := range waited {
		switch {
		case p.ledger == nil:
			return
		case p.isOver(reader, &w):
			w.then(nil)
		case err != nil:
			w.then(err)
		default:
			p.waiting = append(p.waiting, w)
		}
	}
}

// isOver reports whether the wallet has seen and taken what somebody waits for.
func (p *poolState) isOver(reader chainview.Reader, w *waiting) bool {
	active, tip := reader.Active(), p.ledger.Txs().Tip()
	if w.tip == (messages.Tip{}) {
		w.tip = messages.Tip{Hash: active.Tip().Hash, Height: active.Height()}
	}
	if p.scans > 0 || p.again != nil || p.news.after(w.number) > 0 {
		return false
	}
	if tip.Hash == w.tip.Hash {
		return true
	}
	at, wanted := reader.Lookup(&tip.Hash), reader.Lookup(&w.tip.Hash)
	if at == nil || !active.Contains(at) {
		return false
	}
	return wanted != nil && at.Ancestor(wanted.Height).Is(wanted) ||
		at.Is(active.Tip()) && (wanted == nil || !active.Contains(wanted))
}

// fail tells the waiting functions why the wallet cannot follow the chain. Queued contents of
// the pool are taken over at the block where the wallet is.
func (p *poolState) fail(err error) {
	p.runAll()
	p.callBack(behind(err))
}

// runAll takes over the contents of the pool that are queued.
func (p *poolState) runAll() {
	var runs []func()
	p.news.queue = slices.DeleteFunc(p.news.queue, func(e event) bool {
		if e.run != nil {
			runs = append(runs, e.run)
		}
		return e.run != nil
	})
	for _, run := range runs {
		if p.ledger == nil {
			return
		}
		run()
	}
}
