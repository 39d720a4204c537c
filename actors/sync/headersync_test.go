package sync

import (
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/p2p"
)

// An outbound peer whose chain stays behind ours is asked after 20 minutes, and left two minutes later. A peer stays
// if it catches up with the tip that the watch began with, is protected, or was not chosen by the node.
func TestWatchChain(t *testing.T) {
	b := newBench(t, 10)
	at := func(height int32) *chainview.Block { return b.node.Active().At(height) }
	start := b.now
	p, w := b.join(p2p.OutboundFullRelay)
	p.syncing, p.best = true, at(5)
	watch := func(after time.Duration) (asked bool) {
		b.now = start.Add(after)
		b.headers.watchChain(p, b.now)
		return len(w.take()) > 0
	}
	const early = chainTimeout
	if watch(0) || watch(early) || w.left != "" {
		t.Fatalf("asked or left within 20 minutes: %q", w.left)
	}
	if !watch(early+1) || watch(early+1+2*time.Minute) || w.left != "" {
		t.Fatalf("not asked after 20 minutes, or left at once: %q", w.left)
	}
	if watch(early + 2 + 2*time.Minute); w.left != "outbound peer has old chain" {
		t.Errorf("left for %q", w.left)
	}
	for name, change := range map[string]func(p *peer){
		"it has our tip":   func(p *peer) { p.best = at(10) },
		"it is protected":  func(p *peer) { p.chain.protected = true },
		"it is not synced": func(p *peer) { p.syncing = false },
		"by hand":          func(p *peer) { p.info.Type = p2p.Manual },
	} {
		p, w := b.join(p2p.BlockRelayOnly)
		p.syncing = true
		change(p)
		for i := range 200 {
			b.headers.watchChain(p, start.Add(time.Duration(i)*time.Minute))
		}
		if w.left != "" || len(w.sent) > 0 {
			t.Errorf("%s: left for %q, %d messages", name, w.left, len(w.sent))
		}
	}
	// A peer without any chain is left as well; a peer that catches up with the old tip is given 20 minutes more.
	p, w = b.join(p2p.BlockRelayOnly)
	p.syncing = true
	for _, after := range []time.Duration{0, early + 1, early + 2 + 2*time.Minute} {
		watch(after)
	}
	if w.left != "outbound peer has old chain" {
		t.Errorf("without a chain: left for %q", w.left)
	}
	p, w = b.join(p2p.OutboundFullRelay)
	p.syncing, p.best = true, at(5)
	watch(0)
	b.node.MineN(1)
	p.best = at(10)
	watch(early + 1)
	if watch(2*early + 1); w.left != "" || p.chain.asked || p.chain.at != at(11) {
		t.Errorf("it has caught up: left for %q, asked %v", w.left, p.chain.asked)
	}
}

// Four outbound peers at most are protected, none of them twice, and a place is free when one leaves.
func TestProtect(t *testing.T) {
	b := newBench(t, 10)
	tip := b.node.Active().Tip()
	join := func(typ p2p.ConnectionType, best *chainview.Block) *peer {
		p, _ := b.join(typ)
		p.best = best
		b.headers.protect(p)
		return p
	}
	for name, p := range map[string]*peer{
		"behind": join(p2p.OutboundFullRelay, b.node.Active().At(9)), "nothing known": join(p2p.OutboundFullRelay, nil),
		"blocks only": join(p2p.BlockRelayOnly, tip), "inbound": join(p2p.Inbound, tip),
		"by hand": join(p2p.Manual, tip),
	} {
		if p.chain.protected {
			t.Errorf("%s: protected", name)
		}
	}
	var all []*peer
	for range maxProtected {
		all = append(all, join(p2p.OutboundFullRelay, tip))
	}
	b.headers.protect(all[0])
	for i, p := range all {
		if !p.chain.protected {
			t.Errorf("peer %d is not protected", i)
		}
	}
	if fifth := join(p2p.OutboundFullRelay, tip); fifth.chain.protected || b.headers.protected != maxProtected {
		t.Errorf("a fifth is protected; %d count", b.headers.protected)
	}
	b.headers.forget(all[1])
	if again := join(p2p.OutboundFullRelay, tip); !again.chain.protected {
		t.Error("no place is free after a peer has left")
	}
}

// The single peer whose headers are asked for is left if it is too slow and another peer could be asked. A peer that
// may not be banned stays, and another peer is asked.
func TestHeadersTimeout(t *testing.T) {
	const slow = "timeout downloading headers"
	for _, test := range []struct {
		name   string
		after  time.Duration
		noBan  bool
		others int
		typ    p2p.ConnectionType
		age    time.Duration // of the best header
		left   string
		syncs  bool
	}{
		{"in time", headersTimeout - 1, false, 1, p2p.OutboundFullRelay, 48 * time.Hour, "", true},
		{"too late", headersTimeout, false, 1, p2p.OutboundFullRelay, 48 * time.Hour, slow, true},
		{"no other", headersTimeout, false, 0, p2p.OutboundFullRelay, 48 * time.Hour, "", true},
		{"an inbound one", headersTimeout, false, 1, p2p.Inbound, 48 * time.Hour, slow, true},
		{"may not be banned", headersTimeout, true, 1, p2p.OutboundFullRelay, 48 * time.Hour, "", false},
		{"recent headers", headersTimeout, false, 1, p2p.OutboundFullRelay, recentHeaders - time.Minute, "", true},
		{"a day old", headersTimeout, false, 1, p2p.OutboundFullRelay, recentHeaders, slow, true},
	} {
		b := newBench(t, 5)
		b.now = b.chain.best.Time().Add(test.age)
		p, w := b.join(test.typ)
		p.info.Permissions.NoBan = test.noBan
		for range test.others {
			b.join(p2p.OutboundFullRelay)
		}
		p.syncing, p.headersBy, b.headers.syncing = true, b.now.Add(headersTimeout), 1
		b.headers.watchTimeout(p, b.now.Add(test.after))
		if w.left != test.left || p.syncing != test.syncs || (b.headers.syncing == 1) != test.syncs {
			t.Errorf("%s: left for %q, syncing %v (%d)", test.name, w.left, p.syncing, b.headers.syncing)
		}
		if recent := test.age < recentHeaders; p.headersBy.IsZero() != (recent || test.noBan) {
			t.Errorf("%s: waits until %v", test.name, p.headersBy)
		}
	}
}

