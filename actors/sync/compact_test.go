package sync_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/sync"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/messages"
)

// A recent chain with a block of some transactions after it.
type compactRig struct {
	*rig

	remote *chaintest.Chain
	source *fakePeer
	next   *chainview.Block
	block  *wire.MsgBlock
	txs    []*wire.MsgTx
}

// spend returns a transaction that spends the coinbase of a block.
func spend(t *testing.T, c *chaintest.Chain, height int32) *wire.MsgTx {
	t.Helper()
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: blockAt(t, c, height).Transactions[0].TxHash()}})
	tx.AddTxOut(wire.NewTxOut(1000, []byte{0x51}))
	return tx
}

func newCompactRig(t *testing.T, r *rig) *compactRig {
	t.Helper()
	return newCompactRigAt(t, r, 285) // up to the time of the clock
}

// newCompactRigAt is newCompactRig with a chain of another height.
func newCompactRigAt(t *testing.T, r *rig, height int) *compactRig {
	t.Helper()
	c := &compactRig{rig: r, remote: r.remote()}
	grow(c.remote, height)
	c.source = r.join(p2p.OutboundFullRelay)
	c.source.serve(c.remote)
	c.source.say(&codec.SendCmpct{Version: codec.CmpctVersion})
	for h := int32(1); h <= 3; h++ {
		c.txs = append(c.txs, spend(t, c.remote, h))
	}
	c.next = c.remote.Mine(chaintest.Template{Solved: true, Txs: c.txs})
	c.block = blockAt(t, c.remote, c.next.Height)
	c.source.forget()
	return c
}

// pooled makes transactions part of the memory pool.
func (c *compactRig) pooled(txs ...*wire.MsgTx) {
	var m messages.PoolChanged
	for _, tx := range txs {
		m.Changes = append(m.Changes, messages.PoolChange{Tx: tx, ID: tx.TxHash(), WID: tx.WitnessHash(), Added: true})
	}
	c.changes.Publish(m)
	synctest.Wait()
}

func (c *compactRig) want(height int32, gone string) {
	c.t.Helper()
	if c.height() != height {
		c.t.Errorf("at height %d, want %d", c.height(), height)
	}
	if c.source.gone != gone {
		c.t.Errorf("peer left for %q, want %q", c.source.gone, gone)
	}
	if c.source.handled() != c.source.said {
		c.t.Errorf("%d of %d messages are credited", c.source.handled(), c.source.said)
	}
}

