package sync_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math/big"
	"testing"
	"testing/synctest"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/sync"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/peerhandle"
)

// demanding runs a test whose node wants a chain of so many blocks' work.
func demanding(t *testing.T, blocks int64, test func(r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		net, err := dialect.Bitcoin("regtest")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Until(net.Params.GenesisBlock.Header.Timestamp.Add(480 * time.Hour)))
		test(newRig(t, net, func(c *sync.Config) { c.MinimumWork = big.NewInt(2 * (blocks + 1)) }))
	})
}

// A chain of low work leaves nothing behind, whether it comes in one message or in
// many, while one of enough work comes over, which is asked for twice.
func TestLowWork(t *testing.T) {
	demanding(t, 4500, func(r *rig) {
		short, long := r.remote(), r.remote()
		grow(short, 4100)
		grow(long, 4600)
		p := r.join(p2p.OutboundFullRelay)
		p.serve(short)
		if got := len(r.chain.Tips()); got != 1 || r.height() != 0 ||
			r.chain.Lookup(&short.Active().At(1).Hash) != nil {
			t.Errorf("low work: %d tips at height %d", got, r.height())
		}
		if p.gone != "headers chain has insufficient work" && p.gone != "" {
			t.Errorf("left for %q", p.gone)
		}
		honest := r.join(p2p.OutboundFullRelay)
		honest.forget()
		r.sync.Tell(peerhandle.Left{ID: p.info.ID})
		synctest.Wait()
		honest.serve(long)
		if r.height() != 4600 {
			t.Errorf("at height %d, want 4600", r.height())
		}
	})
}

// While a proven chain is read again, each message of it is answered with one request for more.
func TestAskedOnceForMore(t *testing.T) {
	demanding(t, 2100, func(r *rig) {
		remote := r.remote()
		grow(remote, 4100)
		p := r.join(p2p.OutboundFullRelay)
		p.forget()
		for i, from := range []int32{1, 2001, 1, 2001, 4001} {
			to := min(from+codec.MaxHeaders-1, 4100)
			p.sayHeaders(remote, from, to)
			want := 1
			if to == 4100 {
				want = 0
			}
			if got := len(take[*wire.MsgGetHeaders](p)); got != want {
				t.Errorf("message %d: asked %d times, want %d", i, got, want)
			}
		}
		if r.chain.Lookup(&remote.Active().Tip().Hash) == nil {
			t.Error("the chain did not come over")
		}
	})
}

// A new peer is asked for what follows the best header, though that came from elsewhere.
func TestHeadersFromElsewhere(t *testing.T) {
	bubble(t, func(r *rig) {
		remote := r.remote()
		grow(remote, 285)
		for h := int32(1); h <= 285; h++ {
			header := remote.Active().At(h).Header()
			var raw bytes.Buffer
			if err := header.Serialize(&raw); err != nil {
				t.Fatal(err)
			}
			if err := r.addHeader(raw.Bytes()); err != nil {
				t.Fatal(err)
			}
		}
		p := r.join(p2p.OutboundFullRelay)
		got := take[*wire.MsgGetHeaders](p)
		if len(got) != 1 || *got[0].BlockLocatorHashes[0] != remote.Active().At(284).Hash {
			t.Errorf("asked %d times, or not from the best header on", len(got))
		}
	})
}

// A flood of headers of low work, by many peers at a time, leaves nothing behind,
// and an honest peer's chain comes over all the same.
func TestFloodOfHeaders(t *testing.T) {
	demanding(t, 2100, func(r *rig) {
		flood, honest := r.remote(), r.remote()
		grow(flood, 2000)
		grow(honest, 2150)
		for range 10 {
			p := r.join(p2p.Inbound)
			for range 3 {
				p.sayHeaders(flood, 1, 2000)
				p.sayHeaders(flood, 1000, 1999)
				p.sayHeaders(flood, 1, 10)
			}
			if p.handled() != p.said {
				t.Fatalf("%d of %d messages are credited", p.handled(), p.said)
			}
		}
		if r.chain.Lookup(&flood.Active().At(1).Hash) != nil {
			t.Error("headers of low work are kept")
		}
		p := r.join(p2p.OutboundFullRelay)
		time.Sleep(16 * time.Minute) // as long as the first peer may take
		synctest.Wait()
		p.serve(honest)
		if r.height() != 2150 {
			t.Errorf("at height %d", r.height())
		}
	})
}

