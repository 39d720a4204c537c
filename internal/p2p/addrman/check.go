package addrman

import (
	"fmt"
	"time"
)

// CheckEach has the tables checked before and after one in so many uses on average; 0: never.
// say gets Bitcoin Core's lines about it. An error ends in a panic.
func (m *Manager) CheckEach(uses int, say func(line string)) { m.checkEach, m.say = uses, say }

// checked checks the tables, if it is time, and returns what does it again.
func (m *Manager) checked() func() {
	m.maybeCheck()
	return m.maybeCheck
}

func (m *Manager) maybeCheck() {
	if m.checkEach <= 0 || m.rand.IntN(m.checkEach) != 0 {
		return
	}
	fresh, tried := m.Size(nil)
	m.say(fmt.Sprintf("CheckAddrman: new %d, tried %d, total %d started", fresh, tried, len(m.list)))
	began := time.Now()
	if err := m.Check(); err != nil {
		panic(fmt.Sprintf("tables of addresses: %v", err))
	}
	m.say(fmt.Sprintf("CheckAddrman: completed (%.2fms)", float64(time.Since(began).Microseconds())/1000))
}

// Check returns an error if the tables contradict each other, which no input can bring about:
// the program is wrong then. It looks at every place of the tables.
func (m *Manager) Check() error {
	places := make(map[*entry]int)
	for b := range m.fresh {
		for _, e := range m.fresh[b] {
			if e != nil {
				places[e]++
			}
		}
	}
	tried := make(map[*entry]int)
	for b := range m.tried {
		for _, e := range m.tried[b] {
			if e != nil {
				tried[e]++
			}
		}
	}
	if len(m.list) != len(m.known) || len(m.list) != len(places)+len(tried) {
		return fmt.Errorf("%d listed, %d known, %d new, %d tried", len(m.list), len(m.known), len(places), len(tried))
	}
	for i, e := range m.list {
		if e.at != i || m.known[e.addr] != e || e.places != places[e] || e.tried != (tried[e] == 1) ||
			e.tried && e.places > 0 {
			return fmt.Errorf("entry %d of %v: %d places, in %d", i, e.addr, e.places, places[e])
		}
	}
	return nil
}
