package wallet

import (
	"cmp"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// BlockRef is a block of the active chain without its transactions.
type BlockRef struct {
	Hash    chainhash.Hash
	Height  int32
	Time    int64
	MaxTime int64 // the highest time of the chain up to this block
}

// Block is a block of the active chain.
type Block struct {
	BlockRef

	Txs []*wire.MsgTx
}

// Chain knows the active chain.
type Chain interface {
	// Find returns a block. It is false if it is not in the active chain.
	Find(hash *chainhash.Hash) (BlockRef, bool)
}

// Synced tells what a block, or a transaction, did to a wallet.
type Synced struct {
	// Changed is set when a transaction concerned the wallet.
	Changed bool

	// Same are the transactions that concern the wallet and were known as they are.
	Same []chainhash.Hash

	// Save is set when the best block should be saved with the changes.
	Save bool

	// Scripts are those that the wallet has from now on, because the key pool
	// was topped up. They may be in blocks that were looked at before.
	Scripts [][]byte
}

// saveEvery is the number of blocks after which the best block is saved even if
// nothing happened: about a day.
const saveEvery = 144

// Tip returns the last block that was processed. Its height is -1 before that.
func (w *Wallet) Tip() messages.Tip { return w.tip }

// SetTip makes a block the last one that was processed, which confirmations are
// counted from.
func (w *Wallet) SetTip(tip messages.Tip) {
	w.tip = tip
	w.funds.tip = tip.Height
}

// BestBlock returns the best block that is in the file: nil if there is none.
func (w *Wallet) BestBlock() walletfile.Locator { return w.bestBlock }

// SaveBestBlock writes the last block that was processed, by its locator.
func (w *Wallet) SaveBestBlock(locator walletfile.Locator) {
	w.bestBlock = locator
	w.log.Put(walletfile.BestBlock(nil))
	w.log.Put(walletfile.BestBlockNoMerkle(locator))
}

// ConnectBlock processes the block that follows the tip, and makes it the tip.
// A block that was processed before does no harm. What the block drives out of
// the mempool is to be told with [Wallet.RemoveMempoolTx].
func (w *Wallet) ConnectBlock(b *Block, now int64) Synced {
	w.SetTip(messages.Tip{Hash: b.Hash, Height: b.Height})
	if b.MaxTime < w.birth-2*timestampWindow {
		return Synced{}
	}
	synced := w.syncBlock(b, sync{now: now})
	for _, t := range b.Txs {
		w.leaveMempool(t)
	}
	synced.Save = synced.Changed || b.Height%saveEvery == 0
	return synced
}

// ScanBlock processes a block of the active chain up to the tip again, during a
// rescan.
func (w *Wallet) ScanBlock(b *Block, now int64) Synced {
	return w.syncBlock(b, sync{now: now, rescan: true})
}

func (w *Wallet) syncBlock(b *Block, s sync) Synced {
	known := len(w.mine)
	var synced Synced
	for i, t := range b.Txs {
		s.state = state{kind: confirmed, block: b.BlockRef, index: int32(i)}
		effect := w.sync(t, s)
		synced.Changed = synced.Changed || effect != foreignTx
		if effect == sameTx {
			synced.Same = append(synced.Same, t.TxHash())
		}
	}
	synced.Scripts = w.mine[known:]
	return synced
}

// DisconnectBlock takes back a block, the tip; prev becomes the tip. Transactions
// that it confirmed are inactive from now on, those of its coinbase abandoned.
// The wallet takes in those that concern it and that it does not know, because
// their scripts became its own after the block was processed: they may be
// confirmed anew. Of a block without transactions it is only known what concerns
// it already.
func (w *Wallet) DisconnectBlock(b *Block, prev messages.Tip, now int64) Synced {
	touched := slices.SortedFunc(slices.Values(w.byBlock[b.Hash]), func(a, b *tx) int {
		return cmp.Compare(a.record.OrderPos, b.record.OrderPos)
	})
	for _, t := range touched {
		w.setState(t, state{})
		w.writeTx(t)
	}
	for _, t := range touched {
		if t.coinbase() {
			w.abandonAll(t)
		}
	}
	known, changed := len(w.mine), len(touched) > 0
	for _, t := range b.Txs {
		changed = w.sync(t, sync{now: now}) != foreignTx || changed
	}
	w.SetTip(prev)
	return Synced{Changed: changed, Save: true, Scripts: w.mine[known:]}
}

// abandonAll gives up a coinbase that has left the chain, and all that descends
// from it.
func (w *Wallet) abandonAll(coinbase *tx) {
	done := make(map[*tx]bool)
	for todo := []*tx{coinbase}; len(todo) > 0; {
		t := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if done[t] {
			continue
		}
		done[t] = true
		w.setState(t, state{kind: abandoned})
		w.writeTx(t)
		w.spenders(t, func(spender *tx) { todo = append(todo, spender) })
	}
}
