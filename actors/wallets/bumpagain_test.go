package wallets_test

import (
	"sync/atomic"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/messages"
)

// changing is a memory pool that changes after a replacement was built and before it is signed. By then the pool has
// been asked for coins once.
type changing struct {
	looks  int
	change atomic.Pointer[func(question any) (answered bool)]
}

func (p *changing) front(r *rig, pool *ask.Ref) *ask.Ref {
	return r.sys.Spawn("changing", func() actor.Actor {
		return actor.ReceiveFunc(func(c actor.Context) {
			m := c.Message()
			switch m.(type) {
			case actor.AutoReceiveMessage, actor.SystemMessage:
				return
			case *ask.Call[messages.GetPoolCoins, []*messages.Coin]:
				p.looks++
			}
			if change := p.change.Load(); change != nil && p.looks%2 == 0 && (*change)(m) {
				return
			}
			pool.Tell(m)
		})
	})
}

// On qbit's chains a signed replacement is looked at again before it is taken in; if something speaks against the
// replacement, it leaves no trace. On Bitcoin's chains it is taken in without a second look.
func TestBumpFeeLooksAgain(t *testing.T) {
	rival := chainhash.Hash{7}
	gone := func(question any) bool {
		m, ok := question.(*ask.Call[messages.GetPoolCoins, []*messages.Coin])
		if ok {
			m.Answer(make([]*messages.Coin, len(m.Req.Outs)), nil)
		}
		return ok
	}
	spentBy := func(id *chainhash.Hash) func(any) bool {
		return func(question any) bool {
			m, ok := question.(*ask.Call[messages.GetPoolSpenders, []*chainhash.Hash])
			if ok {
				m.Answer([]*chainhash.Hash{id}, nil)
			}
			return ok
		}
	}
	pool := func(now messages.PoolClusters) func(any) bool {
		now.MaxAncestors, now.MaxDescendants = 25, 25
		return func(question any) bool {
			m, ok := question.(*ask.Call[messages.GetPoolClusters, messages.PoolClusters])
			if ok {
				m.Answer(now, nil)
			}
			return ok
		}
	}
	for name, of := range map[string]string{"Bitcoin": "", "qbit": "qbit"} {
		network, err := dialect.Named(of, "regtest", dialect.Choices{AnyOutput: true})
		if err != nil {
			t.Fatal(err)
		}
		p := new(changing)
		_, ref := pooled(t, setup{network: network, front: p.front}, "bech32")
		first := do(t, ref, pay(60_000_000))
		at := first.Tx.TxIn[0].PreviousOutPoint
		refused := map[string]func(any) bool{
			"Replacement input " + at.Hash.String() + ":0 is no longer available": gone,
			"Replacement input " + at.Hash.String() + ":0 is already spent by wallet transaction " +
				rival.String(): spentBy(&rival),
			"Transaction has descendants in the mempool": pool(messages.PoolClusters{
				Txs: []messages.ClusterTx{{ID: rival, Depends: []chainhash.Hash{first.TxID}}},
			}),
			"Replacement transaction no longer pays the current incremental relay fee": pool(messages.PoolClusters{
				IncrementalFee: 1_000_000,
			}),
			"Replacement transaction fee rate is below the current mempool minimum": pool(messages.PoolClusters{
				MinFee: 1_000_000,
			}),
		}
		if of == "" {
			refused = nil
		}
		q := messages.BumpFee{TxID: first.TxID, FeeRate: new(int64(20_000)), Send: true}
		for text, change := range refused {
			p.change.Store(&change)
			_, err := try(t, ref, q)
			refusal(t, err, -4, text)
			tx := do(t, ref, messages.GetTransaction{TxID: first.TxID}).Tx
			if n := do(t, ref, messages.GetWalletInfo{}).TxCount; tx.ReplacedBy != nil || n != 2 {
				t.Errorf("%s: replaced by %v, %d transactions", text, tx.ReplacedBy, n)
			}
		}
		change := spentBy(&first.TxID)
		if of == "" {
			change = gone
		}
		p.change.Store(&change)
		second := do(t, ref, q)
		if of == "" {
			p.change.Store(nil)
		}
		q.TxID, q.FeeRate = second.TxID, new(int64(40_000))
		if got := do(t, ref, q); got.Fee <= second.Fee { // the pool has the first one still, which is replaced in turn
			t.Errorf("%s: %v after %v", name, got.Fee, second.Fee)
		}
	}
}
