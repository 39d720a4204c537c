package sync

import (
	"log/slog"
	"math/big"
	"sync/atomic"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/peerhandle"
	"github.com/seed61375155/trawl/internal/poolview"
)

// A bench is the pieces of the actor over a chain in memory, without the actor.
type bench struct {
	t         *testing.T
	node      *chaintest.Chain
	now       time.Time
	chain     *chainState
	peers     *peerSet
	download  *download
	headers   *headersSync
	compact   *compactBlocks
	fetches   *fetches
	announcer *announcer
}

// newBench returns the pieces of a node with a chain of some blocks, whose clock stands
// just after the last one.
func newBench(t *testing.T, height int) *bench {
	t.Helper()
	net, err := dialect.Bitcoin("regtest")
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, node: chaintest.New(net.Params), peers: new(peerSet)}
	for range height {
		b.node.Mine(chaintest.Template{Solved: true})
	}
	b.now = b.node.Active().Tip().Time().Add(time.Minute)
	view := new(chainview.Current)
	view.Set(b.node)
	cfg := &Config{
		Network: net, View: view, Now: func() time.Time { return b.now }, Log: slog.New(slog.DiscardHandler),
		MinimumWork: new(big.Int), MaxTipAge: 24 * time.Hour,
	}
	log := newLogger(cfg.Log)
	b.chain = &chainState{cfg: cfg, imported: true}
	if changed, ok := b.chain.open(); !changed || !ok {
		t.Fatal("the chain is not opened")
	}
	b.download = newDownload(cfg, log, b.chain)
	b.headers = &headersSync{cfg: cfg, log: log, chain: b.chain, peers: b.peers}
	b.compact = &compactBlocks{cfg: cfg, log: log, chain: b.chain, requests: b.download, pool: poolview.New()}
	b.fetches = newFetches(cfg, log, b.chain, b.peers)
	b.announcer = &announcer{log: log, chain: b.chain, compact: b.compact}
	return b
}

// extend makes the node know headers after its tip, whose blocks it lacks.
func (b *bench) extend(n int) *chainview.Block {
	at := b.node.Active().Tip()
	for range n {
		at = b.node.AddHeader(at)
	}
	return at
}

// A wirePeer keeps what it was sent.
type wirePeer struct {
	info peerhandle.Info
	sent []wire.Message
	left string // why it was left; with "!" before, as misbehaving
}

func (w *wirePeer) Info() peerhandle.Info     { return w.info }
func (w *wirePeer) Send(m wire.Message)       { w.sent = append(w.sent, m) }
func (*wirePeer) CanWrite() bool              { return true }
func (w *wirePeer) Misbehaving(reason string) { w.left = "!" + reason }
func (w *wirePeer) Disconnect(reason string)  { w.left = reason }
func (w *wirePeer) take() []wire.Message {
	sent := w.sent
	w.sent = nil
	return sent
}

// join connects a peer that gives all blocks.
func (b *bench) join(typ p2p.ConnectionType) (*peer, *wirePeer) {
	w := &wirePeer{info: peerhandle.Info{ID: int64(len(b.peers.list) + 1), Type: typ, NoWitnesses: new(atomic.Bool)}}
	w.info.Remote.Version.Services = wire.SFNodeNetwork | wire.SFNodeWitness
	w.info.Remote.Common = codec.ProtocolVersion
	p := &peer{Peer: w, info: w.info}
	b.peers.add(p)
	return p, w
}

// asked returns the heights of the blocks that were asked for.
func (b *bench) asked(w *wirePeer) (heights []int32) {
	b.t.Helper()
	for _, m := range w.take() {
		if m, ok := m.(*wire.MsgGetData); ok {
			for _, v := range m.InvList {
				heights = append(heights, b.node.Lookup(&v.Hash).Height)
			}
		}
	}
	return heights
}

// mine adds a block with transactions to the node's chain.
func (b *bench) mine(txs ...*wire.MsgTx) *chainview.Block {
	return b.node.Mine(chaintest.Template{Solved: true, Txs: txs})
}
