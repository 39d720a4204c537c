package wallets

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/wallet"
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

// pooled is the part of a wallet that following the memory pool needs.
type pooled interface {
	open() *wallet.Wallet // nil: it is closed
	isLoaded() bool       // and so follows the chain
	moves() bool          // a step to the next blocks is under way, or waits for keys
	looksAgain() bool     // at the last block, for keys that it wants
	save(c actor.Context, then func(error))
}

// A poolView is a wallet as its poolState sees it.
type poolView struct{ *Wallet }

// isLoaded reports whether the wallet is loaded, and follows the chain.
func (w poolView) isLoaded() bool { return w.live }

// moves reports whether the wallet is between two blocks.
func (w poolView) moves() bool { return w.awaitsKeys || w.follower.Busy() }

// looksAgain reports whether the last block may pay to keys that are being made.
func (w poolView) looksAgain() bool { return w.again != nil }

// poolState is what a wallet knows of the pool of unconfirmed transactions, and of the block
// where the pool is: the wallet follows the pool from block to block.
type poolState struct {
	*home
	of  pooled
	ctx context.Context //nolint:containedctx // ends what was asked when the actor stops

	wake     func(c actor.Context)   // has the wallet follow the chain
	conflict func(id chainhash.Hash) // told of what left the pool because of a block

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
	// submitted says that a transaction was offered to the pool.
	submitted struct {
		rest  []*wire.MsgTx
		relay bool
		taken int // how many the pool has
		then  func(taken int)
	}
	// poolRead brings what is in the pool.
	poolRead struct {
		pool messages.PoolTxs
		err  error
		then func(messages.PoolTxs)
	}
	// resend says that it is time to look whether transactions are to be sent again.
	resend struct{}
	// unwritten says that what was heard of the pool could not be written.
	unwritten struct{ of *poolState }
)

// sync hands the wallet's unconfirmed transactions to the pool, takes over
// what is there, and calls back. From then on the wallet hears every change.
func (p *poolState) sync(c actor.Context, then func()) {
	if p.cfg.Pool.IsAbsent() {
		p.joined = true
		then()
		return
	}
	p.submit(c, p.of.open().Txs().Unconfirmed(), false, func(int) {
		p.news.last = p.cfg.Changes.Subscribe(c)
		p.read(c, nil, func(pool messages.PoolTxs) {
			p.news.begin(&pool, func() { p.add(pool) })
			p.joined = true
			p.setResend()
			p.timer.Set(c, resendCheck, resend{})
			then()
		})
	})
}

// read asks for the contents of the pool, reduces them by pick unless that is nil, and calls
// back. News that come meanwhile wait.
func (p *poolState) read(
	c actor.Context, pick func([]messages.PoolTx) []messages.PoolTx, then func(messages.PoolTxs),
) {
	p.scans++
	ask.Then(p.ctx, c, p.cfg.Pool, messages.GetPoolTxs{}, func(pool messages.PoolTxs, err error) any {
		if pick != nil {
			pool.Txs = pick(pool.Txs)
		}
		return poolRead{pool, err, then}
	})
}

// submit offers transactions to the pool, one after the other, and calls back with how many it
// has.
func (p *poolState) submit(c actor.Context, txs []*wire.MsgTx, relay bool, then func(taken int)) {
	p.submitNext(c, submitted{txs, relay, 0, then})
}

func (p *poolState) submitNext(c actor.Context, m submitted) {
	if len(m.rest) == 0 || p.cfg.NoBroadcast {
		m.then(m.taken)
		return
	}
	q := messages.SubmitTx{Tx: m.rest[0], MaxFee: p.cfg.Spending.MaxFee, Quietly: !m.relay}
	ask.Then(p.ctx, c, p.cfg.Pool, q, func(_ messages.Done, err error) any {
		taken := m.taken + 1
		if err != nil {
			p.cfg.Log.Debug("transaction of a wallet is not in the memory pool", "txid", q.Tx.TxHash(), "err", err)
			taken--
		}
		return submitted{m.rest[1:], m.relay, taken, m.then}
	})
}

// handle takes the messages about the pool. It reports false for others.
func (p *poolState) handle(c actor.Context) bool {
	switch m := c.Message().(type) {
	case messages.PoolChanged:
		p.hear(c, &m)
	case submitted:
		p.submitNext(c, m)
	case poolRead:
		p.haveRead(c, m)
	case unwritten:
		if m.of == p {
			p.serveReaders()
		}
	case resend:
		if p.of.open() != nil {
			p.timer.Set(c, resendCheck, resend{})
			p.resendIfDue(c, resendCheck, func() {})
		}
	default:
		return false
	}
	return true
}

func (p *poolState) haveRead(c actor.Context, m poolRead) {
	if p.of.open() == nil {
		return // callers are answered as the actor stops
	}
	if m.err != nil {
		p.cfg.Log.Warn("wallet cannot read the memory pool", "wallet", p.label(), "err", m.err)
	}
	p.scans--
	m.then(m.pool)
	p.take(c)
	p.wake(c)
}

// write writes the news of the pool that the ledger has. After a failure, readers are served
// if this instance goes on: the next instance does not know what this one would tell.
func (p *poolState) write(c actor.Context) {
	p.unsaved++
	p.of.save(c, func(err error) {
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
	if p.unsaved > 0 || p.of.open() == nil {
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
func (p *poolState) seePool(c actor.Context, m *ask.Call[seeing, messages.Done]) {
	if p.of.open() == nil {
		return // callers are answered as the actor stops
	}
	p.whenCurrent(c, func(err error) {
		if err != nil {
			m.Answer(messages.Done{}, err)
			return
		}
		p.of.save(c, func(err error) { m.Answer(messages.Done{}, err) })
	})
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
	now, ledger := p.cfg.now(), p.of.open()
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

// resendIfDue offers transactions again that no block has taken up, if it is time for that, and
// calls back. A time that has passed tells that it is to be looked.
func (p *poolState) resendIfDue(c actor.Context, passed time.Duration, then func()) {
	if passed == 0 || !p.joined || !p.of.isLoaded() || p.cfg.NoBroadcast || p.cfg.Pool.IsAbsent() ||
		p.cfg.Now().Before(p.due) {
		then()
		return
	}
	p.setResend()
	before := p.cfg.Chain.Open().Active().Tip().Time().Unix() - resendAge
	p.submit(c, p.of.open().Txs().UnconfirmedBefore(before), true, func(taken int) {
		if taken > 0 {
			corelog.Printf(p.cfg.Log, infoLevel,
				"[%s] ResubmitWalletTransactions: resubmit %d unconfirmed transactions", p.label(), taken)
		}
		then()
	})
}

// leave ends what sync began.
func (p *poolState) leave(c actor.Context) {
	if p.cfg.Pool.IsAbsent() {
		return
	}
	p.cfg.Changes.Unsubscribe(c)
	p.timer.Stop()
}
