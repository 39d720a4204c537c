package searches

import "time"

const (
	// While searches are made one after the other, searches that had a turn wait for the others, so that they look
	// at the same blocks together. They wait until none has been made for settleTime, but no longer than
	// batchTime. The first turn of each is of a few blocks, and uses the cores that making searches leaves idle.
	settleTime = 3 * time.Millisecond
	batchTime  = 50 * time.Millisecond

	batchBlocks = 1_000
)

// batched is the message to begin the rounds that have waited.
type batched struct{}

// batches reports whether searches that had a turn wait for those that are being made.
func (s planner) batches() bool {
	making := s.prep.running || s.writer.creating
	if !s.rounds.batching.waits(time.Now(), making, s.writer.created) {
		return false
	}
	if !s.rounds.timer {
		s.rounds.timer = true
		s.after(settleTime, batched{})
	}
	return true
}

// batching is since when searches wait for those that are being made; zero: none does.
type batching struct {
	since time.Time
	now   bool // as waits reported last
}

// waits reports whether they still wait, where some search is being made, and when the last
// one was.
func (g *batching) waits(now time.Time, making bool, made time.Time) bool {
	if !making && now.Sub(made) >= settleTime {
		*g = batching{}
		return false
	}
	if g.since.IsZero() {
		g.since = now
	}
	g.now = now.Sub(g.since) < batchTime
	return g.now
}
