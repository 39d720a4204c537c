package mempool

import (
	"bytes"
	"cmp"
	"log/slog"
	"slices"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/internal/txpool"
	"github.com/seed61375155/trawl/messages"
)

type (
	submitTx      = ask.Call[messages.SubmitTx, messages.Done]
	offerTx       = ask.Call[nodemsg.OfferTx, messages.Done]
	testTxs       = ask.Call[messages.TestTxs, messages.PackageResult]
	offerPackage  = ask.Call[nodemsg.OfferPackage, messages.PackageResult]
	submitPackage = ask.Call[messages.SubmitPackage, messages.PackageResult]
	getInfo       = ask.Call[messages.GetPoolInfo, messages.PoolInfo]
	getTxs        = ask.Call[messages.GetPoolTxs, messages.PoolTxs]
	getIDs        = ask.Call[messages.GetPoolIDs, messages.PoolIDs]
	getTx         = ask.Call[messages.GetPoolTx, messages.PoolTx]
	getRelatives  = ask.Call[messages.GetPoolRelatives, []messages.PoolTx]
	getClusters   = ask.Call[messages.GetPoolClusters, messages.PoolClusters]
	getSpenders   = ask.Call[messages.GetPoolSpenders, []*chainhash.Hash]
	getOutputs    = ask.Call[messages.GetPoolOutputs, messages.PoolOutputsFound]
	getCoins      = ask.Call[messages.GetPoolCoins, []*messages.Coin]
	prioritise    = ask.Call[messages.PrioritiseTx, messages.Done]
	prioritised   = ask.Call[messages.GetPrioritised, []messages.PrioritisedTx]
	savePool      = ask.Call[messages.SavePool, string]
	loadPool      = ask.Call[messages.LoadPool, messages.Done]
	selectTxs     = ask.Call[messages.SelectTxs, messages.BlockTxs]
)

// serve answers requests: what changes the pool is a task, the rest is read.
func (m *Mempool) serve(c actor.Context) {
	switch msg := c.Message().(type) {
	case *submitTx:
		m.submit(c, msg)
	case *offerTx:
		m.offer(c, msg)
	case *testTxs:
		m.test(c, msg)
	case *submitPackage:
		m.submitPackage(c, msg)
	case *offerPackage:
		m.offerPackage(c, msg)
	case *getCoins:
		m.coins(c, msg)
	case *savePool:
		m.file.save(c, msg)
	case *loadPool:
		m.file.loadFile(c, msg)
	default:
		read := m.reading(msg)
		if read == nil {
			ask.Unhandled(c)
			return
		}
		m.reads = append(m.reads, read)
		m.next(c)
	}
}

// reading returns what answers a request from the pool as it is, nil for what is
// no such request.
func (m *Mempool) reading(msg any) func() {
	switch msg := msg.(type) {
	case *getInfo:
		return func() { msg.Answer(m.info(), nil) }
	case *getTxs:
		return func() {
			msg.Answer(messages.PoolTxs{
				Txs: m.describeAll(m.pool.Ordered()), Sequence: m.pool.Sequence(),
				At: tipOf(m.at), Alone: m.unreadableTip != nil && !m.unreadableTip.Is(m.at),
				Published: m.cfg.Feed.Published(),
			}, nil)
		}
	case *getIDs:
		return func() { msg.Answer(m.ids(), nil) }
	case *getTx:
		return func() { m.answerTx(msg) }
	case *getRelatives:
		return func() { m.answerRelatives(msg) }
	case *getClusters:
		return func() {
			found := m.clusters(msg.Req.IDs)
			found.Estimates = m.fees.estimates(msg.Req.Fees)
			msg.Answer(found, nil)
		}
	case *getSpenders:
		return func() { msg.Answer(m.spenders(msg.Req.Outs), nil) }
	case *getOutputs:
		return func() { msg.Answer(outputs(m.pool, &m.at.Hash, msg.Req.Outs), nil) }
	case *prioritise:
		return func() {
			err := m.pool.MayPrioritise(&msg.Req.ID)
			if err == nil {
				m.pool.Prioritise(&msg.Req.ID, msg.Req.Delta)
			}
			msg.Answer(messages.Done{}, err)
		}
	case *prioritised:
		return func() { msg.Answer(m.prioritised(), nil) }
	case *selectTxs:
		return func() { msg.Answer(m.selectTxs(&msg.Req), nil) }
	}
	return m.fees.serve(msg)
}

