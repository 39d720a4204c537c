package sync

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/codec"
)

// whole is the actor's state over the pieces of a bench, without the actor.
func (b *bench) whole() *Sync {
	return &Sync{
		cfg: b.chain.cfg, log: b.download.log, chain: b.chain, peers: b.peers, fetches: b.fetches, compact: b.compact,
		download: b.download, headers: b.headers, announcer: b.announcer, givers: map[chainhash.Hash]giver{},
	}
}

// commands are the names of what a peer was sent.
func (w *wirePeer) commands() string {
	var all []string
	for _, m := range w.take() {
		all = append(all, m.Command())
	}
	return strings.Join(all, " ")
}

// Headers are asked for when a peer announces a block without a known header. A peer that is synced with is asked
// each time, another peer once, and not for the block that another peer was just asked for.
func TestInventoryAsksForHeaders(t *testing.T) {
	b := newBench(t, 10)
	s := b.whole()
	inv := func(typ wire.InvType, hashes ...chainhash.Hash) *wire.MsgInv {
		m := wire.NewMsgInv()
		for i := range hashes {
			m.InvList = append(m.InvList, wire.NewInvVect(typ, &hashes[i]))
		}
		return m
	}
	unknown, other, known := chainhash.Hash{1}, chainhash.Hash{2}, b.node.Active().At(5)
	top := b.extend(1)
	first, firstWire := b.join(p2p.OutboundFullRelay)
	second, secondWire := b.join(p2p.OutboundFullRelay)
	s.inventory(first, inv(wire.InvTypeTx, unknown))
	s.inventory(first, inv(wire.InvTypeBlock, known.Hash))
	if got := firstWire.commands(); got != "" || first.best != known || first.unknown != nil {
		t.Errorf("for nothing new: %s", got)
	}
	b.chain.imported = false
	if s.inventory(first, inv(wire.InvTypeBlock, unknown)); first.unknown != nil {
		t.Error("an announcement counts while block files are read")
	}
	b.chain.imported = true
	s.inventory(first, inv(wire.InvTypeWitnessBlock, top.Hash, unknown))
	if got := firstWire.commands(); got != "getheaders" || *first.unknown != unknown || !first.invAsked ||
		first.best != top {
		t.Errorf("for a new block: %s", got)
	}
	first.asked = time.Time{}
	s.inventory(first, inv(wire.InvTypeBlock, other))
	if got := firstWire.commands(); got != "" {
		t.Errorf("a second time before its turn: %s", got)
	}
	s.inventory(second, inv(wire.InvTypeBlock, unknown))
	if got := secondWire.commands(); got != "" || second.invAsked {
		t.Errorf("for a block that another was asked for: %s", got)
	}
	s.inventory(second, inv(wire.InvTypeBlock, other))
	if got := secondWire.commands(); got != "getheaders" || !second.invAsked {
		t.Errorf("for another block: %s", got)
	}
	// A peer that is synced with is asked each time; while it has an answer to give, that waits.
	first.syncing, first.asked = true, b.now
	s.inventory(first, inv(wire.InvTypeBlock, other))
	if got := firstWire.commands(); got != "" || !first.invWaits {
		t.Errorf("while it was asked: %s, waits %v", got, first.invWaits)
	}
	first.asked = time.Time{}
	b.headers.askForInv(first)
	if got := firstWire.commands(); got != "getheaders" || first.invWaits {
		t.Errorf("after its answer: %s, waits %v", got, first.invWaits)
	}
	s.inventory(first, inv(wire.InvTypeBlock, unknown, known.Hash))
	first.asked = time.Time{}
	first.invWaits = true
	first.unknown = nil
	if b.headers.askForInv(first); first.invWaits || firstWire.commands() != "" {
		t.Error("asked for a header that has come")
	}
	// Nothing is asked for a block that is on its way.
	b.download.inFlight[chainhash.Hash{7}] = []*blockRequest{{}}
	if s.inventory(second, inv(wire.InvTypeBlock, chainhash.Hash{7})); secondWire.commands() != "" {
		t.Error("asked for the header of a block on its way")
	}
}

