package chain_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/enginetest"
	"github.com/seed61375155/trawl/messages"
)

// The engine may tidy up every minute in which nobody asks for anything, and a failure
// then is one of the chain.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		actortest.InBubble(t)
		var syncs atomic.Int32
		var full atomic.Bool
		f := spawnIn(t, t.TempDir(), func(method string) error {
			if method != "Sync" {
				return nil
			}
			syncs.Add(1)
			if full.Load() {
				return errors.New("no room")
			}
			return nil
		})
		do(t, f, messages.WaitOpen{})
		for _, raw := range enginetest.Blocks(t, enginetest.Chain)[1:10] {
			do(t, f, messages.SubmitBlock{Raw: raw})
		}
		before := syncs.Load()
		time.Sleep(10*time.Minute + time.Second)
		synctest.Wait()
		if got := syncs.Load() - before; got != 10 {
			t.Errorf("%d times in ten minutes", got)
		}
		if tip := do(t, f, messages.GetTip{}); tip.Height != 9 {
			t.Errorf("tip %v", tip)
		}
		full.Store(true)
		time.Sleep(time.Minute)
		synctest.Wait()
		f.mu.Lock()
		defer f.mu.Unlock()
		if len(f.failed) != 1 {
			t.Errorf("failures: %v", f.failed)
		}
	})
}
