package sync_test

import (
	"math/big"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/sync"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/peerhandle"
	"github.com/seed61375155/trawl/messages"
)

// commands are the names of what the peer was sent since.
func (p *fakePeer) commands() (names []string) {
	for m := p.next(); m != nil; m = p.next() {
		names = append(names, m.Command())
	}
	return names
}

// A compact block near the tip is completed, and further on it is fetched as a whole. A block that is known or has
// too little work is not asked for at all.
func TestPlacesOfCompactBlocks(t *testing.T) {
	const headers, data, txs = "getheaders", "getdata", "getblocktxn"
	for _, test := range []struct {
		name string
		run  func(c *compactRig) (at *chaintest.Chain, height int32) // which compact block is sent
		want []string
	}{
		{"the next one", func(c *compactRig) (*chaintest.Chain, int32) { return c.remote, 286 }, []string{txs}},
		{"known", func(c *compactRig) (*chaintest.Chain, int32) { return c.remote, 285 }, nil},
		{"its parent is not known", func(c *compactRig) (*chaintest.Chain, int32) {
			grow(c.remote, 1)
			return c.remote, 287
		}, []string{headers}},
		{"two ahead", func(c *compactRig) (*chaintest.Chain, int32) {
			c.lacking(1)
			return c.remote, 287
		}, []string{txs}},
		{"three ahead", func(c *compactRig) (*chaintest.Chain, int32) {
			c.lacking(2)
			return c.remote, 288
		}, []string{data}}, // for all three
		{"three ahead, and asked for", func(c *compactRig) (*chaintest.Chain, int32) {
			c.lacking(2)
			c.user(c.remote, 288)
			return c.remote, 288
		}, []string{data}},
		{"with less work", func(c *compactRig) (*chaintest.Chain, int32) {
			return c.branch(284), 284
		}, nil},
		{"with less work, and asked for", func(c *compactRig) (*chaintest.Chain, int32) {
			branch := c.branch(284)
			c.user(branch, 284)
			return branch, 284
		}, []string{data}},
		{"with the work of the tip", func(c *compactRig) (*chaintest.Chain, int32) {
			return c.branch(285), 285
		}, []string{data}}, // as a whole
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(r *rig) {
				c := newCompactRig(r.t, r)
				chain, height := test.run(c)
				c.source.forget()
				c.source.say(codec.NewCmpctBlock(blockAt(r.t, chain, height), nil))
				if got := c.source.commands(); !slices.Equal(got, test.want) {
					t.Errorf("sent %v, want %v", got, test.want)
				}
				c.want(285, "")
			})
		})
	}
}

// Where the tip is old, the next block is fetched as a whole.
func TestCompactBlockAfterOldTip(t *testing.T) {
	bubble(t, func(r *rig) {
		c := newCompactRigAt(r.t, r, 260)
		c.source.say(codec.NewCmpctBlock(c.block, nil))
		if got := c.source.commands(); !slices.Equal(got, []string{wire.CmdGetData}) {
			t.Errorf("sent %v", got)
		}
	})
}

// lacking makes the chain longer by blocks that nobody gives, of which the node knows all headers but the last.
func (c *compactRig) lacking(n int) {
	c.t.Helper()
	for range n {
		tx := spend(c.t, c.remote, c.remote.Active().Height()-275)
		c.remote.Mine(chaintest.Template{Solved: true, Txs: []*wire.MsgTx{tx}})
	}
	other := c.join(p2p.Inbound)
	other.sayHeaders(c.remote, 286, c.remote.Active().Height()-1)
	other.leave("")
	synctest.Wait()
}

// branch returns another chain up to a height near the tip, whose last header alone is not known.
func (c *compactRig) branch(height int) *chaintest.Chain {
	c.t.Helper()
	chain := c.rig.remote()
	grow(chain, height-1)
	chain.Mine(chaintest.Template{Solved: true, Script: []byte{0x52}})
	return chain
}

// user has a user ask the source for a block whose header it sends before.
func (c *compactRig) user(chain *chaintest.Chain, height int32) {
	c.t.Helper()
	c.source.sayHeaders(chain, height, height)
	q := nodemsg.FetchBlockFrom{Hash: chain.Active().At(height).Hash, Peer: c.source.info.ID}
	if _, err := ask.Ask(c.t.Context(), c.sync, q); err != nil {
		c.t.Log(err) // it was asked for before
	}
}

