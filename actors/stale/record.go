package stale

import (
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/messages"
)

// The bounds of a Record.
const (
	MaxEvents   = 10_000 // that are remembered, and stale blocks that are told apart
	AlarmWindow = 1000   // latest events whose rate raises the alarm
	AlarmRate   = 0.10   // above which it does
)

// A Record is what happened, as qbit 1.0.0 counts it. It knows neither the chain nor the time.
type Record struct {
	ring  [(MaxEvents + 63) / 64]uint64 // a bit for each event: whether it was a stale block
	next  int                           // place of the next event
	count int                           // events in the ring

	latest int // stale blocks among the latest AlarmWindow events
	seen   map[chainhash.Hash]struct{}
	totals messages.StaleStats // all but the window
}

// NewRecord returns a Record of nothing.
func NewRecord() *Record {
	return &Record{seen: make(map[chainhash.Hash]struct{}), totals: messages.StaleStats{LastHeight: -1}}
}

// A Verdict is the effect of one stale block.
type Verdict struct {
	Stale, Events int  // among the latest events, the block included
	Raised        bool // it raised the alarm
}

// Connected records a block that became part of the active chain.
func (r *Record) Connected() {
	r.push(false)
	r.totals.Connected++
	r.judge()
}

// Reorganized records a reorganisation that took so many blocks back.
func (r *Record) Reorganized(depth int32) {
	r.totals.Reorgs++
	r.totals.DeepestFork = max(r.totals.DeepestFork, depth)
}

// Stale records a stale block that was noticed at a time in seconds since 1970. It reports false for a
// block that was recorded before.
func (r *Record) Stale(hash *chainhash.Hash, height int32, at int64) (Verdict, bool) {
	if _, ok := r.seen[*hash]; ok {
		return Verdict{}, false
	}
	if len(r.seen) >= MaxEvents {
		clear(r.seen)
	}
	r.seen[*hash] = struct{}{}
	r.push(true)
	r.totals.Stale++
	r.totals.LastHeight, r.totals.LastTime = height, at
	return Verdict{r.latest, min(r.count, AlarmWindow), r.judge()}, true
}

// Stats returns the counters, and the numbers of the latest window events; 0: of the latest [AlarmWindow].
func (r *Record) Stats(window int) messages.StaleStats {
	if window <= 0 {
		window = AlarmWindow
	}
	s := r.totals
	s.Window = min(window, MaxEvents)
	s.Events = min(s.Window, r.count)
	for i := 1; i <= s.Events; i++ {
		if r.isStale(i) {
			s.StaleEvents++
		}
	}
	return s
}

// push records an event in place of the oldest.
func (r *Record) push(stale bool) {
	if r.count >= AlarmWindow && r.isStale(AlarmWindow) { // it leaves the window
		r.latest--
	}
	word, bit := &r.ring[r.next/64], uint64(1)<<(r.next%64)
	*word &^= bit
	if stale {
		*word |= bit
		r.latest++
	}
	r.next = (r.next + 1) % MaxEvents
	r.count = min(r.count+1, MaxEvents)
}

// isStale reports whether the event was a stale block that is the latest but n-1.
func (r *Record) isStale(n int) bool {
	at := (r.next - n + MaxEvents) % MaxEvents
	return r.ring[at/64]>>(at%64)&1 != 0
}

// judge raises the alarm or ends it, and reports whether it was raised.
func (r *Record) judge() (raised bool) {
	rate := float64(r.latest) / float64(min(r.count, AlarmWindow))
	before := r.totals.Alarm
	r.totals.Alarm = rate > AlarmRate
	return r.totals.Alarm && !before
}
