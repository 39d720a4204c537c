package wallets

import (
	"cmp"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/txs"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/walletdb"
)

// savedFile returns the file when it has all that the wallet knows, with the last block that the wallet has seen.
// The actor calls before first.
func (t *caller) savedFile(j *ask.Job, before func()) (file *walletdb.DB, err error) {
	err = t.await(j, func(then func(error)) {
		t.pool.whenCurrent(t.c, func(error) { // a wallet that is behind can be saved, too
			before()
			t.ledger.Txs().SaveBestBlock(t.position())
			file = t.writer.file
			t.save(t.c, func(err error) {
				if t.fault.present() {
					err = nil
				}
				then(err)
			})
		})
	})
	return file, err
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
		t.cfg.Log.Warn("wallet backed up to nowhere: no destination was given", "wallet", t.label())
	} else if err := file.Backup(q.Path); err != nil {
		t.cfg.Log.Error("wallet not backed up", "wallet", t.label(), "err", err)
		return messages.Done{}, errBackup
	}
	return messages.Done{}, nil
}

// mayRescan refuses a rescan while there is one, or while the key pool cannot
// be topped up.
func (w *Wallet) mayRescan() error {
	if w.scan != nil {
		return errRescanning
	}
	if w.ledger.Vault().Locked() {
		return errLocked
	}
	return nil
}

// rescanChain looks through blocks again.
func (w *Wallet) rescanChain(c actor.Context, m *ask.Call[messages.Rescan, messages.Rescanned]) {
	err := w.mayRescan()
	tip := w.ledger.Txs().Tip().Height
	switch stop := m.Req.Stop; {
	case err != nil:
	case m.Req.Start < 0 || m.Req.Start > tip:
		err = codes.Errorf(codes.Parameter, "Invalid start_height")
	case stop == nil:
	case *stop < 0 || *stop > tip:
		err = codes.Errorf(codes.Parameter, "Invalid stop_height")
	case *stop < m.Req.Start:
		err = codes.Errorf(codes.Parameter, "stop_height must be greater than start_height")
	}
	if err == nil && w.lacksSome(m.Req.Start, m.Req.Stop) {
		err = errBackground
	}
	if err != nil {
		m.Answer(messages.Rescanned{}, err)
		return
	}
	s := w.beginScan(c)
	s.begin(&rescan{from: m.Req.Start, stop: m.Req.Stop})
	answerScan(s, m, func(j *ask.Job) (messages.Rescanned, error) {
		res, err := s.look(j)
		return messages.Rescanned{Start: m.Req.Start, Stop: res.last}, cmp.Or(err, w.rescanError(res))
	})
}

// rescanError is the answer to a rescan that has not looked at all blocks; nil for others.
func (h *home) rescanError(res result) error {
	switch {
	case res.aborted:
		return codes.Errorf(codes.Misc, "Rescan aborted.")
	case res.failed == nil:
		return nil
	case res.away:
		return codes.Errorf(codes.Misc, "Rescan failed. %s", messages.ErrNodeAway)
	case isPruned(res.failed):
		return codes.Errorf(codes.Misc,
			"Can't rescan beyond pruned data. Use RPC call getblockchaininfo to determine your pruned height.")
	case h.isBehind(res.failed):
		return errBackground
	}
	return codes.Errorf(codes.Misc, "Rescan failed. Potentially corrupted data files.")
}

// lacksSome reports whether a range, up to the tip for nil, has blocks of before a snapshot that are
// still to come.
func (h *home) lacksSome(start int32, stop *int32) bool {
	reader := h.cfg.Chain.Open()
	assumed := chainview.AssumedOf(reader)
	if assumed == nil {
		return false
	}
	last := assumed.Base.Height
	if stop != nil {
		last = min(last, *stop)
	}
	for b := assumed.Base.Ancestor(last); b != nil && b.Height >= start; b = b.Parent {
		if b.Status()&chainview.HasData == 0 {
			return true
		}
	}
	return false
}

// isBehind reports whether a block is before a snapshot that the chain begins with, and is still to come.
func (h *home) isBehind(b *chainview.Block) bool {
	reader := h.cfg.Chain.Open()
	return chainview.AssumedOf(reader).Lacks(b, reader.Active())
}

// isPruned reports whether a block was deleted to save space.
func isPruned(b *chainview.Block) bool { return b.Status()&chainview.Pruned != 0 }

// sinceBlock finds the place of a block in the chain, and answers from memory. Transactions of
// blocks that have left the chain are read in a worker.
func (w *Wallet) sinceBlock(c actor.Context, m *ask.Call[messages.ListSinceBlock, messages.SinceBlock]) {
	reader := w.cfg.Chain.Open()
	tip := w.at(reader)
	var since txs.Since
	depth := min(max(m.Req.TargetConf, 1), tip.Height+1)
	since.LastBlock = tip.Ancestor(tip.Height + 1 - depth).Hash
	if m.Req.Block == nil {
		m.Answer(w.ledger.Reports().SinceBlock(m.Req, since), nil)
		return
	}
	given := reader.Lookup(m.Req.Block)
	if given == nil {
		m.Answer(messages.SinceBlock{}, codes.Errorf(codes.AddressOrKey, "Block not found"))
		return
	}
	fork := tip.ForkHeight(given)
	since.Fork = &fork
	if fork == given.Height || !m.Req.IncludeRemoved {
		m.Answer(w.ledger.Reports().SinceBlock(m.Req, since), nil)
		return
	}
	w.work(c, func(*ask.Job) func() {
		var err error
		since.Removed, err = transactionsOf(reader, given, fork)
		return func() {
			if err != nil {
				w.cfg.Log.Error("wallet cannot read a block", "wallet", w.label(), "err", err)
				m.Answer(messages.SinceBlock{}, codes.Errorf(codes.Internal, "Can't read block from disk"))
				return
			}
			m.Answer(w.ledger.Reports().SinceBlock(m.Req, since), nil)
		}
	})
}

// transactionsOf returns the ids of the transactions of the blocks above a height up to one, the
// highest block first.
func transactionsOf(reader chainview.Reader, last *chainview.Block, height int32) ([][]chainhash.Hash, error) {
	var lists [][]chainhash.Hash
	for b := range last.Above(height) {
		msg, err := reader.Block(&b.Hash)
		if err != nil {
			return nil, err
		}
		ids := make([]chainhash.Hash, len(msg.Transactions))
		for i, tx := range msg.Transactions {
			ids[i] = tx.TxHash()
		}
		lists = append(lists, ids)
	}
	return lists, nil
}
