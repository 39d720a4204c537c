package sync_test

import (
	"bytes"
	"errors"
	"io"
	gosync "sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/sync"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/peerhandle"
	"github.com/seed61375155/trawl/messages"
)

// A rig is the actor over a chain in memory, with scripted peers. Its tests run in
// bubbles of synctest.
type rig struct {
	t     *testing.T
	net   *dialect.Network
	chain *chaintest.Chain // the node's
	tip   *ask.Feed[messages.TipChanged]
	sync  *ask.Ref
	root  *actor.RootContext
	peers int64

	unlinked map[chainhash.Hash][]byte // blocks before their parents
	early    int                       // how many there ever were
	pool     []messages.PoolTx         // what the memory pool has at first
	changes  *ask.Feed[messages.PoolChanged]
	reject   map[chainhash.Hash]string // reasons to refuse blocks and headers
	recover  func([]byte) error        // takes blocks that come again with their witnesses
	slow     time.Duration             // how long the chain looks at blocks
	failing  atomic.Int32              // how often the chain fails before it says that block files are read

	view        *chainview.Current
	slowHeaders time.Duration         // how long the chain looks at headers
	failBlocks  int                   // how often the chain fails over blocks
	restored    [][]byte              // blocks that were stored again
	restoreErr  error                 // that the chain says of them
	late        []nodemsg.LateRefusal // that the chain tells beside the next blocks
}

// bubble runs a test in a bubble, whose clock stands a day after the genesis block.
func bubble(t *testing.T, test func(r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		net, err := dialect.Bitcoin("regtest")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Until(net.Params.GenesisBlock.Header.Timestamp.Add(48 * time.Hour)))
		test(newRig(t, net, nil))
	})
}

func newRig(t *testing.T, net *dialect.Network, configure func(*sync.Config)) *rig {
	t.Helper()
	return newRigWith(t, net, func(_ *rig, c *sync.Config) {
		if configure != nil {
			configure(c)
		}
	})
}

// newRigWith is newRig, with a chain that may differ from the start.
func newRigWith(t *testing.T, net *dialect.Network, configure func(*rig, *sync.Config)) *rig {
	t.Helper()
	r := &rig{
		t: t, net: net, chain: chaintest.New(net.Params), tip: new(ask.Feed[messages.TipChanged]),
		unlinked: make(map[chainhash.Hash][]byte),
		reject:   make(map[chainhash.Hash]string), changes: new(ask.Feed[messages.PoolChanged]),
	}
	sys := actortest.New(t)
	r.root = sys.Root
	r.view = new(chainview.Current)
	r.view.Set(r.chain)
	owner := sys.Spawn("chain", func() actor.Actor { return actor.ReceiveFunc(r.own) })
	cfg := sync.Config{
		Network: net, Chain: owner, View: r.view, Tip: r.tip, Log: sys.Log, Pool: owner, Changes: r.changes,
	}
	configure(r, &cfg)
	r.sync = sys.Spawn("sync", sync.New(cfg), sync.Requests...)
	synctest.Wait()
	return r
}

type (
	acceptHeaders = ask.Call[nodemsg.AcceptHeaders, nodemsg.AcceptedHeaders]
	acceptBlocks  = ask.Call[nodemsg.AcceptBlocks, nodemsg.AcceptedBlocks]
	waitImported  = ask.Call[messages.WaitImported, messages.Done]
)

// own plays the chain's actor.
func (r *rig) own(c actor.Context) {
	switch m := c.Message().(type) {
	case *ask.Call[messages.GetPoolTxs, messages.PoolTxs]:
		m.Answer(messages.PoolTxs{Txs: r.pool}, nil)
	case *waitImported:
		if r.failing.Add(-1) >= 0 {
			m.Answer(messages.Done{}, ask.ErrRestarted)
			return
		}
		m.Answer(messages.Done{}, nil)
	case *acceptHeaders:
		time.Sleep(r.slowHeaders)
		for _, raw := range m.Req.Headers {
			if err := r.addHeader(raw); err != nil {
				m.Answer(nodemsg.AcceptedHeaders{}, err)
				return
			}
		}
		m.Answer(nodemsg.AcceptedHeaders{}, nil)
	case *acceptBlocks:
		time.Sleep(r.slow)
		if r.failBlocks > 0 {
			r.failBlocks--
			m.Answer(nodemsg.AcceptedBlocks{}, ask.ErrRestarted)
			return
		}
		refused := make([]error, len(m.Req.Raw))
		for i, raw := range m.Req.Raw {
			refused[i] = r.addBlock(raw)
		}
		m.Answer(nodemsg.AcceptedBlocks{Refused: refused, Late: r.late}, nil)
		r.late = nil
	case *ask.Call[nodemsg.RestoreBlock, messages.Done]:
		r.restored = append(r.restored, m.Req.Raw)
		m.Answer(messages.Done{}, r.restoreErr)
	case *ask.Call[nodemsg.RecoverWitnesses, messages.Done]:
		m.Answer(messages.Done{}, r.recover(m.Req.Raw))
	default:
		ask.Unhandled(c)
	}
}