// In the initial download no peer is chosen to announce compact blocks, and those whose parents are not known are left
// alone.
func TestCompactBlocksInDownload(t *testing.T) {
	bubble(t, func(r *rig) {
		remote := r.remote()
		grow(remote, 20)
		p := r.join(p2p.OutboundFullRelay)
		p.forget()
		p.say(&codec.SendCmpct{Version: codec.CmpctVersion})
		p.say(codec.NewCmpctBlock(blockAt(r.t, remote, 9), nil))
		if got := p.commands(); len(got) > 0 || p.handled() != p.said {
			t.Errorf("sent %v, %d of %d are handled", got, p.handled(), p.said)
		}
		p.sayHeaders(remote, 1, 20)
		for _, h := range p.asked(remote) {
			p.sayBlock(remote, h)
		}
		if got := take[*codec.SendCmpct](p); len(got) > 0 {
			t.Errorf("chosen: %v", got)
		}
	})
}

// Compact blocks of too little work leave nothing behind.
func TestLowWorkCompactBlock(t *testing.T) {
	demanding(t, 10, func(r *rig) {
		remote := r.remote()
		grow(remote, 12)
		p := r.join(p2p.Inbound)
		p.say(codec.NewCmpctBlock(blockAt(r.t, remote, 1), nil))
		if r.chain.Lookup(&remote.Active().At(1).Hash) != nil || p.handled() != p.said {
			t.Error("its header is kept")
		}
		p.serve(remote)
		if r.height() != 12 {
			t.Errorf("at height %d", r.height())
		}
	})
}

// In the initial download blocks are taken of preferred peers, and of others if there is no preferred peer, or
// nothing is on its way. A peer that is there for addresses alone is never asked.
func TestWhomBlocksAreTakenOf(t *testing.T) {
	const in, out, addr = p2p.Inbound, p2p.OutboundFullRelay, p2p.AddrFetch
	for _, test := range []struct {
		name  string
		types []p2p.ConnectionType
		asked []bool
	}{
		{"outbound", []p2p.ConnectionType{out}, []bool{true}},
		{"inbound alone", []p2p.ConnectionType{in}, []bool{true}},
		{"all inbound", []p2p.ConnectionType{in, in}, []bool{true, true}},
		{"both", []p2p.ConnectionType{out, in}, []bool{true, false}},
		{"both, inbound first", []p2p.ConnectionType{in, out}, []bool{true, true}},
		{"for addresses", []p2p.ConnectionType{addr}, []bool{false}},
	} {
		bubble(t, func(r *rig) {
			remote := r.remote()
			grow(remote, 60)
			var peers []*fakePeer
			for _, typ := range test.types {
				peers = append(peers, r.join(typ))
			}
			for i, p := range peers {
				p.sayHeaders(remote, 1, 60)
				if got := len(p.asked(remote)); (got > 0) != test.asked[i] {
					t.Errorf("%s: peer %d is asked for %d blocks", test.name, i, got)
				}
			}
		})
	}
}

// Peers that the node chose for itself are left in the initial download where all their headers have less than the
// least work.
func TestLeftForLittleWork(t *testing.T) {
	const little = "headers chain has insufficient work"
	for _, test := range []struct {
		name   string
		typ    p2p.ConnectionType
		blocks int
		left   string
	}{
		{"outbound", p2p.OutboundFullRelay, 9, little},
		{"blocks only", p2p.BlockRelayOnly, 9, little},
		{"by hand", p2p.Manual, 9, ""},
		{"inbound", p2p.Inbound, 9, ""},
		{"just enough", p2p.OutboundFullRelay, 10, ""},
	} {
		demanding(t, 10, func(r *rig) {
			remote := r.remote()
			grow(remote, test.blocks)
			p := r.join(test.typ, func(i *peerhandle.Info) { i.Permissions.NoBan = true }) // whose headers are kept
			p.serve(remote)
			if p.gone != test.left {
				t.Errorf("%s: left for %q", test.name, p.gone)
			}
		})
	}
	demanding(t, 2010, func(r *rig) { // with more to come
		remote := r.remote()
		grow(remote, 2000)
		p := r.join(p2p.OutboundFullRelay, func(i *peerhandle.Info) { i.Permissions.NoBan = true })
		p.forget()
		p.sayHeaders(remote, 1, 2000)
		if p.gone != "" {
			t.Errorf("with more to come: left for %q", p.gone)
		}
		got := take[*wire.MsgGetHeaders](p)
		if len(got) != 1 || *got[0].BlockLocatorHashes[0] != remote.Active().Tip().Hash {
			t.Errorf("asked for headers %d times", len(got))
		}
	})
}

