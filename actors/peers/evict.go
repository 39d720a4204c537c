package peers

import (
	"cmp"
	"slices"
	"time"

	"github.com/seed61375155/trawl/internal/p2p"
)

// A guest is an inbound connection that may have to make room for another.
type guest struct {
	id        int64
	group     uint64 // of its address, by a secret
	since     time.Time
	ping      time.Duration // the fastest one; 0: none yet
	lastBlock time.Time     // when it last gave a new block
	lastTx    time.Time     // when it last gave a new transaction
	blocks    bool          // wants no transactions
	shunned   bool          // its address is discouraged
}

// How many guests are spared for each merit (src/node/eviction.cpp).
const (
	spareGroups = 4
	sparePings  = 8
	spareTxs    = 4
	spareQuiet  = 8
	spareBlocks = 4
)

// evict chooses the connection that makes room for another. Those are spared
// that an attacker cannot easily outdo: of some groups of addresses, with the
// fastest answers, that gave transactions and blocks, and those that are here
// longest. Of the others the youngest one goes of the group with the most.
func evict(guests []guest) (id int64, ok bool) {
	left := slices.Clone(guests)
	left = spare(left, spareGroups, func(a, b guest) int { return cmp.Compare(a.group, b.group) }, nil)
	left = spare(left, sparePings, func(a, b guest) int { return cmp.Compare(pingRank(b), pingRank(a)) }, nil)
	left = spare(left, spareTxs, func(a, b guest) int { return a.lastTx.Compare(b.lastTx) }, nil)
	left = spare(left, spareQuiet, func(a, b guest) int { return a.lastBlock.Compare(b.lastBlock) }, func(g guest) bool { return g.blocks })
	left = spare(left, spareBlocks, func(a, b guest) int { return a.lastBlock.Compare(b.lastBlock) }, nil)
	left = spare(left, len(left)/2, func(a, b guest) int { return b.since.Compare(a.since) }, nil)
	if len(left) == 0 {
		return 0, false
	}
	if slices.ContainsFunc(left, func(g guest) bool { return g.shunned }) {
		left = slices.DeleteFunc(left, func(g guest) bool { return !g.shunned })
	}
	return crowded(left).id, true
}

func pingRank(g guest) time.Duration {
	if g.ping == 0 {
		return time.Duration(1<<63 - 1)
	}
	return g.ping
}

// spare takes out the n best by an order that fit, nil for all.
func spare(list []guest, n int, order func(a, b guest) int, fits func(guest) bool) []guest {
	slices.SortStableFunc(list, order)
	for i := len(list) - 1; i >= 0 && n > 0; i-- {
		n--
		if fits == nil || fits(list[i]) {
			list = slices.Delete(list, i, i+1)
		}
	}
	return list
}

// crowded returns the youngest of the group that has the most, of several the one
// with the youngest.
func crowded(list []guest) guest {
	count := make(map[uint64]int)
	for _, g := range list {
		count[g.group]++
	}
	return slices.MaxFunc(list, func(a, b guest) int {
		return cmp.Or(cmp.Compare(count[a.group], count[b.group]), a.since.Compare(b.since))
	})
}

// guests lists the inbound connections that may be evicted.
func (t *Table) guests() []guest {
	var list []guest
	for _, e := range t.peers {
		if e.typ != p2p.Inbound || e.allowed.NoBan || isClosed(e.session) {
			continue
		}
		st := e.session.Stats()
		list = append(list, guest{
			id: e.id, group: t.secret.group(e.addr), since: st.Connected, ping: st.MinPing,
			blocks: e.established && e.remote.Version.NoTransactions, shunned: e.shunned,
		})
	}
	return list
}

func isClosed(s *p2p.Session) bool {
	select {
	case <-s.Done():
		return true
	default:
		return false
	}
}
