// Package sync is the actor that follows the chains of the peers. It learns their
// headers, downloads the blocks that the node lacks, hands them to the chain in
// order, and tells the peers of new tips.
//
// It behaves as Bitcoin Core 30.2 does (src/net_processing.cpp). Headers come
// first: from one peer, then from all peers once the best header is recent. Blocks
// are fetched from several peers at a time, 16 from each, within a window of 1024
// blocks after the last block that is there. Blocks that come before their parents
// wait in memory, which is bounded. A peer is left if it stalls the window, is too
// slow, or breaks a rule.
//
// The messages of a peer are handled in their order: while the chain looks at a
// peer's headers, the peer's later messages wait, and the peer is not read.
//
// [Sync] receives and asks; the decisions are made by types with one job each, which
// know no actors: headersSync, download with its reorderBuffer, compactBlocks, fetches
// and announcer.
package sync

import (
	"context"
	"log/slog"
	"math/big"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/internal/p2p/peerhandle"
	"github.com/seed61375155/trawl/internal/poolview"
	"github.com/seed61375155/trawl/messages"
)

// recentHeaders is the age up to which the best header is recent, so that all peers are asked for
// headers.
const recentHeaders = 24 * time.Hour

// Config is what the actor is made of.
type Config struct {
	Network *dialect.Network
	Chain   *ask.Ref // owns the chain
	View    *chainview.Current
	Tip     *ask.Feed[messages.TipChanged]
	Now     func() time.Time
	Log     *slog.Logger

	// MinimumWork is that of the least chain worth downloading; default that of
	// the network.
	MinimumWork *big.Int

	MaxTipAge  time.Duration // default: the network's
	BlocksOnly bool          // peers are not to announce compact blocks at once

	Stale *ask.Feed[nodemsg.StaleBlock] // gets blocks that are not kept; nil: nobody is notified

	// Pool owns the memory pool, whose Changes are followed; nil: there is none.
	Pool    *ask.Ref
	Changes *ask.Feed[messages.PoolChanged]
}

var table = ask.TableOf(
	ask.AtOnce((*Sync).state), ask.On((*Sync).fetch),
	ask.AtOnce(func(s *Sync, _ nodemsg.GetPeerSync) (map[int64]nodemsg.PeerSync, error) { return s.peerStates(), nil }),
	ask.AtOnce(func(s *Sync, q nodemsg.FetchBlockFrom) (messages.Done, error) { return messages.Done{}, s.fetchFrom(q) }),
)

// Requests lists what a plain protoactor request may ask.
var Requests = table.Served

// Sync is the actor; make one with [New].
type Sync struct {
	cfg    *Config
	log    logger
	ctx    context.Context //nolint:containedctx // ends what was asked of the chain when the actor stops
	cancel context.CancelFunc
	ticker ask.Timer

	chain     *chainState
	peers     *peerSet
	fetches   *fetches
	compact   *compactBlocks
	download  *download
	headers   *headersSync
	announcer *announcer

	headersInFlight int  // headers of so many peers are with the chain
	askImported     bool // the chain failed before it could say that the block files are read
	givers          map[chainhash.Hash]giver
}

// New returns the producer of the actor.
func New(cfg Config) actor.Producer {
	if cfg.MinimumWork == nil {
		cfg.MinimumWork, _ = new(big.Int).SetString("0"+cfg.Network.MinimumChainWork, 16)
	}
	if cfg.MaxTipAge <= 0 {
		cfg.MaxTipAge = cfg.Network.Traffic.MaxTipAge
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return func() actor.Actor {
		log, chain, peers := newLogger(cfg.Log), &chainState{cfg: &cfg}, new(peerSet)
		download := newDownload(&cfg, log, chain)
		compact := &compactBlocks{cfg: &cfg, log: log, chain: chain, requests: download, pool: poolview.New()}
		s := &Sync{
			cfg: &cfg, log: log, chain: chain, peers: peers, download: download, compact: compact,
			headers:   &headersSync{cfg: &cfg, log: log, chain: chain, peers: peers},
			fetches:   newFetches(&cfg, log, chain, peers),
			announcer: &announcer{log: log, chain: chain, compact: compact},
			givers:    make(map[chainhash.Hash]giver),
		}
		s.ctx, s.cancel = context.WithCancel(context.Background())
		return s
	}
}

type (
	// tick comes every tickEvery.
	tick struct{}

	// ClockSet says that somebody has set the node's clock. Tell it to the actor:
	// peers may be too slow by the new time.
	ClockSet struct{}

	// importDone says that the block files are read.
	importDone struct{ err error }
)

// tickEvery is how often timeouts are looked at.
const tickEvery = 500 * time.Millisecond

// Receive implements actor.Actor.
func (s *Sync) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *actor.Started:
		s.start(c)
	case *actor.Stopping, *actor.Restarting:
		s.stop(c)
	case tick:
		s.ticker.Set(c, tickEvery, tick{})
		s.handle(c, m)
	default:
		s.handle(c, m)
	}
}