// While the headers of a peer are read for the first time, it is reported how far they go.
func TestReadingIsReported(t *testing.T) {
	demanding(t, 2100, func(r *rig) {
		remote := r.remote()
		grow(remote, 2000)
		p := r.join(p2p.OutboundFullRelay)
		p.sayHeaders(remote, 1, 2000)
		all, err := ask.Ask(r.t.Context(), r.sync, nodemsg.GetPeerSync{})
		if s := all[p.info.ID]; err != nil || s.PresyncedHeaders != 2000 || s.SyncedHeaders != -1 ||
			s.SyncedBlocks != -1 || !s.LastBlock.IsZero() {
			t.Errorf("%+v, %v", s, err)
		}
	})
}

// A node that wants no more work than the network's least takes it from the network.
func TestDefaults(t *testing.T) {
	for least, want := range map[int64]int32{0: 5, 100: 0} {
		bubbleWith(t, func(c *sync.Config) {
			c.Network.MinimumChainWork = big.NewInt(least).Text(16)
		}, func(r *rig) {
			remote := r.remote()
			grow(remote, 5)
			r.join(p2p.Inbound).serve(remote)
			if r.height() != want {
				t.Errorf("with the least work %d: at height %d", least, r.height())
			}
		})
	}
}

// No peer is blamed for a block that the chain does not take because its parent went. Blocks that build on a
// refused block go too, and are asked for again if the refused block comes in another form.
func TestRefusedWithParent(t *testing.T) {
	bubble(t, func(r *rig) {
		remote, p := r.upToDate()
		grow(remote, 3)
		first := remote.Active().At(286)
		r.reject[first.Hash] = "body prev-blk-not-found"
		p.sayHeaders(remote, 286, 288)
		for _, h := range p.asked(remote) {
			p.sayBlock(remote, h)
		}
		if p.gone != "" || p.handled() != p.said || r.height() != 285 {
			t.Errorf("left for %q, %d of %d are handled, at height %d", p.gone, p.handled(), p.said, r.height())
		}
	})
}

// Compact blocks are made of the pool as it is: of its first transactions and later additions, without
// transactions that have left.
func TestPoolOfCompactBlocks(t *testing.T) {
	bubble(t, func(r *rig) {
		c := newCompactRig(r.t, r)
		c.pooled(c.txs...)
		gone := c.txs[1]
		r.changes.Publish(messages.PoolChanged{
			Changes: []messages.PoolChange{{Tx: gone, ID: gone.TxHash(), WID: gone.WitnessHash()}},
		})
		c.source.say(codec.NewCmpctBlock(c.block, nil))
		if got := take[*codec.GetBlockTxn](c.source); len(got) != 1 || !slices.Equal(got[0].Indexes, []uint16{2}) {
			t.Errorf("asked for %v", got)
		}
	})
}

type headersMsg = codec.Headers

func headersMessage(c *chaintest.Chain, from, to int32) *codec.Headers {
	m := new(codec.Headers)
	for h := from; h <= to; h++ {
		m.List = append(m.List, c.Active().At(h).Header())
	}
	return m
}

func fetchBlock(t *testing.T, r *rig, hash chainhash.Hash) ([]byte, error) {
	t.Helper()
	return ask.Ask(t.Context(), r.sync, nodemsg.FetchBlock{Hash: hash})
}

func (r *rig) state() nodemsg.SyncState {
	r.t.Helper()
	got, err := ask.Ask(r.t.Context(), r.sync, nodemsg.GetSyncState{})
	if err != nil {
		r.t.Fatal(err)
	}
	return got
}
