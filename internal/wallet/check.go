package wallet

import (
	"cmp"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/wallet/keys"
	"github.com/seed61375155/trawl/internal/wallet/txs"
	"github.com/seed61375155/trawl/messages"
)

// A Check widens the ranges of a wallet's descriptors, and finds out what a look through the chain has brought. Until
// [Check.Close] the ranges widen with each payment.
type Check struct {
	w      *Wallet
	gap    int32
	before *keys.Checks
	had    map[chainhash.Hash]bool // transactions
}

// BeginCheck begins a check with a gap. It changes nothing yet.
//
// Errors: [*messages.WalletError] where keys are needed and the wallet is locked.
func BeginCheck(w *Wallet, gap int32) (*Check, error) {
	keys.GapOf(w.pool).Begin(gap, w.txs)
	if err := keys.GapOf(w.pool).Check(); err != nil {
		keys.GapOf(w.pool).End()
		return nil, err
	}
	return &Check{w: w, gap: gap, before: keys.GapOf(w.pool).Checks(), had: txs.IDs(w.txs)}, nil
}

// Close ends the widening.
func (c *Check) Close() { keys.GapOf(c.w.pool).End() }

// Result returns what is known after all blocks from a height on were looked through.
func (c *Check) Result(from int32) messages.WalletChecked {
	got := messages.WalletChecked{Gap: c.gap, From: from, Tip: c.w.txs.Tip(), Scripts: c.w.keys.Scripts()}
	now := keys.GapOf(c.w.pool).Checks()
	now.Since(c.before)
	found := make(map[chainhash.Hash]int32)
	txs.EachConfirmed(c.w.txs, func(tx txs.Confirmed) {
		fresh := !c.had[tx.ID]
		if fresh {
			got.New++
		}
		for _, out := range tx.Tx.TxOut {
			now.Paid(out.PkScript, tx.Block.Height, fresh)
		}
		if height := tx.Block.Height; tx.Own && height >= from && height <= got.Tip.Height {
			found[tx.Block.Hash] = height
		}
	})
	for hash := range found {
		got.Blocks = append(got.Blocks, hash)
	}
	slices.SortFunc(got.Blocks, func(a, b chainhash.Hash) int { return cmp.Compare(found[a], found[b]) })
	got.Descriptors = now.List
	return got
}
