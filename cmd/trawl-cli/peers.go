package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed61375155/trawl/internal/jsontree"
)

// The rows of the counts of connections.
const (
	inbound = iota
	outbound
	total
	directions
)

// peer is a line of the list of peers: its cells as they are shown.
type peer struct {
	outbound                            bool
	minPing                             float64 // seconds, -1: none yet
	kind, network, services, transport  string
	mping, ping, send, recv, txn, blk   string
	compact, addrs, limited, age, asmap string
	id, address, version                string
}

// peerTable is the list of peers with the width of its columns, and the counts of
// all connections.
type peerTable struct {
	peers              []peer
	counts             [directions][]int // by network
	blockRelay, manual int
	hasASMap           bool

	services, addrs, limited, age, id, address int // widths
}

// newPeerTable reads the peers; the list is only filled where it is wanted. now
// is in seconds since 1970.
func newPeerTable(peers *jsontree.Value, view netView, now int64, r *reader) *peerTable {
	t := &peerTable{services: 6, addrs: 5, limited: 6, age: 5, id: 2}
	for i := range t.counts {
		t.counts[i] = make([]int, len(networkNames))
	}
	for _, v := range peers.Elements() {
		network := slices.Index(networkNames, r.string(v.Get("network")))
		if network < 0 {
			continue
		}
		row := outbound
		if r.bool(v.Get("inbound")) {
			row = inbound
		}
		t.counts[row][network]++
		t.counts[total][network]++
		switch r.string(v.Get("connection_type")) {
		case "block-relay-only":
			t.blockRelay++
		case "manual":
			t.manual++
		}
		if view.level > 0 && (row == outbound || !view.outboundOnly) {
			t.add(newPeer(v, networkShorts[network], now, r))
		}
	}
	slices.SortStableFunc(t.peers, func(a, b peer) int {
		if a.outbound != b.outbound {
			return cmp.Compare(direction(a), direction(b)) // "in" first
		}
		return cmp.Compare(a.minPing, b.minPing)
	})
	return t
}

func (t *peerTable) add(p peer) {
	t.peers = append(t.peers, p)
	t.services = max(t.services, len(p.services))
	t.addrs = max(t.addrs, len(p.addrs))
	t.limited = max(t.limited, len(p.limited))
	t.age = max(t.age, len(p.age))
	t.id = max(t.id, len(p.id))
	t.address = max(t.address, len(p.address)+1)
	t.hasASMap = t.hasASMap || p.asmap != ""
}

// newPeer reads one peer.
func newPeer(v *jsontree.Value, network string, now int64, r *reader) peer {
	optional := func(key string) int64 {
		if v.Get(key).IsNull() {
			return 0
		}
		return r.int(v.Get(key))
	}
	flag := func(key string, def bool) bool {
		if v.Get(key).IsNull() {
			return def
		}
		return r.bool(v.Get(key))
	}
	since := func(key string, unit int64) string {
		at := r.int(v.Get(key))
		if at == 0 {
			return ""
		}
		return strconv.FormatInt((now-at)/unit, 10)
	}
	p := peer{
		outbound: !r.bool(v.Get("inbound")),
		minPing:  seconds(v.Get("minping"), r),
		kind:     kindOf(r.string(v.Get("connection_type"))),
		network:  network,
		services: serviceLetters(v.Get("servicesnames")),
		ping:     milliseconds(seconds(v.Get("pingtime"), r)),
		send:     since("lastsend", 1),
		recv:     since("lastrecv", 1),
		txn:      since("last_transaction", 60),
		blk:      since("last_block", 60),
		addrs:    unlessZero(optional("addr_processed")),
		limited:  unlessZero(optional("addr_rate_limited")),
		age:      since("conntime", 60),
		asmap:    unlessZero(optional("mapped_as")),
		id:       strconv.FormatInt(r.int(v.Get("id")), 10),
		address:  r.string(v.Get("addr")),
	}
	p.mping = milliseconds(p.minPing)
	if p.txn == "" && !flag("relaytxes", true) {
		p.txn = "*"
	}
	if p.addrs == "" && !flag("addr_relay_enabled", false) {
		p.addrs = "."
	}
	p.compact = sign(r.bool(v.Get("bip152_hb_to")), ".") + sign(r.bool(v.Get("bip152_hb_from")), "*")
	p.transport = transportDigit(v.Get("transport_protocol_type"), r)
	p.version = strconv.FormatInt(r.int(v.Get("version")), 10) + r.string(v.Get("subver"))
	return p
}

// seconds reads a time that may not be known yet, -1 then.
func seconds(v *jsontree.Value, r *reader) float64 {
	if v.IsNull() {
		return -1
	}
	return r.float(v)
}

// milliseconds shows seconds; more than a thousand of them are too many to tell.
func milliseconds(seconds float64) string {
	if seconds < 0 {
		return ""
	}
	ms := math.Round(1000 * seconds)
	if ms > 999999 {
		return "-"
	}
	return strconv.FormatFloat(ms, 'f', 0, 64)
}

func kindOf(connection string) string {
	switch connection {
	case "outbound-full-relay":
		return "full"
	case "block-relay-only":
		return "block"
	case "manual", "feeler":
		return connection
	case "addr-fetch":
		return "addr"
	default:
		return ""
	}
}

// transportDigit is the number in "v1" and "v2".
func transportDigit(v *jsontree.Value, r *reader) string {
	if v.IsNull() {
		return "1"
	}
	if digit, ok := strings.CutPrefix(r.string(v), "v"); ok && len(digit) == 1 {
		return digit
	}
	return " "
}

func unlessZero(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

func sign(on bool, text string) string {
	if on {
		return text
	}
	return " "
}

func direction(p peer) string {
	if p.outbound {
		return "out"
	}
	return "in"
}

// write adds the list of peers.
func (t *peerTable) write(b *strings.Builder, view netView) {
	fmt.Fprintf(b, "<->   type   net %*s  v  mping   ping send recv  txn  blk  hb %*s%*s%*s ",
		t.services, "serv", t.addrs, "addrp", t.limited, "addrl", t.age, "age")
	asmap, address := 0, 0
	if t.hasASMap {
		b.WriteString(" asmap ")
		asmap = 7
	}
	if view.addresses() {
		address = t.address
	}
	fmt.Fprintf(
		b, "%*s %-*s%s\n", t.id, "id", address, onlyIf(view.addresses(), "address"), onlyIf(view.versions(), "version"),
	)
	for i := range t.peers {
		p := &t.peers[i]
		fmt.Fprintf(b, "%3s %6s %5s %*s %2s%7s%7s%5s%5s%5s%5s  %2s %*s%*s%*s%*s %*s %-*s%s\n",
			direction(*p), p.kind, p.network, t.services, p.services, p.transport, p.mping, p.ping,
			p.send, p.recv, p.txn, p.blk, p.compact, t.addrs, p.addrs, t.limited, p.limited,
			t.age, p.age, asmap, p.asmap, t.id, p.id,
			address, onlyIf(view.addresses(), p.address), onlyIf(view.versions() && p.version != "0", p.version))
	}
	fmt.Fprintf(
		b, "                %*s         ms     ms  sec  sec  min  min                %*s\n\n", t.services, "", t.age,
		"min",
	)
}

func onlyIf(shown bool, text string) string {
	if shown {
		return text
	}
	return ""
}
