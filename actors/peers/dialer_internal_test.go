package peers

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/messages"
)

// A dialRig is a dialer whose connections and attempts are the test's.
type dialRig struct {
	*dialer

	addrs   *addrRig
	entries peerSet
	works   []func() func() // that were begun
}

func newDialRig(tb testing.TB, wishes ...func(*Config)) *dialRig {
	tb.Helper()
	a := newAddrRig(tb, append([]func(*Config){func(c *Config) {
		c.MaxPeers, c.Lookup, c.Source, c.Chain = DefaultMaxPeers, true, phoneBook{}, new(chainview.Current)
	}}, wishes...)...)
	r := &dialRig{addrs: a}
	r.dialer = newDialer(a.base, a.book, a, a.networks, newLimits(a.cfg.MaxPeers), new(pendingConns))
	r.peers = func() connected { return r.entries }
	return r
}

func (r *dialRig) run(work func() func()) { r.works = append(r.works, work) }

// begin begins an attempt, and returns why it was refused, nil if it was not.
func (r *dialRig) begin(ctx context.Context, a *attempt) (refused error) {
	a.done = func(err error) { refused = err }
	r.start(ctx, r.run, a, func(dialed) {})
	return refused
}

// end ends an attempt, with success or without.
func (r *dialRig) end(a *attempt, success bool) error {
	here, _ := net.Pipe()
	m := dialed{attempt: a, conn: here, addr: a.addr}
	if a.node != "" {
		m.addr = addressOf(a.node)
	}
	if !success {
		m.conn, m.err = nil, errors.New("nobody there")
	}
	err := r.finish(m)
	if err == nil {
		r.entries = append(r.entries, &entry{name: a.name(), addr: m.addr, typ: a.typ})
	}
	return err
}

