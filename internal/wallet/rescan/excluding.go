package rescan

import (
	"context"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

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

// Excluding returns the blocks that spend an output which a waiting transaction spends. It
// looks at the blocks around the time when each transaction came, and passes over
// unreadable blocks.
func Excluding(ctx context.Context, reader chainview.Reader, waiting []txs.Waiting) (found []*txs.Block) {
	active := reader.Active()
	spent := make(map[wire.OutPoint]*wire.MsgTx)
	wanted := make(map[chainhash.Hash]*chainview.Block)
	for _, t := range waiting {
		for _, in := range t.Tx.TxIn {
			spent[in.PreviousOutPoint] = t.Tx
		}
		end, later := FirstSince(active, 0, t.Received+lateAfter+1)
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
			found = append(found, &txs.Block{BlockRef: BlockRef(b), Txs: msg.Transactions})
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
