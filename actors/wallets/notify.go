package wallets

import (
	"bytes"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// publish announces the transactions among changes that were written.
func (w *Wallet) publish(changes []wallet.Change) {
	if w.cfg.TxChanges == nil {
		return
	}
	prefix := walletfile.KeyPrefix("tx")
	for _, change := range changes {
		id, isTx := bytes.CutPrefix(change.Key, prefix)
		if !isTx || change.Delete || len(id) != chainhash.HashSize {
			continue
		}
		news := messages.WalletTxChanged{Wallet: w.name, TxID: chainhash.Hash(id)}
		if block, confirmed := w.ledger.BlockOf(news.TxID); confirmed {
			news.Block = &messages.Tip{Hash: block.Hash, Height: block.Height}
		}
		w.cfg.TxChanges.Publish(news)
	}
}
