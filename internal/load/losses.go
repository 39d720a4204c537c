package load

import (
	"cmp"
	"errors"
	"slices"
	"sync"
)

// maxLosses bounds the reasons that are told apart.
const maxLosses = 20

// losses counts the reasons why calls had no reply. They are safe for
// concurrent use.
type losses struct {
	mu  sync.Mutex
	all map[string]int
}

func (l *losses) add(err error) {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner // without the addresses
	}
	reason := err.Error()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all = map[string]int{}
	}
	if _, known := l.all[reason]; !known && len(l.all) == maxLosses {
		reason = "other reasons"
	}
	l.all[reason]++
}

// list returns the reasons, the most frequent first.
func (l *losses) list() []Loss {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []Loss
	for reason, count := range l.all {
		all = append(all, Loss{reason, count})
	}
	slices.SortFunc(all, func(a, b Loss) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Reason, b.Reason))
	})
	return all
}
