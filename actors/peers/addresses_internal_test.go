package peers

import (
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/internal/p2p/netsetup"
	"github.com/seed61375155/trawl/internal/vfs/faultfs"
	"github.com/seed61375155/trawl/messages"
)

// An addrRig is a relay of addresses whose peers are the test's.
type addrRig struct {
	*addrRelay

	now       time.Time
	unwelcome netaddr.Addr
}

func (r *addrRig) isUnwelcome(a netaddr.Addr, _ time.Time) bool { return a == r.unwelcome }

func newAddrRig(tb testing.TB, wishes ...func(*Config)) *addrRig {
	tb.Helper()
	network, err := dialect.Bitcoin("regtest")
	if err != nil {
		tb.Fatal(err)
	}
	r := &addrRig{now: time.Unix(1_700_000_000, 0)}
	cfg := Config{Network: network, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return r.now }}
	for _, wish := range wishes {
		wish(&cfg)
	}
	cfg.setDefaults()
	b := newBase(cfg)
	r.addrRelay = newAddrRelay(b, newAddrBook(b), r, &networks{reachable: cfg.Reachable}, &secret{1})
	return r
}

// A letterbox is the connection of a peer. It keeps the addresses that are sent.
type letterbox struct {
	got      []netaddr.Addr
	messages [][]netaddr.Addr // the same
	left     string
}

func (l *letterbox) Send(m wire.Message) {
	before := len(l.got)
	for _, a := range m.(*codec.Addresses).List {
		l.got = append(l.got, a.Addr)
	}
	l.messages = append(l.messages, l.got[before:])
}
func (l *letterbox) Disconnect(reason string) { l.left = reason }

// add adds a peer.
func (r *addrRig) add(id int64, typ p2p.ConnectionType, wishes ...func(*addrPeer)) *letterbox {
	l := new(letterbox)
	p := &addrPeer{conn: l, id: id, typ: typ, cacheKey: "ipv4", since: r.now, v2: true}
	for _, wish := range wishes {
		wish(p)
	}
	r.join(p)
	return l
}

// node returns an address.
func node(n int) netaddr.Addr {
	ip := netip.AddrFrom4([4]byte{byte(11 + n%80), 1, byte(n / 80), byte(n%250 + 1)})
	return netaddr.FromAddrPort(netip.AddrPortFrom(ip, 8333))
}

// addrs returns a message with the addresses numbered from first on.
func (r *addrRig) message(first, count int) *codec.Addresses {
	m := new(codec.Addresses)
	for n := range count {
		m.List = append(m.List, codec.Address{
			Time: uint32(r.now.Unix()), Services: wire.SFNodeNetwork, Addr: node(first + n),
		})
	}
	return m
}

// However a peer sends its addresses, a count that is filled up by one every ten
// seconds says how many are taken.
func TestAddrRate(t *testing.T) {
	for seed := range uint64(30) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		r := newAddrRig(t)
		asked := rnd.IntN(2) == 0
		typ := p2p.Inbound
		tenths := 10 // of addresses that it may send
		if asked {
			typ, tenths = p2p.OutboundFullRelay, 10+10*addrBurst
		}
		r.add(7, typ)
		var processed, limited uint64
		for range 50 {
			passed := 10 * rnd.IntN(30) // no fractions
			r.now = r.now.Add(time.Duration(passed) * time.Second)
			if tenths < 10*addrBurst {
				tenths = min(tenths+passed, 10*addrBurst)
			}
			count := rnd.IntN(100)
			r.receive(7, r.message(rnd.IntN(1000), count))
			taken := min(count, tenths/10)
			tenths -= 10 * taken
			processed, limited = processed+uint64(taken), limited+uint64(count-taken)
			if p, _ := r.peer(7); p.processed != processed || p.limited != limited {
				t.Fatalf("seed %d: %d of %d are taken, want %d of %d", seed, p.processed, p.limited, processed, limited)
			}
		}
	}
	r := newAddrRig(t)
	r.add(1, p2p.Inbound, func(p *addrPeer) { p.unlimited = true })
	r.receive(1, r.message(0, 900))
	if p, _ := r.peer(1); p.processed != 900 || p.limited != 0 {
		t.Errorf("with the permission: %+v", p)
	}
}

