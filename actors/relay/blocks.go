package relay

import (
	"log/slog"
	"slices"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/corelog"
)

// maxBlocksRead is how many blocks are read when the chain has moved: more come only
// where nothing is relayed.
const maxBlocksRead = 12

// contents is what a block has in it that was connected.
type contents struct {
	of    *chainview.Block
	txs   []chainhash.Hash // by both ids
	spent []wire.OutPoint
}

// tipChanged follows the chain: what was refused may be right after the block, and what
// a block holds or spends is asked for no more.
func (r *Relay) tipChanged(c actor.Context) {
	r.rejected.clear()
	r.poor.clear()
	r.pairs.clear()
	reader := r.cfg.Chain.Open()
	if reader == nil {
		return
	}
	active := reader.Active()
	before := r.tip
	r.tip = active.Tip()
	if before == nil || !r.upToDate() {
		return
	}
	fork := active.ForkHeight(before)
	if fork < before.Height {
		r.confirmed.clear()
	}
	var blocks []*chainview.Block
	for b := range r.tip.Above(fork) {
		if blocks = append(blocks, b); len(blocks) == maxBlocksRead {
			break
		}
	}
	if len(blocks) > 0 {
		r.readBlocks(c, reader, blocks)
	}
}

// readBlocks reads what is in blocks, the last one first.
func (r *Relay) readBlocks(c actor.Context, reader chainview.Reader, blocks []*chainview.Block) {
	r.reading.Add(c, func(j *ask.Job) {
		var read []contents
		for _, b := range slices.Backward(blocks) {
			block, err := reader.Block(&b.Hash)
			if err != nil {
				r.cfg.Log.Warn("relay cannot read a block", "err", err)
				continue
			}
			has := contents{of: b}
			for _, tx := range block.Transactions {
				has.txs = append(has.txs, tx.TxHash(), tx.WitnessHash())
				for _, in := range tx.TxIn {
					has.spent = append(has.spent, in.PreviousOutPoint)
				}
			}
			read = append(read, has)
		}
		_ = j.Do(func() { r.connected(read) }) // with an error the actor has ended
	})
}

// connected drops what blocks have confirmed, but for blocks that have left the chain since they were read.
func (r *Relay) connected(blocks []contents) {
	reader := r.cfg.Chain.Open()
	if reader == nil {
		return
	}
	active, erased := reader.Active(), 0
	for _, has := range blocks {
		if !active.Contains(has.of) {
			continue
		}
		erased += r.orphans.spent(has.spent)
		for _, hash := range has.txs {
			r.confirmed.add(hash)
			r.requests.forget(hash)
		}
	}
	if erased > 0 {
		corelog.Printf(
			r.packages, slog.LevelDebug, "Erased %d orphan transaction(s) included or conflicted by block", erased,
		)
	}
}
