package sync_test

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/sync"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/peerhandle"
)

// While the node reads block files, nothing of peers is taken and nothing asked for; all of their messages are done
// with, and what they have comes over afterwards.
func TestWhileFilesAreRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net, err := dialect.Bitcoin("regtest")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Until(net.Params.GenesisBlock.Header.Timestamp.Add(48 * time.Hour)))
		r := newRigWith(t, net, func(r *rig, _ *sync.Config) { r.failing.Store(math.MaxInt32) })
		remote := r.remote()
		grow(remote, 5)
		p := r.join(p2p.OutboundFullRelay)
		p.sayHeaders(remote, 1, 5)
		p.sayBlock(remote, 1)
		p.say(codec.NewCmpctBlock(blockAt(t, remote, 1), nil))
		p.say(&codec.BlockTxn{Block: remote.Active().At(1).Hash})
		p.sayInv(remote.Active().At(5).Hash)
		if got := p.commands(); len(got) > 0 || r.chain.Lookup(&remote.Active().At(1).Hash) != nil ||
			p.handled() != p.said || p.gone != "" {
			t.Errorf("sent %v, %d of %d are handled, left for %q", got, p.handled(), p.said, p.gone)
		}
		r.failing.Store(0)
		time.Sleep(time.Second)
		synctest.Wait()
		p.serve(remote)
		if r.height() != 5 {
			t.Errorf("afterwards at height %d", r.height())
		}
	})
}

// A block that nobody asked for, of too little work, leaves nothing behind. A block of as much work as is wanted is
// kept.
func TestLowWorkBlock(t *testing.T) {
	for least, kept := range map[int64]bool{10: false, 2: false, 1: true} {
		demanding(t, least, func(r *rig) {
			remote := r.remote()
			grow(remote, 3)
			p := r.join(p2p.Inbound)
			p.sayBlock(remote, 1)
			known := r.chain.Lookup(&remote.Active().At(1).Hash) != nil
			if known != kept || p.handled() != p.said || p.gone != "" {
				t.Errorf("work of %d more blocks: its header is kept: %v, or left for %q", least, known, p.gone)
			}
		})
	}
}

// A peer that got headers upon its question is told of the next block by its header: it connects to these headers.
func TestKnowsWhatItWasSent(t *testing.T) {
	bubble(t, func(r *rig) {
		remote, source := r.upToDate()
		knows, other := r.join(p2p.Inbound), r.join(p2p.Inbound)
		for _, p := range []*fakePeer{knows, other} {
			p.say(wire.NewMsgSendHeaders())
			p.forget()
		}
		tip := remote.Active().Tip()
		r.sync.Tell(peerhandle.HeadersSent{ID: knows.info.ID, Last: tip.Hash})
		r.sync.Tell(peerhandle.HeadersSent{ID: other.info.ID, Last: tip.Header().MerkleRoot}) // no block
		r.sync.Tell(peerhandle.HeadersSent{ID: 99, Last: tip.Hash})                           // no peer
		grow(remote, 1)
		source.sayHeaders(remote, 286, 286)
		source.serve(remote)
		if len(take[*codec.Headers](knows)) != 1 || len(take[*wire.MsgInv](knows)) != 0 {
			t.Error("who has the headers is not told by a header")
		}
		if len(take[*codec.Headers](other)) != 0 || len(take[*wire.MsgInv](other)) != 1 {
			t.Error("another is not told by a hash")
		}
	})
}

// A peer that leaves while the chain looks at its block costs nothing, be the block right or wrong.
func TestLeavesBeforeItsBlockIsJudged(t *testing.T) {
	for _, reason := range []string{"", "body bad-cb-amount"} {
		bubble(t, func(r *rig) {
			remote, p := r.upToDate()
			grow(remote, 1)
			if reason != "" {
				r.reject[remote.Active().Tip().Hash] = reason
			}
			p.sayHeaders(remote, 286, 286)
			r.slow = time.Minute
			p.sayBlock(remote, 286)
			p.leave("")
			time.Sleep(2 * time.Minute)
			synctest.Wait()
			r.slow = 0
			want := map[bool]int32{true: 286, false: 285}[reason == ""]
			if r.height() != want || p.handled() != p.said {
				t.Errorf("%q: at height %d, %d of %d are handled", reason, r.height(), p.handled(), p.said)
			}
			r.state() // it goes on
		})
	}
}
