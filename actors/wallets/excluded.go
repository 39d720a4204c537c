package wallets

import (
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/wallet/rescan"
	"github.com/seed61375155/trawl/internal/wallet/txs"
)

// exclude looks for blocks that exclude transactions which are unconfirmed in the file and
// absent from the memory pool. Such files were written where the pool's changes came after the
// block. Without this search the wallet would not notice that the payers replaced a payment
// by a payment to themselves.
func (w *Wallet) exclude() {
	waiting := txs.Outside(w.ledger.Txs())
	reader := w.cfg.Chain.Open()
	if len(waiting) == 0 || reader == nil {
		return
	}
	w.beside(func(j *ask.Job) {
		blocks := rescan.Excluding(j.Context(), reader, waiting)
		_ = w.do(j, func() {
			active := w.cfg.Chain.Open()
			if active == nil {
				return
			}
			for _, b := range blocks {
				known := active.Lookup(&b.Hash)
				tip := w.ledger.Txs().Tip()
				at := active.Lookup(&tip.Hash)
				if known != nil && at != nil && at.Ancestor(known.Height).Is(known) {
					txs.Exclude(w.ledger.Txs(), b)
				}
			}
			w.save(nil)
		})
	})
}
