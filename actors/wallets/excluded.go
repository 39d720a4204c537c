package wallets

import (
	"context"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/wallet/txs"
)

// Where a wallet heard of a payment after the block that excludes it, that block came shortly
// before: in this many seconds around, and among so many blocks.
const (
	lateBefore, lateAfter = 60 * 60, 10 * 60

	maxLate    = 144  // for one payment
	maxLateAll = 1008 // for a wallet
)

// exclude looks for blocks that exclude transactions which are unconfirmed in the file and
// absent from the memory pool. Such files were written where the pool's news came after the
// block. Without this search the wallet would not notice that the payers replaced a payment
// by a payment to themselves.
func (w *Wallet) exclude(c actor.Context) {
	waiting := txs.Outside(w.ledger.Txs())
	reader := w.cfg.Chain.Open()
	if len(waiting) == 0 || reader == nil {
		return
	}
	w.work(c, func(j *ask.Job) func() {
		blocks := excluding(j.Context(), reader, waiting)
		return func() {
			active := w.cfg.Chain.Open()
			if active == nil {
				return
			}
			for _, b := range blocks {
				known := active.Lookup(&b.Hash)
				tip := w.ledger.Txs().Tip()
				at := active.Lookup(&tip.Hash)
				if known != nil && at != nil && at.Ancestor(known.Height).Is(known) {
					txs.Exclude(w.ledger.Txs(), b)
				}
			}
			w.save(c, nil)
		}
	})
}

// excluding returns the blocks that spend an output which a waiting transaction spends. It
// looks at the blocks around the time when each transaction came, and passes over
// unreadable blocks. It runs in a worker.
func excluding(ctx context.Context, reader chainview.Reader, waiting []txs.Waiting) (found []*txs.Block) {
	active := reader.Active()
	spent := make(map[wire.OutPoint]*wire.MsgTx)
	wanted := make(map[chainhash.Hash]*chainview.Block)
	for _, t := range waiting {
		for _, in := range t.Tx.TxIn {
			spent[in.PreviousOutPoint] = t.Tx
		}
		end, later := firstSince(active, 0, t.Received+lateAfter+1)
		if !later {
			end = active.Height() + 1
		}
		for height := end - 1; height > max(0, end-1-maxLate) && len(wanted) < maxLateAll; height-- {
			b := active.At(height)
			if b.MaxTime() < t.Received-lateBefore {
				break
			}
			wanted[b.Hash] = b
		}
	}
	for _, b := range wanted {
		msg, err := reader.Block(&b.Hash)
		if ctx.Err() != nil {
			return nil
		}
		if err == nil && spends(msg, spent) {
			found = append(found, &txs.Block{BlockRef: blockRef(b), Txs: msg.Transactions})
		}
	}
	return found
}

// spends reports whether a block spends some outputs.
func spends(block *wire.MsgBlock, outs map[wire.OutPoint]*wire.MsgTx) bool {
	for _, tx := range block.Transactions {
		for _, in := range tx.TxIn {
			if outs[in.PreviousOutPoint] != nil {
				return true
			}
		}
	}
	return false
}
