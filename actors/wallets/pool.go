package wallets

import (
	"math/rand/v2"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/wallet/txs"
	"github.com/seed61375155/trawl/messages"
)

// Transactions are sent again after a time between these, and only those that
// came resendAge before the last block.
const (
	minResend = 12 * time.Hour
	maxResend = 36 * time.Hour
	resendAge = 5 * 60

	// resendCheck is how often it is looked whether that time has come, by the node's clock.
	resendCheck = time.Minute
)

// poolState is what a wallet knows of the pool of unconfirmed transactions, and of the block
// where the pool is: the wallet follows the pool from block to block.
type poolState struct {
	*Wallet

	joined  bool // the wallet knows the contents of the pool
	news    news
	waiting []waiting
	scans   int       // of the pool that are under way: meanwhile news have to wait
	seen    int       // how many scripts the contents of the pool were compared with
	lost    bool      // news were dropped: the pool is to be read again
	back    bool      // a block has given transactions back that the pool may have had all the time
	unsaved int       // writes of news of the pool that are under way
	readers []func()  // to be called when no such write is under way
	due     time.Time // when transactions are sent again
	timer   ask.Timer // until the next look at due
}

// Messages of a wallet to itself.
type (
	// resend says that it is time to look whether transactions are to be sent again.
	resend struct{}
	// unwritten says that what was heard of the pool could not be written.
	unwritten struct{ of *poolState }
)

// join hands the wallet's unconfirmed transactions to the pool, and takes over
// what is there. From then on the wallet hears every change.
func (p *poolState) join(j *ask.Job, c actor.Context) error {
	if p.cfg.Pool.IsAbsent() {
		return p.do(j, func() { p.joined = true })
	}
	var unconfirmed []*wire.MsgTx
	if err := p.do(j, func() { unconfirmed = p.ledger.Txs().Unconfirmed() }); err != nil {
		return err
	}
	p.cfg.submit(j, unconfirmed, false)
	return p.await(j, func(then func(error)) {
		p.news.last = p.cfg.Changes.Subscribe(c)
		p.read(c, nil, func(pool messages.PoolTxs) {
			p.news.begin(&pool, func() { p.add(pool) })
			p.joined = true
			p.setResend()
			p.timer.Set(c, resendCheck, resend{})
			then(nil)
		})
	})
}

// read asks for the contents of the pool, reduces them by pick unless that is nil, and calls
// back. News that come meanwhile wait.
func (p *poolState) read(
	c actor.Context, pick func([]messages.PoolTx) []messages.PoolTx, then func(messages.PoolTxs),
) {
	p.scans++
	p.lanes.beside.Add(c, func(j *ask.Job) {
		pool, err := ask.Await(j, p.cfg.Pool, messages.GetPoolTxs{})
		if pick != nil {
			pool.Txs = pick(pool.Txs)
		}
		_ = p.do(j, func() { // else callers are answered as the actor stops
			if err != nil {
				p.cfg.Log.Warn("wallet cannot read the memory pool", "wallet", p.label(), "err", err)
			}
			p.scans--
			then(pool)
			p.take(c)
			p.follower.Wake(c)
		})
	})
}

// handle takes the messages about the pool. It reports false for others.
func (p *poolState) handle(c actor.Context) bool {
	switch m := c.Message().(type) {
	case messages.PoolChanged:
		p.hear(c, &m)
	case unwritten:
		if m.of == p {
			p.serveReaders()
		}
	case resend:
		p.timer.Set(c, resendCheck, m)
		p.lanes.beside.Add(c, func(j *ask.Job) { p.resendIfDue(j, resendCheck) })
	default:
		return false
	}
	return true
}

// write writes the news of the pool that the ledger has. After a failure, readers are served
// if this instance goes on: the next instance does not know what this one would tell.
func (p *poolState) write(c actor.Context) {
	p.unsaved++
	p.save(c, func(err error) {
		p.unsaved--
		if err != nil {
			c.Send(c.Self(), unwritten{p})
			return
		}
		p.serveReaders()
	})
}

// serveReaders calls the waiting readers, unless news of the pool are still being written.
func (p *poolState) serveReaders() {
	if p.unsaved > 0 || p.ledger == nil {
		return // they are answered as the actor stops
	}
	readers := p.readers
	p.readers = nil
	for _, then := range readers {
		then()
	}
}

// whenWritten calls back when the news of the pool are on disk, or cannot be written. A killed node loses
// its pool, but its wallets must still know every transaction that they have told.
func (p *poolState) whenWritten(then func()) {
	if p.unsaved == 0 {
		then()
		return
	}
	p.readers = append(p.readers, then)
}

// seePool answers when all that the wallet has heard of the pool until now is on
// disk. News that are yet to come in were published after the request was made.
func (t *caller) seePool(j *ask.Job, q seeing) (messages.Done, error) {
	t.pool.resendIfDue(j, q.Passed)
	err := t.await(j, func(then func(error)) { t.pool.whenCurrent(t.c, then) })
	if err == nil {
		err = t.saved(j)
	}
	return messages.Done{}, err
}

// scan takes over what is in the pool, for scripts that have become the wallet's,
// and calls back.
func (p *poolState) scan(c actor.Context, then func()) {
	if p.cfg.Pool.IsAbsent() {
		then()
		return
	}
	p.read(c, nil, func(pool messages.PoolTxs) {
		p.news.insert(&pool, func() {
			p.add(pool)
			p.write(c)
			then()
		})
	})
}

// add tells the ledger what is in the pool.
func (p *poolState) add(pool messages.PoolTxs) {
	now, ledger := p.cfg.now(), p.ledger
	all := make([]*wire.MsgTx, len(pool.Txs))
	for i := range pool.Txs {
		all[i] = pool.Txs[i].Tx
	}
	txs.UseMempool(ledger.Txs(), all)
	p.seen = len(ledger.Keys().Scripts())
	for _, tx := range all {
		ledger.Txs().AddMempoolTx(tx, now)
	}
}

// setResend sets the time to send transactions again.
func (p *poolState) setResend() {
	p.due = p.cfg.Now().Add(minResend + rand.N(maxResend-minResend)) //nolint:gosec // nothing depends on it
}

// resendIfDue offers transactions that no block has taken up to the pool again, if their time has come. Without a time
// that has passed nothing is looked at.
func (p *poolState) resendIfDue(j *ask.Job, passed time.Duration) {
	var again []*wire.MsgTx
	_ = p.do(j, func() { // else nothing is offered
		if passed == 0 || !p.joined || !p.live || p.cfg.NoBroadcast || p.cfg.Pool.IsAbsent() ||
			p.cfg.Now().Before(p.due) {
			return
		}
		p.setResend()
		before := p.cfg.Chain.Open().Active().Tip().Time().Unix() - resendAge
		again = p.ledger.Txs().UnconfirmedBefore(before)
	})
	if taken := p.cfg.submit(j, again, true); taken > 0 {
		p.logf("ResubmitWalletTransactions: resubmit %d unconfirmed transactions", taken)
	}
}

// leave ends what join began.
func (p *poolState) leave(c actor.Context) {
	if p.cfg.Pool.IsAbsent() {
		return
	}
	p.cfg.Changes.Unsubscribe(c)
	p.timer.Stop()
}
