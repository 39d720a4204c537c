package peers

import (
	"cmp"
	"log/slog"
	"net"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/access"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/internal/p2p/peerhandle"
	"github.com/seed61375155/trawl/messages"
)

// newTable makes a table that is no actor.
func newTable(t *testing.T, wish func(*Config)) *Table {
	t.Helper()
	network, err := dialect.Bitcoin("regtest")
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{
		Network: network, Log: slog.New(slog.DiscardHandler), Relay: ask.Absent("relay"), Sync: ask.Absent("sync"),
	}
	wish(&cfg)
	return New(cfg)().(*Table)
}

// enter puts inbound connections into the table that nobody runs.
func (t *Table) enter(count int) {
	for range count {
		here, _ := net.Pipe()
		e := &entry{typ: p2p.Inbound}
		e.conn = newConnection(t.base, t.self, e)
		e.session = p2p.New(here, p2p.Config{}, e.conn)
		e.conn.session = e.session
		t.peers = append(t.peers, e)
	}
}

// Admission of a connection depends on bans and permissions of its address, and on the number
// of connections.
func TestAdmits(t *testing.T) {
	const limit = 3
	for _, test := range []struct {
		name                              string
		banned, discouraged, noBan, noNet bool
		inbound                           int
		full                              bool // one was evicted for it, as far as possible
		want                              bool
	}{
		{name: "first", want: true},
		{name: "last", inbound: limit - 1, want: true},
		{name: "one too many", inbound: limit},
		{name: "after an eviction", inbound: limit - 1, full: true, want: true},
		{name: "without network", noNet: true},
		{name: "banned", banned: true},
		{name: "banned, with permission", banned: true, noBan: true, want: true},
		{name: "discouraged, room for two", discouraged: true, inbound: limit - 2, want: true},
		{name: "discouraged, room for one", discouraged: true, inbound: limit - 1},
		{name: "discouraged, after an eviction", discouraged: true, inbound: limit - 2, full: true},
		{name: "discouraged, with permission", discouraged: true, noBan: true, inbound: limit - 1, want: true},
	} {
		table := newTable(t, func(c *Config) { c.MaxPeers, c.Inactive = 11+limit, test.noNet })
		addr := address(t, "9.9.9.9:1")
		if test.banned {
			if _, err := table.bans.add(&messages.SetBan{Subnet: "9.9.9.9"}, table.cfg.Now()); err != nil {
				t.Fatal(err)
			}
		}
		if test.discouraged {
			table.bans.discourage(addr)
		}
		table.enter(test.inbound)
		e := &entry{typ: p2p.Inbound, addr: addr, allowed: peerhandle.Permissions{NoBan: test.noBan}}
		if got := table.admits(e, test.full); got != test.want || e.discouraged != test.discouraged {
			t.Errorf("%s: admitted %v, discouraged %v", test.name, got, e.discouraged)
		}
	}
}

// If too many peers relay transactions, the newest of them takes the place of another, or goes itself if the others are
// protected. Peers that relay none stay.
func TestEvictsRelaying(t *testing.T) {
	for _, test := range []struct {
		relaying, quiet, limit int
		by                     string
		gone                   bool // one of the others
		refused                bool
	}{
		{relaying: 3, quiet: 60, limit: 3},
		{relaying: 3, quiet: 60, limit: 2, refused: true},
		{relaying: 3, quiet: 60, limit: 2, by: "filterload", refused: true},
		{relaying: 60, limit: 59, gone: true},
		{relaying: 60, quiet: 5, limit: 50, gone: true},
		{relaying: 1, quiet: 60, limit: 0, refused: true},
	} {
		var lines strings.Builder
		table := newTable(t, func(c *Config) {
			c.MaxPeers, c.MaxRelaying = 211, cmp.Or(test.limit, -1)
			c.Log = slog.New(slog.NewTextHandler(&lines, &slog.HandlerOptions{Level: slog.LevelDebug}))
		})
		table.enter(test.relaying + test.quiet)
		for i, e := range table.peers {
			e.id, e.established, e.remote.Version.NoTransactions = int64(i), true, i < test.quiet
		}
		newest := table.peers[len(table.peers)-1]
		evictor{table}.relaying(nil, relaying{newest.id, test.by})
		closed := table.peers.find(func(e *entry) bool { return e.conn.isClosed() })
		switch {
		case test.refused && closed != newest, test.gone && (closed == nil || closed == newest || !closed.relays()),
			!test.refused && !test.gone && closed != nil:
			t.Errorf("%+v: %+v is left", test, closed)
		}
		words := "failed to find a tx-relaying eviction candidate - connection dropped"
		if test.by != "" {
			words += " after " + test.by + " message"
		}
		if strings.Contains(lines.String(), words) != test.refused {
			t.Errorf("%+v: logged %s", test, &lines)
		}
		evictor{table}.relaying(nil, relaying{id: 1000}) // which has left
	}
}

// The permissions of a peer depend on its address and the direction of its connection.
func TestPermissions(t *testing.T) {
	subnet, err := netaddr.ParseSubnet("9.9.0.0/16")
	if err != nil {
		t.Fatal(err)
	}
	in, out := peerhandle.Permissions{Download: true}, peerhandle.Permissions{Mempool: true}
	table := newTable(t, func(c *Config) {
		c.Whitelist = []access.Whitelisted{
			{Subnet: subnet, Grant: access.Grant{Permissions: in, In: true}},
			{Subnet: subnet, Grant: access.Grant{Permissions: out, Out: true}},
		}
	})
	for _, test := range []struct {
		addr  string
		typ   p2p.ConnectionType
		onion bool
		want  peerhandle.Permissions
	}{
		{"9.9.1.1:1", p2p.Inbound, false, in},
		{"9.9.1.1:1", p2p.Manual, false, out},
		{"9.9.1.1:1", p2p.OutboundFullRelay, false, out},
		{"9.8.1.1:1", p2p.Inbound, false, peerhandle.Permissions{}},
		{"9.9.1.1:1", p2p.Inbound, true, peerhandle.Permissions{}}, // that is the proxy's address
	} {
		e := &entry{addr: address(t, test.addr), typ: test.typ, onion: test.onion}
		if got := table.permissions(e); got != test.want {
			t.Errorf("%+v: got %+v", test, got)
		}
	}
}
