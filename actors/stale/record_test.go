package stale_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/actors/stale"
	"github.com/seed61375155/trawl/messages"
)

// oracle keeps all events.
type oracle struct {
	events []bool
	seen   map[chainhash.Hash]bool
	stats  messages.StaleStats
}

func (o *oracle) window(n int) (events, staleEvents int) {
	events = min(n, len(o.events), stale.MaxEvents)
	for _, is := range o.events[len(o.events)-events:] {
		if is {
			staleEvents++
		}
	}
	return events, staleEvents
}

// add records an event, and reports whether it raised the alarm.
func (o *oracle) add(is bool) bool {
	o.events = append(o.events, is)
	events, staleEvents := o.window(stale.AlarmWindow)
	before := o.stats.Alarm
	o.stats.Alarm = float64(staleEvents)/float64(events) > 0.10
	return o.stats.Alarm && !before
}

func hashOf(n uint32) (h chainhash.Hash) {
	binary.LittleEndian.PutUint32(h[:], n)
	return h
}

// Any sequence of events gives the numbers that all of them together give.
func TestRecord(t *testing.T) {
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 1))
		r, o := stale.NewRecord(), &oracle{seen: map[chainhash.Hash]bool{}, stats: messages.StaleStats{LastHeight: -1}}
		steps := []int{50, 3000, 24_000}[seed%3]
		often := []float64{0.05, 0.1, 0.5}[rng.IntN(3)]
		for i := range steps {
			switch {
			case rng.Float64() < 0.01:
				depth := int32(rng.IntN(9))
				r.Reorganized(depth)
				o.stats.Reorgs++
				o.stats.DeepestFork = max(o.stats.DeepestFork, depth)
			case rng.Float64() >= often:
				r.Connected()
				o.stats.Connected++
				o.add(false)
			default:
				step(t, r, o, hashOf(rng.Uint32N(uint32(steps))), int32(i))
			}
			if rng.IntN(200) == 0 || i == steps-1 {
				check(t, r, o, []int{0, 1, 10, 999, 1000, 1001, 9999, 10_000, 1 << 30}[rng.IntN(9)])
			}
		}
	}
}

// step records a stale block, which may be known.
func step(t *testing.T, r *stale.Record, o *oracle, hash chainhash.Hash, height int32) {
	t.Helper()
	isNew := !o.seen[hash]
	var want stale.Verdict
	if isNew {
		if len(o.seen) >= stale.MaxEvents {
			clear(o.seen)
		}
		o.seen[hash] = true
		o.stats.Stale++
		o.stats.LastHeight, o.stats.LastTime = height, int64(height)+7
		want.Raised = o.add(true)
		want.Events, want.Stale = o.window(stale.AlarmWindow)
	}
	if got, ok := r.Stale(&hash, height, int64(height)+7); ok != isNew || got != want {
		t.Fatalf("stale block: %+v %v, want %+v %v", got, ok, want, isNew)
	}
}

func check(t *testing.T, r *stale.Record, o *oracle, window int) {
	t.Helper()
	want := o.stats
	if want.Window = window; window == 0 {
		want.Window = stale.AlarmWindow
	}
	want.Window = min(want.Window, stale.MaxEvents)
	want.Events, want.StaleEvents = o.window(want.Window)
	if got := r.Stats(window); got != want {
		t.Fatalf("window %d: %+v, want %+v", window, got, want)
	}
}

// The first stale block of a short record raises the alarm, the hundredth of a thousand does not.
func TestAlarm(t *testing.T) {
	r := stale.NewRecord()
	first := hashOf(0)
	if v, ok := r.Stale(&first, 1, 1); !ok || !v.Raised || v.Events != 1 {
		t.Errorf("%+v", v)
	}
	r = stale.NewRecord()
	for range 900 {
		r.Connected()
	}
	for n := range uint32(101) {
		hash := hashOf(n)
		v, _ := r.Stale(&hash, 1, 1)
		if v.Raised != (n == 100) { // 101 of the latest 1000
			t.Errorf("block %d: %+v", n, v)
		}
	}
	if s := r.Stats(0); !s.Alarm || s.Rate() != 0.101 {
		t.Errorf("%+v", s)
	}
	r.Connected() // pushes a connected block out
	if s := r.Stats(0); !s.Alarm {
		t.Errorf("%+v", s)
	}
	for range 1000 {
		r.Connected()
	}
	if s := r.Stats(0); s.Alarm || s.Rate() != 0 {
		t.Errorf("%+v", s)
	}
}

// A record of nothing has no rate.
func TestEmpty(t *testing.T) {
	s := stale.NewRecord().Stats(5)
	if s != (messages.StaleStats{Window: 5, LastHeight: -1}) || s.Rate() != 0 {
		t.Errorf("%+v", s)
	}
}
