package wallets

import (
	"cmp"
	"time"

	"github.com/btcsuite/btcd/btcutil"

	"github.com/seed61375155/trawl/actors/wallets/internal/files"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/rescan"
	"github.com/seed61375155/trawl/internal/wallet/txs"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/walletdb"
)

var errBackup = codes.Errorf(codes.Wallet, "Error: Wallet backup failed!")

// savedFile returns the file when it has all that the wallet knows, with the last block that the wallet has seen.
// The actor calls before first.
func (t *caller) savedFile(j *ask.Job, before func()) (*walletdb.DB, error) {
	var file *walletdb.DB
	var b *batch
	_ = t.atTip(j) // a wallet that is behind can be saved, too
	err := t.do(j, func() {
		before()
		t.ledger.Txs().SaveBestBlock(t.position())
		file, b = t.writer.file, t.save(nil)
	})
	if err == nil {
		err = b.wait(j)
	}
	if err != nil && (j.Context().Err() != nil || !t.fault.present()) {
		return nil, err
	}
	return file, nil
}

// backup copies the file.
func (t *caller) backup(j *ask.Job, q messages.BackupWallet) (messages.Done, error) {
	file, err := t.savedFile(j, func() {})
	if err != nil {
		return messages.Done{}, err
	}
	if q.Path == "" {
		// SQLite takes no name for a database that goes away when it
		// is closed, so that Core says yes, and keeps nothing.
		t.cfg.Log.Warn("wallet backed up to nowhere: no destination was given", "wallet", t.Label())
	} else if err := file.Backup(q.Path); err != nil {
		t.cfg.Log.Error("wallet not backed up", "wallet", t.Label(), "err", err)
		return messages.Done{}, errBackup
	}
	return messages.Done{}, nil
}

// exportWatchOnly writes a wallet's file without private keys.
func (t *caller) exportWatchOnly(j *ask.Job, q messages.ExportWatchOnly) (messages.Done, error) {
	if err := files.CheckExport(q.Path); err != nil {
		return messages.Done{}, err
	}
	file, err := t.savedFile(j, func() { t.ledger.Pool().TopUp() })
	if err == nil {
		err = t.Export(j.Context(), file, q.Path)
	}
	return messages.Done{}, err
}

// rescanChain looks through blocks again.
func (t *caller) rescanChain(j *ask.Job, q messages.Rescan) (messages.Rescanned, error) {
	s, err := t.beginScan(j, func(s *scan) error {
		tip := t.ledger.Txs().Tip().Height
		switch stop := q.Stop; {
		case q.Start < 0 || q.Start > tip:
			return codes.Errorf(codes.Parameter, "Invalid start_height")
		case stop == nil:
		case *stop < 0 || *stop > tip:
			return codes.Errorf(codes.Parameter, "Invalid stop_height")
		case *stop < q.Start:
			return codes.Errorf(codes.Parameter, "stop_height must be greater than start_height")
		}
		if rescan.LacksSome(t.cfg.Chain.Open(), q.Start, q.Stop) {
			return rescan.ErrBackground
		}
		s.begin(q.Start, q.Stop, false)
		return nil
	})
	if err != nil {
		return messages.Rescanned{}, err
	}
	res, err := s.look(j)
	return messages.Rescanned{Start: q.Start, Stop: res.last}, t.endScan(j, cmp.Or(err, t.rescanError(res)))
}

// rescanError is the answer to a rescan that has not looked at all blocks; nil for others.
func (w *Wallet) rescanError(res result) error {
	if res.aborted {
		return errGivenUp
	}
	return rescan.Error(w.cfg.Chain.Open(), res.failed, res.away)
}

// sinceBlock finds the place of a block in the chain, and answers from memory. Transactions of
// blocks that have left the chain are read by the job.
func (t *caller) sinceBlock(j *ask.Job, q messages.ListSinceBlock) (got messages.SinceBlock, err error) {
	var since txs.Since
	var reader chainview.Reader
	var given *chainview.Block // the last of the blocks that are to be read; nil: none are
	err = t.try(j, func() error {
		reader = t.cfg.Chain.Open()
		tip := t.at(reader)
		depth := min(max(q.TargetConf, 1), tip.Height+1)
		since.LastBlock = tip.Ancestor(tip.Height + 1 - depth).Hash
		if q.Block != nil {
			if given = reader.Lookup(q.Block); given == nil {
				return codes.Errorf(codes.AddressOrKey, "Block not found")
			}
			fork := tip.ForkHeight(given)
			since.Fork = &fork
			if fork == given.Height || !q.IncludeRemoved {
				given = nil
			}
		}
		if given == nil {
			got = t.ledger.Reports().SinceBlock(q, since)
		}
		return nil
	})
	if err != nil || given == nil {
		return got, err
	}
	if since.Removed, err = rescan.TransactionsOf(reader, given, *since.Fork); err != nil {
		t.cfg.Log.Error("wallet cannot read a block", "wallet", t.Label(), "err", err)
		return got, codes.Errorf(codes.Internal, "Can't read block from disk")
	}
	return got, t.do(j, func() { got = t.ledger.Reports().SinceBlock(q, since) })
}

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
