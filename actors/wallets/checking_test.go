package wallets

import (
	"context"
	"runtime"
	"sync"
	"testing"
)

// meeting is a key whose check waits for the check of another key.
type meeting struct{ arrived *sync.WaitGroup }

func (m meeting) Check(ctx context.Context) bool {
	m.arrived.Done()
	m.arrived.Wait()
	return ctx.Err() == nil
}

// TestChecksShareTheCores: two cores check two keys at the same time, and each key is
// handed to its check after the end of the wallet too.
func TestChecksShareTheCores(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(2, runtime.NumCPU())))
	ended, end := context.WithCancel(t.Context())
	end()
	for want, ctx := range map[bool]context.Context{true: t.Context(), false: ended} {
		var arrived sync.WaitGroup
		arrived.Add(2)
		for i, valid := range checkAll(ctx, []meeting{{&arrived}, {&arrived}}) {
			if valid != want {
				t.Errorf("key %d: %v, want %v", i, valid, want)
			}
		}
	}
}