func (r *rig) addHeader(raw []byte) error {
	var h wire.BlockHeader
	if err := h.Deserialize(bytes.NewReader(raw)); err != nil {
		return err
	}
	if reason := r.reject[h.BlockHash()]; reason != "" && reason[:4] != "body" {
		return &messages.RejectError{Reason: reason}
	}
	_, err := r.chain.Tree.Add(&h, consensus.TargetWork(h.Bits), 0)
	if errors.Is(err, chainview.ErrOrphan) {
		return &messages.RejectError{Reason: "prev-blk-not-found"}
	}
	return err
}

func (r *rig) addBlock(raw []byte) error {
	hash := chainhash.DoubleHashH(raw[:80])
	if reason := r.reject[hash]; reason != "" {
		b := r.chain.Lookup(&hash)
		r.chain.SetStatus(b, b.Status()|chainview.Failed)
		return &messages.RejectError{Reason: reason[len("body "):]}
	}
	block, err := btcutil.NewBlockFromBytes(raw)
	if err != nil {
		return err
	}
	ids := make([]chainhash.Hash, len(block.Transactions()))
	for i, tx := range block.Transactions() {
		ids[i] = *tx.Hash()
	}
	if root, _ := consensus.MerkleRoot(ids); root != block.MsgBlock().Header.MerkleRoot {
		return &messages.RejectError{Reason: "bad-txnmrklroot"}
	}
	before := r.chain.Active().Tip()
	r.connect(raw)
	if tip := r.chain.Active().Tip(); tip != before {
		r.tip.Publish(messages.TipChanged{Hash: tip.Hash, Height: tip.Height})
	}
	return nil
}

// connect adds a block, or keeps it until its parent comes.
func (r *rig) connect(raw []byte) {
	hash, parent := chainhash.DoubleHashH(raw[:80]), chainhash.Hash(raw[4:36])
	if p := r.chain.Lookup(&parent); p == nil || p.Status()&chainview.HasData == 0 || r.unlinked[parent] != nil {
		r.early++
		r.unlinked[hash] = raw
		b := r.chain.Lookup(&hash)
		r.chain.SetStatus(b, b.Status()|chainview.HasData)
		return
	}
	b, err := r.chain.Add(raw)
	if err != nil {
		r.t.Error(err)
		return
	}
	r.chain.SetStatus(b, b.Status()&^chainview.Pruned)
	for child, raw := range r.unlinked {
		if chainhash.Hash(raw[4:36]) == hash {
			delete(r.unlinked, child)
			r.connect(raw)
		}
	}
}

// remote is a chain that a scripted peer has.
func (r *rig) remote() *chaintest.Chain { return chaintest.New(r.net.Params) }

// grow adds solved blocks to a remote chain, ten minutes apart.
func grow(c *chaintest.Chain, n int) *chainview.Block {
	for range n {
		c.Mine(chaintest.Template{Solved: true})
	}
	return c.Active().Tip()
}

// A fakePeer is a scripted peer. Messages to the peer lie in sent.
type fakePeer struct {
	r    *rig
	info peerhandle.Info
	gone string // why it was left; with "!" before, as misbehaving

	mu   gosync.Mutex
	sent []wire.Message

	done atomic.Int32 // messages that it was credited
	said int          // messages that it sent
}

// join connects a peer.
func (r *rig) join(typ p2p.ConnectionType, change ...func(*peerhandle.Info)) *fakePeer {
	r.t.Helper()
	r.peers++
	p := &fakePeer{r: r, info: peerhandle.Info{ID: r.peers, Type: typ}}
	p.info.Remote.Version.Services = wire.SFNodeNetwork | wire.SFNodeWitness
	p.info.Remote.Common = codec.ProtocolVersion
	for _, f := range change {
		f(&p.info)
	}
	r.sync.Tell(peerhandle.Joined{Peer: p})
	synctest.Wait()
	return p
}

