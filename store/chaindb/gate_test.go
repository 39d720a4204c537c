package chaindb

import (
	"errors"
	"testing"
	"testing/synctest"
)

// Closing a gate waits until the last inside has left, and lets nobody in.
func TestGate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var g gate
		g.init()
		for range 3 {
			if err := g.enter(); err != nil {
				t.Fatal(err)
			}
		}
		closed := make(chan bool, 1)
		go func() { closed <- g.close() }()
		for range 3 {
			synctest.Wait()
			if len(closed) > 0 {
				t.Fatal("closed while somebody is inside")
			}
			if err := g.enter(); !errors.Is(err, ErrClosed) {
				t.Error(err)
			}
			g.leave()
		}
		if !<-closed || g.close() {
			t.Error("it was closed before")
		}
	})
}