// The targets of an attempt depend on how the node is named, and on whether names may be looked
// up.
func TestDialTargets(t *testing.T) {
	names := phoneBook{"name.test": nil}
	for i := range maxLookedUp + 2 {
		names["name.test"] = append(names["name.test"], netip.AddrFrom4([4]byte{9, 9, 9, byte(i)}))
	}
	for _, test := range []struct {
		name   string
		a      attempt
		proxy  bool
		lookup bool
		want   string
		count  int
		err    string
	}{
		{"address", attempt{addr: node(1)}, false, false, node(1).String(), 1, ""},
		{"numeric", attempt{node: "1.2.3.4"}, false, false, "1.2.3.4:18444", 1, ""},
		{"with port", attempt{node: "1.2.3.4:5"}, true, true, "1.2.3.4:5", 1, ""},
		{"IPv6", attempt{node: "[1::2]:5"}, false, false, "[1::2]:5", 1, ""},
		{"name", attempt{node: "name.test"}, false, true, "9.9.9.0:18444", maxLookedUp, ""},
		{"name with port", attempt{node: "name.test:7"}, false, true, "9.9.9.0:7", maxLookedUp, ""},
		{"unknown name", attempt{node: "other.test"}, false, true, "", 0, "look up other.test: no such name"},
		{"no lookup", attempt{node: "name.test"}, false, false, "", 0, errNoLookup.Error()},
		{"by the proxy", attempt{node: "name.test"}, true, false, "name.test:18444", 1, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newDialRig(t, func(c *Config) { c.NameProxy, c.Lookup, c.Source = test.proxy, test.lookup, names })
			got, err := r.targets(t.Context(), &test.a)
			if fmt.Sprint(err) != test.err && (err != nil || test.err != "") {
				t.Fatalf("got %v", err)
			}
			if len(got) != test.count || len(got) > 0 && got[0] != test.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

// An attempt may be made if there is no connection and no attempt yet, and the network is in
// use. This is checked when it begins and when it ends.
func TestMayDial(t *testing.T) {
	r := newDialRig(t)
	first := &attempt{node: "1.2.3.4:5"}
	if err := r.begin(t.Context(), first); err != nil || len(r.works) != 1 {
		t.Fatalf("got %v, %d attempts", err, len(r.works))
	}
	if err := r.begin(t.Context(), &attempt{addr: address(t, "1.2.3.4:5")}); !errors.Is(err, errConnected) {
		t.Errorf("while one is made: %v", err)
	}
	other := &attempt{node: "name.test"}
	if err := r.begin(t.Context(), other); err != nil {
		t.Error(err)
	}
	if err := r.end(first, true); err != nil {
		t.Error(err)
	}
	for _, a := range []*attempt{{node: "1.2.3.4:5"}, {addr: address(t, "1.2.3.4:5")}} {
		if err := r.begin(t.Context(), a); !errors.Is(err, errConnected) {
			t.Errorf("%s: %v", a.name(), err)
		}
	}
	// The name turns out to be that of a node that is connected.
	if err := r.finish(dialed{attempt: other, addr: address(t, "1.2.3.4:5")}); !errors.Is(err, errConnected) {
		t.Errorf("by another name: %v", err)
	}
	if err := r.begin(t.Context(), other); err != nil {
		t.Errorf("again: %v", err)
	}
	r.setActive(false)
	if err := r.end(other, true); !errors.Is(err, errInactive) {
		t.Errorf("without network: %v", err)
	}
	if err := r.begin(t.Context(), &attempt{node: "5.6.7.8"}); !errors.Is(err, errInactive) || len(r.attempts) != 0 {
		t.Errorf("without network: %v, %d attempts", err, len(r.attempts))
	}
}

func TestAddedNodes(t *testing.T) {
	r := newDialRig(t, func(c *Config) { c.Added, c.Connect = []string{"1.2.3.4"}, []string{"5.6.7.8"} })
	for _, test := range []struct {
		node string
		add  bool
		want error
	}{
		{"1.2.3.4", true, messages.ErrNodeAdded},
		{"1.2.3.4:18444", true, messages.ErrNodeAdded}, // the same address
		{"1.2.3.4:1", true, nil},
		{"name.test", true, nil},
		{"name.test", true, messages.ErrNodeAdded},
		{"5.6.7.8", false, messages.ErrNodeNotAdded}, // of -connect
		{"5.6.7.8", true, nil},
		{"1.2.3.4:18444", false, messages.ErrNodeNotAdded}, // named otherwise
		{"1.2.3.4", false, nil},
		{"1.2.3.4", false, messages.ErrNodeNotAdded},
	} {
		err := r.removeNode
		if test.add {
			err = func(node string) error { return r.addNode(node, false) }
		}
		if got := err(test.node); !errors.Is(got, test.want) {
			t.Errorf("%s, add %v: got %v, want %v", test.node, test.add, got, test.want)
		}
	}
	r.entries = peerSet{{name: "9.9.9.9:1", addr: address(t, "1.2.3.4:1"), typ: p2p.Inbound}}
	want := []messages.AddedNode{
		{Node: "1.2.3.4:1", Addr: "1.2.3.4:1", Inbound: true}, {Node: "name.test"}, {Node: "5.6.7.8"},
	}
	if got := r.addedNodes(); !slices.Equal(got, want) {
		t.Errorf("got %+v", got)
	}
}

// However attempts end and connections are lost, added nodes are tried again in time
// and no oftener, and not more than so many are connected.
func TestConnectAdded(t *testing.T) {
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		r := newDialRig(t, func(c *Config) { c.Connect = []string{"5.6.7.8", "5.6.7.9"} })
		for i := range maxManual + 4 {
			if err := r.addNode(fmt.Sprintf("1.2.3.%d", i), false); err != nil {
				t.Fatal(err)
			}
		}
		now, last := time.Now(), map[string]time.Time{}
		for range 300 {
			now = now.Add(time.Duration(rnd.IntN(3000)) * time.Millisecond)
			r.connectAdded(now, func(a *attempt) {
				wait := retryAdded
				if strings.HasPrefix(a.node, "5") {
					wait = retryHidden
				}
				if before, ok := last[a.node]; ok && now.Sub(before) < wait {
					t.Errorf("seed %d: %s is tried after %v", seed, a.node, now.Sub(before))
				}
				last[a.node] = now
				if err := r.begin(t.Context(), a); err != nil && !errors.Is(err, errConnected) {
					t.Error(err)
				}
			})
			if n := r.entries.countType(p2p.Manual) + r.dialing(p2p.Manual); n > maxManual+2 {
				t.Fatalf("seed %d: %d nodes", seed, n)
			}
			for a := range r.attempts {
				if rnd.IntN(3) == 0 {
					_ = r.end(a, rnd.IntN(2) == 0)
				}
			}
			if len(r.entries) > 0 && rnd.IntN(8) == 0 {
				r.entries = r.entries.without(r.entries[rnd.IntN(len(r.entries))])
			}
		}
		if len(last) != maxManual+4+2 && seed > 5 {
			t.Errorf("seed %d: only %d nodes were tried", seed, len(last))
		}
	}
}

// The node's own choice never exceeds its limits, takes one node of a group of
// addresses, none that is unwelcome or offers too little, and fills its slots.
func TestChoose(t *testing.T) {
	for seed := range uint64(10) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		r := newDialRig(t)
		r.addrs.unwelcome = node(1)
		for i := range 400 {
			services := fullNode
			if i%7 == 0 {
				services = wire.SFNodeNetworkLimited
			}
			r.book.store(
				[]codec.Address{{Time: uint32(r.addrs.now.Unix()), Services: services, Addr: node(i)}}, node(i), 0,
			)
		}
		now := time.Now()
		full := 0
		for range 400 {
			now = now.Add(time.Second)
			r.addrs.now = r.addrs.now.Add(time.Second)
			if a := r.choose(now); a != nil {
				r.checkChoice(t, a)
				if err := r.begin(t.Context(), a); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
			for a := range r.attempts {
				if rnd.IntN(2) == 0 {
					_ = r.end(a, rnd.IntN(4) > 0)
				}
			}
			r.entries = slices.DeleteFunc(r.entries, func(e *entry) bool {
				return e.typ == p2p.Feeler || rnd.IntN(300) == 0
			})
			if len(r.entries) == fullRelaySlots+blockRelaySlots {
				full++
			}
		}
		if full < 50 {
			t.Errorf("seed %d: full only %d times", seed, full)
		}
	}
}

// checkChoice holds a choice against what is connected and dialed.
func (r *dialRig) checkChoice(t *testing.T, a *attempt) {
	t.Helper()
	count := r.entries.countType(a.typ) + r.dialing(a.typ)
	limit := map[p2p.ConnectionType]int{
		p2p.OutboundFullRelay: fullRelaySlots, p2p.BlockRelayOnly: blockRelaySlots, p2p.Feeler: feelerSlots,
	}[a.typ]
	if count >= limit || len(r.attempts) >= maxDialing {
		t.Errorf("%v: %d there, %d attempts", a.typ, count, len(r.attempts))
	}
	if a.addr == r.addrs.unwelcome {
		t.Errorf("%v is unwelcome", a.addr)
	}
	for _, e := range r.entries {
		if string(e.addr.Group()) == string(a.addr.Group()) && a.typ != p2p.Feeler {
			t.Errorf("%v and %v are of one group", a.addr, e.addr)
		}
	}
	for i := 0; i < 400 && a.typ != p2p.Feeler; i += 7 {
		if a.addr == node(i) {
			t.Errorf("%v offers too little", a.addr)
		}
	}
}

// An address that was tried a short time ago waits while there are others.
func TestChooseRests(t *testing.T) {
	r := newDialRig(t)
	for n := range 2 {
		given := codec.Address{Time: uint32(r.addrs.now.Unix()), Services: fullNode, Addr: node(n)}
		r.book.store([]codec.Address{given}, node(n), 0)
	}
	r.book.addrs.Attempt(node(0), false, r.addrs.now)
	for range 20 {
		if a, ok := r.chooseAddr(p2p.OutboundFullRelay); !ok || a.Addr != node(1) {
			t.Errorf("chose %v, %v", a.Addr, ok)
		}
	}
}

// Something odd among the addresses ends a choice; a network that is not used is not
// chosen from.
func TestChooseOdd(t *testing.T) {
	for name, wish := range map[string]func(*Config){
		"this node":       func(c *Config) { c.Local = append(c.Local, localAddr(node(5), 1)) },
		"another network": func(c *Config) { c.Reachable = map[netaddr.Network]bool{netaddr.IPv6: true} },
	} {
		r := newDialRig(t, wish)
		r.book.store([]codec.Address{{Time: uint32(r.addrs.now.Unix()), Services: fullNode, Addr: node(5)}}, node(5), 0)
		if a := r.choose(time.Now()); a != nil {
			t.Errorf("%s: chose %v", name, a.addr)
		}
	}
}

func TestLimits(t *testing.T) {
	for peers, want := range map[int]limits{
		0: {0, 0, 1, 0, 0}, 5: {5, 0, 1, 0, 0}, 9: {8, 1, 1, 0, 0}, 11: {8, 2, 1, 0, 0}, 12: {8, 2, 1, 1, 1},
		125: {8, 2, 1, 114, 114},
	} {
		if got := newLimits(peers); got != want {
			t.Errorf("%d: got %+v", peers, got)
		}
	}
	r := newDialRig(t)
	for range fullRelaySlots {
		if !r.mayStart(p2p.OutboundFullRelay) {
			t.Error("a slot is refused")
		}
		r.entries = append(r.entries, &entry{typ: p2p.OutboundFullRelay})
	}
	if r.mayStart(p2p.OutboundFullRelay) || !r.mayStart(p2p.BlockRelayOnly) || !r.mayStart(p2p.Manual) {
		t.Error("the wrong slots are full")
	}
	for name, want := range map[string]bool{
		"": true, "manual": true, "addr-fetch": true, "inbound": false, "x": false,
	} {
		if typ, ok := connectionType(name); ok != want || ok && name != "" && typ.String() != name {
			t.Errorf("%q: %v, %v", name, typ, ok)
		}
	}
}
