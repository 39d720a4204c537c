package searches

import (
	"testing"
	"time"
)

// perScript is what it takes here to look at a block for a script.
const perScript = 5 * time.Nanosecond

func taking(blocks int32, scripts int) time.Duration {
	return time.Duration(blocks) * time.Duration(perFilter+scripts) * perScript
}

// Rounds take about as long as they are to, whether they are for few scripts or for many, in whatever order.
func TestBudget(t *testing.T) {
	var b budget
	if took := taking(b.blocks(1_000_000), 1_000_000); took > 2*roundTime { // 80 ms
		t.Errorf("the first round for a million scripts takes %v", took)
	}
	for n, scripts := range []int{100, 100, 100, 100_000, 100, 1_000_000, 100, 10_000, 10_000, 1} {
		blocks := b.blocks(scripts)
		took := taking(blocks, scripts)
		if took > roundTime*11/10 && n > 0 {
			t.Errorf("round %d takes %v: %d blocks, %d scripts", n, took, blocks, scripts)
		}
		if n > 2 && took < roundTime/2 && blocks > 1 {
			t.Errorf("round %d takes only %v: %d blocks, %d scripts", n, took, blocks, scripts)
		}
		b.note(blocks, scripts, took, 0)
	}
}

// A round that was cut short by the height of another search does not make the next rounds larger; a round that
// took long makes them smaller.
func TestBudgetOfShortRounds(t *testing.T) {
	b := budget{work: workOf(1000, 500)}
	b.note(10, 500, roundTime/1000, 0)
	if got := b.blocks(500); got != 1000 {
		t.Errorf("%d blocks after a short round", got)
	}
	b.note(10, 500, 2*roundTime, 0)
	if got := b.blocks(500); got != 5 {
		t.Errorf("%d blocks after a short round that took long", got)
	}
	b.note(5, 500, 0, 0)
	if got := b.blocks(500); got != 20 { // four times as many
		t.Errorf("%d blocks after a round of no time", got)
	}
	b.note(20, 500, time.Millisecond, 10*maxWeight)
	if got := b.blocks(500); got != 2 {
		t.Errorf("%d blocks after a round that has found much", got)
	}
	b.lower(0, 500)
	if got := b.blocks(500); got != 1 {
		t.Errorf("%d blocks, want one", got)
	}
}