// Headers are asked of one peer until the best header is less than a day old, then of all. If a peer has none for
// two minutes, another peer is asked.
func TestStartHeaders(t *testing.T) {
	b := newBench(t, 5)
	b.now = b.chain.best.Time().Add(recentHeaders)
	first, firstWire := b.join(p2p.OutboundFullRelay)
	second, secondWire := b.join(p2p.OutboundFullRelay)
	none, noneWire := b.join(p2p.OutboundFullRelay)
	none.info.Remote.Version.Services = wire.SFNodeWitness
	start := func(from bool) (asked []int) {
		for i, p := range []*peer{first, second, none} {
			b.headers.start(p, from)
			if len([]*wirePeer{firstWire, secondWire, noneWire}[i].take()) > 0 {
				asked = append(asked, i)
			}
		}
		return asked
	}
	if asked := start(false); asked != nil {
		t.Errorf("asked of peers that blocks are not taken of: %v", asked)
	}
	if asked := start(true); !slices.Equal(asked, []int{0}) || !first.syncing || second.syncing {
		t.Errorf("asked at first: %v", asked)
	}
	if want := b.now.Add(headersTimeout + 144*perHeader); !first.headersBy.Equal(want) {
		t.Errorf("must be there by %v, want %v", first.headersBy, want)
	}
	first.emptySince = b.now
	b.now = b.now.Add(2 * time.Minute)
	b.headers.stopHeadersSync(first)
	if asked := start(true); asked != nil || first.headersStopped {
		t.Errorf("another is asked in time: %v", asked)
	}
	b.now = b.now.Add(1)
	b.headers.stopHeadersSync(second)
	b.headers.stopHeadersSync(first)
	b.headers.stopHeadersSync(first)
	if b.headers.syncing != 0 || !first.headersStopped || !first.headersBy.IsZero() {
		t.Errorf("%d are asked, the first has stopped: %v", b.headers.syncing, first.headersStopped)
	}
	if asked := start(true); !slices.Equal(asked, []int{1}) {
		t.Errorf("asked after the first had none: %v", asked)
	}
	b.headers.forget(first) // does not count any more
	if b.headers.syncing != 1 {
		t.Errorf("%d are asked after one left that had stopped", b.headers.syncing)
	}
	if b.headers.forget(second); b.headers.syncing != 0 {
		t.Errorf("%d are asked after all left", b.headers.syncing)
	}
	recent := newBench(t, 5)
	recent.now = recent.chain.best.Time().Add(recentHeaders - 1)
	for i := range 3 {
		p, w := recent.join(p2p.Inbound)
		if recent.headers.start(p, false); len(w.sent) != 1 || recent.headers.syncing != i+1 {
			t.Errorf("peer %d is not asked though headers are recent", i)
		}
	}
}

// sendheaders is said once, to peers that know it and have a chain with more than the least work.
func TestSayHeaders(t *testing.T) {
	b := newBench(t, 5)
	b.chain.cfg.MinimumWork = b.node.Active().At(3).Work()
	for name, test := range map[string]struct {
		version int32
		best    int32 // 0: none known
		says    bool
	}{
		"right": {70012, 4, true}, "old": {70011, 4, false}, "no more than the least work": {70016, 3, false},
		"nothing known": {70016, 0, false},
	} {
		p, w := b.join(p2p.OutboundFullRelay)
		p.info.Remote.Common = test.version
		if test.best > 0 {
			p.best = b.node.Active().At(test.best)
		}
		b.headers.sayHeaders(p)
		b.headers.sayHeaders(p)
		if len(w.sent) != digit(test.says) {
			t.Errorf("%s: said %d times", name, len(w.sent))
		}
	}
}

// Headers with less than the least work are kept where the best chain has them already, or of a peer that may not be
// banned.
func TestLowWorkHeaders(t *testing.T) {
	remote := newBench(t, 12)
	var list []header
	for h := int32(11); h <= 12; h++ {
		at := remote.node.Active().At(h).Header()
		list = append(list, newHeader(&at, nil))
	}
	for name, test := range map[string]struct{ noBan, known, taken bool }{
		"of anybody": {false, false, false}, "not to be banned": {true, false, true}, "known": {false, true, true},
	} {
		b := newBench(t, 10)
		if test.known {
			b = newBench(t, 12)
		}
		b.chain.cfg.MinimumWork = new(big.Int).Lsh(b.chain.tip.Work(), 1)
		p, _ := b.join(p2p.OutboundFullRelay)
		p.info.Permissions.NoBan = test.noBan
		if _, ok := b.headers.received(p, list); ok != test.taken {
			t.Errorf("%s: taken %v", name, ok)
		}
	}
}
