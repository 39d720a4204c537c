package wallets

import (
	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/txs"
	"github.com/seed61375155/trawl/messages"
)

// backup waits for the tip: the copy says which block the wallet has seen.
func (w *Wallet) backup(c actor.Context, m *ask.Call[messages.BackupWallet, messages.Done]) {
	w.pool.whenCurrent(c, func(error) { w.copyFile(c, m) })
}

// copyFile copies the file, with the last block that the wallet has seen in it.
func (w *Wallet) copyFile(c actor.Context, m *ask.Call[messages.BackupWallet, messages.Done]) {
	w.ledger.Txs().SaveBestBlock(w.position())
	file := w.writer.file
	w.save(c, func(err error) {
		if err != nil && !w.fault.present() {
			m.Answer(messages.Done{}, err)
			return
		}
		w.beside(c, func() func() {
			var err error
			if m.Req.Path == "" {
				// SQLite takes no name for a database that goes away when it
				// is closed, so that Core says yes, and keeps nothing.
				w.cfg.Log.Warn("wallet backed up to nowhere: no destination was given", "wallet", w.label())
			} else {
				err = file.Backup(m.Req.Path)
			}
			return func() {
				if err != nil {
					w.cfg.Log.Error("wallet not backed up", "wallet", w.label(), "err", err)
					m.Answer(messages.Done{}, errBackup)
					return
				}
				m.Answer(messages.Done{}, nil)
			}
		})
	})
}

// mayRescan refuses a rescan while there is one, or while the key pool cannot
// be topped up.
func (w *Wallet) mayRescan() error {
	if w.rescans.running() || w.imports.running() {
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
	w.rescans.start(c, &rescan{from: m.Req.Start, stop: m.Req.Stop, private: true, done: func(res result) {
		w.save(c, func(err error) {
			switch {
			case err != nil:
			case res.aborted:
				err = codes.Errorf(codes.Misc, "Rescan aborted.")
			case res.failed != nil && isPruned(res.failed):
				err = codes.Errorf(
					codes.Misc,
					"Can't rescan beyond pruned data. Use RPC call getblockchaininfo to determine your pruned height.",
				)
			case res.failed != nil && w.isBehind(res.failed):
				err = errBackground
			case res.failed != nil:
				err = codes.Errorf(codes.Misc, "Rescan failed. Potentially corrupted data files.")
			}
			m.Answer(messages.Rescanned{Start: m.Req.Start, Stop: res.last}, err)
		})
	}})
	w.saveAt(c)
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

// rescanFrom rescans the blocks from a time on, with timestampWindow as a margin.
func (w *Wallet) rescanFrom(c actor.Context, from int64, done func(result, error)) {
	active := w.cfg.Chain.Open().Active()
	tip := w.ledger.Txs().Tip().Height
	first, found := firstSince(active, 0, from-timestampWindow)
	if !found || first > tip {
		corelog.Printf(w.cfg.Log, infoLevel, "[%s] RescanFromTime: Rescanning last 0 blocks", w.label())
		w.save(c, func(err error) { done(result{}, err) })
		return
	}
	corelog.Printf(w.cfg.Log, infoLevel, "[%s] RescanFromTime: Rescanning last %d blocks", w.label(), tip-first+1)
	w.rescans.start(c, &rescan{from: first, private: true, done: func(res result) {
		w.save(c, func(err error) { done(res, err) })
	}})
	w.saveAt(c)
}

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
	w.beside(c, func() func() {
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
