package sync_test

import (
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/sync"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/peerhandle"
)

// A chain of more than one message of headers and more than one window of blocks
// comes over from one peer.
func TestSyncsFromOnePeer(t *testing.T) {
	bubble(t, func(r *rig) {
		remote := r.remote()
		tip := grow(remote, 3100)
		p := r.join(p2p.OutboundFullRelay)
		p.serve(remote)
		if r.height() != tip.Height {
			t.Fatalf("at height %d, want %d (%q)", r.height(), tip.Height, p.gone)
		}
		if p.handled() != p.said {
			t.Errorf("%d of %d messages are credited", p.handled(), p.said)
		}
	})
}

// A peer that has no headers to give, while the chain is old, does not keep another
// peer's headers away.
func TestFirstPeerHasNothing(t *testing.T) {
	bubble(t, func(r *rig) {
		remote := r.remote()
		tip := grow(remote, 30)
		empty := r.join(p2p.OutboundFullRelay)
		full := r.join(p2p.OutboundFullRelay)
		empty.say(new(codec.Headers))
		time.Sleep(time.Minute)
		if len(take[*wire.MsgGetHeaders](full)) != 0 {
			t.Error("another peer is asked at once")
		}
		time.Sleep(2 * time.Minute)
		full.serve(remote)
		if r.height() != tip.Height {
			t.Errorf("at height %d, want %d", r.height(), tip.Height)
		}
		empty.leave("test")
		if again := r.join(p2p.OutboundFullRelay); len(take[*wire.MsgGetHeaders](again)) != 0 {
			t.Error("two peers are asked for headers at a time")
		}
	})
}

// Blocks that come in any order reach the chain in theirs.
func TestBlocksOutOfOrder(t *testing.T) {
	bubble(t, func(r *rig) {
		remote := r.remote()
		grow(remote, 40)
		p := r.join(p2p.OutboundFullRelay)
		p.forget()
		p.sayHeaders(remote, 1, 40)
		for r.height() < 40 {
			asked := p.asked(remote)
			if len(asked) == 0 {
				t.Fatalf("nothing is asked for at height %d", r.height())
			}
			slices.Reverse(asked)
			for _, h := range asked {
				p.sayBlock(remote, h)
			}
		}
		if r.early > 0 {
			t.Errorf("%d blocks reached the chain before their parents", r.early)
		}
	})
}

// Every peer is asked for 16 blocks, each for others, and never beyond the window.
func TestWindow(t *testing.T) {
	bubble(t, func(r *rig) {
		remote := r.remote()
		grow(remote, 1500)
		var peers []*fakePeer
		for range 3 {
			p := r.join(p2p.OutboundFullRelay)
			p.forget()
			peers = append(peers, p)
		}
		for _, p := range peers {
			p.sayHeaders(remote, 1, 1500)
		}
		first := peers[0].asked(remote)
		if len(first) != 16 || first[0] != 1 || first[15] != 16 {
			t.Fatalf("first peer is asked for %v", first)
		}
		others := peers[1:]
		highest := int32(0)
		for range 200 {
			for _, p := range others {
				asked := p.asked(remote)
				for _, h := range asked {
					highest = max(highest, h)
					p.sayBlock(remote, h)
				}
			}
		}
		if highest != 1024 {
			t.Errorf("blocks up to %d were asked for, want 1024", highest)
		}
		if r.height() != 0 {
			t.Fatalf("at height %d", r.height())
		}
		// The first peer holds up the window, and is left.
		time.Sleep(4 * time.Second)
		synctest.Wait()
		if peers[0].gone != "stalling block download" {
			t.Fatalf("the stalling peer: %q", peers[0].gone)
		}
		for r.height() < 1500 {
			for _, p := range others {
				p.serve(remote)
			}
			if others[0].gone != "" || others[1].gone != "" {
				t.Fatalf("at height %d: honest peers left: %q, %q", r.height(), others[0].gone, others[1].gone)
			}
		}
	})
}

