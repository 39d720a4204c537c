package searches

import "time"

const (
	// roundTime is how long a round aims to take: others get a turn then.
	roundTime = 50 * time.Millisecond

	maxRound = 100_000 // blocks

	// firstWork is the work of the first round: some 60 milliseconds of one core that has AVX-512.
	firstWork = 16_000_000

	// perFilter is for how many scripts a block counts beside those that are looked for: what it takes to read its
	// filter.
	perFilter = 500
)

// A budget is how much work the next round may do: blocks, times the scripts that each is looked at for. Rounds of
// few searches and of many take turns; counting work makes them take about equally long.
type budget struct{ work int64 }

// workOf returns the work of a round.
func workOf(blocks int32, scripts int) int64 { return int64(blocks) * int64(perFilter+scripts) }

func (b *budget) allowed() int64 {
	if b.work == 0 {
		return firstWork
	}
	return b.work
}

// blocks returns how many blocks a round for so many scripts may have.
func (b *budget) blocks(scripts int) int32 {
	return int32(min(max(b.allowed()/workOf(1, scripts), 1), maxRound))
}

// note sets the budget by a round: the time that it took, and how many entries it has found.
func (b *budget) note(blocks int32, scripts int, took time.Duration, found int) {
	done := workOf(blocks, scripts)
	next := int64(float64(done) * float64(roundTime) / float64(max(took, 1)))
	if blocks < b.blocks(scripts) && next > b.allowed() {
		return // a short one tells little
	}
	next = min(next, 4*max(done, b.allowed()))
	if found > 0 {
		next = min(next, int64(float64(done)*maxWeight/float64(found)))
	}
	b.work = max(next, 1)
}

// lower sets the budget to so many blocks, where a round has found too much.
func (b *budget) lower(blocks int32, scripts int) { b.work = workOf(max(blocks, 1), scripts) }
