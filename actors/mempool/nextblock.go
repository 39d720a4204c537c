package mempool

import (
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/txpool"
	"github.com/seed61375155/trawl/internal/txpool/feeestimate"
	"github.com/seed61375155/trawl/messages"
)

// Reasons why the next block says nothing about fee rates, in Core's words.
const (
	notLoaded  = "mempool_policy: Mempool not loaded yet, no fee rate estimate available"
	unreliable = "mempool_policy: Mempool is unreliable for fee rate estimation"
)

// covers reports whether blocks say something about the pool: while the chain is downloaded the pool is empty.
func (f *fees) covers() bool {
	c := f.m.cfg.Fees
	return c.Next && f.m.at != nil && !c.Initial.Lasts(f.m.at)
}

// cover notes how much of a block the pool has, which is about to see it.
func (f *fees) cover(block *wire.MsgBlock, height int32) {
	if !f.covers() {
		return
	}
	mined := feeestimate.Mined{Height: height}
	for _, tx := range block.Transactions[1:] {
		weight := f.m.cfg.Rules.Weight(tx)
		mined.Weight += weight
		if id := tx.TxHash(); f.m.pool.Lookup(&id) != nil {
			mined.Known += weight
		}
	}
	f.mined.Add(mined)
}

// passed notes blocks of which the pool has nothing: as many of the last ones as count.
func (f *fees) passed(reader chainview.Reader, blocks []*chainview.Block) {
	if !f.covers() {
		return
	}
	for _, b := range blocks[max(0, len(blocks)-feeestimate.Covered):] {
		block, err := reader.Block(&b.Hash)
		if err != nil {
			return // a gap, after which blocks are counted anew
		}
		f.cover(block, b.Height)
	}
}

// estimateBy answers by the estimator of a request.
func (f *fees) estimateBy(q *messages.EstimateFee, info *messages.PoolInfo, least int64) (answer messages.FeeEstimate) {
	if q.By != messages.ByNextBlock {
		answer = f.estimate(q.FeeQuery)
	}
	if q.By != messages.ByConfirmations && (q.By == messages.ByNextBlock || answer.Rate > 0) {
		next := f.next(q.Conservative, info, least)
		if q.By == messages.ByNextBlock || next.Rate > 0 && next.Rate < answer.Rate {
			answer = next
		}
	}
	for _, m := range f.mined.Blocks() {
		answer.Mined = append(answer.Mined, messages.MinedPart(m))
	}
	return answer
}

// next estimates by the next block. Without a rate it says why.
func (f *fees) next(conservative bool, info *messages.PoolInfo, least int64) messages.FeeEstimate {
	full := f.m.cfg.Rules.MaxWeight
	answer := messages.FeeEstimate{Blocks: feeestimate.NextTarget, By: messages.ByNextBlock}
	switch {
	case !info.Loaded:
		answer.Problem = notLoaded
	case !f.mined.Reliable(full):
		answer.Problem = unreliable
	default:
		parts := txpool.ChunksOf(f.m.pool).Rates(full, reservedWeight, txpool.PerKvB(1))
		answer.Rate = feeestimate.Next(parts, full, least, conservative)
	}
	return answer
}