func (m *Mempool) info() messages.PoolInfo {
	p, policy := m.pool, m.pool.Policy()
	total := p.Total()
	floor := p.MinFee(m.now())
	if floor.Compare(policy.MinRelayFee) < 0 {
		floor = policy.MinRelayFee
	}
	return messages.PoolInfo{
		Loaded: m.file.loaded, Size: total.Count, VSize: total.VSize, Usage: p.Usage(), Fees: total.Fees,
		MaxBytes: policy.MaxBytes, MinFee: floor.PerKvB(), MinRelayFee: policy.MinRelayFee.PerKvB(),
		IncrementalFee: policy.IncrementalFee.PerKvB(), Unbroadcast: len(p.AllUnbroadcast()),
		BareMultisig: policy.BareMultisig, DataCarrier: policy.DataCarrier, Sequence: p.Sequence(),
		Updates: p.Updates(), LastBlock: m.last,
	}
}

func (m *Mempool) ids() messages.PoolIDs {
	list := m.pool.Ordered()
	reply := messages.PoolIDs{IDs: make([]chainhash.Hash, len(list)), Sequence: m.pool.Sequence()}
	for i, e := range list {
		reply.IDs[i] = e.ID
	}
	return reply
}

func (m *Mempool) answerTx(msg *getTx) {
	e := m.pool.Lookup(&msg.Req.ID)
	if msg.Req.Witness {
		e = m.pool.LookupWitness(&msg.Req.ID)
	}
	if e == nil {
		msg.Answer(messages.PoolTx{}, messages.ErrNotInPool)
		return
	}
	msg.Answer(m.describe(e), nil)
}

func (m *Mempool) answerRelatives(msg *getRelatives) {
	e := m.pool.Lookup(&msg.Req.ID)
	if e == nil {
		msg.Answer(nil, messages.ErrNotInPool)
		return
	}
	relatives := m.pool.Ancestors(e)
	if msg.Req.Descendants {
		relatives = m.pool.Descendants(e)
	}
	msg.Answer(m.describeAll(relatives), nil)
}

func (m *Mempool) spenders(outs []wire.OutPoint) []*chainhash.Hash {
	list := make([]*chainhash.Hash, len(outs))
	for i, out := range outs {
		if e := m.pool.Spender(out); e != nil {
			list[i] = &e.ID
		}
	}
	return list
}

// outputs tells what a pool that is at a tip makes and spends.
func outputs(pool *txpool.Pool, tip *chainhash.Hash, outs []wire.OutPoint) messages.PoolOutputsFound {
	found := messages.PoolOutputsFound{Tip: *tip, Outs: make([]messages.PoolOutput, len(outs))}
	for i, out := range outs {
		at := &found.Outs[i]
		at.Spent = pool.Spender(out) != nil
		if e := pool.Lookup(&out.Hash); e != nil {
			at.Here = true
			if int64(out.Index) < int64(len(e.Tx.TxOut)) {
				at.Output = e.Tx.TxOut[out.Index]
			}
		}
	}
	return found
}

func (m *Mempool) prioritised() []messages.PrioritisedTx {
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
	return list
}

// reservedWeight is kept free in a block for its header and its coinbase (Core's
// DEFAULT_BLOCK_RESERVED_WEIGHT).
const reservedWeight = 8000

func (m *Mempool) selectTxs(q *messages.SelectTxs) messages.BlockTxs {
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
	return reply
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
	for _, parent := range e.Parents() {
		tx.Depends = append(tx.Depends, parent.ID)
	}
	for _, child := range e.Children() {
		tx.SpentBy = append(tx.SpentBy, child.ID)
	}
	return tx
}