// A peer that sends what breaks a rule is left, with Core's reason.
func TestPunishes(t *testing.T) {
	for _, test := range []struct {
		name   string
		reason string // of the chain
		at     int32
		want   string
	}{
		{"bad header", "bad-diffbits", 5, "!invalid header received"},
		{"header from the future", "time-too-new", 5, ""},
		{"known to be invalid", "duplicate-invalid", 5, "!invalid header received"},
		{"bad block", "body bad-cb-amount", 5, "!bad-cb-amount"},
		{"mutated block", "body bad-txnmrklroot", 5, "!mutated block"},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(r *rig) {
				remote := r.remote()
				grow(remote, 10)
				r.reject[remote.Active().At(test.at).Hash] = test.reason
				p := r.join(p2p.OutboundFullRelay)
				p.serve(remote)
				if p.gone != test.want {
					t.Errorf("left for %q, want %q", p.gone, test.want)
				}
				good := r.remote()
				grow(good, 3)
				honest := r.join(p2p.OutboundFullRelay)
				honest.serve(good)
				if honest.gone != "" {
					t.Errorf("honest peer left: %q", honest.gone)
				}
			})
		})
	}
}

// Headers that prove no work, or do not follow each other, are no honest peer's.
func TestHeadersOfNoHonestPeer(t *testing.T) {
	bubble(t, func(r *rig) {
		remote := r.remote()
		grow(remote, 10)
		unsolved := r.remote()
		unsolved.MineN(30)
		p := r.join(p2p.OutboundFullRelay)
		p.sayHeaders(unsolved, 1, 30)
		if p.gone != "!header with invalid proof of work" {
			t.Errorf("without work: %q", p.gone)
		}
		p = r.join(p2p.OutboundFullRelay)
		h := headersMessage(remote, 1, 10)
		h.List = slices.Delete(h.List, 4, 5)
		p.say(h)
		if p.gone != "!non-continuous headers sequence" {
			t.Errorf("not continuous: %q", p.gone)
		}
	})
}

// New tips are announced as the peer asked: by headers, or by the hash.
func TestAnnounces(t *testing.T) {
	bubble(t, func(r *rig) {
		remote := r.remote()
		grow(remote, 285) // up to the time of the clock
		source := r.join(p2p.OutboundFullRelay)
		source.serve(remote)
		if r.state().InitialDownload {
			t.Fatal("in initial download")
		}
		byHash, byHeaders := r.join(p2p.Inbound), r.join(p2p.Inbound)
		byHeaders.say(wire.NewMsgSendHeaders())
		for _, p := range []*fakePeer{byHash, byHeaders} {
			p.sayHeaders(remote, 285, 285)
			synctest.Wait() // no time passes
			if asked := take[*wire.MsgSendHeaders](p); len(asked) != 1 {
				t.Errorf("asked %d times to announce by headers, want once", len(asked))
			}
			p.forget()
		}
		grow(remote, 2)
		source.sayHeaders(remote, 286, 287)
		source.serve(remote)
		synctest.Wait()
		if r.height() != 287 {
			t.Fatalf("at height %d", r.height())
		}
		var announced []int32
		for _, h := range take[*headersMsg](byHeaders) {
			for i := range h.List {
				hash := h.List[i].BlockHash()
				announced = append(announced, remote.Lookup(&hash).Height)
			}
		}
		if !slices.Equal(announced, []int32{286, 287}) {
			t.Errorf("announced by headers: %v", announced)
		}
		invs := take[*wire.MsgInv](byHash)
		if len(invs) == 0 || invs[len(invs)-1].InvList[0].Hash != remote.Active().Tip().Hash {
			t.Errorf("announced by hash: %v", invs)
		}
		if got := take[*wire.MsgInv](source); len(got) > 0 {
			t.Error("the source hears of its own blocks")
		}
	})
}

