package chain_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/enginetest"
	"github.com/seed61375155/trawl/messages"
)

// The tip is announced when the chain is open, after every change, and never
// without one.
func TestTipIsAnnounced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		actortest.InBubble(t)
		listening := make(chan struct{}) // the chain opens when somebody hears of it
		hook := func(method string) error {
			if method == "Open" {
				<-listening
			}
			return nil
		}
		f := spawnIn(t, t.TempDir(), hook, blockFile(t, 0, enginetest.Blocks(t, enginetest.Chain)[:10]...))
		received := make(chan messages.Tip, 100)
		f.sys.Spawn("listener", func() actor.Actor {
			return actor.ReceiveFunc(func(c actor.Context) {
				switch m := c.Message().(type) {
				case *actor.Started:
					f.tip.SubscribeLatest(c)
					close(listening)
				case messages.TipChanged:
					received <- messages.Tip(m)
				}
			})
		})
		do(t, f, messages.WaitImported{})
		synctest.Wait()
		expect := func(what string) {
			t.Helper()
			synctest.Wait()
			var last messages.Tip
			for len(received) > 0 {
				last = <-received
			}
			if tip := do(t, f, messages.GetTip{}); last != tip {
				t.Errorf("%s: announced %v, the tip is %v", what, last, tip)
			}
		}
		expect("imported")
		tip := f.generate(t, 1)
		expect("mined")
		do(t, f, messages.InvalidateBlock{Hash: tip.Hash})
		expect("invalidated")
		do(t, f, messages.ReconsiderBlock{Hash: tip.Hash})
		expect("reconsidered")
		do(t, f, messages.SetMockTime{})
		synctest.Wait()
		if len(received) != 0 {
			t.Errorf("announced %v without a change", <-received)
		}
	})
}

// A call that waits for a tip is answered when the tip comes, and a caller that
// has gone leaves nothing behind.
func TestWaitTip(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		actortest.InBubble(t)
		f := spawn(t)
		first := do(t, f, messages.WaitOpen{})
		height := int32(3)
		gone, leave := context.WithCancel(t.Context())
		answers := make(chan messages.Tip, 3)
		wait := func(ctx context.Context, q messages.WaitTip) {
			go func() {
				tip, err := ask.Ask(ctx, f.Ref, q)
				if (err != nil) != (ctx != t.Context()) {
					t.Error(err)
				}
				answers <- tip
			}()
		}
		wait(t.Context(), messages.WaitTip{Height: &height})
		wait(t.Context(), messages.WaitTip{Not: &first.Hash})
		wait(gone, messages.WaitTip{Is: new(chainhash.Hash)})
		synctest.Wait()
		leave()
		if tip := <-answers; tip != (messages.Tip{}) {
			t.Errorf("answered before there was a block: %v", tip)
		}
		if second, tip := f.generate(t, 1), <-answers; tip != second {
			t.Errorf("got %v, want %v", tip, second)
		}
		if last, tip := f.generate(t, 2), <-answers; tip != last || tip.Height != height {
			t.Errorf("got %v, want %v", tip, last)
		}
	})
}
