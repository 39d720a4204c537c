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
func (w *Wallet) publish(changes []records.Change) {
	if w.cfg.TxChanges == nil {
		return
	}
	prefix := walletfile.KeyPrefix("tx")
	for _, change := range changes {
		id, isTx := bytes.CutPrefix(change.Key, prefix)
		if isTx && !change.Delete && len(id) == chainhash.HashSize {
			w.publishTx(chainhash.Hash(id))
		}
	}
}

func (w *Wallet) publishTx(id chainhash.Hash) {
	news := messages.WalletTxChanged{Wallet: w.name, TxID: id}
	if block, confirmed := w.ledger.Txs().BlockOf(id); confirmed {
		news.Block = &messages.Tip{Hash: block.Hash, Height: block.Height}
	}
	w.cfg.TxChanges.Publish(news)
}

// publishAgain publishes the wallet's transactions that a rescan has found as they
// were. Changed ones are published when they are written.
func (w *Wallet) publishAgain(scanned txs.Synced) {
	if w.cfg.TxChanges == nil {
		return
	}
	for _, id := range scanned.Same {
		w.publishTx(id)
	}
}
