package sync

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/p2p"
)

// After any order of asking, giving and forgetting, the requests by block, the requests
// by peer, and the count of busy peers agree with a plain list of pairs.
func TestRequestsAgree(t *testing.T) {
	b := newBench(t, 1)
	top := b.extend(8)
	blocks := branch(top, b.chain.tip.Height)
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 2))
		d, peers := newDownload(b.chain.cfg, b.download.log, b.chain), make([]*peer, 4)
		for i := range peers {
			peers[i], _ = b.join(p2p.Inbound)
		}
		type pair struct {
			peer  *peer
			block *chainview.Block
		}
		var want []pair
		for step := range 200 {
			p, at := peers[rng.IntN(len(peers))], blocks[rng.IntN(len(blocks))]
			switch rng.IntN(8) {
			case 0:
				d.dropOf(p, at.Hash)
				want = slices.DeleteFunc(want, func(w pair) bool { return w == pair{p, at} })
			case 1:
				d.received(at.Hash)
				want = slices.DeleteFunc(want, func(w pair) bool { return w.block == at })
			case 2:
				d.forget(p)
				want = slices.DeleteFunc(want, func(w pair) bool { return w.peer == p })
			default:
				isNew := !slices.Contains(want, pair{p, at})
				if got := d.addRequest(p, at); (got != nil) != isNew {
					t.Fatalf("seed %d, step %d: new: %v, want %v", seed, step, got != nil, isNew)
				}
				if isNew {
					want = append(want, pair{p, at})
				}
			}
			var byPeer []pair
			busy, blocksAsked := 0, map[chainhash.Hash]bool{}
			for _, p := range peers {
				for _, r := range p.inFlight {
					byPeer = append(byPeer, pair{p, r.block})
				}
				busy += digit(len(p.inFlight) > 0)
			}
			for _, w := range want {
				blocksAsked[w.block.Hash] = true
				if !slices.Contains(byPeer, w) || d.requestOf(w.peer, w.block.Hash) == nil {
					t.Fatalf("seed %d, step %d: a request is lost", seed, step)
				}
			}
			if len(byPeer) != len(want) || d.downloading != busy || len(d.inFlight) != len(blocksAsked) {
				t.Fatalf("seed %d, step %d: %d requests, %d busy peers, %d blocks; want %d, %d, %d",
					seed, step, len(byPeer), d.downloading, len(d.inFlight), len(want), busy, len(blocksAsked))
			}
		}
	}
}

// Each peer is asked for 16 blocks, within the window, none twice. The peer that holds
// the window up is named once only its blocks are left.
func TestWindow(t *testing.T) {
	b := newBench(t, 1)
	top := b.extend(window + 40)
	first, firstWire := b.join(p2p.OutboundFullRelay)
	second, secondWire := b.join(p2p.OutboundFullRelay)
	for _, p := range []*peer{first, second} {
		p.best = top
	}
	heights := func(from, to int32) (list []int32) {
		for h := from; h <= to; h++ {
			list = append(list, h)
		}
		return list
	}
	b.download.fetchFor(first, true)
	if got := b.asked(firstWire); !slices.Equal(got, heights(2, 17)) {
		t.Fatalf("the first peer is asked for %v", got)
	}
	b.download.fetchFor(second, true)
	if got := b.asked(secondWire); !slices.Equal(got, heights(18, 33)) {
		t.Fatalf("the second peer is asked for %v", got)
	}
	// All but what the first peer owes is there.
	for h := int32(18); h <= 1+window; h++ {
		at := top.Ancestor(h)
		b.node.SetStatus(at, at.Status()|chainview.HasData)
		b.download.received(at.Hash)
	}
	b.download.fetchFor(second, true)
	if got := b.asked(secondWire); len(got) > 0 {
		t.Errorf("beyond the window: %v", got)
	}
	if first.stallingSince != b.now || !second.stallingSince.IsZero() {
		t.Errorf("stalling since %v and %v", first.stallingSince, second.stallingSince)
	}
	// A block of it moves the window on.
	at := top.Ancestor(2)
	b.node.SetStatus(at, at.Status()|chainview.HasData)
	b.download.received(at.Hash)
	if !first.stallingSince.IsZero() {
		t.Error("a peer that gave a block is still stalling")
	}
	b.download.fetchFor(second, true) // finds that the window has moved
	b.download.fetchFor(second, true)
	if got := b.asked(secondWire); !slices.Equal(got, []int32{window + 2}) {
		t.Errorf("after the window has moved by one: %v", got)
	}
}

