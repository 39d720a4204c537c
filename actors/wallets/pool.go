package wallets

import (
	"math/rand/v2"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

// maxResendFee is the highest fee of a transaction of a wallet that is handed to
// the pool (Core's DEFAULT_TRANSACTION_MAXFEE).
const maxResendFee = 10_000_000

// Transactions are sent again after a time between these, and only those that
// came resendAge before the last block.
const (
	minResend = 12 * time.Hour
	maxResend = 36 * time.Hour
	resendAge = 5 * 60
)

// pooling is what a wallet hears of the pool of unconfirmed transactions.
type pooling struct {
	joined  bool // the wallet knows what is in the pool
	pending []messages.PoolChanged
	scans   int         // of the pool that are under way: news have to wait for them
	after   []func()    // to be called when there is none
	timer   *time.Timer // until transactions are sent again
}

// Messages of a wallet to itself.
type (
	// handedOver says that a transaction was offered to the pool.
	handedOver struct {
		rest  []*wire.MsgTx
		relay bool
		then  func()
	}
	// poolRead brings what is in the pool.
	poolRead struct {
		pool messages.PoolTxs
		err  error
		then func()
	}
	// poolScanned brings what is in the pool at the end of a rescan.
	poolScanned struct {
		pool messages.PoolTxs
		err  error
		then func()
	}
	// resend says that it is time to send transactions again.
	resend struct{}
)

// joinPool hands the wallet's unconfirmed transactions to the pool, takes over
// what is there, and calls back. From then on the wallet hears every change.
func (w *Wallet) joinPool(c actor.Context, then func()) {
	if w.cfg.Pool.IsAbsent() {
		w.pool.joined = true
		then()
		return
	}
	w.cfg.Changes.Subscribe(c)
	w.handOver(c, w.ledger.Txs().Unconfirmed(), false, func() {
		ask.Then(w.ctx, c, w.cfg.Pool, messages.GetPoolTxs{}, func(pool messages.PoolTxs, err error) any {
			return poolRead{pool, err, then}
		})
	})
}

// handOver offers transactions to the pool, one after the other.
func (w *Wallet) handOver(c actor.Context, txs []*wire.MsgTx, relay bool, then func()) {
	if len(txs) == 0 || w.cfg.NoBroadcast {
		then()
		return
	}
	q := messages.SubmitTx{Tx: txs[0], MaxFee: maxResendFee, Quietly: !relay}
	ask.Then(w.ctx, c, w.cfg.Pool, q, func(_ messages.Done, err error) any {
		if err != nil {
			w.cfg.Log.Debug("transaction of a wallet is not in the memory pool", "txid", q.Tx.TxHash(), "err", err)
		}
		return handedOver{txs[1:], relay, then}
	})
}

// pooled takes the messages about the pool. It reports false for others.
func (w *Wallet) pooled(c actor.Context) bool {
	switch m := c.Message().(type) {
	case messages.PoolChanged:
		w.pool.pending = append(w.pool.pending, m)
		w.takeNews(c)
	case handedOver:
		w.handOver(c, m.rest, m.relay, m.then)
	case poolRead:
		w.poolRead(c, m)
	case poolScanned:
		w.poolScanned(c, m)
	case resend:
		w.resend(c)
	default:
		return false
	}
	return true
}

func (w *Wallet) poolRead(c actor.Context, m poolRead) {
	w.addPool(m.pool, m.err)
	w.pool.joined = true
	w.setResend(c)
	m.then()
}

// takeNews applies what changed in the pool, once the wallet has seen the blocks
// that it was changed by.
func (w *Wallet) takeNews(c actor.Context) {
	if !w.live || !w.pool.joined || w.pool.scans > 0 || len(w.pool.pending) == 0 {
		return
	}
	if w.cfg.Chain.Open().Active().Tip().Hash != w.ledger.Txs().Tip().Hash {
		w.follower.Wake(c) // which calls back
		return
	}
	pending, now := w.pool.pending, w.cfg.now()
	w.pool.pending = nil
	for _, news := range pending {
		if news.Reset {
			w.ledger.Txs().ClearMempool()
		}
		for _, change := range news.Changes {
			switch {
			case change.Added:
				w.ledger.Txs().AddMempoolTx(change.Tx, now)
			case change.Reason != messages.PoolBlock:
				w.ledger.Txs().RemoveMempoolTx(change.Tx)
			}
		}
	}
	w.save(c, nil)
}

// seePool answers when all that the wallet has heard of the pool until now is on
// disk. News that are yet to come in were published after the request was made.
func (w *Wallet) seePool(c actor.Context, m *seePool) {
	current(c, w, m, func() {
		w.takeNews(c)
		switch {
		case w.pool.scans > 0:
			w.pool.after = append(w.pool.after, func() { w.seePool(c, m) })
		case len(w.pool.pending) > 0: // the tip has moved on meanwhile
			w.seePool(c, m)
		default:
			w.save(c, func(err error) { m.Answer(messages.Done{}, err) })
		}
	})
}

// scanPool takes over what is in the pool, for scripts that have become the wallet's,
// and calls back.
func (w *Wallet) scanPool(c actor.Context, then func()) {
	if w.cfg.Pool.IsAbsent() {
		then()
		return
	}
	w.pool.scans++
	ask.Then(w.ctx, c, w.cfg.Pool, messages.GetPoolTxs{}, func(pool messages.PoolTxs, err error) any {
		return poolScanned{pool, err, then}
	})
}

func (w *Wallet) poolScanned(c actor.Context, m poolScanned) {
	if w.ledger == nil {
		return // callers are answered as the actor stops
	}
	w.pool.scans--
	w.addPool(m.pool, m.err)
	m.then()
	if w.pool.scans > 0 || w.ledger == nil {
		return
	}
	w.takeNews(c)
	after := w.pool.after
	w.pool.after = nil
	for _, then := range after {
		then()
	}
}

// addPool tells the ledger what is in the pool. Of what left it since then, news
// are on the way.
func (w *Wallet) addPool(pool messages.PoolTxs, err error) {
	if err != nil {
		w.cfg.Log.Warn("wallet cannot read the memory pool", "wallet", w.label(), "err", err)
	}
	now := w.cfg.now()
	for i := range pool.Txs {
		w.ledger.Txs().AddMempoolTx(pool.Txs[i].Tx, now)
	}
}

// setResend sets the time to send transactions again.
func (w *Wallet) setResend(c actor.Context) {
	after := minResend + rand.N(maxResend-minResend) //nolint:gosec // nothing depends on it
	root, self := c.ActorSystem().Root, c.Self()
	w.pool.timer = time.AfterFunc(after, func() { root.Send(self, resend{}) })
}

// resend offers transactions again that no block has taken up.
func (w *Wallet) resend(c actor.Context) {
	w.setResend(c)
	if !w.live {
		return
	}
	reader := w.cfg.Chain.Open()
	before := reader.Active().Tip().Header.Timestamp.Unix() - resendAge
	w.handOver(c, w.ledger.Txs().UnconfirmedBefore(before), true, func() {})
}

// leavePool ends what joinPool began.
func (w *Wallet) leavePool(c actor.Context) {
	if w.cfg.Pool.IsAbsent() {
		return
	}
	w.cfg.Changes.Unsubscribe(c)
	if w.pool.timer != nil {
		w.pool.timer.Stop()
	}
}
