package corepool

import (
	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

// coinsFound brings outputs of the chain for a request.
type coinsFound struct {
	call  *ask.Call[messages.GetPoolCoins, []*messages.Coin]
	found []*messages.Coin // those of the pool
	chain messages.Coins
	err   error
}

// coins answers with outputs: those of the pool from here, others from the chain.
func (p *Mirror) coins(c actor.Context, m *ask.Call[messages.GetPoolCoins, []*messages.Coin]) {
	p.read(func() {
		found := make([]*messages.Coin, len(m.Req.Outs))
		var others []wire.OutPoint
		for i, out := range m.Req.Outs {
			parent := p.pool.Lookup(out.Hash)
			if parent == nil {
				others = append(others, out)
			} else if outputs := parent.Msg().TxOut; int64(out.Index) < int64(len(outputs)) {
				found[i] = &messages.Coin{Output: outputs[out.Index], Height: messages.PoolHeight}
			}
		}
		if len(others) == 0 {
			p.coinsFound(c, coinsFound{call: m, found: found})
			return
		}
		ask.Then(m.Ctx, c, p.cfg.Chain, messages.GetCoins{Outs: others}, func(chain messages.Coins, err error) any {
			return coinsFound{m, found, chain, err}
		})
	})
}

func (p *Mirror) coinsFound(c actor.Context, m coinsFound) {
	q := m.call.Req
	for i, out := range q.Outs {
		if coin, ok := m.chain.Coins[out]; ok && m.found[i] == nil {
			m.found[i] = &coin
		}
	}
	if m.err != nil || q.View != messages.PoolUnspent {
		m.call.Answer(m.found, m.err)
		return
	}
	p.tasks.Go(c, func() func() {
		by, err := spenders(m.call.Ctx, p.cfg.Node, q.Outs)
		for i := range by {
			if by[i] != nil {
				m.found[i] = nil
			}
		}
		return func() { m.call.Answer(m.found, err) }
	})
}
