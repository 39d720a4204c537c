package peers_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/peers"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/messages"
)

// A directory knows the addresses of names, and notes what it is asked; nothing can be connected to.
type directory struct {
	known map[string][]netip.Addr

	mu             sync.Mutex
	dialed, lookup []string
}

func (d *directory) Dial(_ context.Context, addr string) (net.Conn, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dialed = append(d.dialed, addr)
	return nil, errors.New("nobody is there")
}

func (d *directory) Lookup(_ context.Context, host string) ([]netip.Addr, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lookup = append(d.lookup, host)
	if list := d.known[host]; list != nil {
		return list, nil
	}
	return nil, errors.New("no such name")
}

// bubbleNode starts a table over a directory in a bubble, and lets it be for a moment.
func bubbleNode(t *testing.T, d *directory, wish func(*peers.Config)) *node {
	t.Helper()
	actortest.InBubble(t)
	network, err := dialect.Bitcoin("regtest")
	if err != nil {
		t.Fatal(err)
	}
	view := new(chainview.Current)
	view.Set(chaintest.New(network.Params))
	sys := actortest.New(t)
	cfg := peers.Config{
		Network: network, Chain: view, Log: sys.Log, Source: d, Dir: t.TempDir(), UserAgent: "/Trawl:test/",
		Services: wire.SFNodeNetwork | wire.SFNodeWitness, MaxPeers: peers.DefaultMaxPeers, Lookup: true,
	}
	wish(&cfg)
	n := &node{Ref: sys.Spawn("peers", peers.New(cfg), peers.Requests...)}
	time.Sleep(5 * time.Second)
	synctest.Wait()
	return n
}

// Where no node is known, DNS seeds are looked up, one after the other. One without addresses is asked as a node, and
// so are all where a proxy looks up the names.
func TestSeeds(t *testing.T) {
	first, second := netip.MustParseAddr("9.9.9.9"), netip.MustParseAddr("8.8.8.8")
	for name, test := range map[string]struct {
		known    map[string][]netip.Addr
		proxy    bool
		inactive bool
		lookups  []string
		dialed   []string
		book     []string // hosts that are known afterwards
	}{
		"both have addresses": {
			map[string][]netip.Addr{"x9.a.test": {first}, "x9.b.test": {second}},
			false, false,
			[]string{"x9.a.test", "x9.b.test"},
			nil,
			[]string{"8.8.8.8", "9.9.9.9"},
		},
		"one has none": {
			map[string][]netip.Addr{"x9.a.test": {first}, "b.test": {second}},
			false, false,
			[]string{"b.test", "x9.a.test", "x9.b.test"},
			[]string{"8.8.8.8:18444"},
			[]string{"9.9.9.9"},
		},
		"by a proxy": {nil, true, false, nil, []string{"a.test:18444", "b.test:18444"}, nil},
		"no network": {map[string][]netip.Addr{"x9.a.test": {first}}, false, true, nil, nil, nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := &directory{known: test.known}
			n := bubbleNode(t, d, func(c *peers.Config) {
				c.Seeds, c.NameProxy, c.Inactive = []string{"a.test", "b.test"}, test.proxy, test.inactive
			})
			slices.Sort(d.lookup)
			slices.Sort(d.dialed)
			if !slices.Equal(d.lookup, test.lookups) || !slices.Equal(d.dialed, test.dialed) {
				t.Errorf("%s: looked up %v, connected to %v", name, d.lookup, d.dialed)
			}
			var hosts []string
			for _, a := range must(t, n, messages.GetNodeAddresses{}) {
				hosts = append(hosts, a.Host)
			}
			if slices.Sort(hosts); !slices.Equal(hosts, test.book) {
				t.Errorf("%s: knows %v", name, hosts)
			}
		})
	}
}

// A seed node is asked before DNS seeds, and nodes that are known are connected to, where the node chooses its peers.
func TestSeedNodesAndChoices(t *testing.T) {
	for _, automatic := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			d := new(directory)
			n := bubbleNode(t, d, func(c *peers.Config) {
				c.SeedNodes, c.NoSeeds, c.Automatic = []string{"7.7.7.7:18444"}, true, automatic
			})
			if got := slices.Contains(d.dialed, "7.7.7.7:18444"); got != automatic {
				t.Errorf("automatic %v: the seed node is asked: %v", automatic, got)
			}
			must(t, n, messages.AddPeerAddress{Host: "6.6.6.6", Port: 18444})
			time.Sleep(3 * time.Second)
			synctest.Wait()
			if got := slices.Contains(d.dialed, "6.6.6.6:18444"); got != automatic {
				t.Errorf("automatic %v: connects to a node that is known: %v", automatic, got)
			}
		})
	}
}
