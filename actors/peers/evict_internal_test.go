package peers

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// Guests with a merit are spared; of the others the youngest of the largest group
// goes.
func TestEvict(t *testing.T) {
	at := func(sec int64) time.Time { return time.Unix(1_700_000_000+sec, 0) }
	var inbound []inboundPeer
	for i := range int64(80) {
		inbound = append(inbound, inboundPeer{id: i, group: uint64(i % 3), since: at(i)})
	}
	spared := map[int64]bool{}
	for i := int64(70); i < 74; i++ {
		inbound[i].lastBlock, spared[i] = at(i), true
	}
	for i := int64(60); i < 64; i++ {
		inbound[i].lastTx, spared[i] = at(i), true
	}
	for i := int64(50); i < 58; i++ {
		inbound[i].ping, spared[i] = time.Millisecond, true
	}
	for range 40 {
		id, ok := chooseEvicted(inbound)
		if !ok {
			break
		}
		if spared[id] {
			t.Fatalf("peer %d had what protects it", id)
		}
		if id < 20 {
			t.Fatalf("peer %d is here longer than most", id)
		}
		for i := range inbound {
			if inbound[i].id == id {
				inbound = append(inbound[:i], inbound[i+1:]...)
				break
			}
		}
	}
	if _, ok := chooseEvicted(inbound[:4]); ok {
		t.Error("few inbound are all spared")
	}
}

// slowEvict returns the peer to evict, rule by rule, for peers that differ in all compared
// times.
func slowEvict(peers []inboundPeer) (id int64, ok bool) {
	left := slices.Clone(peers)
	// Of the n best, the peers that fit are safe.
	rule := func(n int, better func(a, b inboundPeer) bool, fits func(inboundPeer) bool) {
		rest := slices.Clone(left)
		for ; n > 0 && len(rest) > 0; n-- {
			best := rest[0]
			for _, p := range rest[1:] {
				if !better(best, p) {
					best = p
				}
			}
			is := func(p inboundPeer) bool { return p.id == best.id }
			rest = slices.DeleteFunc(rest, is)
			if fits(best) {
				left = slices.DeleteFunc(left, is)
			}
		}
	}
	all := func(inboundPeer) bool { return true }
	rule(4, func(a, b inboundPeer) bool { return a.group > b.group }, all)
	rule(8, func(a, b inboundPeer) bool { return a.ping != 0 && (b.ping == 0 || a.ping < b.ping) }, all)
	rule(4, func(a, b inboundPeer) bool { return a.lastTx.After(b.lastTx) }, all)
	byBlock := func(a, b inboundPeer) bool { return a.lastBlock.After(b.lastBlock) }
	rule(8, byBlock, func(p inboundPeer) bool { return p.blocksOnly })
	rule(4, byBlock, all)
	rule(len(left)/2, func(a, b inboundPeer) bool { return a.since.Before(b.since) }, all)
	bad := slices.DeleteFunc(slices.Clone(left), func(p inboundPeer) bool { return !p.discouraged })
	if len(bad) > 0 {
		left = bad
	}
	size := map[uint64]int{}
	for _, p := range left {
		size[p.group]++
	}
	var chosen *inboundPeer
	for i, p := range left {
		if chosen == nil || size[p.group] > size[chosen.group] ||
			size[p.group] == size[chosen.group] && p.since.After(chosen.since) {
			chosen = &left[i]
		}
	}
	if chosen == nil {
		return 0, false
	}
	return chosen.id, true
}

// For random sets of peers, chooseEvicted and slowEvict choose the same peer.
func TestEvictBySlowRules(t *testing.T) {
	at := func(n int) time.Time { return time.Unix(1_700_000_000+int64(n), 0) }
	for seed := range uint64(600) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		n := rnd.IntN(80)
		since, ping, tx, block := rnd.Perm(n), rnd.Perm(n), rnd.Perm(n), rnd.Perm(n)
		var peers []inboundPeer
		for i := range n {
			peers = append(peers, inboundPeer{
				id: int64(i), group: rnd.Uint64N(1 + uint64(n)/4), since: at(since[i]), ping: time.Duration(ping[i]),
				lastTx: at(tx[i]), lastBlock: at(block[i]),
				blocksOnly: rnd.IntN(3) == 0, discouraged: seed%3 == 0 && rnd.IntN(8) == 0,
			})
		}
		got, ok := chooseEvicted(peers)
		if want, some := slowEvict(peers); got != want || ok != some {
			t.Fatalf("seed %d: of %d peers %d is evicted (%v), want %d (%v)", seed, n, got, ok, want, some)
		}
	}
}
