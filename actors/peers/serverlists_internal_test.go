package peers

import (
	"errors"
	"math/big"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/internal/p2p/netsetup"
)

// A block of another branch is given as long as it is valid, and younger than a month by its time and by the work of
// the chain since.
func TestStaleBlocks(t *testing.T) {
	const month = 30 * 24 * time.Hour
	type test struct {
		age    time.Duration // of its time, at the tip's
		longer int           // how much longer the chain is
		status chainview.Status
		given  bool
	}
	inBubbles(t, map[string]test{
		"young":                    {time.Hour, 2, chainview.Valid, true},
		"just under a month":       {month - time.Second, 2, chainview.Valid, true},
		"a month":                  {month, 2, chainview.Valid, false},
		"a month of work":          {time.Hour, 30 * 144, chainview.Valid, false},
		"just under it":            {time.Hour, 30*144 - 1, chainview.Valid, true},
		"not connected":            {time.Hour, 2, 0, false},
		"known to be invalid":      {time.Hour, 2, chainview.Valid | chainview.Failed, false},
		"on top of an invalid one": {time.Hour, 2, chainview.Valid | chainview.FailedAncestor, false},
	}, func(t *testing.T, c test) {
		t.Helper()
		r := newServerRig(t, 2)
		fork := r.at(1)
		stale := r.node.MineOn(fork, chaintest.Template{Script: []byte{0x52}})
		r.node.SetStatus(stale, stale.Status()&^chainview.Valid|c.status)
		// The block has the work of height 2; the chain is longer by this many blocks.
		at := r.at(2)
		for i := range c.longer {
			template := chaintest.Template{Time: at.Time().Add(time.Second)}
			if i == c.longer-1 {
				template.Time = stale.Time().Add(c.age)
			}
			at = r.node.MineOn(at, template)
		}
		if got := r.mayHave(stale); got != c.given {
			t.Errorf("given: %v", got)
		}
		if !r.mayHave(at) || !r.mayHave(fork) {
			t.Error("a block of the chain is not given")
		}
		if got := names(r.data(wire.InvTypeBlock, stale)); (got == "block") != c.given || r.isClosed() {
			t.Errorf("got %q, left %v", got, r.isClosed())
		}
		headers := r.ask(&wire.MsgGetHeaders{HashStop: stale.Hash})
		if (len(headers) == 1) != c.given {
			t.Errorf("got %d answers for its header", len(headers))
		}
	})
}

// Inventories of blocks go up to the stop, a gap, or 500; who takes the last of a full one is told of the tip.
func TestInventories(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newServerRig(t, 520)
		inv := func(from int32, stop chainhash.Hash) (heights []int32) {
			got := r.ask(&wire.MsgGetBlocks{BlockLocatorHashes: []*chainhash.Hash{&r.at(from).Hash}, HashStop: stop})
			for _, m := range got {
				for _, v := range m.(*wire.MsgInv).InvList {
					heights = append(heights, r.node.Lookup(&v.Hash).Height)
				}
			}
			return heights
		}
		if got := inv(5, r.at(8).Hash); !slices.Equal(got, []int32{6, 7}) {
			t.Errorf("up to a block: %v", got)
		}
		if got := inv(520, chainhash.Hash{}); got != nil {
			t.Errorf("after the tip: %v", got)
		}
		if got := inv(5, r.at(6).Hash); got != nil {
			t.Errorf("nothing in between: %v", got)
		}
		to := inv(517, chainhash.Hash{})
		if got := to; !slices.Equal(got, []int32{518, 519, 520}) || r.continueAfter != (chainhash.Hash{}) {
			t.Errorf("up to the tip: %v", got)
		}
		if got := inv(10, chainhash.Hash{}); len(got) != 500 || got[499] != 510 {
			t.Errorf("a full one: %d", len(got))
		}
		if got := names(r.data(wire.InvTypeBlock, r.at(509))); got != "block" {
			t.Errorf("before the last: %q", got)
		}
		got := r.data(wire.InvTypeBlock, r.at(510))
		if names(got) != "block inv" {
			t.Fatalf("the last: %q", names(got))
		}
		v := got[1].(*wire.MsgInv).InvList
		if len(v) != 1 || v[0].Hash != r.at(520).Hash || v[0].Type != wire.InvTypeBlock {
			t.Errorf("told of %+v", v)
		}
		if got := names(r.data(wire.InvTypeBlock, r.at(510))); got != "block" {
			t.Errorf("the last once more: %q", got)
		}
		r.node.SetStatus(r.at(515), r.at(515).Status()&^chainview.HasData)
		if got := inv(512, chainhash.Hash{}); !slices.Equal(got, []int32{513, 514}) {
			t.Errorf("up to a gap: %v", got)
		}
	})
}

