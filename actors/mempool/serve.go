package mempool

import (
	"bytes"
	"cmp"
	"log/slog"
	"slices"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/internal/txpool"
	"github.com/seed61375155/trawl/messages"
)

// reading makes the handler of a request that is answered from the pool as it is.
func reading[Q messages.Request[R], R any](answer func(*Mempool, *Q) (R, error)) ask.Handler[*Mempool] {
	return ask.On(func(m *Mempool, c actor.Context, call *ask.Call[Q, R]) {
		m.reads = append(m.reads, func() { call.Answer(answer(m, &call.Req)) })
		m.next(c)
	})
}

func (m *Mempool) getInfo(*messages.GetPoolInfo) (messages.PoolInfo, error) { return m.info(), nil }

func (m *Mempool) info() messages.PoolInfo {
	p, policy := m.pool, m.pool.Policy()
	total := p.Total()
	floor := p.MinFee(m.now())
	if floor.Compare(policy.MinRelayFee) < 0 {
		floor = policy.MinRelayFee
	}
	info := messages.PoolInfo{
		Loaded: m.file.loaded, Size: total.Count, VSize: total.VSize, Usage: p.Usage(), Fees: total.Fees,
		MaxBytes: policy.MaxBytes, MinFee: floor.PerKvB(), MinRelayFee: policy.MinRelayFee.PerKvB(),
		IncrementalFee: policy.IncrementalFee.PerKvB(), Unbroadcast: len(p.AllUnbroadcast()),
		BareMultisig: policy.BareMultisig, DataCarrier: policy.DataCarrier, Sequence: p.Sequence(),
		Updates: p.Updates(), LastBlock: m.last,
	}
	if policy.Order == txpool.ByClusters {
		info.Clusters = &messages.PoolLimits{
			Count: policy.Limits.Cluster, VSize: policy.Limits.ClusterVSize, Optimal: txpool.ChunksOf(p).Optimal(),
		}
	}
	return info
}

func (m *Mempool) txs(*messages.GetPoolTxs) (messages.PoolTxs, error) {
	return messages.PoolTxs{
		Txs: m.describeAll(m.pool.Ordered()), Sequence: m.pool.Sequence(),
		At: tipOf(m.at), Alone: m.unreadableTip != nil && !m.unreadableTip.Is(m.at),
		Published: m.cfg.Feed.Published(),
	}, nil
}

func (m *Mempool) ids(*messages.GetPoolIDs) (messages.PoolIDs, error) {
	list := m.pool.Ordered()
	reply := messages.PoolIDs{IDs: make([]chainhash.Hash, len(list)), Sequence: m.pool.Sequence()}
	for i, e := range list {
		reply.IDs[i] = e.ID
	}
	return reply, nil
}

// sort orders transactions as they are mined.
func (m *Mempool) sort(q *nodemsg.SortTxs) ([]chainhash.Hash, error) {
	list := make([]*txpool.Entry, 0, len(q.WIDs))
	for i := range q.WIDs {
		if e := m.pool.LookupWitness(&q.WIDs[i]); e != nil {
			list = append(list, e)
		}
	}
	txpool.Sort(m.pool, list)
	wids := make([]chainhash.Hash, len(list))
	for i, e := range list {
		wids[i] = e.WID
	}
	return wids, nil
}

func (m *Mempool) tx(q *messages.GetPoolTx) (messages.PoolTx, error) {
	e := m.pool.Lookup(&q.ID)
	if q.Witness {
		e = m.pool.LookupWitness(&q.ID)
	}
	if e == nil {
		return messages.PoolTx{}, messages.ErrNotInPool
	}
	return m.describe(e), nil
}

func (m *Mempool) relatives(q *messages.GetPoolRelatives) ([]messages.PoolTx, error) {
	e := m.pool.Lookup(&q.ID)
	if e == nil {
		return nil, messages.ErrNotInPool
	}
	relatives := m.pool.Ancestors(e)
	if q.Descendants {
		relatives = m.pool.Descendants(e)
	}
	return m.describeAll(relatives), nil
}

func (m *Mempool) spenders(q *messages.GetPoolSpenders) ([]*chainhash.Hash, error) {
	list := make([]*chainhash.Hash, len(q.Outs))
	for i, out := range q.Outs {
		if e := m.pool.Spender(out); e != nil {
			list[i] = &e.ID
		}
	}
	return list, nil
}

