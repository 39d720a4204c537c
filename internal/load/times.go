package load

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// times are the durations of calls by call and outcome. They are safe for
// concurrent use.
type times struct {
	mu  sync.Mutex
	all map[timesKey]*Histogram
}

type timesKey struct {
	call    int // index in the mix
	outcome string
}

func (t *times) add(call int, outcome string, d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all == nil {
		t.all = map[timesKey]*Histogram{}
	}
	key := timesKey{call, outcome}
	h := t.all[key]
	if h == nil {
		h = &Histogram{}
		t.all[key] = h
	}
	h.Add(d)
}

// rows returns, for each call of the mix, its times altogether and by outcome.
func (t *times) rows(mix Mix) []Row {
	t.mu.Lock()
	defer t.mu.Unlock()
	var rows []Row
	outcomes := map[int][]string{}
	for key := range maps.Keys(t.all) {
		outcomes[key.call] = append(outcomes[key.call], key.outcome)
	}
	for i, call := range mix.Calls {
		all := Row{Method: call.Name, Times: &Histogram{}}
		rows = append(rows, all)
		for _, outcome := range slices.Sorted(slices.Values(outcomes[i])) {
			h := t.all[timesKey{i, outcome}]
			all.Times.Merge(h)
			rows = append(rows, Row{call.Name, outcome, h})
		}
	}
	return rows
}
