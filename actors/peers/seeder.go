package peers

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"time"

	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
)

// When a node that knows addresses asks for others (src/net.cpp).
const (
	seedLook    = 11 * time.Second // between looks at how many peers there are
	seedLater   = 5 * time.Minute  // with many addresses
	manyAddrs   = 1000
	seedPeers   = 2 // of the node's choice, that are enough without
	seedsAtOnce = 3 // without a look at the peers
	maxSeeded   = 32
	seedTime    = 30 * time.Second
	seedMinAge  = 3 * 24 * time.Hour // how old addresses of seeds count, at least
	seedAges    = 4 * 24 * time.Hour // and how much more at most

	nodesFirst = 30 * time.Second // seed nodes have before DNS seeds are asked
	nextNode   = 10 * time.Second // without peers, until the next seed node is asked
)

// A seeder says when to ask nodes that the operator has named, and DNS seeds, for addresses.
// Each is asked once in the life of the node, and only as many as it takes.
type seeder struct {
	*base

	secret *secret

	nodes     []string  // not asked yet
	nodeAsked time.Time // when the last one was, or could have been, by the node's clock
	looked    bool      // for the first node

	names      []string  // not asked yet
	begun      bool      // with the names
	nodesUntil time.Time // the names wait for the nodes, by the node's clock; zero: no longer
	batch      int       // names to ask without a look at the peers
	waitUntil  time.Time // the next batch waits; zero: it does not
	lookAt     time.Time // at the peers, while it waits
	inactive   bool      // has said that it waits for the network
	asking     bool      // a name is being asked
	done       bool
	announced  bool // that there is nothing to do
	found      int  // addresses, by names
}

func newSeeder(b *base, secret *secret) *seeder {
	s := &seeder{base: b, secret: secret, nodes: slices.Clone(b.cfg.SeedNodes), names: slices.Clone(b.cfg.Seeds)}
	for _, list := range [][]string{s.nodes, s.names} {
		rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	s.done = b.cfg.NoSeeds
	return s
}

// dueNode returns the seed node to ask now, by how many addresses are known and how many
// peers there are that the node has chosen; empty: none.
func (s *seeder) dueNode(known, peers int) string {
	now := s.cfg.Now()
	first := !s.looked
	if first {
		s.looked, s.nodeAsked = true, now
	}
	if len(s.nodes) == 0 || peers >= seedPeers {
		return ""
	}
	empty := first && known == 0
	if !empty && !now.After(s.nodeAsked.Add(nextNode)) {
		return ""
	}
	s.nodeAsked = now
	node := s.nodes[len(s.nodes)-1]
	s.nodes = s.nodes[:len(s.nodes)-1]
	if known == 0 {
		s.printf("Empty addrman, adding seednode (%s) to addrfetch", node)
	} else {
		s.printf("Couldn't connect to peers from addrman after %d seconds. Adding seednode (%s) to addrfetch",
			nextNode/time.Second, node)
	}
	return node
}

// dueName returns the DNS seed to ask now; empty: none. The next seed is due after a call of
// [seeder.answered].
func (s *seeder) dueName(now time.Time, known, peers int, active bool) string {
	if s.done || s.asking || s.waitForNodes(known, peers) || s.waitForPeers(now, known, peers) {
		return ""
	}
	if len(s.names) == 0 {
		s.done = true
		s.printf("%d addresses found from DNS seeds", s.found)
		return ""
	}
	if !active {
		if !s.inactive {
			s.inactive = true
			s.printf("Waiting for network to be reactivated before querying DNS seeds.")
		}
		return ""
	}
	name := s.names[0]
	s.names, s.batch, s.asking = s.names[1:], s.batch-1, true
	s.printf("Loading addresses from DNS seed %s", name)
	return name
}

// answered notes how many addresses a DNS seed had.
func (s *seeder) answered(found int) { s.asking, s.found = false, s.found+found }

// waitForNodes reports whether seed nodes go first, and begins with the names when they
// have had their time, or ends where there are peers enough.
func (s *seeder) waitForNodes(known, peers int) bool {
	now := s.cfg.Now()
	all := s.cfg.ForceSeeds || known == 0
	if !s.begun {
		s.begun = true
		if len(s.cfg.SeedNodes) > 0 {
			s.printf("-seednode enabled. Trying the provided seeds for %d seconds before defaulting to the dnsseeds.",
				nodesFirst/time.Second)
			s.nodesUntil = now.Add(nodesFirst)
			return true
		}
		s.askAll(all)
		return false
	}
	if s.nodesUntil.IsZero() {
		return false
	}
	switch {
	case now.After(s.nodesUntil):
		s.printf("Couldn't connect to enough peers via seed nodes. Handing fetch logic to the DNS seeds.")
	case peers >= seedPeers:
		s.printf("P2P peers available. Finished fetching data from seed nodes.")
		if !all {
			s.printf("Skipping DNS seeds. Enough peers have been found")
			s.done = true
		}
	default:
		return true
	}
	s.nodesUntil = time.Time{}
	s.askAll(all)
	return s.done
}

// askAll has all names asked without a look at the peers, where all is set.
func (s *seeder) askAll(all bool) {
	if all {
		s.batch = len(s.names)
	}
}

// waitForPeers reports whether known addresses may still lead to peers, or have done.
func (s *seeder) waitForPeers(now time.Time, known, peers int) bool {
	if s.batch > 0 || len(s.names) == 0 {
		return false
	}
	if s.waitUntil.IsZero() {
		if known == 0 {
			s.batch = seedsAtOnce
			return false
		}
		wait := seedLook
		if known >= manyAddrs {
			wait = seedLater
		}
		s.printf("Waiting %d seconds before querying DNS seeds.", wait/time.Second)
		s.waitUntil, s.lookAt = now.Add(wait), now.Add(seedLook)
	}
	if now.Before(s.lookAt) {
		return true
	}
	if peers >= seedPeers {
		s.done = true
		if s.found > 0 {
			s.printf("%d addresses found from DNS seeds", s.found)
			s.printf("P2P peers available. Finished DNS seeding.")
		} else {
			s.printf("P2P peers available. Skipped DNS seeding.")
		}
		return true
	}
	if s.lookAt = now.Add(seedLook); now.Before(s.waitUntil) {
		return true
	}
	s.waitUntil, s.batch = time.Time{}, seedsAtOnce
	return false
}

// lookUp looks up a DNS seed, in a worker.
func (s *seeder) lookUp(ctx context.Context, name string) []codec.Address {
	ctx, cancel := context.WithTimeout(ctx, seedTime)
	defer cancel()
	found, err := s.cfg.Source.Lookup(ctx, fmt.Sprintf("x%x.%s", uint64(archiveServices(s.cfg.Network)), name))
	if err != nil {
		s.debugf("DNS seed %s: %v", name, err)
		return nil
	}
	var list []codec.Address
	for _, ip := range found[:min(len(found), maxSeeded)] {
		age := seedMinAge + time.Duration(s.secret.hash(ip.String())%uint64(seedAges))
		list = append(list, codec.Address{
			Time: uint32(time.Now().Add(-age).Unix()), Services: archiveServices(s.cfg.Network),
			Addr: netaddr.FromAddrPort(netip.AddrPortFrom(ip.Unmap(), s.cfg.Network.P2PPort)),
		})
	}
	return list
}
