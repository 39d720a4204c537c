package wallets_test

import (
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/messages"
)

// foreignKey is a descriptor that pays to foreignScript.
const foreignKey = "wpkh(02c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5)#wg9vgf99"

var foreignScript = []byte("\x00\x14\x06\xaf\xd4\x6b\xcd\xfd\x22\xef\x94\xac\x12\x2a\xa1\x1f\x24\x12\x44\xa3\x7e\xcc")

// spend sends the coinbase of a block to a script.
func spend(chain *chaintest.Chain, b *chainview.Block, script []byte) *wire.MsgTx {
	tx := wire.NewMsgTx(2)
	from := coinbaseOf(chain, b)
	tx.AddTxIn(wire.NewTxIn(wire.NewOutPoint(&from, 0), nil, nil))
	tx.AddTxOut(wire.NewTxOut(1000, script))
	return tx
}

// A wallet learns of a payment to a script that it got long after the payment's
// block when this block leaves the chain. It does not matter whether the pool takes
// the payment back.
func TestLeavingBlockPaysNewScript(t *testing.T) {
	chain := newChain()
	fork := chain.MineN(4)
	paid := spend(chain, fork, foreignScript)
	chain.Mine(chaintest.Template{Script: foreignScript, Txs: []*wire.MsgTx{paid}})
	chain.MineN(30) // of ten minutes each: the import looks at the last two hours
	r := newRig(t, chain, setup{noFilters: true})
	do(t, r.ref, messages.CreateWallet{Name: "w", DisablePrivateKeys: true, Blank: true})
	ref := r.wallet(t, "w")
	items := []messages.ImportItem{{Desc: foreignKey, Timestamp: messages.NowTimestamp}}
	if results := do(t, ref, messages.ImportDescriptors{Items: items}); results[0].Err != nil {
		t.Fatal(results[0].Err)
	}
	if got := do(t, ref, messages.GetWalletInfo{}); got.TxCount != 0 {
		t.Fatalf("%d transactions before the reorganisation", got.TxCount)
	}
	for range 40 {
		fork = chain.MineOn(fork, chaintest.Template{Version: 4})
	}
	r.announce()
	got := do(t, ref, messages.GetTransaction{TxID: paid.TxHash()})
	if got.Tx.Confirmations != 0 || got.Tx.Abandoned {
		t.Errorf("payment: %+v", got.Tx)
	}
	if got := do(t, ref, messages.GetWalletInfo{}); got.TxCount != 2 || got.LastProcessedHash != fork.Hash {
		t.Errorf("%d transactions at height %d, want the payment and the coinbase", got.TxCount, got.LastProcessedHeight)
	}
}

// A block that has left the chain and cannot be read does not hold the wallet up.
func TestLeavingBlockCannotBeRead(t *testing.T) {
	chain := newChain()
	fork := chain.MineN(4)
	r := newRig(t, chain, setup{noFilters: true, now: genesis})
	do(t, r.ref, messages.CreateWallet{Name: "w"})
	ref := r.wallet(t, "w")
	script := scriptOf(t, do(t, ref, messages.NewAddress{Type: "bech32"}))
	known := spend(chain, fork, script)
	left := chain.Mine(chaintest.Template{Txs: []*wire.MsgTx{known}})
	r.announce()
	if got := do(t, ref, messages.GetTransaction{TxID: known.TxHash()}); got.Tx.Confirmations != 1 {
		t.Fatalf("payment: %+v", got.Tx)
	}
	chain.Fail(left, errBroken)
	for range 3 {
		fork = chain.MineOn(fork, chaintest.Template{Version: 4})
	}
	r.announce()
	if got := do(t, ref, messages.GetTransaction{TxID: known.TxHash()}); got.Tx.Confirmations != 0 {
		t.Errorf("payment: %+v", got.Tx)
	}
}

// slowChain is a chain on which reading one block waits.
type slowChain struct {
	*chaintest.Chain

	slow chainhash.Hash
	gate *gate
}

func (s slowChain) Block(hash *chainhash.Hash) (*wire.MsgBlock, error) {
	if *hash == s.slow {
		s.gate.once.Do(func() { close(s.gate.reached) })
		<-s.gate.open
	}
	return s.Chain.Block(hash)
}

// Blocks that were read while their branch was left are not connected.
func TestBlockThatDoesNotFollow(t *testing.T) {
	chain := newChain()
	fork := chain.MineN(4)
	r := newRig(t, chain, setup{noFilters: true, now: genesis})
	do(t, r.ref, messages.CreateWallet{Name: "w"})
	ref := r.wallet(t, "w")
	script := scriptOf(t, do(t, ref, messages.NewAddress{Type: "bech32"}))

	stale, active := spend(chain, fork, script), spend(chain, fork.Parent, script)
	on := chain.Mine(chaintest.Template{Txs: []*wire.MsgTx{stale}})
	slow := slowChain{chain, on.Hash, newGate()}
	r.current.Set(slow)
	r.announce()
	<-slow.gate.reached
	fork = chain.MineOn(fork, chaintest.Template{Txs: []*wire.MsgTx{active}, Version: 4})
	fork = chain.MineOn(fork, chaintest.Template{Version: 4})
	r.announce()
	close(slow.gate.open)

	if got := do(t, ref, messages.GetWalletInfo{}); got.LastProcessedHash != fork.Hash || got.TxCount != 1 {
		t.Errorf("%d transactions at height %d, want the one of the active chain", got.TxCount, got.LastProcessedHeight)
	}
	if got := do(t, ref, messages.GetTransaction{TxID: active.TxHash()}); got.Tx.Confirmations != 2 {
		t.Errorf("payment: %+v", got.Tx)
	}
	if _, err := try(t, ref, messages.GetTransaction{TxID: stale.TxHash()}); err == nil {
		t.Error("a block was connected that did not follow")
	}
}

// A rescan of blocks before the wallet's birth, which are not looked at as they come,
// goes back to the fork when the chain is reorganised below what it has looked at.
func TestRescanGoesBackToTheFork(t *testing.T) {
	chain := newChain()
	fork := chain.MineN(4)
	chain.MineN(40)
	gate := newGate()
	r := newRig(t, chain, setup{
		window: 16, now: genesis.Add(10 * 365 * 24 * time.Hour),
		source: func(s match.Source) match.Source {
			return faulty{s, func(from int32, _ []filters.Filter) error {
				if from >= 16 {
					gate.once.Do(func() { close(gate.reached) })
					<-gate.open
				}
				return nil
			}}
		},
	})
	do(t, r.ref, messages.CreateWallet{Name: "w"})
	ref := r.wallet(t, "w")
	script := scriptOf(t, do(t, ref, messages.NewAddress{Type: "bech32"}))
	done := make(chan error, 1)
	go func() {
		_, err := try(t, ref, messages.Rescan{})
		done <- err
	}()
	<-gate.reached // behind the fork
	const paid = 50
	for range paid {
		fork = chain.MineOn(fork, chaintest.Template{Script: script, Version: 4})
	}
	r.announce()
	if got := do(t, ref, messages.GetWalletInfo{}); got.LastProcessedHash != fork.Hash || got.TxCount != 0 {
		t.Fatalf("%d transactions at height %d: the blocks were to be left to the rescan", got.TxCount, got.LastProcessedHeight)
	}
	close(gate.open)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := do(t, ref, messages.GetWalletInfo{}); got.TxCount != paid {
		t.Errorf("%d transactions, want %d", got.TxCount, paid)
	}
}
