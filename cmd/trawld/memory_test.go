package main

import "testing"

// Memory is given back once after each time of work, when there is much of it.
func TestMemoryIsGivenBack(t *testing.T) {
	freed := 0
	w := memoryWatch{free: func() { freed++ }}
	const mb = 1 << 20
	for i, step := range []struct {
		now  memory
		want int
	}{
		{memory{asked: 50 * mb, held: 500 * mb, live: 400 * mb}, 0},  // at work
		{memory{asked: 51 * mb, held: 480 * mb, live: 400 * mb}, 0},  // little to give
		{memory{asked: 951 * mb, held: 900 * mb, live: 400 * mb}, 0}, // at work
		{memory{asked: 960 * mb, held: 900 * mb, live: 400 * mb}, 1},
		{memory{asked: 961 * mb, held: 900 * mb, live: 400 * mb}, 1}, // no more than once
		{memory{asked: 1961 * mb, held: 900 * mb, live: 400 * mb}, 1},
		{memory{asked: 1962 * mb, held: 900 * mb, live: 400 * mb}, 2},
	} {
		if w.look(step.now); freed != step.want {
			t.Errorf("step %d: given back %d times, want %d", i, freed, step.want)
		}
	}
	if m := readMemory(); m.asked == 0 || m.held == 0 || m.live > m.held {
		t.Errorf("the runtime says %+v", m)
	}
}
