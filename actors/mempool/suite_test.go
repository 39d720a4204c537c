package mempool_test

import (
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/mempool"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
)

// The tests of every actor.
func TestSuite(t *testing.T) {
	actortest.Suite(t, func(t *testing.T) *actortest.Subject {
		t.Helper()
		actortest.InBubble(t)
		r := newRig(t, estimating(t.TempDir()))
		txs := make([]*wire.MsgTx, len(r.coins))
		for i := range txs {
			txs[i] = spend(50*coin-1000, r.coins[i])
		}
		fresh := txs[5:]
		return &actortest.Subject{
			Ref: r.pool, Served: mempool.Requests,
			Requests: []actortest.Request{
				actortest.Sample(messages.SubmitTx{Tx: txs[0]}), actortest.Sample(nodemsg.OfferTx{Tx: txs[1]}),
				actortest.Sample(messages.TestTxs{Txs: txs[2:3]}),
				actortest.Sample(messages.SubmitPackage{Txs: []*wire.MsgTx{
					txs[3], spend(50*coin-2000, outOf(txs[3])),
				}}),
				actortest.Sample(nodemsg.OfferPackage{Txs: []*wire.MsgTx{txs[4], spend(50*coin-2000, outOf(txs[4]))}}),
				actortest.Sample(messages.GetPoolCoins{Outs: r.coins}),
				actortest.Sample(messages.LoadPool{Path: r.file}),
				actortest.Sample(messages.EstimateFee{FeeQuery: messages.FeeQuery{Target: 6}}),
				actortest.Sample(messages.EstimateRawFee{Target: 6, Share: .9}),
			},
			News: func() { r.generate() }, // asks the chain alone: the pool may fail just then
			Check: func() {
				r.waitLoaded()
				tx := fresh[0]
				fresh = fresh[1:]
				if err := r.submit(tx); err != nil {
					t.Error(err)
				}
				ok(ask.Ask(t.Context(), r.pool, messages.GetPoolTx{ID: tx.TxHash()})).must(t)
				r.mine(1)
				r.holds("mined")
			},
		}
	})
}
