package actortest

import (
	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

// EmptyPool starts an actor in the place of a pool of unconfirmed transactions in
// which there is nothing.
func (s *System) EmptyPool() *ask.Ref {
	s.t.Helper()
	return s.Pool(func() []messages.PoolTx { return nil })
}

// Pool starts an actor in the place of a pool of unconfirmed transactions, which
// tells its listeners nothing and takes no more. It asks each time what is in it.
func (s *System) Pool(content func() []messages.PoolTx) *ask.Ref {
	s.t.Helper()
	return s.TakingPool(content, nil)
}

// TakingPool is [System.Pool] with a pool that hands submitted transactions to
// take; if take is nil it refuses them all.
func (s *System) TakingPool(content func() []messages.PoolTx, take func(messages.SubmitTx)) *ask.Ref {
	s.t.Helper()
	return s.Spawn("mempool", func() actor.Actor {
		return actor.ReceiveFunc(func(c actor.Context) {
			switch m := c.Message().(type) {
			case *ask.Call[messages.SelectTxs, messages.BlockTxs]:
				m.Answer(messages.BlockTxs{}, nil)
			case *ask.Call[messages.GetPoolInfo, messages.PoolInfo]:
				m.Answer(messages.PoolInfo{Loaded: true}, nil)
			case *ask.Call[messages.GetPoolClusters, messages.PoolClusters]:
				m.Answer(messages.PoolClusters{
					MinFee: 100, MinRelayFee: 100, IncrementalFee: 100, DustFee: 3000,
					MaxAncestors: 25, MaxDescendants: 25,
				}, nil)
			case *ask.Call[messages.GetPoolCoins, []*messages.Coin]:
				m.Answer(coinsOf(content(), m.Req.Outs), nil)
			case *ask.Call[messages.GetPoolSpenders, []*chainhash.Hash]:
				m.Answer(make([]*chainhash.Hash, len(m.Req.Outs)), nil)
			case *ask.Call[messages.GetPoolTx, messages.PoolTx]:
				m.Answer(messages.PoolTx{}, messages.ErrNotInPool)
			case *ask.Call[messages.GetPoolIDs, messages.PoolIDs]:
				m.Answer(messages.PoolIDs{IDs: []chainhash.Hash{}, Sequence: 1}, nil)
			case *ask.Call[messages.GetPoolTxs, messages.PoolTxs]:
				m.Answer(messages.PoolTxs{Txs: content(), Sequence: 1}, nil)
			case *ask.Call[messages.SubmitTx, messages.Done]:
				if take == nil {
					ask.Unhandled(c)
					return
				}
				take(m.Req)
				m.Answer(messages.Done{}, nil)
			default:
				ask.Unhandled(c)
			}
		})
	})
}

// coinsOf returns outputs of transactions, nil for others.
func coinsOf(txs []messages.PoolTx, outs []wire.OutPoint) []*messages.Coin {
	coins := make([]*messages.Coin, len(outs))
	for i, at := range outs {
		for j := range txs {
			if tx := txs[j].Tx; tx.TxHash() == at.Hash && int(at.Index) < len(tx.TxOut) {
				coins[i] = &messages.Coin{Output: tx.TxOut[at.Index], Height: messages.PoolHeight}
			}
		}
	}
	return coins
}
