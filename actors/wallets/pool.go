package wallets

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/wallet/poolorder"
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
	events  poolorder.Queue
	scans   int       // of the pool that are under way: meanwhile events have to wait
	seen    int       // how many scripts the contents of the pool were compared with
	lost    bool      // events were dropped: the pool is to be read again
	back    bool      // a block has given transactions back that the pool may have had all the time
	written *batch    // that has the last events; nil: they are on disk
	failure error     // the last reason why the wallet did not go on
	fails   int       // counts these
	due     time.Time // when transactions are sent again
	timer   ask.Timer // until the next look at due
}

// resend is a message of a wallet to itself: it is time to look whether transactions are to be sent again.
type resend struct{}

// join hands the wallet's unconfirmed transactions to the pool, and takes over
// what is there. From then on the wallet hears every change.
func (p *poolState) join(j *ask.Job) error {
	if p.cfg.Pool.IsAbsent() {
		return p.do(j, func() { p.joined = true })
	}
	var unconfirmed []*wire.MsgTx
	if err := p.do(j, func() { unconfirmed = p.ledger.Txs().Unconfirmed() }); err != nil {
		return err
	}
	p.cfg.submit(j, unconfirmed, false)
	if err := p.do(j, func() {
		p.events.Last = p.cfg.Changes.Subscribe(p.c)
		p.scans++
	}); err != nil {
		return err
	}
	return p.read(j, nil, func(pool messages.PoolTxs) {
		p.events.Begin(&poolorder.Contents{PoolTxs: pool})
		p.joined = true
		p.setResend()
		p.timer.Set(p.c, resendCheck, resend{})
	})
}

// read asks for the contents of the pool, reduces them by pick unless that is nil, and has the actor use them. Events
// that come meanwhile wait: the actor has counted the scan.
func (p *poolState) read(
	j *ask.Job, pick func([]messages.PoolTx) []messages.PoolTx, use func(messages.PoolTxs),
) error {
	pool, err := ask.Await(j, p.cfg.Pool, messages.GetPoolTxs{})
	if pick != nil {
		pool.Txs = pick(pool.Txs)
	}
	return p.do(j, func() { // else callers are answered as the actor stops
		if err != nil {
			p.cfg.Log.Warn("wallet cannot read the memory pool", "wallet", p.Label(), "err", err)
		}
		p.scans--
		use(pool)
		p.take()
		p.follower.Wake(p.c)
	})
}

// waited offers transactions again if it is time, and looks later whether it is.
func (p *poolState) waited() {
	p.timer.Set(p.c, resendCheck, resend{})
	p.beside(func(j *ask.Job) { p.resendIfDue(j, resendCheck) })
}

// write writes the events of the pool that the ledger has.
func (p *poolState) write() { p.written = p.save(nil) }

// poolWritten waits until all that the wallet tells of the pool is on disk. After a failure it returns nil if
// this instance goes on: the next instance does not know what this one would tell.
func (t *caller) poolWritten(j *ask.Job) error {
	var b *batch
	err := t.do(j, func() { b = t.pool.written })
	if err == nil && b.wait(j) != nil {
		err = context.Cause(j.Context())
	}
	return err
}

// seePool answers when all that the wallet has heard of the pool until now is on
// disk. Events that are yet to come in were published after the request was made.
func (t *caller) seePool(j *ask.Job, q seeing) (messages.Done, error) {
	t.pool.resendIfDue(j, q.Passed)
	err := t.atTip(j)
	if err == nil {
		err = t.saved(j)
	}
	return messages.Done{}, err
}

// scan waits until the contents of the pool are taken over, for scripts that have become the wallet's.
func (p *poolState) scan(j *ask.Job) error {
	if p.cfg.Pool.IsAbsent() {
		return nil
	}
	all := new(poolorder.Contents)
	err := p.do(j, func() { p.scans++ })
	if err == nil {
		err = p.read(j, nil, func(pool messages.PoolTxs) {
			all.PoolTxs = pool
			p.events.Insert(all)
		})
	}
	if err != nil {
		return err
	}
	return p.until(j, func() (bool, error) { return all.Taken, nil })
}

// use takes contents of the pool over.
func (p *poolState) use(all *poolorder.Contents) {
	if all.Clear {
		p.ledger.Txs().ClearMempool()
	}
	p.add(all.PoolTxs)
	if all.Seen > 0 {
		p.seen = all.Seen
	}
	all.Taken = true
	p.write()
	p.changes.notify()
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
		p.Logf("ResubmitWalletTransactions: resubmit %d unconfirmed transactions", taken)
	}
}

// leave ends what join began.
func (p *poolState) leave() {
	if p.cfg.Pool.IsAbsent() {
		return
	}
	p.cfg.Changes.Unsubscribe(p.c)
	p.timer.Stop()
}