// outputs tells what the pool makes and spends.
func (m *Mempool) outputs(q *messages.GetPoolOutputs) (messages.PoolOutputsFound, error) {
	found := messages.PoolOutputsFound{Tip: m.at.Hash, Outs: make([]messages.PoolOutput, len(q.Outs))}
	for i, out := range q.Outs {
		at := &found.Outs[i]
		at.Spent = m.pool.Spender(out) != nil
		if e := m.pool.Lookup(&out.Hash); e != nil {
			at.Here = true
			if int64(out.Index) < int64(len(e.Tx.TxOut)) {
				at.Output = e.Tx.TxOut[out.Index]
			}
		}
	}
	return found, nil
}

func (m *Mempool) prioritise(q *messages.PrioritiseTx) (messages.Done, error) {
	err := m.pool.MayPrioritise(&q.ID)
	if err == nil {
		m.pool.Prioritise(&q.ID, q.Delta)
	}
	return messages.Done{}, err
}

func (m *Mempool) prioritised(*messages.GetPrioritised) ([]messages.PrioritisedTx, error) {
	deltas := m.pool.Prioritised()
	list := make([]messages.PrioritisedTx, 0, len(deltas))
	for id, delta := range deltas {
		p := messages.PrioritisedTx{ID: id, Delta: delta}
		if e := m.pool.Lookup(&id); e != nil {
			p.InPool, p.ModifiedFee = true, e.Modified
		}
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b messages.PrioritisedTx) int { return bytes.Compare(a.ID[:], b.ID[:]) })
	return list, nil
}

// reservedWeight is kept free in a block for its header and its coinbase (Core's
// DEFAULT_BLOCK_RESERVED_WEIGHT).
const reservedWeight = 8000

func (m *Mempool) selectTxs(q *messages.SelectTxs) (messages.BlockTxs, error) {
	reply := messages.BlockTxs{Tip: messages.Tip{Hash: m.at.Hash, Height: m.at.Height}, Updates: m.pool.Updates()}
	limit, weight := cmp.Or(q.MaxWeight, m.cfg.Rules.MaxWeight), cmp.Or(q.Reserved, reservedWeight)
	var chosen []*txpool.Entry
	if !q.Nothing {
		chosen = m.pool.Choose(limit, weight, txpool.PerKvB(q.MinRate))
	}
	for _, e := range chosen {
		if q.Log {
			rate := txpool.RateOf(e.Modified, e.VSize).PerKvB()
			corelog.Printf(m.cfg.Log, slog.LevelInfo, "fee rate %d.%08d %s/kvB txid %v",
				rate/btcutil.SatoshiPerBitcoin, rate%btcutil.SatoshiPerBitcoin, m.cfg.Rules.Unit, e.ID)
		}
		reply.Txs = append(reply.Txs, e.BlockTx())
		reply.Fees += e.Fee
		weight += e.Weight
	}
	m.last = &messages.BlockSize{Weight: weight, Txs: len(chosen)}
	return reply, nil
}

func (m *Mempool) describeAll(list []*txpool.Entry) []messages.PoolTx {
	txs := make([]messages.PoolTx, len(list))
	for i, e := range list {
		txs[i] = m.describe(e)
	}
	return txs
}

func (m *Mempool) describe(e *txpool.Entry) messages.PoolTx {
	tx := messages.PoolTx{
		Tx: e.Tx, ID: e.ID, WID: e.WID, VSize: e.VSize, Weight: e.Weight, Time: e.Time, Height: e.Height,
		Sequence: e.Sequence, Fee: e.Fee, ModifiedFee: e.Modified,
		AncestorFees: e.Ancestors.Fees, DescendantFees: e.Descendants.Fees,
		Ancestors: e.Ancestors.Count, Descendants: e.Descendants.Count,
		AncestorVSize: e.Ancestors.VSize, DescendantVSize: e.Descendants.VSize,
		Replaceable: e.Replaceable(), Unbroadcast: m.pool.Unbroadcast(&e.ID),
	}
	chunk := txpool.ChunksOf(m.pool).Of(e)
	tx.ChunkFee, tx.ChunkWeight = chunk.Fees, chunk.Weight
	for _, parent := range e.Parents() {
		tx.Depends = append(tx.Depends, parent.ID)
	}
	for _, child := range e.Children() {
		tx.SpentBy = append(tx.SpentBy, child.ID)
	}
	return tx
}
