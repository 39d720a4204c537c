package peers

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
)

// When addresses that are built in are taken, and how old they count (src/net.cpp).
const (
	fixedAfter  = time.Minute
	fixedMinAge = 7 * 24 * time.Hour
	fixedAges   = 7 * 24 * time.Hour
)

// A fallback says when the built-in addresses are taken, once: if no address of some reachable
// network is known from elsewhere.
type fallback struct {
	*base

	since time.Time // by the node's clock; zero: it has not begun
	done  bool
}

// due returns the addresses to take now. empty are reachable networks without a known address;
// added says that the operator has named nodes.
func (f *fallback) due(empty []netaddr.Network, added bool) []codec.Address {
	now := f.cfg.Now()
	if f.since.IsZero() {
		f.since = now
		if f.done = f.cfg.NoFixedSeeds; f.done {
			f.printf("Fixed seeds are disabled")
		}
	}
	switch {
	case f.done || len(empty) == 0:
		return nil
	case now.After(f.since.Add(fixedAfter)):
		f.printf("Adding fixed seeds as 60 seconds have passed and addrman is empty for at least one reachable network")
	case f.cfg.NoSeeds && len(f.cfg.SeedNodes) == 0 && !added:
		f.printf("Adding fixed seeds as -dnsseed=0 (or IPv4/IPv6 connections are disabled via -onlynet) and " +
			"neither -addnode nor -seednode are provided")
	default:
		return nil
	}
	f.done = true
	var list []codec.Address
	for _, a := range f.cfg.FixedSeeds {
		if slices.Contains(empty, a.Network()) {
			age := fixedMinAge + rand.N(fixedAges) //nolint:gosec // nobody gains by knowing it
			list = append(list, codec.Address{
				Time: uint32(now.Add(-age).Unix()), Services: archiveServices(f.cfg.Network), Addr: a,
			})
		}
	}
	f.printf("Added %d fixed seeds from reachable networks.", len(list))
	return list
}

// emptyNetworks returns the usable networks without a known address.
func (t *Table) emptyNetworks() []netaddr.Network {
	var empty []netaddr.Network
	for _, n := range coreNetworks {
		if untried, tried := t.book.addrs.Size(&n); untried+tried == 0 && t.networks.usable(n) {
			empty = append(empty, n)
		}
	}
	return empty
}

// fallBack takes the addresses that are built in, when it is time.
func (t *Table) fallBack() {
	if t.fallback.done {
		return
	}
	named := slices.ContainsFunc(t.dialer.added, func(n *addedNode) bool { return !n.hidden })
	for _, a := range t.fallback.due(t.emptyNetworks(), named) {
		t.book.store([]codec.Address{a}, a.Addr, 0)
	}
}