// A peer is told of new blocks in the form that it asked for if they connect to a block that it knows, else by the
// hash of the tip.
func TestAnnouncements(t *testing.T) {
	for name, test := range map[string]struct {
		headers, compact bool  // what the peer asked for
		knows            int32 // the best block that it has
		blocks           []int32
		stale            bool // a block of another branch follows
		want             string
		sent             int32 // the best that it was told of
	}{
		"by hash":                      {false, false, 9, []int32{10}, false, "inv", 0},
		"by headers":                   {true, false, 9, []int32{10}, false, "headers", 10},
		"several by headers":           {true, false, 7, []int32{8, 9, 10}, false, "headers", 10},
		"only what is new":             {true, false, 9, []int32{9, 10}, false, "headers", 10},
		"by a compact block":           {false, true, 9, []int32{10}, false, "cmpctblock", 10},
		"compact before headers":       {true, true, 9, []int32{10}, false, "cmpctblock", 10},
		"two are too many for compact": {false, true, 8, []int32{9, 10}, false, "inv", 0},
		"two, one of them new":         {true, true, 9, []int32{9, 10}, false, "cmpctblock", 10},
		"two new ones by headers":      {true, true, 8, []int32{9, 10}, false, "headers", 10},
		"unconnected":                  {true, true, 7, []int32{9, 10}, false, "inv", 0},
		"known":                        {true, true, 10, []int32{10}, false, "", 0},
		"known by hash":                {false, false, 10, []int32{10}, false, "", 0},
		"too many":                     {true, false, 1, []int32{2, 3, 4, 5, 6, 7, 8, 9, 10}, false, "inv", 0},
		"as many as may be":            {true, false, 2, []int32{3, 4, 5, 6, 7, 8, 9, 10}, false, "headers", 10},
		"a block that left the chain":  {true, true, 9, []int32{10}, true, "inv", 0},
		"nothing":                      {true, true, 9, nil, false, "", 0},
	} {
		b := newBench(t, 10)
		p, w := b.join(p2p.OutboundFullRelay)
		p.wantsHeaders, p.wantsCompact, p.best = test.headers, test.compact, b.node.Active().At(test.knows)
		for _, height := range test.blocks {
			p.announcements = append(p.announcements, b.node.Active().At(height))
		}
		if test.stale {
			p.announcements = append(p.announcements, b.node.AddHeader(b.node.Active().At(9)))
		}
		b.announcer.announce(p)
		sent := slices.Clone(w.sent)
		if got := w.commands(); got != test.want || len(p.announcements) > 0 {
			t.Errorf("%s: %s, want %s", name, got, test.want)
			continue
		}
		height := int32(0)
		if p.bestSent != nil {
			height = p.bestSent.Height
		}
		if height != test.sent {
			t.Errorf("%s: told of %d, want %d", name, height, test.sent)
		}
		if len(sent) == 0 {
			continue
		}
		m, ok := sent[0].(*codec.Headers)
		if ok && (m.List[len(m.List)-1].BlockHash() != b.node.Active().At(10).Hash ||
			m.List[0].PrevBlock != b.node.Active().At(test.knows).Hash) {
			t.Errorf("%s: headers that do not follow", name)
		}
	}
}

