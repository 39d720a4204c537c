package peers

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
)

// When a node that knows addresses asks for others (src/net.cpp).
const (
	seedSoon   = 11 * time.Second
	seedLater  = 5 * time.Minute // with many addresses
	manyAddrs  = 1000
	seedPeers  = 2 // that are enough without
	seedTime   = 30 * time.Second
	seedMinAge = 3 * 24 * time.Hour // how old addresses of seeds count, at least
	seedAges   = 4 * 24 * time.Hour // and how much more at most
)

// A seeder asks nodes that the operator has named, and DNS seeds, for addresses:
// once in the life of the node.
type seeder struct {
	*base

	secret *secret
	began  time.Time // to look for peers
	asked  bool      // or need not ask
}

// due reports whether it is time to ask, by how many addresses are known and how
// many peers there are that the node has chosen. It does so once.
func (s *seeder) due(now time.Time, known, peers int) bool {
	if s.began.IsZero() {
		s.began = now
	}
	wait := time.Duration(0)
	switch {
	case s.cfg.ForceSeeds || known == 0:
	case known < manyAddrs:
		wait = seedSoon
	default:
		wait = seedLater
	}
	if s.asked || now.Sub(s.began) < wait {
		return false
	}
	s.asked = true
	if !s.cfg.ForceSeeds && peers >= seedPeers {
		s.printf("P2P peers available. Skipped DNS seeding.")
		return false
	}
	return true
}

// nodes returns the nodes to connect to for their addresses. A proxy looks up names
// only to connect to them.
func (s *seeder) nodes() []string {
	if s.cfg.NameProxy {
		return slices.Concat(s.cfg.SeedNodes, s.cfg.Seeds)
	}
	return s.cfg.SeedNodes
}

// names returns the DNS seeds to look up.
func (s *seeder) names() []string {
	if s.cfg.NameProxy {
		return nil
	}
	return s.cfg.Seeds
}

// lookUp looks up the DNS seeds, in a worker.
func (s *seeder) lookUp(ctx context.Context) []codec.Address {
	ctx, cancel := context.WithTimeout(ctx, seedTime)
	defer cancel()
	var list []codec.Address
	for _, name := range s.names() {
		s.printf("Loading addresses from DNS seed %s", name)
		found, err := s.cfg.Source.Lookup(ctx, "x9."+name) // by the services that the nodes offer
		if err != nil {
			s.debugf("DNS seed %s: %v", name, err)
			continue
		}
		for _, ip := range found {
			age := seedMinAge + time.Duration(s.secret.hash(ip.String())%uint64(seedAges))
			list = append(list, codec.Address{
				Time: uint32(time.Now().Add(-age).Unix()), Services: fullNode,
				Addr: netaddr.FromAddrPort(netip.AddrPortFrom(ip.Unmap(), s.cfg.Network.P2PPort)),
			})
		}
	}
	return list
}