func (p *fakePeer) Info() peerhandle.Info { return p.info }
func (p *fakePeer) Send(m wire.Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = append(p.sent, m)
}

// forget drops what the peer was sent.
func (p *fakePeer) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = nil
}

// next takes the first message that the peer was sent, nil when there is none.
func (p *fakePeer) next() (m wire.Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.sent) > 0 {
		m, p.sent = p.sent[0], p.sent[1:]
	}
	return m
}
func (*fakePeer) CanWrite() bool { return true }

func (p *fakePeer) Misbehaving(reason string) { p.leave("!" + reason) }
func (p *fakePeer) Disconnect(reason string)  { p.leave(reason) }

func (p *fakePeer) leave(why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone == "" {
		p.gone = why
		p.r.sync.Tell(peerhandle.Left{ID: p.info.ID})
	}
}

// say sends a message and waits until it had its effect.
func (p *fakePeer) say(m wire.Message) {
	p.r.t.Helper()
	payload, err := codec.Encode(m, codec.ProtocolVersion)
	if err != nil {
		p.r.t.Fatal(err)
	}
	p.said++
	p.r.sync.Tell(peerhandle.Received{
		Peer: p, Message: p2p.Message{Message: m, Payload: payload, Received: time.Now()},
		Handled: func() { p.done.Add(1) },
	})
	synctest.Wait()
}

// sayHeaders sends the headers of a chain from one height to another.
func (p *fakePeer) sayHeaders(c *chaintest.Chain, from, to int32) {
	p.r.t.Helper()
	m := new(codec.Headers)
	for h := from; h <= to; h++ {
		m.List = append(m.List, c.Active().At(h).Header())
	}
	p.say(m)
}

// sayBlock sends a block.
func (p *fakePeer) sayBlock(c *chaintest.Chain, height int32) {
	p.r.t.Helper()
	p.say(blockAt(p.r.t, c, height))
}

func blockAt(t *testing.T, c *chaintest.Chain, height int32) *wire.MsgBlock {
	t.Helper()
	raw, err := c.Raw(&c.Active().At(height).Hash)
	if err != nil {
		t.Fatal(err)
	}
	m := new(wire.MsgBlock)
	if err := m.Deserialize(bytes.NewReader(raw)); err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	return m
}

// take returns the messages of one kind that the peer was sent, and forgets them.
func take[M wire.Message](p *fakePeer) []M {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []M
	var rest []wire.Message
	for _, m := range p.sent {
		if m, ok := m.(M); ok {
			list = append(list, m)
			continue
		}
		rest = append(rest, m)
	}
	p.sent = rest
	return list
}

// asked returns the heights of the blocks that the peer was asked for since.
func (p *fakePeer) asked(c *chaintest.Chain) []int32 {
	p.r.t.Helper()
	var heights []int32
	for _, m := range take[*wire.MsgGetData](p) {
		for _, v := range m.InvList {
			b := c.Lookup(&v.Hash)
			if b == nil {
				p.r.t.Fatalf("peer is asked for %v, which it does not have", v.Hash)
			}
			heights = append(heights, b.Height)
		}
	}
	return heights
}

// serve answers all that the peer is asked until nothing more comes.
func (p *fakePeer) serve(c *chaintest.Chain) {
	p.r.t.Helper()
	for m := p.next(); m != nil && p.gone == ""; m = p.next() {
		switch m := m.(type) {
		case *wire.MsgGetHeaders:
			p.answerHeaders(c, m)
		case *wire.MsgGetData:
			for _, v := range m.InvList {
				p.sayBlock(c, c.Lookup(&v.Hash).Height)
			}
		}
	}
}

func (p *fakePeer) answerHeaders(c *chaintest.Chain, m *wire.MsgGetHeaders) {
	p.r.t.Helper()
	for _, hash := range m.BlockLocatorHashes {
		if b := c.Lookup(hash); b != nil && c.Active().Contains(b) {
			p.sayHeaders(c, b.Height+1, min(b.Height+codec.MaxHeaders, c.Active().Height()))
			return
		}
	}
	p.r.t.Error("no block of the locator is known")
}

// height is that of the node's chain.
func (r *rig) height() int32 { return r.chain.Active().Height() }
