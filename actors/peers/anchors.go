package peers

import (
	"time"

	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/addrman"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/store/nodefiles"
)

const (
	// maxAnchors is how many anchors are kept (Core: MAX_BLOCK_RELAY_ONLY_ANCHORS).
	maxAnchors = 2

	// neverSeen is the time of an address that no node has sent, since 1970 in
	// seconds (Core: CAddress::TIME_INIT).
	neverSeen = 100_000_000
)

// anchors returns the first maxAnchors peers with which only blocks are exchanged. No other
// node knows of these connections. So no attacker can choose the first peers of the next
// start.
func (s peerSet) anchors() []codec.Address {
	list := []codec.Address{}
	for _, e := range s {
		if e.typ != p2p.BlockRelayOnly || len(list) == maxAnchors {
			continue
		}
		a := codec.Address{Time: neverSeen, Addr: e.addr}
		if e.attempt != nil && e.attempt.seen != 0 {
			a.Time, a.Services = e.attempt.seen, e.attempt.services
		}
		list = append(list, a)
	}
	return list
}

// saveAnchors writes the anchors when the table stops. Without them the next start finds
// other peers.
func (b *base) saveAnchors(list []codec.Address) {
	if !b.cfg.KeepAnchors {
		return
	}
	began := time.Now()
	const line = "DumpAnchors: Flush %d outbound block-relay-only peer addresses to anchors.dat "
	b.printf(line+"started", len(list))
	files := nodefiles.Files{FS: b.cfg.FS, Dir: b.cfg.Dir}
	if err := files.SaveAnchors(addrman.MarshalAnchors(list, b.cfg.Network.Magic)); err != nil {
		b.cfg.Log.Error("anchors not written", "err", err)
	}
	b.printf(line+"completed (%.2fs)", len(list), time.Since(began).Seconds())
}

// announceAnchors says once how many anchors there are.
func (d *dialer) announceAnchors() {
	if d.cfg.KeepAnchors && !d.announced {
		d.announced = true
		d.printf("%d block-relay-only anchors will be tried for connections.", len(d.anchors))
	}
}