func (s *Sync) handle(c actor.Context, msg any) {
	if !s.follow() {
		if m, ok := msg.(peerhandle.Received); ok {
			m.Handled()
			return
		}
	}
	switch m := msg.(type) {
	case tick:
		s.watch()
		if s.askImported {
			s.awaitImport(c)
		}
		if s.download.buffer.storeLost(func(hash *chainhash.Hash) bool { return len(s.download.inFlight[*hash]) > 0 }) {
			s.submit(c)
		}
	case ClockSet:
		s.watch()
	case poolview.Contents:
		_ = s.compact.pool.Begin(m, nil) // without it, compact blocks lack more
		return
	case messages.PoolChanged:
		s.compact.pool.Apply(m)
		return
	case importDone:
		s.chain.imported = s.chain.imported || m.err == nil
		s.askImported = !s.chain.imported
	case peerhandle.Joined:
		s.join(m.Peer)
	case peerhandle.Left:
		s.leave(m.ID)
	case peerhandle.HeadersSent:
		s.headersSent(m)
	case peerhandle.Received:
		s.received(c, m)
	case headersAnswer:
		s.headersAccepted(c, m)
	case restored:
		s.restored(m)
	case blocksAnswer:
		s.blocksAccepted(c, m)
	case messages.TipChanged:
		s.tipChanged()
	default:
		table.Serve(s, c)
	}
	s.schedule()
}

func (s *Sync) state(nodemsg.GetSyncState) (nodemsg.SyncState, error) {
	return nodemsg.SyncState{InitialDownload: s.chain.initialDownload()}, nil
}

func (s *Sync) fetch(_ actor.Context, m *ask.Call[nodemsg.FetchBlock, []byte]) {
	s.fetches.add(m.Req.Hash, fetchCaller{
		gone:   func() bool { return m.Ctx.Err() != nil },
		answer: func(raw []byte, err error) { m.Answer(raw, err) },
	})
}

func (s *Sync) start(c actor.Context) {
	s.cfg.Tip.SubscribeLatest(c)
	s.joinPool(c)
	s.ticker.Set(c, tickEvery, tick{})
	s.awaitImport(c)
}

// awaitImport asks the chain to tell when the block files are read.
func (s *Sync) awaitImport(c actor.Context) {
	s.askImported = false
	ctx := s.ctx
	ask.Then(ctx, c, s.cfg.Chain, messages.WaitImported{}, func(_ messages.Done, err error) any {
		if ctx.Err() != nil {
			return nil // an instance before this one asked
		}
		return importDone{err}
	})
}

func (s *Sync) stop(c actor.Context) {
	s.cfg.Tip.Unsubscribe(c)
	if s.cfg.Changes != nil {
		s.cfg.Changes.Unsubscribe(c)
	}
	s.cancel()
	s.ticker.Stop()
	for _, p := range s.peers.list {
		p.resumePeer()
		// Nobody tells the next instance who is there.
		p.Disconnect("sync stopped")
	}
	s.peers.list = nil
}

// joinPool begins to follow the memory pool.
func (s *Sync) joinPool(c actor.Context) {
	if s.cfg.Changes != nil && !s.cfg.BlocksOnly {
		poolview.Join(s.ctx, c, s.cfg.Pool, s.cfg.Changes, func(m poolview.Contents) any { return m })
	}
}

// follow takes over the chain's present view. A chain that was reopened has
// other blocks. It reports false while there is none.
func (s *Sync) follow() bool {
	changed, ok := s.chain.open()
	if changed {
		s.download.clear()
		for _, p := range s.peers.list {
			p.rebase(s.chain.reader)
		}
	}
	return ok
}

func (s *Sync) join(l peerhandle.Peer) { s.peers.add(&peer{Peer: l, info: l.Info()}) }

func (s *Sync) leave(id int64) {
	p := s.peers.byID(id)
	if p == nil {
		return
	}
	s.peers.remove(p)
	p.resumePeer()
	s.compact.forget(p)
	s.headers.forget(p)
	s.download.forget(p)
}

// peerStates is what getpeerinfo tells of the peers' chains.
func (s *Sync) peerStates() map[int64]nodemsg.PeerSync {
	states := make(map[int64]nodemsg.PeerSync, len(s.peers.list))
	for _, p := range s.peers.list {
		s.chain.relearn(p)
		state := nodemsg.PeerSync{
			PresyncedHeaders: -1, SyncedHeaders: -1, SyncedBlocks: -1, InFlight: make([]int32, len(p.inFlight)),
			LastBlock: p.lastBlock, CompactTo: p.highBandwidth,
		}
		if p.presync != nil {
			if height, _, ok := p.presync.Progress(); ok {
				state.PresyncedHeaders = height
			}
		}
		if p.best != nil {
			state.SyncedHeaders = p.best.Height
		}
		if p.common != nil {
			state.SyncedBlocks = p.common.Height
		}
		for i, f := range p.inFlight {
			state.InFlight[i] = f.block.Height
		}
		states[p.info.ID] = state
	}
	return states
}
