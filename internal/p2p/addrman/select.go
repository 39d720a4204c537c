package addrman

import (
	"time"

	"github.com/seed61375155/trawl/internal/p2p/netaddr"
)

// Select chooses an address to connect to among those that fit. Reached and
// new addresses have equal chances; with newOnly only new addresses are
// chosen. It reports false when none fits.
func (m *Manager) Select(newOnly bool, fits func(netaddr.Network) bool, now time.Time) (Address, bool) {
	defer m.checked()()
	if len(m.list) == 0 {
		return Address{}, false
	}
	if !newOnly && m.rand.IntN(2) == 0 {
		if e := m.choose(m.tried[:], fits, now); e != nil {
			return e.address(), true
		}
	}
	if e := m.choose(m.fresh[:], fits, now); e != nil {
		return e.address(), true
	}
	if newOnly {
		return Address{}, false
	}
	if e := m.choose(m.tried[:], fits, now); e != nil {
		return e.address(), true
	}
	return Address{}, false
}

// choose returns a random address of a table, from a random bucket first: the
// buckets bound how many are of one hand. Empty ones are passed over in a random order, so
// that no bucket is chosen less often for the full one before it.
func (m *Manager) choose(table [][bucketSize]*entry, fits func(netaddr.Network) bool, now time.Time) *entry {
	factor := 1.0
	for range 50 { // then it gives up, and Select may turn to the other table
		var found *entry
		at, step := m.rand.IntN(len(table)), 2*m.rand.IntN(len(table)/2)+1 // odd: it meets all of a power of two
		for i := 0; i < len(table) && found == nil; i++ {
			found = m.inBucket(&table[at], fits)
			at = (at + step) % len(table)
		}
		if found == nil {
			return nil
		}
		if m.rand.Float64() < factor*found.chance(now) {
			return found
		}
		factor *= 1.2
	}
	return nil
}

func (m *Manager) inBucket(bucket *[bucketSize]*entry, fits func(netaddr.Network) bool) *entry {
	start := m.rand.IntN(bucketSize)
	for i := range bucketSize {
		if e := bucket[(start+i)%bucketSize]; e != nil && fits(e.addr.Network()) {
			return e
		}
	}
	return nil
}

func (e *entry) address() Address {
	return Address{e.addr, e.services, e.seen, e.lastTry, e.tried, e.source}
}

// Sample returns up to limit random addresses, and no more than percent of all
// (0: no such limit), of one network or of all with nil. Addresses that Core
// calls terrible are left out.
func (m *Manager) Sample(limit, percent int, network *netaddr.Network, now time.Time) []Address {
	defer m.checked()()
	count := len(m.list)
	if percent > 0 {
		count = count * percent / 100
	}
	if limit > 0 {
		count = min(count, limit)
	}
	var sample []Address
	for _, i := range m.rand.Perm(len(m.list)) {
		if len(sample) >= count {
			break
		}
		e := m.list[i]
		if e.isTerrible(now) || network != nil && e.addr.Network() != *network {
			continue
		}
		sample = append(sample, e.address())
	}
	return sample
}

// All returns every address, in no order.
func (m *Manager) All() []Address {
	all := make([]Address, len(m.list))
	for i, e := range m.list {
		all[i] = e.address()
	}
	return all
}

// A Place is where an address is in a table: that of new ones, or of those reached.
type Place struct {
	Address

	Bucket, Position int
}

// Places calls visit with every place that is taken, in order.
func (m *Manager) Places(visit func(Place)) {
	at := func(bucket int, row *[bucketSize]*entry) {
		for position, e := range row {
			if e != nil {
				visit(Place{e.address(), bucket, position})
			}
		}
	}
	for bucket := range m.fresh {
		at(bucket, &m.fresh[bucket])
	}
	for bucket := range m.tried {
		at(bucket, &m.tried[bucket])
	}
}