// queued returns which peers an address waits for.
func (r *addrRig) queued(a netaddr.Addr) (ids []int64) {
	for _, p := range r.peers {
		if slices.ContainsFunc(p.queue, func(q codec.Address) bool { return q.Addr == a }) {
			ids = append(ids, p.id)
		}
	}
	return ids
}

// A recent address goes to two peers, on a day always the same ones, and neither back
// nor to those that do not understand it.
func TestRelayAddr(t *testing.T) {
	r := newAddrRig(t)
	for id := range int64(12) {
		r.add(id, p2p.Inbound, func(p *addrPeer) { p.v2, p.unlimited = id%2 == 0, true })
		if id < 10 {
			r.receive(id, r.message(500, 0)) // speaks of addresses
		}
	}
	r.unwelcome = node(3)
	one := func(m *codec.Addresses) []int64 {
		r.receive(0, m)
		return r.queued(m.List[0].Addr)
	}
	got := one(r.message(1, 1))
	if len(got) != 2 || slices.Contains(got, 0) || slices.Max(got) >= 10 {
		t.Errorf("relayed to %v", got)
	}
	r.add(12, p2p.OutboundFullRelay)
	for i, want := range []int{0, 2} { // the first are those that it was asked for
		m := r.message(10+i, 1)
		if r.receive(12, m); len(r.queued(m.List[0].Addr)) != want {
			t.Errorf("message %d of a node that was asked: relayed to %v", i, r.queued(m.List[0].Addr))
		}
	}
	old := r.message(2, 1)
	old.List[0].Time -= uint32(recentAddr / time.Second)
	useless := r.message(4, 1)
	useless.List[0].Services = 0
	local := r.message(5, 1)
	local.List[0].Addr = netaddr.FromAddrPort(netip.MustParseAddrPort("192.168.0.1:8333"))
	future := r.message(6, 1)
	future.List[0].Time += uint32(recentAddr/time.Second) + 1
	for name, m := range map[string]*codec.Addresses{
		"old": old, "unwelcome": r.message(3, 1), "no node": useless, "local": local, "of the future": future,
		"one of many": r.message(20, maxRelayedAddrs+1),
	} {
		if ids := one(m); len(ids) > 0 {
			t.Errorf("%s: relayed to %v", name, ids)
		}
	}
	for _, p := range r.peers {
		p.queue, p.known = nil, nil
	}
	if again := one(r.message(1, 1)); !slices.Equal(got, again) {
		t.Errorf("to %v, then to %v", got, again)
	}
	onion, err := netaddr.Parse("kpgvmscirrdqpekbqjsvw5teanhatztpp2gl6eee4zkowvwfxwenqaid.onion:8333", 0)
	if err != nil {
		t.Fatal(err)
	}
	m := r.message(1, 1)
	m.List[0].Addr = onion
	for _, id := range one(m) {
		if id%2 != 0 {
			t.Errorf("peer %d cannot read it", id)
		}
	}
}

// Queued addresses are sent once, when it is time, without those that the peer knows.
func TestAddrsAreSentOnce(t *testing.T) {
	r := newAddrRig(t)
	l := r.add(1, p2p.Inbound)
	r.receive(1, r.message(0, 1)) // which it knows
	p := r.peers[0]
	for range 3 {
		for n := range 10 {
			p.push(codec.Address{Addr: node(n % 5)})
		}
		p.push(codec.Address{}) // not valid
		r.now = r.now.Add(time.Hour)
		r.sendDue()
	}
	if len(l.got) != 4 || slices.Contains(l.got, node(0)) {
		t.Errorf("sent %v", l.got)
	}
	for n := range 2 * codec.MaxAddresses {
		p.push(codec.Address{Addr: node(n + 10)})
	}
	if len(p.queue) != codec.MaxAddresses {
		t.Errorf("%d wait", len(p.queue))
	}
	p.next = r.now
	l.got = nil
	if r.sendDue(); len(l.got) > 0 {
		t.Error("sent before it is time")
	}
	r.leave(1)
	r.now = r.now.Add(time.Hour)
	if r.sendDue(); len(l.got) > 0 {
		t.Error("sent to a peer that is gone")
	}
}