func TestCompactBlocks(t *testing.T) {
	for _, test := range []struct {
		name string
		run  func(c *compactRig)
	}{
		{"all in the pool", func(c *compactRig) {
			c.pooled(c.txs...)
			c.source.say(codec.NewCmpctBlock(c.block, nil))
			c.want(286, "")
			if len(take[*codec.GetBlockTxn](c.source))+len(take[*wire.MsgGetData](c.source)) > 0 {
				c.t.Error("something is asked for")
			}
			if got := take[*codec.SendCmpct](c.source); len(got) != 1 || !got[0].HighBandwidth {
				c.t.Errorf("the peer is not chosen: %v", got)
			}
		}},
		{"one is missing", func(c *compactRig) {
			c.pooled(c.txs[0], c.txs[2])
			c.source.say(codec.NewCmpctBlock(c.block, nil))
			asked := take[*codec.GetBlockTxn](c.source)
			if len(asked) != 1 || len(asked[0].Indexes) != 1 || asked[0].Indexes[0] != 2 {
				c.t.Fatalf("asked for %v", asked)
			}
			c.source.say(&codec.BlockTxn{Block: c.next.Hash, Txs: c.txs[1:2]})
			c.want(286, "")
		}},
		{"too many come", func(c *compactRig) {
			c.source.say(codec.NewCmpctBlock(c.block, nil))
			c.source.say(&codec.BlockTxn{Block: c.next.Hash, Txs: append(c.txs, c.txs[0])})
			c.want(285, "!invalid compact block/non-matching block transactions")
		}},
		{"others come", func(c *compactRig) {
			c.source.say(codec.NewCmpctBlock(c.block, nil))
			c.source.say(&codec.BlockTxn{Block: c.next.Hash, Txs: append(c.txs[1:], c.txs[0])})
			c.want(285, "")
			if got := c.source.asked(c.remote); len(got) != 1 || got[0] != 286 {
				c.t.Fatalf("the whole block is not asked for: %v", got)
			}
			c.source.sayBlock(c.remote, 286)
			c.want(286, "")
		}},
		{"nobody asked", func(c *compactRig) {
			c.source.say(&codec.BlockTxn{Block: c.next.Hash, Txs: c.txs})
			c.want(285, "")
		}},
		{"no transactions", func(c *compactRig) {
			c.source.say(&codec.CmpctBlock{Header: c.block.Header})
			c.want(285, "!invalid compact block")
		}},
		{"a place that no block has", func(c *compactRig) {
			m := codec.NewCmpctBlock(c.block, nil)
			m.Prefilled = append(m.Prefilled, codec.PrefilledTx{Index: 0xffff + 1, Tx: c.txs[0]})
			c.source.say(m)
			c.want(285, "!invalid compact block")
		}},
		{"two with one short id", func(c *compactRig) {
			m := codec.NewCmpctBlock(c.block, nil)
			m.ShortIDs[1] = m.ShortIDs[0]
			c.source.say(m)
			c.want(285, "")
			if got := c.source.asked(c.remote); len(got) != 1 {
				c.t.Errorf("the whole block is not asked for: %v", got)
			}
		}},
		{"an invalid block", func(c *compactRig) {
			c.reject[c.next.Hash] = "body bad-cb-amount"
			c.pooled(c.txs...)
			c.source.say(codec.NewCmpctBlock(c.block, nil))
			c.want(285, "") // it may be relayed before it is validated
		}},
		{"an invalid header", func(c *compactRig) {
			c.reject[c.next.Hash] = "bad-diffbits"
			c.source.say(codec.NewCmpctBlock(c.block, nil))
			c.want(285, "!invalid header via cmpctblock")
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(r *rig) { test.run(newCompactRig(r.t, r)) })
		})
	}
}

// Where it is the network's way, compact blocks are taken from those alone that were chosen to send them, or asked.
func TestStrictCompactBlocks(t *testing.T) {
	ready := &codec.SendCmpct{Version: codec.CmpctVersion}
	for _, test := range []struct {
		name   string
		only   bool // blocks are taken, no transactions
		run    func(c *compactRig)
		strict int32 // height afterwards; else the block is always taken
	}{
		{"nobody asked", false, func(c *compactRig) {
			stranger := c.join(p2p.Inbound)
			stranger.say(ready)
			stranger.say(codec.NewCmpctBlock(c.block, nil))
		}, 285},
		{"asked", false, func(c *compactRig) {
			other := c.join(p2p.OutboundFullRelay)
			other.say(ready)
			other.sayHeaders(c.remote, 286, 286)
			if got := take[*wire.MsgGetData](other); len(got) != 1 {
				c.t.Fatalf("asked for %v", got)
			}
			other.say(codec.NewCmpctBlock(c.block, nil))
		}, 286},
		{"never said to have any", false, func(c *compactRig) {
			other := c.join(p2p.OutboundFullRelay)
			other.sayHeaders(c.remote, 286, 286)
			other.say(codec.NewCmpctBlock(c.block, nil))
		}, 285},
		{"for blocks alone", true, func(c *compactRig) {
			c.source.sayHeaders(c.remote, 286, 286)
			c.source.say(codec.NewCmpctBlock(c.block, nil))
			if len(take[*codec.GetBlockTxn](c.source)) > 0 {
				c.source.say(&codec.BlockTxn{Block: c.next.Hash, Txs: c.txs})
			}
		}, 285},
	} {
		for _, strict := range []bool{false, true} {
			t.Run(fmt.Sprint(test.name, " strict ", strict), func(t *testing.T) {
				bubbleWith(t, func(c *sync.Config) {
					c.BlocksOnly, c.Network.Traffic.StrictCompact = test.only, strict
				}, func(r *rig) {
					c := newCompactRig(r.t, r)
					c.pooled(c.txs...)
					test.run(c)
					want := int32(286)
					if strict {
						want = test.strict
					}
					if c.want(want, ""); c.chain.Lookup(&c.next.Hash) == nil && want == 286 {
						t.Error("its header is not known")
					}
				})
			})
		}
	}
}

