package corepool

import (
	"bytes"
	"context"
	"slices"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/corenode"
	"github.com/seed61375155/trawl/internal/corenode/poolcopy"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
)

type (
	submitTx    = ask.Call[messages.SubmitTx, messages.Done]
	getInfo     = ask.Call[messages.GetPoolInfo, messages.PoolInfo]
	getTxs      = ask.Call[messages.GetPoolTxs, messages.PoolTxs]
	getIDs      = ask.Call[messages.GetPoolIDs, messages.PoolIDs]
	getTx       = ask.Call[messages.GetPoolTx, messages.PoolTx]
	getSpenders = ask.Call[messages.GetPoolSpenders, []*chainhash.Hash]
	getCoins    = ask.Call[messages.GetPoolCoins, []*messages.Coin]
	getCopied   = ask.Call[messages.GetCopiedPool, messages.CopiedPool]
	followPool  = ask.Call[nodemsg.FollowPool, messages.Done]

	testTxs       = ask.Call[messages.TestTxs, messages.PackageResult]
	submitPackage = ask.Call[messages.SubmitPackage, messages.PackageResult]
	getRelatives  = ask.Call[messages.GetPoolRelatives, []messages.PoolTx]
	prioritise    = ask.Call[messages.PrioritiseTx, messages.Done]
	prioritised   = ask.Call[messages.GetPrioritised, []messages.PrioritisedTx]
	savePool      = ask.Call[messages.SavePool, string]
	loadPool      = ask.Call[messages.LoadPool, messages.Done]
	selectTxs     = ask.Call[messages.SelectTxs, messages.BlockTxs]
)

// serve answers requests.
func (p *CorePool) serve(c actor.Context) {
	switch m := c.Message().(type) {
	case *submitTx:
		p.submit(c, m)
	case *getTxs:
		p.contents(c, m)
	case *getSpenders:
		p.tasks.Go(c, func() func() {
			list, err := spenders(m.Ctx, p.cfg.Node, m.Req.Outs)
			return func() { m.Answer(list, err) }
		})
	case *getClusters:
		p.clusters(c, m)
	case *getCoins:
		p.coins(c, m)
	case *getInfo:
		p.read(func() { m.Answer(p.info(), nil) })
	case *getCopied:
		p.read(func() { m.Answer(p.state(), nil) })
	case *getIDs:
		p.read(func() { m.Answer(p.ids(), nil) })
	case *getTx:
		p.read(func() { p.answerTx(m) })
	default:
		if !refuse(m) {
			ask.Unhandled(c)
		}
	}
}

// refuse answers what only a node can that judges transactions.
func refuse(msg any) bool {
	switch m := msg.(type) {
	case *testTxs:
		m.Answer(messages.PackageResult{}, messages.ErrFollows)
	case *submitPackage:
		m.Answer(messages.PackageResult{}, messages.ErrFollows)
	case *getRelatives:
		m.Answer(nil, messages.ErrFollows)
	case *prioritise:
		m.Answer(messages.Done{}, messages.ErrFollows)
	case *prioritised:
		m.Answer(nil, messages.ErrFollows)
	case *savePool:
		m.Answer("", messages.ErrFollows)
	case *loadPool:
		m.Answer(messages.Done{}, messages.ErrFollows)
	case *selectTxs:
		m.Answer(messages.BlockTxs{}, messages.ErrFollows)
	default:
		return false
	}
	return true
}

func (p *CorePool) state() messages.CopiedPool {
	total := p.pool.Total()
	return messages.CopiedPool{
		Txs: p.pool.Len(), Bytes: total.Bytes, Missing: total.Left, Updated: p.updated, Reason: p.reason,
	}
}

func (p *CorePool) info() messages.PoolInfo {
	total := p.pool.Total()
	return messages.PoolInfo{
		Loaded: !p.updated.IsZero(), Size: p.pool.Len(), VSize: total.VSize, Usage: total.Bytes, Fees: total.Fees,
		MaxBytes: p.cfg.Limits.Bytes, Sequence: total.Sequence,
	}
}

// contents answers with all transactions, which a worker parses.
func (p *CorePool) contents(c actor.Context, m *getTxs) {
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

func (p *CorePool) ids() messages.PoolIDs {
	list := p.pool.All()
	slices.SortFunc(list, func(a, b *poolcopy.Tx) int { return bytes.Compare(a.ID[:], b.ID[:]) })
	reply := messages.PoolIDs{IDs: make([]chainhash.Hash, len(list)), Sequence: p.pool.Total().Sequence}
	for i, tx := range list {
		reply.IDs[i] = tx.ID
	}
	return reply
}

func (p *CorePool) answerTx(m *getTx) {
	tx := p.pool.Lookup(m.Req.ID)
	if m.Req.Witness {
		tx = p.pool.LookupWitness(m.Req.ID)
	}
	if tx == nil {
		m.Answer(messages.PoolTx{}, messages.ErrNotInPool)
		return
	}
	m.Answer(p.pool.Describe(tx), nil)
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
		By *corenode.Hash `json:"spendingtxid"`
	}
	if err := node.Call(ctx, &spent, "gettxspendingprevout", list); err != nil {
		return nil, refused(err)
	}
	if len(spent) != len(outs) {
		return nil, refusal{corenode.ErrReply}
	}
	by := make([]*chainhash.Hash, len(outs))
	for i, s := range spent {
		by[i] = (*chainhash.Hash)(s.By)
	}
	return by, nil
}
