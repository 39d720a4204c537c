package wallets

import (
	"bytes"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/wallet/records"
	"github.com/seed61375155/trawl/internal/wallet/txs"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// publisher announces what has changed in a wallet.
type publisher struct {
	*home
	of interface{ open() *wallet.Wallet }
}

// publish announces the transactions among changes that were written.
func (p *publisher) publish(changes []records.Change) {
	if p.cfg.TxChanges == nil {
		return
	}
	prefix := walletfile.KeyPrefix("tx")
	for _, change := range changes {
		id, isTx := bytes.CutPrefix(change.Key, prefix)
		if isTx && !change.Delete && len(id) == chainhash.HashSize {
			p.publishTx(chainhash.Hash(id))
		}
	}
}

func (p *publisher) publishTx(id chainhash.Hash) {
	_, lost := txs.Find(p.of.open().Txs(), id)
	news := messages.WalletTxChanged{Wallet: p.name, TxID: id, Quiet: lost}
	if block, confirmed := p.of.open().Txs().BlockOf(id); confirmed {
		news.Block = &messages.Tip{Hash: block.Hash, Height: block.Height}
	}
	p.cfg.TxChanges.Publish(news)
}

// conflict announces a transaction that has left the memory pool because of a block.
func (p *publisher) conflict(id chainhash.Hash) {
	if p.cfg.TxChanges == nil {
		return
	}
	if found, _ := txs.Find(p.of.open().Txs(), id); found {
		p.cfg.TxChanges.Publish(messages.WalletTxChanged{Wallet: p.name, TxID: id})
	}
}

// again publishes the wallet's transactions that a rescan has found as they
// were. Changed ones are published when they are written.
func (p *publisher) again(scanned txs.Synced) {
	if p.cfg.TxChanges == nil {
		return
	}
	for _, id := range scanned.Same {
		p.publishTx(id)
	}
}
