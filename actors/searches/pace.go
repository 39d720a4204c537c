package searches

import "time"

// pauseForTable is how long a round waits after the one before for each table that the store is behind.
const pauseForTable = 20 * time.Millisecond

// paced has the actor begin the round that has waited for the store.
type paced struct{}

// paces reports whether the next round waits, because more is found than the store puts in order, which lags so
// many tables behind. Requests are answered as usual meanwhile.
func (s planner) paces(lag int) bool {
	wait := holdBack(lag, time.Since(s.rounds.ended))
	if wait > 0 && !s.rounds.pacing {
		s.rounds.pacing = true
		s.after(min(wait, roundTime), paced{}) // it may be less by then
	}
	return wait > 0
}

// holdBack returns how long a round still waits where the store is so many tables behind, and so much time has
// passed since the round before.
func holdBack(tables int, passed time.Duration) time.Duration {
	return max(0, time.Duration(tables)*pauseForTable-passed)
}
