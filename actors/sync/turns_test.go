package sync_test

import (
	"bytes"
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/sync"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/peerhandle"
	"github.com/seed61375155/trawl/messages"
)

// bubbleWith is bubble with another configuration.
func bubbleWith(t *testing.T, configure func(*sync.Config), test func(r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		net, err := dialect.Bitcoin("regtest")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Until(net.Params.GenesisBlock.Header.Timestamp.Add(48 * time.Hour)))
		test(newRig(t, net, configure))
	})
}

// upToDate gives the node a chain up to the time of the clock.
func (r *rig) upToDate() (*chaintest.Chain, *fakePeer) {
	r.t.Helper()
	remote := r.remote()
	grow(remote, 285)
	source := r.join(p2p.OutboundFullRelay)
	source.serve(remote)
	if r.height() != 285 || r.state().InitialDownload {
		r.t.Fatalf("at height %d, in initial download", r.height())
	}
	source.forget()
	return remote, source
}

// handled returns how many messages the peer was credited.
func (p *fakePeer) handled() int { return int(p.done.Load()) }

func (p *fakePeer) sayInv(hash chainhash.Hash) {
	m := wire.NewMsgInv()
	_ = m.AddInvVect(wire.NewInvVect(wire.InvTypeBlock, &hash)) // one fits
	p.say(m)
}

// While headers of a peer are with the chain, later messages of the peer wait, and so do messages of others except
// blocks and pings. All are handled afterwards, whether the peer is there still or not.
func TestWaitsForHeaders(t *testing.T) {
	for _, leaves := range []bool{false, true} {
		bubble(t, func(r *rig) {
			remote, p := r.upToDate()
			other := r.join(p2p.OutboundFullRelay)
			other.serve(remote)
			grow(remote, 2)
			r.slowHeaders = time.Minute
			p.sayHeaders(remote, 286, 287)
			p.sayInv(chainhash.Hash{1})
			p.sayBlock(remote, 286)
			other.sayBlock(remote, 285)
			other.say(wire.NewMsgPing(1))
			if other.handled() != other.said || p.handled() != p.said-3 {
				t.Errorf("of another peer %d of %d are handled, of this %d of %d",
					other.handled(), other.said, p.handled(), p.said)
			}
			other.sayInv(chainhash.Hash{2})
			other.sayHeaders(remote, 286, 286)
			if other.handled() != other.said-2 {
				t.Errorf("%d of %d are handled, want all but two", other.handled(), other.said)
			}
			p.forget()
			if leaves {
				p.leave("")
				synctest.Wait()
				if p.handled() != p.said-1 {
					t.Errorf("%d of %d are handled after it left", p.handled(), p.said)
				}
			}
			time.Sleep(10 * time.Minute)
			synctest.Wait()
			if other.handled() != other.said || p.handled() != p.said {
				t.Errorf("%d of %d and %d of %d are handled", other.handled(), other.said, p.handled(), p.said)
			}
			if got := take[*wire.MsgGetHeaders](other); len(got) != 1 {
				t.Errorf("asked for headers %d times", len(got))
			}
			if want := map[bool]int32{false: 286, true: 285}[leaves]; r.height() != want {
				t.Errorf("at height %d, want %d", r.height(), want)
			}
		})
	}
}

// A node without a chain takes no message and lets all peers be read on; when the chain is reopened, with fewer
// blocks, those that are missing are asked for again.
func TestChainOpenedAnew(t *testing.T) {
	bubble(t, func(r *rig) {
		remote, p := r.upToDate()
		grow(remote, 1)
		r.view.Set(nil)
		p.sayHeaders(remote, 286, 286)
		if p.handled() != p.said || len(p.asked(remote)) > 0 {
			t.Fatalf("without a chain %d of %d messages are handled", p.handled(), p.said)
		}
		r.slow, r.failBlocks = time.Minute, 1
		old := r.chain
		r.view.Set(old)
		p.sayHeaders(remote, 286, 286)
		p.sayBlock(remote, 286) // is with the chain when that is reopened
		fresh := r.remote()
		grow(fresh, 280)
		r.chain = fresh
		r.view.Set(fresh)
		p.sayHeaders(remote, 281, 286)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		r.slow = 0
		p.serve(remote)
		if r.height() != 286 || p.gone != "" || p.handled() != p.said {
			t.Errorf("at height %d, left for %q, %d of %d are handled", r.height(), p.gone, p.handled(), p.said)
		}
	})
}