// Blocks of a peer that has recent ones only are stored, though nobody gives what is
// between them and the chain; when another peer does, all are connected.
func TestLimitedPeer(t *testing.T) {
	bubble(t, func(r *rig) {
		remote := r.remote()
		for i := range 5 {
			remote.Mine(chaintest.Template{
				Solved: true, Time: time.Now().Add(time.Duration(i-60*6) * 10 * time.Minute / 6),
			})
		}
		start := r.join(p2p.OutboundFullRelay)
		start.serve(remote)
		if r.state().InitialDownload {
			t.Fatal("in the initial download")
		}
		start.leave("test")
		tip := grow(remote, 300)
		limited := r.join(p2p.OutboundFullRelay, func(i *peerhandle.Info) {
			i.Remote.Version.Services = wire.SFNodeNetworkLimited | wire.SFNodeWitness
		})
		limited.serve(remote)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if b := r.chain.Lookup(&tip.Hash); b == nil || b.Status()&chainview.HasData == 0 {
			t.Error("the last block is not stored")
		}
		if r.height() != 5 {
			t.Errorf("at height %d", r.height())
		}
		r.join(p2p.OutboundFullRelay).serve(remote)
		if r.height() != tip.Height {
			t.Errorf("at height %d, want %d", r.height(), tip.Height)
		}
	})
}

// A ping is handled when the chain has taken what its peer sent before, also in the
// first download, in which more blocks are read meanwhile. It does not wait for
// blocks of others, or for blocks that lack their parents.
func TestPingAfterBlocks(t *testing.T) {
	bubble(t, func(r *rig) {
		remote := r.remote()
		grow(remote, 10)
		one, other := r.join(p2p.OutboundFullRelay), r.join(p2p.OutboundFullRelay)
		one.sayHeaders(remote, 1, 10)
		r.slow = time.Minute
		for h := int32(1); h <= 4; h++ {
			one.sayBlock(remote, h) // the chain has the first, which the others wait for
		}
		one.sayBlock(remote, 6)
		one.say(wire.NewMsgPing(1))
		other.say(wire.NewMsgPing(2))
		if one.handled() != one.said-1 || other.handled() != other.said {
			t.Errorf("%d of %d are handled, of another peer %d of %d", one.handled(), one.said, other.handled(), other.said)
		}
		time.Sleep(time.Hour)
		if one.handled() != one.said || r.height() != 4 {
			t.Errorf("%d of %d are handled at height %d", one.handled(), one.said, r.height())
		}
	})
}

// A peer that does not wait to be asked sends a whole chain while the node's own is
// slow: all of it is taken, although it is far beyond the tip.
func TestBlocksBeforeTheyAreAskedFor(t *testing.T) {
	bubble(t, func(r *rig) {
		const blocks = 1400 // more than are asked for at a time
		remote := r.remote()
		grow(remote, blocks)
		p := r.join(p2p.Inbound)
		p.sayHeaders(remote, 1, blocks)
		r.slow = time.Second
		for h := int32(1); h <= blocks; h++ {
			p.sayBlock(remote, h)
		}
		time.Sleep(time.Hour)
		if r.height() != blocks || p.handled() != p.said {
			t.Errorf("at height %d of %d, %d of %d messages are handled", r.height(), blocks, p.handled(), p.said)
		}
	})
}

// An outbound peer whose chain is behind is watched from the time that it is asked
// for headers, by the node's clock: setting the clock takes effect at once.
func TestClockSet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net, err := dialect.Bitcoin("regtest")
		if err != nil {
			t.Fatal(err)
		}
		var ahead atomic.Int64
		r := newRig(t, net, func(c *sync.Config) {
			c.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
		})
		grow(r.chain, 5)
		p := r.join(p2p.OutboundFullRelay)
		p.forget()
		for _, step := range []time.Duration{20*time.Minute + time.Second, 2*time.Minute + time.Second} {
			if p.gone != "" {
				t.Fatalf("left before its time: %s", p.gone)
			}
			ahead.Add(int64(step))
			r.sync.Tell(sync.ClockSet{})
			synctest.Wait()
		}
		if len(take[*wire.MsgGetHeaders](p)) != 1 || p.gone != "outbound peer has old chain" {
			t.Errorf("peer left for %q", p.gone)
		}
	})
}