// Peers that ask get the same addresses for most of a day, once per connection, without
// unwelcome addresses. A peer with permission gets other addresses each time.
func TestGetAddr(t *testing.T) {
	r := newAddrRig(t)
	for n := range 1000 {
		a := node(n)
		if n == 3 {
			r.unwelcome = a
		}
		r.book.store([]codec.Address{{Time: uint32(r.now.Unix()), Services: wire.SFNodeNetwork, Addr: a}}, a, 0)
	}
	ask := func(id int64, typ p2p.ConnectionType, wishes ...func(*addrPeer)) []netaddr.Addr {
		l := r.add(id, typ, wishes...)
		r.receive(id, new(wire.MsgGetAddr))
		first := slices.Clone(l.got)
		r.now = r.now.Add(time.Hour)
		r.receive(id, new(wire.MsgGetAddr))
		if r.sendDue(); len(l.got) > len(first) {
			t.Error("answered again")
		}
		r.now = r.now.Add(-time.Hour)
		return first
	}
	size := r.book.addrs.Len() * answerPercent / 100
	a, b := ask(1, p2p.Inbound), ask(2, p2p.Inbound)
	if len(a) < size-1 || len(a) > size || !slices.Equal(a, b) {
		t.Errorf("%d addresses, then %d, of %d", len(a), len(b), size)
	}
	if c := ask(3, p2p.Inbound, func(p *addrPeer) { p.cacheKey = "onion" }); slices.Equal(a, c) {
		t.Error("over another network the same is answered")
	}
	if c := ask(4, p2p.Inbound, func(p *addrPeer) { p.unlimited = true }); slices.Equal(a, c) {
		t.Error("with permission the same is answered")
	}
	if c := ask(5, p2p.OutboundFullRelay); len(c) > 0 {
		t.Error("a node that was connected to was answered")
	}
	r.now = r.now.Add(answerLife - time.Minute)
	if c := ask(6, p2p.Inbound); !slices.Equal(a, c) {
		t.Error("the answer changed before its time")
	}
	r.now = r.now.Add(answerSpread + 2*time.Minute)
	if c := ask(7, p2p.Inbound); slices.Equal(a, c) {
		t.Error("the answer never changes")
	}
}

// A peer that is there for its addresses is left when it has sent some, or none in
// time.
func TestAddrFetch(t *testing.T) {
	r := newAddrRig(t)
	own, some, none := r.add(1, p2p.AddrFetch), r.add(2, p2p.AddrFetch), r.add(3, p2p.AddrFetch)
	r.receive(1, r.message(1, 1)) // its own address alone
	r.receive(2, r.message(1, 2))
	if own.left != "" || some.left != "addrfetch connection completed" {
		t.Errorf("%q, %q", own.left, some.left)
	}
	r.now = r.now.Add(fetchTimeout)
	if r.sendDue(); none.left != "" {
		t.Error("left too early")
	}
	r.now = r.now.Add(time.Second)
	if r.sendDue(); none.left != "addrfetch connection timeout" || own.left != none.left {
		t.Errorf("%q, %q", own.left, none.left)
	}
}

func localAddr(a netaddr.Addr, score int) netsetup.Local {
	return netsetup.Local{Addr: a, Score: score}
}