// Headers are given out if the chain has enough work, otherwise only to peers with the download permission. A peer
// with more headers gets none.
func TestHeadersGiven(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cfg *Config
		r := newServerRig(t, 10)
		cfg = &r.cfg
		count := func(stop chainhash.Hash, locator ...chainhash.Hash) int {
			var hashes []*chainhash.Hash
			for i := range locator {
				hashes = append(hashes, &locator[i])
			}
			got := r.ask(&wire.MsgGetHeaders{BlockLocatorHashes: hashes, HashStop: stop})
			if len(got) == 0 {
				return -1 // no answer
			}
			return len(got[0].(*codec.Headers).List)
		}
		genesis := r.at(0).Hash
		work := r.at(10).Work()
		cfg.MinimumWork = work
		if got := count(chainhash.Hash{}, genesis); got != 10 {
			t.Errorf("with just the least work: %d", got)
		}
		cfg.MinimumWork = new(big.Int).Add(work, big.NewInt(1))
		if got := count(chainhash.Hash{}, genesis); got != 0 {
			t.Errorf("with less: %d", got)
		}
		r.info.Permissions.Download = true
		if got := count(chainhash.Hash{}, genesis); got != 10 {
			t.Errorf("who may download: %d", got)
		}
		more := r.node.AddHeader(r.at(10))
		if got := count(chainhash.Hash{}, more.Hash, genesis); got != 0 {
			t.Errorf("a peer that has more: %d", got)
		}
		side := r.node.AddHeader(r.at(8))
		if got := count(chainhash.Hash{}, side.Hash, r.at(7).Hash); got != 3 {
			t.Errorf("a peer on another branch: %d", got)
		}
		for name, test := range map[string]struct {
			stop chainhash.Hash
			want int
		}{"of the chain": {r.at(4).Hash, 1}, "unknown": {chainhash.Hash{9}, -1}, "a header alone": {side.Hash, -1}} {
			if got := count(test.stop); got != test.want {
				t.Errorf("by a stop that is %s: %d", name, got)
			}
		}
	})
}

// An answer ends at a message that cannot be sent, as the session is over.
func TestAnswersEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newServerRig(t, 3)
		r.session.Close(nil)
		if r.send(wire.NewMsgInv()) {
			t.Error("something was sent")
		}
		if got := r.ask(&wire.MsgGetData{InvList: []*wire.InvVect{
			wire.NewInvVect(wire.InvTypeBlock, &r.at(1).Hash), wire.NewInvVect(wire.InvTypeBlock, &r.at(2).Hash),
		}}); len(got) > 0 {
			t.Errorf("got %s", names(got))
		}
	})
}

// Names of networks and of proxies, as getnetworkinfo lists them, and that a proxy for Tor makes it usable.
func TestNetworksOfProxies(t *testing.T) {
	for name, test := range map[string]struct {
		reachable map[netaddr.Network]bool
		want      string // of those that can be connected to
	}{
		"all":            {nil, "ipv4 ipv6"},
		"some":           {map[netaddr.Network]bool{netaddr.IPv6: true, netaddr.Onion: true}, "ipv6"},
		"cjdns":          {map[netaddr.Network]bool{netaddr.CJDNS: true}, "cjdns"},
		"none reachable": {map[netaddr.Network]bool{}, ""},
	} {
		n := &networks{reachable: test.reachable}
		used := func() string {
			var all []string
			for _, use := range n.list() {
				if use.Reachable {
					all = append(all, use.Name)
				}
			}
			return strings.Join(all, " ")
		}
		if got := used(); got != test.want {
			t.Errorf("%s: %q", name, got)
		}
		before := n.reachable
		n.setOnion(netsetup.Proxy{Addr: "127.0.0.1:9050"}, false)
		if got, reaches := used(), n.reaches(netaddr.Onion); strings.Contains(got, "onion") != reaches {
			t.Errorf("%s with a proxy for Tor: %q, reached %v", name, got, reaches)
		}
		n.setOnion(netsetup.Proxy{Addr: "127.0.0.1:9051", Randomize: true}, true)
		onion := n.list()[2]
		if got := used(); !strings.Contains(got, "onion") || onion.Proxy != "127.0.0.1:9051" || !onion.Randomize {
			t.Errorf("%s with a proxy by which Tor is reached: %q", name, got)
		}
		if before != nil && before[netaddr.Onion] != test.reachable[netaddr.Onion] {
			t.Errorf("%s: the map of another was changed", name)
		}
	}
}

