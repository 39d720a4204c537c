package sync

import (
	"errors"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/peerhandle"
	"github.com/seed61375155/trawl/messages"
)

// As in Core, no peer is left for a refused block that an honest peer may send. For a compact block a peer is left
// only over its header. An inbound peer stays if the block is known to be invalid.
func TestPunish(t *testing.T) {
	for reason, want := range map[string]string{ // who is left: f(ull) and c(ompact) blocks of o(utbound) and i(nbound)
		"duplicate": "", "inconclusive": "", "time-too-new": "", "too-little-chainwork": "",
		"duplicate-invalid": "fo",
		"high-hash":         "fo fi co ci", "bad-diffbits": "fo fi co ci", "time-too-old": "fo fi co ci",
		"time-timewarp-attack": "fo fi co ci", "bad-prevblk": "fo fi co ci", "prev-blk-not-found": "fo fi co ci",
		"bad-header": "fo fi co ci", "bad-version(0x00000001)": "fo fi co ci", "bad-auxpow-size": "fo fi co ci",
		"bad-txnmrklroot": "fo fi", "bad-cb-amount": "fo fi", "block-script-verify-flag-failed": "fo fi",
		"unexpected-witness": "fo fi", "bad-blk-length": "fo fi",
	} {
		var got []string
		b := newBench(t, 1)
		for _, kind := range []string{"fo", "fi", "co", "ci"} {
			typ := p2p.OutboundFullRelay
			if kind[1] == 'i' {
				typ = p2p.Inbound
			}
			p, w := b.join(typ)
			punish(p, &messages.RejectError{Reason: reason}, kind[0] == 'c', "the text")
			if w.left == "!the text" {
				got = append(got, kind)
			} else if w.left != "" {
				t.Errorf("%s: left for %q", reason, w.left)
			}
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s: left are %q, want %q", reason, text, want)
		}
	}
	b := newBench(t, 1)
	p, w := b.join(p2p.OutboundFullRelay)
	if punish(p, errors.New("disk full"), false, "the text"); w.left != "" {
		t.Errorf("left over a chain that failed: %q", w.left)
	}
	mutated := []string{
		"bad-txnmrklroot", "bad-txns-duplicate", "bad-witness-merkle-match", "bad-witness-nonce-size",
		"unexpected-witness",
	}
	for _, reason := range append(mutated, "bad-cb-amount", "high-hash", "") {
		if isMutated(reason) != slices.Contains(mutated, reason) {
			t.Errorf("%s: mutated: %v", reason, isMutated(reason))
		}
	}
}

// The kinds of a peer follow from its services and its type.
func TestPeerKinds(t *testing.T) {
	const network, limited, witness = wire.SFNodeNetwork, wire.SFNodeNetworkLimited, wire.SFNodeWitness
	for _, test := range []struct {
		typ      p2p.ConnectionType
		services wire.ServiceFlag
		noBan    bool
		want     string // p(referred), b(locks), l(imited), a(utomatic), w(itnesses), i(nbound)
	}{
		{p2p.OutboundFullRelay, network | witness, false, "pbaw"},
		{p2p.BlockRelayOnly, network | limited, false, "pba"},
		{p2p.OutboundFullRelay, limited | witness, false, "pblaw"},
		{p2p.OutboundFullRelay, witness, false, "aw"},
		{p2p.Manual, network, false, "pb"},
		{p2p.AddrFetch, network, false, "b"},
		{p2p.AddrFetch, network, true, "b"},
		{p2p.Inbound, network, false, "bi"},
		{p2p.Inbound, network, true, "pbi"},
		{p2p.Inbound, 0, true, "i"},
		{p2p.Feeler, network, false, "pb"},
	} {
		p := &peer{info: peerhandle.Info{Type: test.typ}}
		p.info.Remote.Version.Services, p.info.Permissions.NoBan = test.services, test.noBan
		var letters strings.Builder
		for _, has := range []struct {
			is     bool
			letter string
		}{
			{p.isPreferred(), "p"},
			{p.servesBlocks(), "b"},
			{p.isLimited(), "l"},
			{p.isAutomatic(), "a"},
			{p.servesWitnesses(), "w"},
			{p.isInbound(), "i"},
		} {
			if has.is {
				letters.WriteString(has.letter)
			}
		}
		if got := letters.String(); got != test.want {
			t.Errorf("%v with %v, not banned %v: %s, want %s", test.typ, test.services, test.noBan, got, test.want)
		}
	}
}

// Preferred peers come first, then those that were there first; and leave one by one.
func TestPeerSet(t *testing.T) {
	b := newBench(t, 1)
	in, _ := b.join(p2p.Inbound)
	out, _ := b.join(p2p.OutboundFullRelay)
	in2, _ := b.join(p2p.Inbound)
	out2, _ := b.join(p2p.Manual)
	if want := []*peer{out, out2, in, in2}; !slices.Equal(b.peers.list, want) || b.peers.preferred() != 2 {
		t.Errorf("in another order; %d preferred", b.peers.preferred())
	}
	b.peers.remove(out)
	if b.peers.has(out) || !b.peers.has(in2) || b.peers.byID(out.info.ID) != nil || b.peers.byID(in.info.ID) != in ||
		b.peers.preferred() != 1 {
		t.Error("a peer that left is there")
	}
}

