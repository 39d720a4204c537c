package mempool

import (
	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/internal/txpool"
	"github.com/seed61375155/trawl/messages"
)

// answering makes the task of a request about transactions.
func answering[Q messages.Request[R], R any](call *ask.Call[Q, R], txs []*wire.MsgTx,
	run func(txpool.Coins, txpool.Now) (R, func(), error),
) *task {
	t := &task{ctx: call.Ctx}
	for _, tx := range txs {
		t.outs = append(t.outs, txpool.Needs(tx)...)
	}
	t.fail = func(err error) { call.Answer(*new(R), err) }
	t.run = func(coins txpool.Coins, now txpool.Now) func(actor.Context) {
		got, after, err := run(coins, now)
		return func(actor.Context) {
			if after != nil {
				after()
			}
			call.Answer(got, err)
		}
	}
	return t
}

// submit takes in a transaction of our own.
func (m *Mempool) submit(c actor.Context, call *ask.Call[messages.SubmitTx, messages.Done]) {
	q := &call.Req
	id := q.Tx.TxHash()
	m.enqueue(c, answering(call, []*wire.MsgTx{q.Tx},
		func(coins txpool.Coins, now txpool.Now) (messages.Done, func(), error) {
			done := messages.Done{}
			if txpool.Confirmed(q.Tx, coins) {
				return done, nil, messages.ErrTxConfirmed
			}
			announce := func() { m.announce(!q.Quietly && !q.Test, id) }
			if m.pool.Lookup(&id) != nil {
				return done, announce, nil
			}
			r := m.pool.Accept(q.Tx, coins, now, txpool.Options{MaxFee: q.MaxFee, Test: q.Test})
			switch {
			case r.Rejected == nil:
				if !q.Quietly && !q.Test {
					m.pool.SetUnbroadcast(&id, true)
				}
				return done, announce, nil
			case r.Rejected.Reason == txpool.ReasonMaxFee:
				return done, nil, messages.ErrTxFee
			default:
				return done, nil, r.Rejected
			}
		}))
}

// announce asks for transactions to be announced to peers.
func (m *Mempool) announce(really bool, list ...chainhash.Hash) {
	if !really {
		return
	}
	var announce []messages.RelayTx
	for _, id := range list {
		if e := m.pool.Lookup(&id); e != nil {
			announce = append(announce, messages.RelayTx{ID: e.ID, WID: e.WID, Own: m.pool.Unbroadcast(&e.ID)})
		}
	}
	m.publish(announce)
}

// offer takes in a transaction of a peer.
func (m *Mempool) offer(c actor.Context, call *ask.Call[nodemsg.OfferTx, messages.Done]) {
	tx := call.Req.Tx
	m.enqueue(c, answering(call, []*wire.MsgTx{tx},
		func(coins txpool.Coins, now txpool.Now) (messages.Done, func(), error) {
			r := m.pool.Accept(tx, coins, now, txpool.Options{})
			if r.Rejected != nil {
				return messages.Done{}, nil, r.Rejected
			}
			return messages.Done{}, func() { m.announce(true, tx.TxHash()) }, nil
		}))
}

// test judges transactions and changes nothing.
func (m *Mempool) test(c actor.Context, call *ask.Call[messages.TestTxs, messages.PackageResult]) {
	txs := call.Req.Txs
	m.enqueue(c, answering(call, txs, func(coins txpool.Coins, now txpool.Now) (messages.PackageResult, func(), error) {
		return m.pool.Try(txs, coins, now), nil, nil
	}))
}

// submitPackage takes in a child of our own with its parents. As in Core, they are
// announced once; if no peer asks for them, the announcement is not repeated.
func (m *Mempool) submitPackage(c actor.Context, call *ask.Call[messages.SubmitPackage, messages.PackageResult]) {
	rate := txpool.FeeRate{}
	if call.Req.MaxRate > 0 {
		rate = txpool.PerKvB(call.Req.MaxRate)
	}
	m.enqueue(c, packageTask(m, call, call.Req.Txs, rate))
}

// offerPackage takes in a child of a peer with its parents.
func (m *Mempool) offerPackage(c actor.Context, call *ask.Call[nodemsg.OfferPackage, messages.PackageResult]) {
	m.enqueue(c, packageTask(m, call, call.Req.Txs, txpool.FeeRate{}))
}

func packageTask[Q messages.Request[messages.PackageResult]](
	m *Mempool, call *ask.Call[Q, messages.PackageResult], txs []*wire.MsgTx, rate txpool.FeeRate,
) *task {
	return answering(call, txs, func(coins txpool.Coins, now txpool.Now) (messages.PackageResult, func(), error) {
		result := m.pool.Submit(txs, coins, now, rate)
		var in []chainhash.Hash
		for _, tx := range txs {
			if id := tx.TxHash(); m.pool.Lookup(&id) != nil {
				in = append(in, id)
			}
		}
		return result, func() { m.announce(true, in...) }, nil
	})
}

// coins looks outputs up in the pool and in the chain.
func (m *Mempool) coins(c actor.Context, call *ask.Call[messages.GetPoolCoins, []*messages.Coin]) {
	outs := call.Req.Outs
	t := answering(call, nil, func(coins txpool.Coins, _ txpool.Now) ([]*messages.Coin, func(), error) {
		list := make([]*messages.Coin, len(outs))
		for i, at := range outs {
			if call.Req.View == messages.PoolUnspent && m.pool.Spender(at) != nil {
				continue
			}
			list[i] = m.coin(at, coins)
		}
		return list, nil, nil
	})
	t.outs = outs
	m.enqueue(c, t)
}

func (m *Mempool) coin(at wire.OutPoint, coins txpool.Coins) *messages.Coin {
	if e := m.pool.Lookup(&at.Hash); e != nil {
		if int64(at.Index) >= int64(len(e.Tx.TxOut)) {
			return nil
		}
		return &messages.Coin{Output: e.Tx.TxOut[at.Index], Height: messages.PoolHeight}
	}
	if coin, ok := coins[at]; ok {
		return &coin
	}
	return nil
}
