package indexer

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// While new filters come, the worker rests nine times as long as it works; else not.
func TestGiveWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		p := &probeBuilder{ctx: ctx, woken: make(chan struct{}, 1)}
		rests := func(want time.Duration) {
			t.Helper()
			began := time.Now()
			p.giveWay(10 * time.Millisecond)
			if got := time.Since(began); got != want {
				t.Errorf("rested %v, want %v", got, want)
			}
		}
		rests(0)
		p.wake()
		rests(90 * time.Millisecond)
		rests(0) // nothing came since
		p.wake()
		p.wake()
		rests(90 * time.Millisecond)
		rests(0)
		p.wake()
		cancel()
		rests(0)
	})
}