// A stalling peer is left after a time that doubles up to a limit, and shrinks with each
// block. A peer whose block takes too long is left, later if more peers share the line.
func TestTimeouts(t *testing.T) {
	for _, test := range []struct {
		name     string
		stalls   bool
		others   int
		after    time.Duration
		left     string
		stallFor time.Duration
	}{
		{"stalls for a while", true, 0, stallAfter, "", stallAfter},
		{"stalls too long", true, 0, stallAfter + 1, "stalling block download", 2 * stallAfter},
		{"is slow", false, 0, 10 * time.Minute, "", stallAfter},
		{"is too slow", false, 0, 10*time.Minute + 1, "timeout downloading block", stallAfter},
		{"shares the line", false, 2, 20 * time.Minute, "", stallAfter},
		{"shares the line too long", false, 2, 20*time.Minute + 1, "timeout downloading block", stallAfter},
	} {
		b := newBench(t, 1)
		top := b.extend(1)
		p, w := b.join(p2p.OutboundFullRelay)
		b.download.addRequest(p, top)
		for range test.others {
			other, _ := b.join(p2p.Inbound)
			b.download.addRequest(other, top)
		}
		if test.stalls {
			p.stallingSince = b.now
		}
		b.now = b.now.Add(test.after)
		left := b.download.tick(p, b.now)
		if w.left != test.left || left != (test.left != "") || b.download.stallAfter != test.stallFor {
			t.Errorf("%s: left %v for %q, others may stall for %v", test.name, left, w.left, b.download.stallAfter)
		}
	}
	b := newBench(t, 1)
	p, _ := b.join(p2p.OutboundFullRelay)
	for range 10 {
		p.stallingSince = b.now.Add(-time.Hour)
		b.download.tick(p, b.now)
	}
	if got := b.download.stallAfter; got != maxStallAfter {
		t.Errorf("after many stalls: %v", got)
	}
	b.download.received(chainhash.Hash{1})
	if got := b.download.stallAfter; got != maxStallAfter*85/100 {
		t.Errorf("after a block: %v", got)
	}
	for range 100 {
		b.download.received(chainhash.Hash{1})
	}
	if got := b.download.stallAfter; got != stallAfter {
		t.Errorf("after many blocks: %v", got)
	}
}