// A peer that was chosen to send compact blocks may send them unasked.
func TestChosenForCompactBlocks(t *testing.T) {
	bubbleWith(t, func(c *sync.Config) { c.Network.Traffic.StrictCompact = true }, func(r *rig) {
		c := newCompactRig(r.t, r)
		c.source.sayHeaders(c.remote, 286, 286)
		c.source.sayBlock(c.remote, 286)
		if got := take[*codec.SendCmpct](c.source); len(got) != 1 || !got[0].HighBandwidth {
			t.Fatalf("the peer is not chosen: %v", got)
		}
		grow(c.remote, 1)
		c.source.say(codec.NewCmpctBlock(blockAt(t, c.remote, 287), nil))
		c.want(287, "")
	})
}

// A peer may say neither 0 nor 1 of compact blocks, unless it is the network's way that this is misbehaving.
func TestOddCompactBlocks(t *testing.T) {
	for _, strict := range []bool{false, true} {
		bubbleWith(t, func(c *sync.Config) { c.Network.Traffic.StrictCompact = strict }, func(r *rig) {
			for _, flag := range []byte{0, 1, 2, 255} {
				p := r.join(p2p.Inbound)
				m := new(codec.SendCmpct)
				payload := append([]byte{flag, codec.CmpctVersion}, make([]byte, 7)...)
				if err := codec.Decode(m, payload, codec.ProtocolVersion); err != nil {
					t.Fatal(err)
				}
				p.say(m)
				left := ""
				if strict && flag > 1 {
					left = "!invalid sendcmpct announce field"
				}
				if p.gone != left {
					t.Errorf("strict %v, %d: left for %q", strict, flag, p.gone)
				}
			}
		})
	}
}

// A peer that asked for it hears of a block by a compact one.
func TestAnnouncesCompactBlocks(t *testing.T) {
	bubble(t, func(r *rig) {
		c := newCompactRig(r.t, r)
		p := r.join(p2p.Inbound)
		p.say(&codec.SendCmpct{HighBandwidth: true, Version: codec.CmpctVersion})
		p.sayHeaders(c.remote, 285, 285)
		p.forget()
		c.source.sayHeaders(c.remote, 286, 286)
		c.source.sayBlock(c.remote, 286)
		got := take[*codec.CmpctBlock](p)
		if len(got) != 1 || got[0].Header.BlockHash() != c.next.Hash || len(got[0].ShortIDs) != 3 {
			t.Errorf("announced: %v", got)
		}
	})
}

// A block that is not kept is fetched for whoever needs it, from one peer after the
// other, and is checked.
func TestFetchBlock(t *testing.T) {
	bubble(t, func(r *rig) {
		remote := r.remote()
		grow(remote, 20)
		wrong, right := r.join(p2p.OutboundFullRelay), r.join(p2p.OutboundFullRelay)
		wrong.serve(remote)
		right.sayHeaders(remote, 1, 20)
		wrong.forget()
		right.forget()

		type result struct {
			raw []byte
			err error
		}
		got := make(chan result, 1)
		hash := remote.Active().At(7).Hash
		go func() {
			raw, err := fetchBlock(r.t, r, hash)
			got <- result{raw, err}
		}()
		synctest.Wait()
		if asked := wrong.asked(remote); len(asked) != 1 || asked[0] != 7 {
			t.Fatalf("asked for %v", asked)
		}
		bad := blockAt(t, remote, 7)
		bad.Transactions[0].TxOut[0].Value++
		wrong.say(bad)
		if wrong.gone != "!mutated block" {
			t.Errorf("the peer that sent another block: %q", wrong.gone)
		}
		right.serve(remote)
		synctest.Wait()
		want, _ := remote.Raw(&hash)
		if answer := <-got; answer.err != nil || string(answer.raw) != string(want) {
			t.Errorf("got %d bytes, %v", len(answer.raw), answer.err)
		}
		right.leave("")
		synctest.Wait()
		if _, err := fetchBlock(r.t, r, hash); err == nil {
			t.Error("a block came without peers")
		}
	})
}