// The address of this node goes out when a peer joins and then from time to time: the
// best one of the network of the peer.
func TestAdvertise(t *testing.T) {
	local := func(addr string, score int) netsetup.Local {
		return netsetup.Local{Addr: address(t, addr), Score: score}
	}
	r := newAddrRig(t, func(c *Config) {
		c.Listeners = make([]netsetup.Listener, 1)
		c.Local = []netsetup.Local{local("[2a00::1]:1", 9), local("9.9.9.9:1", 1), local("9.9.9.9:2", 2), local("9.9.9.9:3", 1)}
	})
	l := r.add(1, p2p.Inbound, func(p *addrPeer) { p.addr = node(1) })
	if r.sendDue(); len(l.got) > 0 {
		t.Error("sent before the peer spoke of addresses")
	}
	r.receive(1, new(wire.MsgGetAddr))
	if want := []netaddr.Addr{address(t, "9.9.9.9:2")}; !slices.Equal(l.got, want) {
		t.Errorf("sent %v, want %v", l.got, want)
	}
	for range 100 * 24 {
		r.now = r.now.Add(time.Hour)
		r.sendDue()
	}
	if n := len(l.got); n < 50 || n > 170 {
		t.Errorf("sent %d times in a hundred days", n)
	}
}

// Addresses are written when there are new ones, but not all the time, and at the end.
func TestAddrBookIsSaved(t *testing.T) {
	dir, disk := t.TempDir(), faultfs.New()
	r := newAddrRig(t, func(c *Config) { c.Dir, c.FS = dir, disk })
	path := filepath.Join(dir, "peers.dat")
	written := func() bool {
		_, err := os.Stat(path)
		_ = disk.Remove(path)
		return err == nil
	}
	at := time.Now()
	due := func(after time.Duration, want bool) {
		t.Helper()
		at = at.Add(after)
		if r.book.saveDue(atOnce, at); written() != want {
			t.Errorf("written: %v", !want)
		}
	}
	due(0, false)
	for i, q := range []messages.AddPeerAddress{
		{Host: "1.2.3.4", Port: 1},
		{Host: "1.2.3.4", Port: 1},
		{Host: "5.6.7.8", Port: 1, Tried: true}, // of another group: in one of its own it may find its place taken
		{Host: "name", Port: 1},
	} {
		if got := r.book.add(&q); got.Added != (i%2 == 0) || got.Failed != "" != (i == 1) {
			t.Errorf("%+v: %+v", q, got)
		}
	}
	due(0, true)
	due(2*saveInterval, false)
	r.book.reached(address(t, "1.2.3.4:1"), 0)
	due(0, true)
	r.book.reached(address(t, "1.2.3.4:1"), 0)
	due(saveInterval-1, false)
	due(1, true)
	if err := r.book.saveAtEnd(); err != nil || !written() {
		t.Errorf("not written at the end: %v", err)
	}
	disk.Inject(faultfs.From(0, os.ErrPermission))
	if err := r.book.saveAtEnd(); !errors.Is(err, os.ErrPermission) {
		t.Errorf("got %v", err)
	}
}

// An address in fc00::/8 is one of CJDNS for who reaches that network, and else one of IPv6.
func TestAddressesOfCJDNS(t *testing.T) {
	for _, reaches := range []bool{false, true} {
		r := newAddrRig(t, func(c *Config) {
			c.Reachable = map[netaddr.Network]bool{netaddr.IPv6: true, netaddr.CJDNS: reaches}
		})
		added := r.book.add(&messages.AddPeerAddress{Host: "fc00:1:2:3:4:5:6:7", Port: 1})
		if added.Added != reaches { // in IPv6 these are of no use to others
			t.Errorf("reached: %v, added: %+v", reaches, added)
		}
		for _, count := range r.book.count() {
			is := count.Network == "cjdns" || count.Network == "all_networks"
			if (count.New == 1) != (reaches && is) {
				t.Errorf("reached: %v, %+v", reaches, count)
			}
		}
	}
}