// Blocks that nobody asked for do not use up the node: what is far ahead, has less
// work or stands nowhere is dropped.
func TestUnrequestedBlocks(t *testing.T) {
	bubble(t, func(r *rig) {
		remote := r.remote()
		grow(remote, 5)
		side := r.remote()
		side.Mine(chaintest.Template{Solved: true, Script: []byte{0x52}})
		source := r.join(p2p.OutboundFullRelay)
		source.serve(remote)

		p := r.join(p2p.Inbound)
		p.sayBlock(side, 1)
		if hash := side.Active().At(1).Hash; r.chain.Lookup(&hash) == nil || r.chain.Lookup(&hash).Status() != 0 {
			t.Error("a block of less work is more than a header")
		}
		grow(remote, 1)
		p.sayBlock(remote, 6)
		if r.height() != 6 {
			t.Errorf("a better block is not taken: at height %d", r.height())
		}
		orphan := r.remote()
		grow(orphan, 3)
		orphan.Mine(chaintest.Template{Solved: true, Script: []byte{0x53}})
		orphan.Mine(chaintest.Template{Solved: true, Script: []byte{0x53}})
		p.sayBlock(orphan, 5)
		if p.gone != "!prev-blk-not-found" && p.gone != "!invalid header received" {
			t.Errorf("a block that stands nowhere: left for %q", p.gone)
		}
		if p.handled() != p.said {
			t.Errorf("%d of %d messages are credited", p.handled(), p.said)
		}
	})
}

// A peer that does not give blocks in time is left, and so is an only source of
// headers that gives none.
func TestSlowPeers(t *testing.T) {
	bubble(t, func(r *rig) {
		remote := r.remote()
		grow(remote, 10)
		slow, other := r.join(p2p.OutboundFullRelay), r.join(p2p.OutboundFullRelay)
		slow.sayHeaders(remote, 1, 10)
		time.Sleep(11 * time.Minute)
		synctest.Wait()
		if slow.gone != "timeout downloading block" {
			t.Errorf("slow with blocks: %q", slow.gone)
		}
		other.forget()
		third := r.join(p2p.OutboundFullRelay)
		time.Sleep(16 * time.Minute)
		synctest.Wait()
		if other.gone == "" && third.gone == "" {
			t.Error("nobody is left who gives no headers")
		}
	})
}

// An outbound peer that stays behind our chain is asked once more, then left.
func TestBehind(t *testing.T) {
	bubble(t, func(r *rig) {
		remote := r.remote()
		grow(remote, 285)
		r.join(p2p.Manual).serve(remote)
		behind := r.join(p2p.OutboundFullRelay)
		behind.sayHeaders(remote, 1, 10)
		behind.forget()
		time.Sleep(21 * time.Minute)
		synctest.Wait()
		if behind.gone != "" || len(take[*wire.MsgGetHeaders](behind)) == 0 {
			t.Fatalf("after 21 minutes: left for %q", behind.gone)
		}
		time.Sleep(3 * time.Minute)
		synctest.Wait()
		if behind.gone != "outbound peer has old chain" {
			t.Errorf("left for %q", behind.gone)
		}
	})
}

// A call that waits for a block when sync stops is answered.
func TestStopAnswersEveryone(t *testing.T) {
	bubble(t, func(r *rig) {
		remote := r.remote()
		grow(remote, 3)
		p := r.join(p2p.OutboundFullRelay)
		p.serve(remote)
		hash := remote.Active().At(2).Hash
		got := make(chan error, 1)
		go func() {
			_, err := ask.Ask(context.Background(), r.sync, nodemsg.FetchBlock{Hash: hash})
			got <- err
		}()
		synctest.Wait()
		if err := r.sync.Stop(context.Background()); err != nil {
			t.Fatal(err)
		}
		if err := <-got; !errors.Is(err, ask.ErrStopped) {
			t.Errorf("got %v", err)
		}
		if p.gone == "" {
			t.Error("the peer stays with nobody to hear it")
		}
	})
}

