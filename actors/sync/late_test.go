package sync_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/actors/sync"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/messages"
)

// late runs a test with a function that returns which blocks came too late, since its last call.
func late(t *testing.T, test func(r *rig, reported func() []nodemsg.StaleBlock)) {
	t.Helper()
	var feed ask.Feed[nodemsg.StaleBlock]
	bubbleWith(t, func(c *sync.Config) { c.Stale = &feed }, func(r *rig) {
		var published []nodemsg.StaleBlock
		r.root.Spawn(actor.PropsFromFunc(func(c actor.Context) {
			switch m := c.Message().(type) {
			case *actor.Started:
				feed.Subscribe(c)
			case nodemsg.StaleBlock:
				published = append(published, m)
			}
		}))
		test(r, func() []nodemsg.StaleBlock {
			list := published
			published = nil
			return list
		})
	})
}

// sideOf returns a branch of a few blocks that has less work than the node's chain, and is as new.
func (r *rig) sideOf() *chaintest.Chain {
	side := r.remote()
	grow(side, 280)
	for range 3 {
		side.Mine(chaintest.Template{Solved: true, Script: []byte{0x52}})
	}
	return side
}

// Each block that comes too late is reported once, by its own hash and height, whether its header is known or not.
func TestLateBlocks(t *testing.T) {
	for _, headers := range []bool{false, true} {
		late(t, func(r *rig, reported func() []nodemsg.StaleBlock) {
			r.upToDate()
			side, p := r.sideOf(), r.join(p2p.Inbound)
			if headers {
				p.sayHeaders(side, 281, 283)
			}
			if got := reported(); len(got) > 0 {
				t.Errorf("reported before any block has come: %v", got)
			}
			for h := int32(281); h <= 283; h++ {
				p.sayBlock(side, h)
				want := []nodemsg.StaleBlock{{Hash: side.Active().At(h).Hash, Height: h}}
				if got := reported(); !slices.Equal(got, want) {
					t.Errorf("headers known: %v: reported %v, want %v", headers, got, want)
				}
				if b := r.chain.Lookup(&want[0].Hash); b == nil || b.Status()&chainview.HasData != 0 {
					t.Errorf("height %d: the header is not known, or the block is kept", h)
				}
			}
			if p.gone != "" || p.handled() != p.said {
				t.Errorf("left for %q, %d of %d are handled", p.gone, p.handled(), p.said)
			}
		})
	}
}

// Nobody is notified of a block that is kept, is there, was asked for, is refused, or whose parent nobody knows.
func TestNotLateBlocks(t *testing.T) {
	late(t, func(r *rig, reported func() []nodemsg.StaleBlock) {
		remote, _ := r.upToDate()
		side, p := r.sideOf(), r.join(p2p.Inbound)
		silent := func(what string) {
			t.Helper()
			if got := reported(); len(got) > 0 {
				t.Errorf("%s: reported %v", what, got)
			}
		}
		p.sayBlock(remote, 283)
		silent("a block of the chain")
		p.sayBlock(side, 282)
		silent("a block without its parent")
		first := side.Active().At(281).Hash
		r.reject[first] = "high-hash"
		r.join(p2p.Inbound).sayBlock(side, 281)
		silent("a header that is refused")
		delete(r.reject, first)

		p = r.join(p2p.Inbound)
		block := blockAt(t, side, 281)
		p.say(&codec.CmpctBlock{
			Header: block.Header, Prefilled: []codec.PrefilledTx{{Tx: block.Transactions[0]}},
		})
		silent("a compact block")
		q := nodemsg.FetchBlockFrom{Hash: first, Peer: p.info.ID}
		if _, err := ask.Ask(r.t.Context(), r.sync, q); err != nil {
			t.Fatal(err)
		}
		p.sayBlock(side, 281)
		silent("a block that a user asked for")
		if b := r.chain.Lookup(&first); b.Status()&chainview.HasData == 0 {
			t.Error("a block that a user asked for is not kept")
		}
		p.sayBlock(side, 281)
		silent("a block of a branch that is kept")
		if p.gone != "" {
			t.Errorf("left for %q", p.gone)
		}
	})
}

// In the initial download blocks of other branches say nothing about the network.
func TestLateBlocksInInitialDownload(t *testing.T) {
	late(t, func(r *rig, reported func() []nodemsg.StaleBlock) {
		grow(r.chain, 5)
		if !r.state().InitialDownload {
			t.Fatal("the initial download has ended")
		}
		side := r.remote()
		b := side.Mine(chaintest.Template{Solved: true, Script: []byte{0x52}})
		r.join(p2p.Inbound).sayBlock(side, 1)
		if got := reported(); len(got) > 0 || r.chain.Lookup(&b.Hash) == nil {
			t.Errorf("reported %v", got)
		}
	})
}

// A peer is left if its block is connected later, and proves to be wrong then.
func TestBlockProvesWrong(t *testing.T) {
	bubble(t, func(r *rig) {
		r.upToDate()
		side, p := r.sideOf(), r.join(p2p.Inbound)
		first := side.Active().At(281).Hash
		p.sayHeaders(side, 281, 283)
		q := nodemsg.FetchBlockFrom{Hash: first, Peer: p.info.ID}
		if _, err := ask.Ask(r.t.Context(), r.sync, q); err != nil {
			t.Fatal(err)
		}
		p.sayBlock(side, 281)
		r.late = []nodemsg.LateRefusal{{Hash: first, Reason: &messages.RejectError{Reason: "bad-cb-amount"}}}
		other := r.join(p2p.Inbound)
		q = nodemsg.FetchBlockFrom{Hash: side.Active().At(282).Hash, Peer: other.info.ID}
		if _, err := ask.Ask(r.t.Context(), r.sync, q); err != nil {
			t.Fatal(err)
		}
		other.sayBlock(side, 282)
		if !strings.Contains(p.gone, "bad-cb-amount") || other.gone != "" {
			t.Errorf("who gave it is left for %q, the other for %q", p.gone, other.gone)
		}
	})
}
