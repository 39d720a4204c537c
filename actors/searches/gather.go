package searches

import "time"

const (
	// While searches are made one after the other, searches that had a turn wait for the others, so that they look
	// at the same blocks together. They wait until none has been made for settleTime, but no longer than
	// gatherTime. The first turn of each is of a few blocks, and uses the cores that making searches leaves idle.
	settleTime = 3 * time.Millisecond
	gatherTime = 50 * time.Millisecond

	gatherBlocks = 1_000
)

// gathered has the actor begin the rounds that have waited.
type gathered struct{}

// gathers reports whether searches that had a turn wait for those that are being made.
func (s planner) gathers() bool {
	making := s.prep.running || s.writer.creating
	if !s.rounds.gather.waits(time.Now(), making, s.writer.created) {
		return false
	}
	if !s.rounds.timer {
		s.rounds.timer = true
		s.after(settleTime, gathered{})
	}
	return true
}

// gathering is since when searches wait for those that are being made; zero: none does.
type gathering struct {
	since time.Time
	now   bool // as waits reported last
}

// waits reports whether they still wait, where some search is being made, and when the last
// one was.
func (g *gathering) waits(now time.Time, making bool, made time.Time) bool {
	if !making && now.Sub(made) >= settleTime {
		*g = gathering{}
		return false
	}
	if g.since.IsZero() {
		g.since = now
	}
	g.now = now.Sub(g.since) < gatherTime
	return g.now
}