// In any order of arrival and of acceptance by the chain, each block is handed to the
// chain once, after its parent or to be stored without its parent. Nothing is left
// over.
func TestReorderBuffer(t *testing.T) {
	b := newBench(t, 1)
	root := b.chain.tip
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 3))
		blocks := []*chainview.Block{root}
		for range 12 {
			blocks = append(blocks, b.node.AddHeader(blocks[rng.IntN(len(blocks))]))
		}
		buffer, handed := newReorderBuffer(), map[*chainview.Block]bool{root: true}
		resumed, waiting := 0, 0
		submit := func() {
			next := slices.Clone(buffer.next())
			buffer.done()
			for i, h := range next {
				before := slices.ContainsFunc(next[:i], func(o *pendingBlock) bool { return o.block == h.block.Parent })
				if !handed[h.block.Parent] && !h.storeUnlinked && !before {
					t.Fatalf("seed %d: %d comes before its parent", seed, h.block.Height)
				}
				if handed[h.block] {
					t.Fatalf("seed %d: a block comes twice", seed)
				}
				handed[h.block] = true
				if rng.IntN(8) == 0 {
					delete(handed, h.block)
					buffer.refused(h)
				}
				h.resumePeer()
			}
		}
		order := rng.Perm(len(blocks) - 1)
		for _, i := range order {
			h := &pendingBlock{
				block: blocks[i+1], raw: make([]byte, 1+rng.IntN(100)), peer: 1, storeUnlinked: rng.IntN(6) == 0,
			}
			waiting++
			h.handled = func() { resumed++ }
			buffer.put(h, handed[h.block.Parent])
			if !buffer.has(&h.block.Hash) {
				t.Fatalf("seed %d: a block is lost", seed)
			}
			if rng.IntN(3) == 0 {
				submit()
			}
		}
		for range 2 * len(blocks) {
			submit()
			buffer.storeLost(func(*chainhash.Hash) bool { return true })
		}
		// Blocks that are left wait for a refused block, which nobody is asked for
		// again.
		for len(buffer.blocks) > 0 {
			before := len(buffer.blocks)
			for range storeUnlinkedAfter {
				buffer.storeLost(func(*chainhash.Hash) bool { return false })
			}
			for _, h := range buffer.ready {
				h.storeUnlinked = true
			}
			submit()
			if len(buffer.blocks) == before {
				t.Fatalf("seed %d: %d blocks wait for ever", seed, before)
			}
		}
		if buffer.bytes != 0 || buffer.waiting != 0 || resumed != waiting ||
			len(buffer.blocks)+len(buffer.children)+len(buffer.ready) > 0 {
			t.Fatalf("seed %d: left over: %d bytes, %s; %d of %d peers are read on", seed, buffer.bytes,
				fmt.Sprint(len(buffer.blocks), len(buffer.children), len(buffer.ready)), resumed, waiting)
		}
	}
}

// Where the chain is slower than the peers, they are not asked for more; what was asked for
// comes in order and nothing stalls.
func TestNoMoreThanTheChainTakes(t *testing.T) {
	b := newBench(t, 1)
	top := b.extend(200)
	p, w := b.join(p2p.OutboundFullRelay)
	b.chain.learn(p, top.Hash)
	b.chain.findBest()
	d := b.download
	const size = 1 << 20
	held, most := 0, 0
	for at := b.chain.tip.Height; at < 150; {
		d.fetchFor(p, true)
		asked := b.asked(w)
		if d.buffer.waiting > maxReadyBytes && len(asked) > 0 {
			t.Fatalf("%d blocks asked for while %d bytes wait", len(asked), d.buffer.waiting)
		}
		for _, height := range asked {
			block := top.Ancestor(height)
			d.dropOf(p, block.Hash)
			d.buffer.put(&pendingBlock{block: block, raw: make([]byte, size), peer: 1}, b.chain.have(block.Parent))
			held++
		}
		most = max(most, held)
		if len(asked) > 0 {
			continue // the chain has not taken any yet
		}
		taken := d.buffer.next()
		if len(taken) == 0 {
			t.Fatal("nothing is asked for, and nothing is there for the chain")
		}
		for _, h := range taken {
			if at++; h.block.Height != at {
				t.Fatalf("block %d comes when %d is due", h.block.Height, at)
			}
			b.node.SetStatus(h.block, h.block.Status()|chainview.HasData)
			held--
		}
		d.buffer.done()
	}
	if want := maxReadyBytes/size + perPeer; most > want || most < maxReadyBytes/size {
		t.Errorf("%d blocks of 1 MiB were held, at most %d are to be", most, want)
	}
	if p.stallingSince != (time.Time{}) || w.left != "" {
		t.Errorf("the peer counts as slow: %v %q", p.stallingSince, w.left)
	}
	d.buffer.clear()
	if d.buffer.waiting != 0 {
		t.Errorf("%d bytes are left over", d.buffer.waiting)
	}
}