// The initial download ends once the tip has the least work and is no older than it may be, and never begins again.
func TestInitialDownload(t *testing.T) {
	b := newBench(t, 5)
	tip := b.node.Active().Tip()
	more := new(big.Int).Add(tip.Work(), big.NewInt(1))
	for _, test := range []struct {
		name     string
		age      time.Duration
		work     *big.Int
		imported bool
		want     bool
	}{
		{"at the limits", 24 * time.Hour, tip.Work(), true, false},
		{"too old", 24*time.Hour + 1, tip.Work(), true, true},
		{"too little work", time.Hour, more, true, true},
		{"block files are read", time.Hour, tip.Work(), false, true},
	} {
		b.chain.leftIBD, b.chain.imported, b.chain.cfg.MinimumWork = false, test.imported, test.work
		b.now = tip.Time().Add(test.age)
		if got := b.chain.initialDownload(); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
		if b.now = tip.Time().Add(99 * 24 * time.Hour); b.chain.initialDownload() != test.want {
			t.Errorf("%s: later %v", test.name, !test.want)
		}
	}
	reader := b.chain.reader
	b.chain.leftIBD, b.chain.imported, b.chain.reader = false, true, nil
	if !b.chain.initialDownload() {
		t.Error("without a chain the node is not in initial download")
	}
	b.chain.reader = reader
	for age, direct := range map[time.Duration]bool{200*time.Minute - 1: true, 200 * time.Minute: false} {
		if b.now = tip.Time().Add(age); b.chain.canFetchDirectly() != direct {
			t.Errorf("tip of %v: fetches directly: %v", age, !direct)
		}
	}
	// The least work of new headers is the greater of both bounds.
	if b.chain.cfg.MinimumWork = more; b.chain.leastWork().Cmp(more) != 0 {
		t.Errorf("least work %v", b.chain.leastWork())
	}
	near := b.chain.nearWork(tip)
	if b.chain.cfg.MinimumWork = near; b.chain.leastWork().Cmp(near) != 0 {
		t.Errorf("least work %v", b.chain.leastWork())
	}
}

// A locator names the last eleven blocks, then ever fewer, and the first one.
func TestLocator(t *testing.T) {
	b := newBench(t, 60)
	for height, want := range map[int32][]int32{
		0: {0}, 1: {1, 0}, 10: {10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}, 12: {12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0},
		30: {30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 17, 13, 5, 0},
		60: {60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 47, 43, 35, 19, 0},
	} {
		var got []int32
		for _, hash := range locator(b.node.Active().At(height)) {
			got = append(got, b.node.Lookup(hash).Height)
		}
		if !slices.Equal(got, want) {
			t.Errorf("height %d: %v, want %v", height, got, want)
		}
	}
}