// Old blocks are fetched of peers whose chain has them, with their witnesses; a peer that gives recent blocks only is
// asked for the last 286.
func TestMayGive(t *testing.T) {
	const network, limited, witness = wire.SFNodeNetwork, wire.SFNodeNetworkLimited, wire.SFNodeWitness
	b := newBench(t, 300)
	side := b.node.AddHeader(b.node.Active().At(9))
	for name, test := range map[string]struct {
		services wire.ServiceFlag
		best     *chainview.Block // nil: not known
		height   int32            // that it said
		want     int32            // the highest and lowest heights that it may give
		least    int32
	}{
		"a full node":          {wire.SFNodeNetwork | wire.SFNodeWitness, b.chain.tip, 0, 300, 0},
		"by what it said":      {wire.SFNodeNetwork | wire.SFNodeWitness, nil, 200, 200, 0},
		"its chain counts":     {wire.SFNodeNetwork | wire.SFNodeWitness, b.node.Active().At(150), 300, 150, 0},
		"of another branch":    {wire.SFNodeNetwork | wire.SFNodeWitness, side, 300, 9, 0},
		"without witnesses":    {wire.SFNodeNetwork, b.chain.tip, 0, -1, 0},
		"without blocks":       {wire.SFNodeWitness, b.chain.tip, 0, -1, 0},
		"recent blocks":        {wire.SFNodeNetworkLimited | wire.SFNodeWitness, b.chain.tip, 0, 300, 300 - 285},
		"both":                 {network | limited | witness, b.chain.tip, 0, 300, 0},
		"recent, by its words": {wire.SFNodeNetworkLimited | wire.SFNodeWitness, nil, 290, 290, 290 - 285},
	} {
		p, _ := b.join(p2p.OutboundFullRelay)
		said := &p.info.Remote.Version
		said.Services, p.best, said.StartHeight = test.services, test.best, test.height
		for height := range int32(301) {
			want := height <= test.want && height >= test.least
			if got := b.fetches.mayGive(p, b.node.Active().At(height)); got != want {
				t.Errorf("%s: height %d: %v", name, height, got)
				break
			}
		}
	}
}

// A peer is asked for nothing while it owes more than half, or gives no witnesses. A peer that gives only its last
// blocks is asked only for these.
func TestFetchFor(t *testing.T) {
	b := newBench(t, 1)
	top := b.extend(400)
	fetch := func(change func(p *peer)) []int32 {
		p, w := b.join(p2p.OutboundFullRelay)
		p.best = top
		change(p)
		b.download.fetchFor(p, true)
		got := b.asked(w)
		b.download.forget(p)
		return got
	}
	owes := func(n int32) func(p *peer) {
		return func(p *peer) {
			for i := range n {
				b.download.addRequest(p, top.Ancestor(300+i))
			}
		}
	}
	offers := func(services wire.ServiceFlag) func(p *peer) {
		return func(p *peer) { p.info.Remote.Version.Services = services }
	}
	tried := func(before time.Duration, and func(p *peer)) func(p *peer) {
		return func(p *peer) {
			and(p)
			p.starved, p.lastTriedFetch = true, b.now.Add(-before)
		}
	}
	for name, test := range map[string]struct {
		change func(p *peer)
		first  int32
		count  int
	}{
		"all":                     {func(*peer) {}, 2, 16},
		"it owes eight":           {owes(8), 2, 8},
		"it owes nine":            {owes(9), 0, 0},
		"no blocks":               {offers(wire.SFNodeWitness), 0, 0},
		"no witnesses":            {offers(wire.SFNodeNetwork), 0, 0},
		"nothing known":           {func(p *peer) { p.best = nil }, 0, 0},
		"no more work than we":    {func(p *peer) { p.best = b.node.Active().Tip() }, 0, 0},
		"recent blocks":           {offers(wire.SFNodeNetworkLimited | wire.SFNodeWitness), 401 - 285, 16},
		"tried a moment ago":      {tried(retryFetch-1, owes(1)), 0, 0},
		"tried a while ago":       {tried(retryFetch, owes(1)), 2, 15},
		"tried, but owes nothing": {tried(0, owes(0)), 2, 16},
	} {
		got := fetch(test.change)
		if len(got) != test.count || len(got) > 0 && got[0] != test.first {
			t.Errorf("%s: asked for %v", name, got)
		}
	}
	b.chain.cfg.MinimumWork = top.Work()
	if got := fetch(func(*peer) {}); len(got) != 16 {
		t.Errorf("with just the least work: %v", got)
	}
	if got := fetch(func(p *peer) { p.best = top.Parent }); len(got) != 0 {
		t.Errorf("with less work than the least: %v", got)
	}
}

