package wallets

import (
	"time"

	"github.com/btcsuite/btcd/btcutil"

	"github.com/seed61375155/trawl/actors/wallets/internal/files"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/rescan"
	"github.com/seed61375155/trawl/messages"
)

// getInfo waits for the tip: which block the wallet has seen is part of the answer.
func (t *caller) getInfo(j *ask.Job, _ messages.GetWalletInfo) (info messages.WalletInfo, err error) {
	_ = t.atTip(j) // a wallet that is behind has seen a block, too
	if err = t.poolWritten(j); err == nil {
		err = t.do(j, func() { info = t.info() })
	}
	return info, err
}

// info completes the ledger's information with fees, unlocking and the scan.
func (w *Wallet) info() messages.WalletInfo {
	info := w.ledger.Info()
	info.PayFee = btcutil.Amount(w.spending.Pay)
	if info.Encrypted && !w.ledger.Vault().Locked() {
		info.UnlockedUntil = w.unlocker.until
	}
	if s := w.scan; s != nil {
		info.Scanning, info.ScanDuration, info.ScanProgress = true, time.Since(s.began), s.progress()
	}
	return info
}

func (w *Wallet) abortRescan(messages.AbortRescan) (bool, error) { return w.scan.abort(), nil }

func (w *Wallet) addHDKey(q messages.AddHDKey) (string, error) {
	random := files.NewSeed()
	defer random.Zero()
	return w.ledger.Importer().AddHDKey(q, random, w.cfg.now())
}

// importTx takes in a transaction of a block that the wallet has seen.
func (w *Wallet) importTx(q messages.ImportTx) (messages.Done, error) {
	reader := w.cfg.Chain.Open()
	tip := w.at(reader)
	block := reader.Lookup(&q.Block)
	if block == nil || !tip.Ancestor(block.Height).Is(block) {
		return messages.Done{}, codes.Errorf(codes.AddressOrKey, "Block not found in chain")
	}
	if q.Index == nil {
		return messages.Done{}, codes.Errorf(codes.AddressOrKey, "Transaction given doesn't exist in proof")
	}
	err := w.ledger.Spending().Import(q.Tx, rescan.BlockRef(block), int32(*q.Index), w.cfg.now())
	return messages.Done{}, err
}
