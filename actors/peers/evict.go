package peers

import (
	"cmp"
	"slices"
	"time"
)

// An inboundPeer is an inbound connection that may be evicted for another.
type inboundPeer struct {
	id          int64
	group       uint64 // of its address, by a secret
	since       time.Time
	ping        time.Duration // the fastest one; 0: none yet
	lastBlock   time.Time     // when it last gave a new block
	lastTx      time.Time     // when it last gave a new transaction
	blocksOnly  bool          // wants no transactions
	discouraged bool          // its address is
}

// How many peers are protected for what (src/node/eviction.cpp).
const (
	protectGroups     = 4
	protectPings      = 8
	protectTxs        = 4
	protectBlocksOnly = 8
	protectBlocks     = 4
)

// chooseEvicted chooses the connection that is evicted for another. It protects
// peers that an attacker cannot easily outdo: peers of some groups of addresses,
// with the fastest answers, that gave transactions or blocks, or that have been
// connected longest. Of the others, it chooses the youngest of the largest group.
func chooseEvicted(peers []inboundPeer) (id int64, ok bool) {
	all := func(inboundPeer) bool { return true }
	blocksOnly := func(p inboundPeer) bool { return p.blocksOnly }
	byBlock := func(a, b inboundPeer) int { return a.lastBlock.Compare(b.lastBlock) }
	left := slices.Clone(peers)
	left = protect(left, protectGroups, func(a, b inboundPeer) int { return cmp.Compare(a.group, b.group) }, all)
	left = protect(left, protectPings, func(a, b inboundPeer) int { return cmp.Compare(pingRank(b), pingRank(a)) }, all)
	left = protect(left, protectTxs, func(a, b inboundPeer) int { return a.lastTx.Compare(b.lastTx) }, all)
	left = protect(left, protectBlocksOnly, byBlock, blocksOnly)
	left = protect(left, protectBlocks, byBlock, all)
	left = protect(left, len(left)/2, func(a, b inboundPeer) int { return b.since.Compare(a.since) }, all)
	if len(left) == 0 {
		return 0, false
	}
	if slices.ContainsFunc(left, func(p inboundPeer) bool { return p.discouraged }) {
		left = slices.DeleteFunc(left, func(p inboundPeer) bool { return !p.discouraged })
	}
	return youngestOfLargestGroup(left).id, true
}

func pingRank(p inboundPeer) time.Duration {
	if p.ping == 0 {
		return time.Duration(1<<63 - 1)
	}
	return p.ping
}

// protect sorts the peers by an order, and removes from the last n those that fit.
func protect(
	list []inboundPeer, n int, order func(a, b inboundPeer) int, fits func(inboundPeer) bool,
) []inboundPeer {
	slices.SortStableFunc(list, order)
	for i := len(list) - 1; i >= 0 && n > 0; i-- {
		n--
		if fits(list[i]) {
			list = slices.Delete(list, i, i+1)
		}
	}
	return list
}

// youngestOfLargestGroup returns the youngest peer of the largest group. Of several largest
// groups, that is the youngest of all their peers.
func youngestOfLargestGroup(list []inboundPeer) inboundPeer {
	count := make(map[uint64]int)
	for _, p := range list {
		count[p.group]++
	}
	return slices.MaxFunc(list, func(a, b inboundPeer) int {
		return cmp.Or(cmp.Compare(count[a.group], count[b.group]), a.since.Compare(b.since))
	})
}