// A peer is left, with Core's words, for filters that are not offered, of no block, in no order, or too many.
func TestRefusedFilterRanges(t *testing.T) {
	type test struct {
		services wire.ServiceFlag
		typ      wire.FilterType
		start    uint32
		stop     int32 // -1: an unknown block
		limit    uint32
		why      string // empty: it is not left
	}
	const offered = wire.SFNodeNetwork | wire.SFNodeCF
	inBubbles(t, map[string]test{
		"as many as may be": {offered, 0, 3, 12, 10, ""},
		"one too many":      {offered, 0, 2, 12, 10, "peer requested too many cfilters/cfheaders: 11 / 10"},
		"one":               {offered, 0, 12, 12, 1, ""},
		"in no order": {
			offered, 0, 13, 12, 10,
			"peer sent invalid getcfilters/getcfheaders with start height 13 and stop height 12",
		},
		"another type": {offered, 7, 3, 12, 10, "peer requested unsupported block filter type: 7"},
		"not offered":  {wire.SFNodeNetwork, 0, 3, 12, 10, "peer requested unsupported block filter type: 0"},
		"no block": {
			offered, 0, 3, -1, 10, "peer requested invalid block hash: " + strings.Repeat("0", 63) + "9",
		},
	}, func(t *testing.T, c test) {
		t.Helper()
		r := newServerRig(t, 20, func(cfg *Config) { cfg.Services = c.services })
		stop := chainhash.Hash{9}
		if c.stop >= 0 {
			stop = r.at(c.stop).Hash
		}
		if b := r.filterRange(c.typ, c.start, &stop, c.limit); b != nil {
			t.Error("a range of filters that nobody has")
		}
		if r.isClosed() != (c.why != "") || !r.log.has(c.why) {
			t.Errorf("left %v, and the log says\n%s", r.isClosed(), r.log.text.String())
		}
	})
}

// A connection that has come to the table is not closed with those that are on their way, when the node stops. A
// connection that came with an error is closed.
func TestArrivedConnectionsStay(t *testing.T) {
	for _, refused := range []bool{false, true} {
		r := newDialRig(t)
		here, there := net.Pipe()
		r.pending.add(here)
		m := dialed{attempt: &attempt{node: "1.2.3.4:1"}, conn: here, addr: address(t, "1.2.3.4:1")}
		if refused {
			m.err = errors.New("refused")
		}
		if err := r.finish(m); (err != nil) != refused {
			t.Fatal(err)
		}
		r.pending.close()
		closed := make(chan error, 1)
		go func() {
			_, err := there.Write([]byte{1})
			closed <- err
		}()
		if !refused {
			if _, err := here.Read(make([]byte, 1)); err != nil {
				t.Errorf("closed: %v", err)
			}
		}
		if err := <-closed; (err != nil) != refused {
			t.Errorf("refused %v: the other end sees %v", refused, err)
		}
		_ = there.Close()
	}
}

// Nodes that were reached are noted with their services, also block-relay-only nodes. Inbound peers are not noted,
// nor nodes whose address is not known.
func TestReachedNodes(t *testing.T) {
	for name, test := range map[string]struct {
		typ   p2p.ConnectionType
		addr  netaddr.Addr
		noted bool
	}{
		"outbound": {p2p.OutboundFullRelay, node(1), true}, "blocks only": {p2p.BlockRelayOnly, node(1), true},
		"feeler": {p2p.Feeler, node(1), true}, "by hand": {p2p.Manual, node(1), true},
		"blocks only, by a name": {p2p.BlockRelayOnly, netaddr.Addr{}, false},
		"inbound":                {p2p.Inbound, node(1), false},
	} {
		r := newAddrRig(t)
		r.book.store(r.message(1, 1).List, node(500), 0)
		r.book.changed = false
		e := &entry{typ: test.typ, addr: test.addr}
		e.remote.Version.Services = wire.SFNodeBloom
		(&Table{shared: &shared{base: r.base, book: r.book}}).reached(e)
		known := r.book.addrs.All()[0]
		if r.book.changed != test.noted || (known.Services == wire.SFNodeBloom) != test.noted ||
			known.Tried != test.noted {
			t.Errorf("%s: changed %v, offers %v, tried %v", name, r.book.changed, known.Services, known.Tried)
		}
	}
}