// FuzzMessages says anything to the actor, of a few blocks that exist and do not:
// it answers or leaves, credits every message, and an honest peer's chain still
// comes over.
func FuzzMessages(f *testing.F) {
	f.Add([]byte{0, 1, 9, 1, 3, 2, 2, 5, 3, 1, 4, 0})
	f.Add([]byte{0, 9, 0, 1, 1, 1, 2, 2, 2, 5, 5, 5, 6, 6, 6, 3, 3, 3})
	f.Add([]byte{7, 0, 0, 4, 2, 9, 2, 3, 3, 5, 2, 2, 0, 200, 1})
	f.Fuzz(func(t *testing.T, script []byte) {
		if len(script) > 60 {
			return
		}
		bubble(t, func(r *rig) {
			remote, side := r.remote(), r.remote()
			grow(remote, 12)
			side.Mine(chaintest.Template{Solved: true, Script: []byte{0x52}})
			grow(side, 7)
			var peers []*fakePeer
			for i := range 3 {
				peers = append(peers, r.join([]p2p.ConnectionType{p2p.Inbound, p2p.OutboundFullRelay, p2p.Manual}[i]))
			}
			for i := 0; i+2 < len(script); i += 3 {
				say(
					r.t, peers[int(script[i]>>4)%3], []*chaintest.Chain{remote, side}[script[i]>>3&1], script[i]&7,
					script[i+1], script[i+2],
				)
			}
			for _, p := range peers {
				if p.handled() != p.said && p.gone == "" {
					t.Errorf("%d of %d messages are credited", p.handled(), p.said)
				}
				p.leave("")
			}
			synctest.Wait()
			honest := r.remote()
			honest.Mine(chaintest.Template{Solved: true, Script: []byte{0x54}})
			grow(honest, 20)
			h := r.join(p2p.Manual, func(i *peerhandle.Info) { i.Permissions.NoBan = true })
			h.serve(honest)
			time.Sleep(3 * time.Minute) // until requests that nobody answered are over
			synctest.Wait()
			h.sayHeaders(honest, 1, 21)
			h.serve(honest)
			if r.height() != 21 || h.gone != "" {
				t.Errorf("the honest chain is at height %d, its peer left for %q", r.height(), h.gone)
			}
		})
	})
}

// say sends one of the messages that sync handles.
func say(t *testing.T, p *fakePeer, c *chaintest.Chain, kind, a, b byte) {
	t.Helper()
	top := byte(c.Active().Height())
	from, to := int32(min(a%(top+1)+1, top)), int32(b%(top+1))
	hash := c.Active().At(to).Hash
	switch kind {
	case 0:
		p.sayHeaders(c, from, to)
	case 1:
		p.sayBlock(c, max(to, 1))
	case 2:
		m := wire.NewMsgInv()
		_ = m.AddInvVect(wire.NewInvVect(wire.InvTypeBlock, &hash))
		_ = m.AddInvVect(wire.NewInvVect(wire.InvTypeBlock, &chainhash.Hash{a}))
		p.say(m)
	case 3:
		block := blockAt(t, c, max(to, 1))
		m := &codec.CmpctBlock{Header: block.Header, Nonce: uint64(a), ShortIDs: make([]codec.ShortID, a%3)}
		if b&1 != 0 {
			m.Prefilled = []codec.PrefilledTx{{Index: int(a % 4), Tx: block.Transactions[0]}}
		}
		p.say(m)
	case 4:
		p.say(&codec.BlockTxn{Block: hash, Txs: blockAt(t, c, max(to, 1)).Transactions[:a&1]})
	case 5:
		p.say(&codec.SendCmpct{HighBandwidth: a&1 != 0, Version: uint64(b % 4)})
	case 6:
		m := wire.NewMsgNotFound()
		_ = m.AddInvVect(wire.NewInvVect(wire.InvTypeWitnessBlock, &hash))
		p.say(m)
	case 7:
		block := blockAt(t, c, max(to, 1))
		block.Transactions[0].LockTime += uint32(a)
		p.say(block)
	}
}

// A panic costs the peers, whom nobody can tell the next instance of, and nothing
// more.
func TestSurvivesAPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net, err := dialect.Bitcoin("regtest")
		if err != nil {
			t.Fatal(err)
		}
		blow := false
		r := newRig(t, net, func(c *sync.Config) {
			c.Log = slog.New(slog.DiscardHandler)
			c.Now = func() time.Time {
				if blow {
					blow = false
					panic("the clock is broken")
				}
				return time.Now()
			}
		})
		remote := r.remote()
		grow(remote, 30)
		p := r.join(p2p.OutboundFullRelay)
		blow = true
		r.failing.Store(2)
		p.sayHeaders(remote, 1, 30)
		if p.gone != "sync stopped" {
			t.Errorf("peer left for %q", p.gone)
		}
		time.Sleep(2 * time.Second) // the chain fails too, and is asked again
		r.join(p2p.OutboundFullRelay).serve(remote)
		if r.height() != 30 {
			t.Errorf("at height %d", r.height())
		}
	})
}
