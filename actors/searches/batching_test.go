package searches

import (
	"testing"
	"time"
)

// Searches wait while others are made one after the other, but no longer than their time, and
// then not again before that has ended.
func TestBatching(t *testing.T) {
	begin := time.Unix(1000, 0)
	at := func(ms float64) time.Time { return begin.Add(time.Duration(ms * float64(time.Millisecond))) }
	long := float64(batchTime / time.Millisecond)
	settled := float64(settleTime / time.Millisecond)
	var g batching
	for _, step := range []struct {
		now    float64
		making bool
		made   float64
		want   bool
	}{
		{0, false, -1000, false}, // nothing is made
		{1, true, -1000, true},
		{2, false, 2, true}, // just made: another may come
		{2 + settled, false, 2, false},
		{20, true, 2, true}, // waits anew
		{20 + long/2, true, 20, true},
		{20 + long, true, 20 + long/2, false}, // for long enough
		{21 + long, true, 20 + long, false},
		{22 + long, false, 22 + long, false},
		{22 + long + settled, false, 22 + long, false}, // they have ended
		{23 + long + settled, true, 22 + long, true},
	} {
		if got := g.waits(at(step.now), step.making, at(step.made)); got != step.want {
			t.Errorf("%+v: got %v", step, got)
		}
	}
}