// A chain that fails over blocks costs no peer anything: they are asked for again.
func TestChainFailsOverBlocks(t *testing.T) {
	bubble(t, func(r *rig) {
		remote := r.remote()
		grow(remote, 40)
		r.failBlocks = 3
		p := r.join(p2p.OutboundFullRelay)
		p.serve(remote)
		if r.height() != 40 || p.gone != "" || p.handled() != p.said {
			t.Errorf("at height %d, left for %q, %d of %d are handled", r.height(), p.gone, p.handled(), p.said)
		}
	})
}

// Sync that has stopped lets all peers be read on, leaves them, and is notified of nothing any more.
func TestStopped(t *testing.T) {
	bubble(t, func(r *rig) {
		remote, p := r.upToDate()
		grow(remote, 2)
		r.slowHeaders = time.Minute
		p.sayHeaders(remote, 286, 287)
		p.sayInv(chainhash.Hash{1})
		if err := r.sync.Stop(context.Background()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if p.gone != "sync stopped" || p.handled() < p.said-1 {
			t.Errorf("left for %q, %d of %d are handled", p.gone, p.handled(), p.said)
		}
		lost := 0
		events := r.root.ActorSystem().EventStream
		sub := events.Subscribe(func(e any) {
			if _, ok := e.(*actor.DeadLetterEvent); ok {
				lost++
			}
		})
		defer events.Unsubscribe(sub)
		r.tip.Publish(messages.TipChanged{Height: 1})
		r.changes.Publish(messages.PoolChanged{})
		time.Sleep(time.Minute)
		synctest.Wait()
		if lost > 0 {
			t.Errorf("%d news went to an actor that has stopped", lost)
		}
	})
}

// A node for blocks alone asks for no compact blocks and makes none of the pool.
func TestBlocksOnly(t *testing.T) {
	bubbleWith(t, func(c *sync.Config) { c.BlocksOnly = true }, func(r *rig) {
		remote, p := r.upToDate()
		p.say(&codec.SendCmpct{Version: codec.CmpctVersion})
		grow(remote, 1)
		p.sayHeaders(remote, 286, 286)
		if got := take[*wire.MsgGetData](p); len(got) != 1 || got[0].InvList[0].Type != wire.InvTypeWitnessBlock {
			t.Errorf("asked for %v", got)
		}
		p.sayBlock(remote, 286)
		if got := take[*codec.SendCmpct](p); r.height() != 286 || len(got) != 0 {
			t.Errorf("at height %d, the peer is chosen: %v", r.height(), got)
		}
	})
}

// A pruned block is stored again only if a user asked for this block; its peer is blamed if the block is wrong.
func TestPrunedBlockForUser(t *testing.T) {
	for _, fault := range []error{nil, &messages.RejectError{Reason: "bad-txnmrklroot"}} {
		bubble(t, func(r *rig) {
			remote, p := r.upToDate()
			b := r.chain.Active().At(7)
			r.chain.SetStatus(b, (b.Status()|chainview.Pruned)&^chainview.HasData)
			p.sayBlock(remote, 7)
			if len(r.restored) > 0 {
				t.Fatal("a pruned block is stored again that nobody asked for")
			}
			r.restoreErr = fault
			q := nodemsg.FetchBlockFrom{Hash: b.Hash, Peer: p.info.ID}
			if _, err := ask.Ask(r.t.Context(), r.sync, q); err != nil {
				t.Fatal(err)
			}
			if got := p.asked(remote); !slices.Equal(got, []int32{7}) {
				t.Fatalf("asked for %v", got)
			}
			p.sayBlock(remote, 7)
			want, _ := remote.Raw(&b.Hash)
			if len(r.restored) != 1 || !bytes.Equal(r.restored[0], want) || p.handled() != p.said {
				t.Errorf("%d blocks are stored, %d of %d are handled", len(r.restored), p.handled(), p.said)
			}
			if left := map[bool]string{true: "", false: "!mutated block"}[fault == nil]; p.gone != left {
				t.Errorf("left for %q, want %q", p.gone, left)
			}
		})
	}
}

// Blocks that nobody asked for are taken if they have as much work as the tip and the least work. Their parent
// must be known, and they may be no more than 288 blocks ahead. Listeners are told of blocks that come too late.
func TestUnrequested(t *testing.T) {
	var stale ask.Feed[nodemsg.StaleBlock]
	bubbleWith(t, func(c *sync.Config) { c.Stale = &stale }, func(r *rig) {
		var published []int32
		r.root.Spawn(actor.PropsFromFunc(func(c actor.Context) {
			switch m := c.Message().(type) {
			case *actor.Started:
				stale.Subscribe(c)
			case nodemsg.StaleBlock:
				published = append(published, m.Height)
			}
		}))
		remote, _ := r.upToDate()
		side := r.remote()
		grow(side, 280)
		for range 5 {
			side.Mine(chaintest.Template{Solved: true, Script: []byte{0x52}})
		}
		p := r.join(p2p.Inbound)
		stored := func(c *chaintest.Chain, height int32) bool {
			p.sayBlock(c, height)
			b := r.chain.Lookup(&c.Active().At(height).Hash)
			return b != nil && b.Status()&chainview.HasData != 0
		}
		for h := int32(281); h <= 284; h++ {
			if stored(side, h) {
				t.Errorf("a block of less work is stored, %d", h)
			}
		}
		if !stored(side, 285) {
			t.Error("a block with the work of the tip is not stored")
		}
		if !slices.Equal(published, []int32{281, 282, 283, 284}) {
			t.Errorf("published late blocks %v", published)
		}
		grow(remote, 300)
		p.sayHeaders(remote, 286, 585)
		p.forget()
		r.join(p2p.OutboundFullRelay)
		for height, want := range map[int32]bool{285 + 289: false, 285 + 288: true} {
			if stored(remote, height) != want {
				t.Errorf("a block %d ahead is stored: %v", height-285, !want)
			}
		}
		if p.gone != "" || p.handled() != p.said {
			t.Errorf("left for %q, %d of %d are handled", p.gone, p.handled(), p.said)
		}
	})
}

// Blocks of a header that no chain has, or that end before their header does, lead to nothing.
func TestBlocksCutShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net, err := dialect.Named("qbit", "regtest", dialect.Choices{})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Until(net.Params.GenesisBlock.Header.Timestamp.Add(48 * time.Hour)))
		r := newRig(t, net, nil)
		remote := chaintest.NewOn(net)
		b := remote.Mine(chaintest.Template{Merged: true})
		raw, err := remote.Raw(&b.Hash)
		if err != nil {
			t.Fatal(err)
		}
		p := r.join(p2p.OutboundFullRelay)
		handled := 0
		for _, size := range []int{0, 79, 80, 81, 120, net.HeaderLen(raw) - 1} {
			r.sync.Tell(peerhandle.Received{
				Peer: p, Message: p2p.Message{Message: &codec.Block{Raw: raw[:size]}},
				Handled: func() { handled++ },
			})
			synctest.Wait()
			if r.chain.Lookup(&b.Hash) != nil || p.gone != "" {
				t.Errorf("%d bytes: its header is taken, or the peer left for %q", size, p.gone)
			}
		}
		if handled != 6 {
			t.Errorf("%d messages of 6 are handled", handled)
		}
	})
}