// The chain gets at most 64 blocks, or 8 MB, at a time, and one however large.
func TestBatches(t *testing.T) {
	b := newBench(t, 1)
	blocks := branch(b.extend(100), 1)
	for name, test := range map[string]struct {
		size, want int
	}{
		"small": {1, 64}, "exactly 8 MB": {1 << 20, 8}, "more": {1<<20 + 1, 7}, "large": {9 << 20, 1},
	} {
		buffer := newReorderBuffer()
		for _, at := range blocks {
			buffer.put(&pendingBlock{block: at, raw: make([]byte, test.size)}, true)
			if len(buffer.ready) == 70 || test.size > 1 && len(buffer.ready) == 10 {
				break
			}
		}
		if got := len(buffer.next()); got != test.want {
			t.Errorf("%s: %d blocks, want %d", name, got, test.want)
		}
		if got := buffer.next(); got != nil {
			t.Errorf("%s: %d more while the chain has some", name, len(got))
		}
	}
	for bytes, full := range map[[2]int]bool{
		{maxPendingBytes, 0}: false, {maxPendingBytes + 1, 0}: true,
		{0, maxReadyBytes}: false, {0, maxReadyBytes + 1}: true,
	} {
		if got := (&reorderBuffer{bytes: bytes[0], waiting: bytes[1]}).isFull(); got != full {
			t.Errorf("%v: full %v", bytes, got)
		}
	}
}

// A ping is answered after the last block of its peer that is on its way.
func TestAfter(t *testing.T) {
	b := newBench(t, 1)
	blocks := branch(b.extend(4), 1)
	buffer := newReorderBuffer()
	var order []string
	note := func(what string) func() { return func() { order = append(order, what) } }
	if buffer.after(1, note("nothing")) {
		t.Error("waits for nothing")
	}
	for i, at := range blocks {
		h := &pendingBlock{block: at, peer: int64(1 + i%2)}
		if i == 2 {
			h.handled = note("block")
		}
		buffer.put(h, i == 0)
	}
	if !buffer.after(1, note("ping")) || buffer.after(3, note("stranger")) {
		t.Error("does not wait, or waits for a stranger")
	}
	for _, h := range buffer.next() {
		if h.block != blocks[2] && h.peer == 1 && h.handled != nil {
			t.Error("waits for another block than the last")
		}
		h.resumePeer()
		h.resumePeer()
	}
	if !slices.Equal(order, []string{"block", "ping"}) {
		t.Errorf("in the order %v", order)
	}
}

// The states of peers are complete for getpeerinfo, and a peer that leaves is forgotten everywhere.
func TestPeerStates(t *testing.T) {
	b := newBench(t, 10)
	s := b.whole()
	top := b.extend(3)
	p, _ := b.join(p2p.OutboundFullRelay)
	q, _ := b.join(p2p.Inbound)
	p.best, p.common, p.highBandwidth, p.lastBlock = top, b.node.Active().At(4), true, b.now
	b.download.addRequest(p, top)
	b.download.addRequest(p, top.Parent)
	b.compact.highBandwidth = []*peer{p}
	p.syncing, b.headers.syncing = true, 1
	states := s.peerStates()
	if got := states[p.info.ID]; got.SyncedHeaders != 13 || got.SyncedBlocks != 4 || got.PresyncedHeaders != -1 ||
		!slices.Equal(got.InFlight, []int32{13, 12}) || !got.CompactTo || !got.LastBlock.Equal(b.now) {
		t.Errorf("got %+v", got)
	}
	if got := states[q.info.ID]; got.SyncedHeaders != -1 || got.SyncedBlocks != -1 || len(got.InFlight) != 0 ||
		got.CompactTo {
		t.Errorf("of one of which nothing is known: %+v", got)
	}
	s.leave(99)
	s.leave(p.info.ID)
	if len(s.peerStates()) != 1 || len(b.download.inFlight) > 0 || len(b.compact.highBandwidth) > 0 ||
		b.headers.syncing != 0 {
		t.Error("a peer that left is there yet")
	}
}
