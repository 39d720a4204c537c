package files

import (
	"context"
	"time"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/wallet/rescan"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

const (
	// previewBeyond bounds how long a preview looks beyond the reach of a restore, and restoredBeyond how long a
	// restored wallet does, beside other work.
	previewBeyond  = 5 * time.Second
	restoredBeyond = 10 * time.Minute
)

// A beyond is a look beyond the reach of a restore.
type beyond struct {
	*wallet.Beyond

	birth *int64 // of the wallet; nil: there is nothing to look for
}

func newBeyond(content *walletfile.Wallet, keyPool int32) *beyond {
	return &beyond{wallet.NewBeyond(content, keyPool), wallet.BirthOf(content)}
}

// look looks for payments in all blocks that may concern the wallet, by their filters. Without filters it knows
// nothing.
func (b *beyond) look(ctx context.Context, cfg *Config, chain rescan.ActiveChain) messages.WalletBeyond {
	tip := chain.Active.Tip()
	if cfg.Scheduler == nil || !cfg.Scheduler.View().Active(tip.Height, &tip.Hash) {
		return messages.WalletBeyond{}
	}
	if tip.Height == 0 { // the first block of a chain pays no wallet
		return messages.WalletBeyond{Known: true}
	}
	first := chain.FirstToScan(0, b.birth)
	for scripts := b.Next(ctx); len(scripts) > 0; scripts = b.Next(ctx) {
		pass := cfg.Scheduler.NewPass(match.Config{
			Query: filters.NewQuery(scripts), First: first, Stop: tip, Exact: true,
		})
		if err := cfg.Scheduler.Run(ctx, pass); err != nil {
			b.Fail()
			break
		}
		hits, _ := pass.Hits()
		for i := range hits {
			block, err := chain.Reader.Block(&hits[i].Block)
			if err != nil || ctx.Err() != nil {
				b.Fail()
				return b.Result()
			}
			for _, tx := range block.Transactions {
				for _, out := range tx.TxOut {
					b.Paid(out.PkScript)
				}
			}
		}
	}
	return b.Result()
}

// Beyond returns what looks, once, for payments beyond the addresses that the restored wallet has derived. It is nil
// where the file was there before, since an earlier restore was cut short.
func (r *Restoration) Beyond() func(context.Context) messages.WalletBeyond {
	b := r.beyond
	r.beyond = nil
	if b == nil {
		return nil
	}
	return func(ctx context.Context) messages.WalletBeyond {
		chain, err := r.cfg.chain(nil)
		if err != nil {
			return messages.WalletBeyond{}
		}
		ctx, cancel := context.WithTimeout(ctx, restoredBeyond)
		defer cancel()
		return b.look(ctx, r.cfg, chain)
	}
}