// A user asks a peer for a block: why that fails, and that it replaces what others were asked.
func TestFetchFrom(t *testing.T) {
	b := newBench(t, 1)
	top := b.extend(3)
	s := &Sync{cfg: b.chain.cfg, log: b.download.log, chain: b.chain, peers: b.peers, download: b.download}
	p, w := b.join(p2p.OutboundFullRelay)
	other, _ := b.join(p2p.OutboundFullRelay)
	old, _ := b.join(p2p.OutboundFullRelay)
	old.info.Remote.Version.Services = wire.SFNodeNetwork
	ask := func(hash chainhash.Hash, id int64) error {
		return s.fetchFrom(nodemsg.FetchBlockFrom{Hash: hash, Peer: id})
	}
	b.chain.imported = false
	if err := ask(top.Hash, p.info.ID); !errors.Is(err, nodemsg.ErrImporting) {
		t.Errorf("while files are read: %v", err)
	}
	b.chain.imported = true
	for name, test := range map[string]struct {
		hash chainhash.Hash
		id   int64
		want error
	}{
		"no block":   {chainhash.Hash{1}, p.info.ID, messages.ErrBlockNotFound},
		"no peer":    {top.Hash, 99, nodemsg.ErrNoPeer},
		"no witness": {top.Hash, old.info.ID, nodemsg.ErrPreSegwitPeer},
	} {
		if err := ask(test.hash, test.id); !errors.Is(err, test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	b.download.addRequest(other, top)
	if err := ask(top.Hash, p.info.ID); err != nil || !slices.Equal(b.asked(w), []int32{4}) {
		t.Errorf("not asked: %v", err)
	}
	if b.download.requestOf(other, top.Hash) != nil || !b.download.asked[top.Hash] {
		t.Error("the other peer is still asked")
	}
	if err := ask(top.Hash, p.info.ID); !errors.Is(err, nodemsg.ErrAlreadyRequested) || len(b.asked(w)) > 0 {
		t.Errorf("asked twice: %v", err)
	}
	if b.download.requestOf(p, top.Hash) == nil {
		t.Error("the request is lost")
	}
}

// Messages of other peers wait for headers that are with the chain, but for blocks and pings.
func TestMustWait(t *testing.T) {
	for _, test := range []struct {
		m     wire.Message
		waits bool
	}{
		{&wire.MsgBlock{}, false},
		{&codec.Block{}, false},
		{&wire.MsgPing{}, false},
		{&wire.MsgInv{}, true},
		{&codec.Headers{}, true},
		{&codec.CmpctBlock{}, true},
		{&codec.BlockTxn{}, true},
		{&wire.MsgNotFound{}, true},
	} {
		s := new(Sync)
		m := peerhandle.Received{Message: p2p.Message{Message: test.m}}
		if s.mustWait(m) {
			t.Errorf("%T waits for nothing", test.m)
		}
		if s.headersInFlight = 1; s.mustWait(m) != test.waits {
			t.Errorf("%T waits: %v", test.m, !test.waits)
		}
	}
	for _, size := range []int{0, 3, 5, 9} {
		if got := blockBytes(make([]byte, 5), size); len(got) != min(5, size) {
			t.Errorf("a block of %s bytes in 5: %d", strconv.Itoa(size), len(got))
		}
	}
}

// A block that proves to be wrong later costs its giver the connection, and is not the best header any more.
func TestRefusedLate(t *testing.T) {
	b := newBench(t, 5)
	s := b.whole()
	top := b.extend(2)
	s.chain.findBest()
	if s.chain.best != top {
		t.Fatal("another best header")
	}
	p, w := b.join(p2p.OutboundFullRelay)
	s.rememberGiver(&pendingBlock{block: top.Parent, peer: p.info.ID})
	b.node.SetStatus(top.Parent, top.Parent.Status()|chainview.Failed)
	b.node.SetStatus(top, top.Status()|chainview.FailedAncestor)
	reason := &messages.RejectError{Reason: "bad-cb-amount"}
	late := []nodemsg.LateRefusal{{Hash: top.Parent.Hash, Reason: reason}, {Hash: top.Hash, Reason: reason}}
	s.refusedLate(late)
	if s.chain.best != b.node.Active().Tip() || w.left != "!"+reason.Error() || len(s.givers) != 0 {
		t.Errorf("best %d, left for %q, %d givers", s.chain.best.Height, w.left, len(s.givers))
	}
	w.left = ""
	if s.refusedLate(late); w.left != "" {
		t.Errorf("left twice, for %q", w.left)
	}
}

// The giver of a new block is chosen to announce compact blocks if that block is valid and the last on its way, and
// the initial download is over.
func TestWhoIsChosen(t *testing.T) {
	for name, test := range map[string]struct {
		change func(b *bench, p *peer, at *chainview.Block)
		chosen bool
	}{
		"the last one":    {func(*bench, *peer, *chainview.Block) {}, true},
		"in download":     {func(b *bench, _ *peer, _ *chainview.Block) { b.now = b.now.Add(48 * time.Hour) }, false},
		"no compact ones": {func(_ *bench, p *peer, _ *chainview.Block) { p.speaksCompact = false }, false},
		"others follow": {func(b *bench, p *peer, at *chainview.Block) {
			b.download.addRequest(p, at.Parent)
		}, false},
		"not valid yet": {func(b *bench, _ *peer, at *chainview.Block) {
			b.node.SetStatus(at, chainview.HasData)
		}, false},
	} {
		b := newBench(t, 10)
		s := b.whole()
		p, w := b.join(p2p.OutboundFullRelay)
		p.speaksCompact = true
		at := b.node.Active().Tip()
		b.node.SetStatus(at, at.Status()|chainview.Valid)
		b.download.addRequest(p, at)
		test.change(b, p, at)
		s.connected(p, &pendingBlock{block: at, peer: p.info.ID})
		if got := w.commands(); p.highBandwidth != test.chosen || (got == "sendcmpct") != test.chosen {
			t.Errorf("%s: chosen %v, sent %q", name, p.highBandwidth, got)
		}
		if !p.lastBlock.Equal(b.now) || b.download.isWanted(at.Hash) {
			t.Errorf("%s: the block is not noted", name)
		}
		_, remembered := s.givers[at.Hash]
		if valid := at.Status()&chainview.Valid != 0; remembered == valid {
			t.Errorf("%s: the giver is remembered: %v", name, remembered)
		}
		s.connected(nil, &pendingBlock{block: at}) // its peer has left
	}
	b := newBench(t, 1)
	s, top := b.whole(), b.extend(2)
	for i := range maxGivers - 1 {
		s.givers[chainhash.Hash{byte(i), byte(i >> 8)}] = giver{}
	}
	if s.rememberGiver(&pendingBlock{block: top.Parent}); len(s.givers) != maxGivers {
		t.Errorf("%d givers are remembered", len(s.givers))
	}
	if s.rememberGiver(&pendingBlock{block: top}); len(s.givers) != 1 {
		t.Errorf("%d givers are remembered, want the last", len(s.givers))
	}
}
