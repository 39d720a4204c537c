package wallets

import (
	"bytes"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/wallet/records"
	"github.com/seed61375155/trawl/internal/wallet/txs"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// publish announces the transactions among changes that were written.
func (w *writer) publish(changes []records.Change) {
	if w.cfg.TxChanges == nil {
		return
	}
	prefix := walletfile.KeyPrefix("tx")
	for _, change := range changes {
		id, isTx := bytes.CutPrefix(change.Key, prefix)
		if isTx && !change.Delete && len(id) == chainhash.HashSize {
			publishTx(w.Wallet, chainhash.Hash(id))
		}
	}
}

func publishTx(w *Wallet, id chainhash.Hash) {
	_, lost := txs.Find(w.ledger.Txs(), id)
	event := messages.WalletTxChanged{Wallet: w.Name, TxID: id, Quiet: lost}
	if block, confirmed := w.ledger.Txs().BlockOf(id); confirmed {
		event.Block = &messages.Tip{Hash: block.Hash, Height: block.Height}
	}
	w.cfg.TxChanges.Publish(event)
}

// publishConflict announces a transaction that has left the memory pool because of a block.
func (p *poolState) publishConflict(id chainhash.Hash) {
	if p.cfg.TxChanges == nil {
		return
	}
	if found, _ := txs.Find(p.ledger.Txs(), id); found {
		p.cfg.TxChanges.Publish(messages.WalletTxChanged{Wallet: p.Name, TxID: id})
	}
}

// publishAgain announces the wallet's transactions that a rescan has found as they
// were. Changed ones are announced when they are written.
func (r *reading) publishAgain(scanned txs.Synced) {
	if r.w.cfg.TxChanges == nil {
		return
	}
	for _, id := range scanned.Same {
		publishTx(r.w, id)
	}
}
