package corepool

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/corenode"
	"github.com/seed61375155/trawl/internal/corenode/poolcopy"
	"github.com/seed61375155/trawl/messages"
)

// reading makes the handler of a request that is answered from the pool when no worker has it.
func reading[Q messages.Request[R], R any](answer func(*Mirror, *Q) (R, error)) ask.Handler[*Mirror] {
	return ask.On(func(p *Mirror, _ actor.Context, m *ask.Call[Q, R]) {
		p.read(func() { m.Answer(answer(p, &m.Req)) })
	})
}

// refusing makes the handler of what only a node can that judges transactions.
func refusing[Q messages.Request[R], R any]() ask.Handler[*Mirror] {
	return ask.AtOnce(func(*Mirror, Q) (R, error) { return *new(R), messages.ErrFollows })
}

func (p *Mirror) spenders(c actor.Context, m *ask.Call[messages.GetPoolSpenders, []*chainhash.Hash]) {
	p.tasks.Go(c, func() func() {
		list, err := spenders(m.Ctx, p.cfg.Node, m.Req.Outs)
		return func() { m.Answer(list, err) }
	})
}

func (p *Mirror) state(*messages.GetCopiedPool) (messages.CopiedPool, error) {
	total := p.pool.Total()
	return messages.CopiedPool{
		Txs: p.pool.Len(), Bytes: total.Bytes, Missing: total.Left, Updated: p.updated, Reason: p.reason,
	}, nil
}

func (p *Mirror) info(*messages.GetPoolInfo) (messages.PoolInfo, error) {
	total := p.pool.Total()
	return messages.PoolInfo{
		Loaded: !p.updated.IsZero(), Size: p.pool.Len(), VSize: total.VSize, Usage: total.Bytes, Fees: total.Fees,
		MaxBytes: p.cfg.Limits.Bytes, Sequence: total.Sequence,
	}, nil
}

// contents answers with all transactions, which a worker parses.
func (p *Mirror) contents(c actor.Context, m *ask.Call[messages.GetPoolTxs, messages.PoolTxs]) {
	p.read(func() {
		list := p.pool.All()
		answer := messages.PoolTxs{
			Sequence: p.pool.Total().Sequence, At: p.tipOf(p.at), Alone: true, Published: p.cfg.Feed.Published(),
		}
		p.tasks.Go(c, func() func() {
			answer.Txs = poolcopy.Contents(list)
			return func() { m.Answer(answer, nil) }
		})
	})
}

func (p *Mirror) ids(*messages.GetPoolIDs) (messages.PoolIDs, error) {
	list := p.pool.All()
	slices.SortFunc(list, func(a, b *poolcopy.Tx) int { return bytes.Compare(a.ID[:], b.ID[:]) })
	reply := messages.PoolIDs{IDs: make([]chainhash.Hash, len(list)), Sequence: p.pool.Total().Sequence}
	for i, tx := range list {
		reply.IDs[i] = tx.ID
	}
	return reply, nil
}

func (p *Mirror) tx(q *messages.GetPoolTx) (messages.PoolTx, error) {
	tx := p.pool.Lookup(q.ID)
	if q.Witness {
		tx = p.pool.LookupWitness(q.ID)
	}
	if tx == nil {
		return messages.PoolTx{}, messages.ErrNotInPool
	}
	return p.pool.Describe(tx), nil
}

// spenders asks the other node what spends outputs in its pool.
func spenders(ctx context.Context, node Node, outs []wire.OutPoint) ([]*chainhash.Hash, error) {
	type output struct {
		TxID string `json:"txid"`
		Vout uint32 `json:"vout"`
	}
	list := make([]output, len(outs))
	for i, out := range outs {
		list[i] = output{out.Hash.String(), out.Index}
	}
	if len(list) == 0 {
		return nil, nil
	}
	var spent []struct {
		TxID  corenode.Hash  `json:"txid"`
		Vout  uint32         `json:"vout"`
		By    *corenode.Hash `json:"spendingtxid"`
		Block *corenode.Hash `json:"blockhash"` // of a spend in the chain, by an index of Core 31
	}
	err := node.Call(ctx, &spent, "gettxspendingprevout", list)
	if e, ok := errors.AsType[*corenode.Error](err); ok && e.Code == codeMisc { // that index is behind
		err = node.Call(ctx, &spent, "gettxspendingprevout", list, map[string]bool{"mempool_only": true})
	}
	if err != nil {
		return nil, refused(err)
	}
	if len(spent) != len(outs) {
		return nil, refusal{corenode.ErrReply}
	}
	found := make(map[wire.OutPoint]*chainhash.Hash, len(spent)) // Core 31 gives the spends in the pool first
	for _, s := range spent {
		out := wire.OutPoint{Hash: chainhash.Hash(s.TxID), Index: s.Vout}
		if found[out] = (*chainhash.Hash)(s.By); s.Block != nil {
			found[out] = nil
		}
	}
	by := make([]*chainhash.Hash, len(outs))
	for i, out := range outs {
		spender, known := found[out]
		if !known {
			return nil, refusal{corenode.ErrReply}
		}
		by[i] = spender
	}
	return by, nil
}

// codeMisc is the code of an error that Core has no other code for.
const codeMisc = -1
