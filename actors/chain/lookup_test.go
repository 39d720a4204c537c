package chain_test

import (
	"reflect"
	"sync"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/messages"
)

// coinbaseAt is the output of the coinbase at a height.
func coinbaseAt(t *testing.T, f *fixture, height int32) wire.OutPoint {
	t.Helper()
	reader := f.current.Open()
	b, err := reader.Block(&reader.Active().At(height).Hash)
	if err != nil {
		t.Fatal(err)
	}
	return wire.OutPoint{Hash: b.Transactions[0].TxHash()}
}

// Lookups beside the actor give the actor's own answer, after each change of the chain. There are
// none while the actor is at work, nor over an engine that a panic left.
func TestUnspentBesideTheActor(t *testing.T) {
	var mu sync.Mutex
	entered, leave := make(chan struct{}), make(chan struct{})
	at := "" // what the next call of Mine does
	f := spawnIn(t, t.TempDir(), func(method string) error {
		mu.Lock()
		now := at
		if method == "Mine" {
			at = ""
		}
		mu.Unlock()
		if method == "Mine" && now != "" {
			close(entered)
			<-leave
			if now == "panic" {
				panic("a fault")
			}
		}
		return nil
	})
	do(t, f, messages.WaitOpen{})
	none := wire.OutPoint{Hash: chainhash.Hash{9}}
	agree := func(outs ...wire.OutPoint) {
		t.Helper()
		got := do(t, f, messages.GetCoins{Outs: outs})
		for range 2 { // the second time from memory
			coins, tip, ok := f.current.Unspent(outs)
			if !ok || tip.Hash != got.Tip.Hash {
				t.Fatalf("%v at %v, the actor's is %v", ok, tip, got.Tip)
			}
			for i, out := range outs {
				want, there := got.Coins[out]
				if there != (coins[i] != nil) {
					t.Errorf("%v: %+v, the actor's is %+v", out, coins[i], want)
					continue
				}
				if !there {
					continue
				}
				output := wire.NewTxOut(int64(coins[i].Value), coins[i].Script)
				shown := messages.Coin{
					Output: output, Height: coins[i].Height, Coinbase: coins[i].Coinbase, Tip: want.Tip,
				}
				if !reflect.DeepEqual(shown, want) {
					t.Errorf("%v: %+v, the actor's is %+v", out, shown, want)
				}
			}
		}
	}
	generate := func(n int) error {
		_, err := ask.Ask(t.Context(), f.Ref, messages.Generate{Script: trueScript, Count: n, Tries: many})
		return err
	}
	if err := generate(3); err != nil {
		t.Fatal(err)
	}
	third := coinbaseAt(t, f, 3)
	agree(coinbaseAt(t, f, 1), third, none)
	tip := f.current.Open().Active().Tip().Hash
	do(t, f, messages.InvalidateBlock{Hash: tip})
	agree(coinbaseAt(t, f, 1), third, none)
	if coins, _, _ := f.current.Unspent([]wire.OutPoint{third}); coins[0] != nil {
		t.Error("an output of a block that was taken back")
	}
	do(t, f, messages.ReconsiderBlock{Hash: tip})
	agree(third)

	mu.Lock()
	at = "panic"
	mu.Unlock()
	failed := make(chan error, 1)
	go func() { failed <- generate(1) }()
	<-entered
	if _, _, ok := f.current.Unspent([]wire.OutPoint{third}); ok {
		t.Error("looked up while the chain is at work")
	}
	close(leave)
	if err := <-failed; err == nil {
		t.Error("no panic")
	}
	do(t, f, messages.WaitOpen{}) // the next engine
	if err := generate(1); err != nil {
		t.Fatal(err)
	}
	agree(coinbaseAt(t, f, 4), third)
	if err := f.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, _, ok := f.current.Unspent([]wire.OutPoint{third}); ok {
		t.Error("looked up after the end")
	}
}

// Many look up while the chain moves: each answer is of one tip.
func TestUnspentWhileTheChainMoves(t *testing.T) {
	f := spawn(t)
	do(t, f, messages.WaitOpen{})
	byHeight := []wire.OutPoint{{}}
	c := chaintest.New(f.cfg.Network.Params)
	var raws [][]byte
	for range 40 {
		b := c.Mine(chaintest.Template{Solved: true})
		raw, err := c.Raw(&b.Hash)
		if err != nil {
			t.Fatal(err)
		}
		block, err := c.Block(&b.Hash)
		if err != nil {
			t.Fatal(err)
		}
		raws = append(raws, raw)
		byHeight = append(byHeight, wire.OutPoint{Hash: block.Transactions[0].TxHash()})
	}
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				coins, tip, ok := f.current.Unspent(byHeight)
				for h := int32(1); ok && h < int32(len(byHeight)); h++ {
					if (coins[h] != nil) != (h <= tip.Height) {
						t.Errorf("output of height %d at a tip of height %d: %v", h, tip.Height, coins[h])
						return
					}
				}
			}
		})
	}
	for _, raw := range raws {
		do(t, f, messages.SubmitBlock{Raw: raw})
	}
	close(done)
	readers.Wait()
}
