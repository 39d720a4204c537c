package wallets

import (
	"context"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg"

	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/wallet/txs"
	"github.com/seed61375155/trawl/messages"
)

// TestOnlyTheNextBlock hands single blocks to a wallet. The wallet takes only the
// block that follows its tip on the active chain, and gives back its tip only when
// the tip has left that chain.
func TestOnlyTheNextBlock(t *testing.T) {
	chain := chaintest.New(&chaincfg.RegressionNetParams)
	first := chain.MineN(1)
	left := chain.MineN(2)
	second := chain.MineOn(first, chaintest.Template{Version: 4})
	third := chain.MineOn(second, chaintest.Template{Version: 4})
	tip := chain.MineOn(third, chaintest.Template{Version: 4})
	if active := chain.Active(); active.Tip() != tip || active.Contains(left) {
		t.Fatal("the longer branch is not active")
	}
	type take func(chainTarget, *txs.Block)
	connect := func(target chainTarget, b *txs.Block) { target.connect([]*txs.Block{b}, nil) }
	disconnect := func(target chainTarget, b *txs.Block) { target.disconnect([]*txs.Block{b}, nil) }
	for _, c := range []struct {
		name           string
		take           take
		at, block, end *chainview.Block
	}{
		{"the next", connect, first, second, second},
		{"one is left out", connect, first, third, first},
		{"the same again", connect, second, second, second},
		{"one below", connect, third, second, third},
		{"of a branch that was left", connect, first, left.Parent, first},
		{"the tip that has left", disconnect, left, left, left.Parent},
		{"below a tip that has left", disconnect, left, left.Parent, left},
		{"above a tip that has left", disconnect, left.Parent, left, left.Parent},
		{"the tip that is active", disconnect, third, third, third},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := walletAt(t, chain, c.at)
			msg, err := chain.Block(&c.block.Hash)
			if err != nil {
				t.Fatal(err)
			}
			block := &txs.Block{Txs: msg.Transactions}
			block.Hash, block.Height = c.block.Hash, c.block.Height
			c.take(chainTarget{w}, block)
			if got := w.ledger.Txs().Tip(); got.Hash != c.end.Hash || got.Height != c.end.Height {
				t.Errorf("at height %d afterwards, want %d", got.Height, c.end.Height)
			}
		})
	}
}

// walletAt returns a loaded wallet without an actor, which has seen the chain up to a
// block.
func walletAt(t *testing.T, chain *chaintest.Chain, b *chainview.Block) *Wallet {
	t.Helper()
	net, err := dialect.Bitcoin("regtest")
	if err != nil {
		t.Fatal(err)
	}
	cfg := &Config{Network: net, Chain: new(chainview.Current), Now: time.Now}
	cfg.Chain.Set(chain)
	ledger, err := wallet.Create(context.Background(), wallet.CreateParams{
		Params: wallet.ParamsOf(net, "w", 0), Blank: true, DisablePrivateKeys: true, Now: cfg.now(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ledger.Close)
	ledger.Txs().SetTip(messages.Tip{Hash: b.Hash, Height: b.Height})
	w := &Wallet{spec: &spec{cfg: cfg}, ledger: ledger, live: true, writer: writer{next: newBatch(nil)}}
	w.keygen, w.pool = keygen{w: w}, poolState{Wallet: w}
	return w
}
