// Package relay is the actor that passes unconfirmed transactions on between
// peers and the pool.
//
// It is notified of peers and of their messages about transactions (package peerhandle). It
// asks for announced transactions, one peer at a time, and has the pool judge the
// transactions that peers send. It announces accepted transactions to each peer
// after random times, which hide where a transaction comes from. Transactions
// whose parents are not known wait for their parents. All that it remembers of a
// peer is bounded.
//
// Its requests are in table.
//
// Times and limits are those of Bitcoin Core 30.2 (src/net_processing.cpp,
// node/txdownloadman_impl.cpp, txrequest.cpp).
package relay

import (
	"cmp"
	"context"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/internal/p2p/peerhandle"
	"github.com/seed61375155/trawl/internal/poolview"
	"github.com/seed61375155/trawl/messages"
)

// Config is what the actor is made of.
type Config struct {
	Pool    *ask.Ref // owns the pool
	Changes *ask.Feed[messages.PoolChanged]
	Network *dialect.Network
	Chain   *chainview.Current
	Tip     *ask.Feed[messages.TipChanged]

	// Restarted is how the connections hear that the actor has failed and knows
	// no peers any more.
	Restarted *ask.Feed[peerhandle.Restarted]

	BlocksOnly bool          // ask no peer for transactions but those with the permission
	SendRate   int           // transactions that are announced in a second; default DefaultSendRate
	MaxTipAge  time.Duration // with an older tip no transactions are asked for; default: the network's
	Now        func() time.Time
	Log        *slog.Logger
}

var table = ask.TableOf(
	ask.AtOnce((*Relay).describe), ask.AtOnce((*Relay).describeSending), ask.AtOnce((*Relay).listOrphans),
	ask.On((*Relay).advanceTimers),
)

// Requests lists what a plain protoactor request may ask.
var Requests = table.Served

const (
	// tickEvery is how often announcements and requests that are due are looked for.
	tickEvery = 100 * time.Millisecond

	// reannounceMin and reannounceMax bound the time after which transactions of
	// our own that no peer has asked for are announced again.
	reannounceMin = 10 * time.Minute
	reannounceMax = 15 * time.Minute
)

// Relay is the actor; make one with [New].
type Relay struct {
	cfg      Config
	net      *slog.Logger    // of messages
	packages *slog.Logger    // of orphans and packages
	ctx      context.Context //nolint:containedctx // ends what is asked when the actor stops
	cancel   context.CancelFunc
	timer    ask.Timer // of the next tick

	peers     map[int64]*peer
	pool      *poolview.View
	recent    map[chainhash.Hash]*poolview.Tx // of the last block, by both ids: peers may ask for them yet
	ours      map[chainhash.Hash]struct{}     // by wtxid, which no peer has asked for yet
	requests  requests
	orphans   orphanage
	rejected  *rollingSet // by wtxid, and by txid where the witness cannot help
	poor      *rollingSet // pay too little by themselves
	pairs     *rollingSet // parents with their children that were refused together
	confirmed *rollingSet // confirmed lately, by both ids
	synced    bool        // the chain was up to date once

	tip     *chainview.Block // that was seen last; nil: none
	lastTip *messages.TipChanged
	reading *ask.Lane // of blocks

	inHand peerhandle.Peer // whose message is being handled; nil: none

	backlogs    [2]*backlog          // of inbound and of outbound peers
	nextInbound map[string]time.Time // when inbound peers are sent announcements, by peer.CameBy or for all

	fees       *infoRead // nil: not known yet
	feeSteps   feeSteps
	reannounce time.Time
}

// ClockSet says that somebody has set the node's clock. Tell it to the actor: what is due
// by the new time is done at once.
type ClockSet struct{}

// Messages of the actor to itself.
type (
	tick     struct{}
	infoRead struct{ minFee, relayFee int64 } // for 1000 virtual bytes
)

// New returns the producer of the actor.
func New(cfg Config) actor.Producer {
	if cfg.MaxTipAge <= 0 {
		cfg.MaxTipAge = cfg.Network.Traffic.MaxTipAge
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.SendRate = cmp.Or(cfg.SendRate, DefaultSendRate)
	netLog := cfg.Log.With(corelog.CategoryKey, "net")
	packages := cfg.Log.With(corelog.CategoryKey, "txpackages")
	cfg.Log = cfg.Log.With(corelog.CategoryKey, "mempoolrej")
	begun := false
	return func() actor.Actor {
		r := &Relay{
			cfg: cfg, net: netLog, packages: packages, peers: make(map[int64]*peer), pool: poolview.New(),
			reading: ask.NewLane(1), nextInbound: make(map[string]time.Time),
			recent: make(map[chainhash.Hash]*poolview.Tx), ours: make(map[chainhash.Hash]struct{}),
			requests: newRequests(), orphans: newOrphanage(int(cfg.Network.Rules.WitnessScale)),
			rejected: newRollingSet(maxRejected), poor: newRollingSet(maxRejected), pairs: newRollingSet(maxRejected),
			confirmed: newRollingSet(maxConfirmed), feeSteps: newFeeSteps(int64(cfg.Network.RelayFee)),
		}
		now, t := cfg.Now(), &cfg.Network.Traffic
		r.backlogs = [2]*backlog{
			newBacklog(true, cfg.SendRate, 1, now),
			newBacklog(false, cfg.SendRate, t.Inbound.Seconds()/t.Outbound.Seconds(), now),
		}
		r.ctx, r.cancel = context.WithCancel(context.Background())
		if begun && cfg.Restarted != nil {
			cfg.Restarted.Publish(peerhandle.Restarted{})
		}
		begun = true
		return r
	}
}

// Receive implements actor.Actor.
func (r *Relay) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *actor.Started:
		r.start(c)
	case *actor.Stopping:
		r.stop(c)
	case *actor.Restarting:
		if r.inHand != nil {
			r.inHand.Disconnect("relay failed over a message")
		}
		r.stop(c)
	case tick:
		r.timer.Set(c, tickEvery, tick{})
		r.doWhatIsDue(c)
	case ClockSet:
		r.doWhatIsDue(c)
	case messages.TipChanged:
		if r.lastTip == nil || *r.lastTip != m { // else blocks before a snapshot were validated
			r.lastTip = &m
			r.tipChanged(c)
		}
	case messages.PoolChanged:
		r.poolChanged(c, m)
	case poolview.Contents:
		r.poolRead(m)
	case infoRead:
		r.fees = &m
	case chosen:
		sender{r}.chosen(m)
	case sorted:
		sender{r}.sorted(m)
	case peerhandle.Joined:
		r.join(c, m.Peer)
	case peerhandle.Left:
		r.leave(c, m.ID)
	case peerhandle.Received:
		r.inHand = m.Peer
		r.received(c, m)
		r.inHand = nil
	case judged:
		r.judged(c, m)
		if m.orphan {
			reviewer{r}.judgedAgain(c, m.peer)
		}
	case packageResult:
		r.packageDone(m)
	default:
		table.Serve(r, c)
	}
}

func (r *Relay) listOrphans(nodemsg.GetOrphans) ([]nodemsg.Orphan, error) {
	return r.orphans.list(), nil
}

func (r *Relay) advanceTimers(c actor.Context, m *ask.Call[messages.AdvanceTimers, messages.Done]) {
	r.reannounce = r.reannounce.Add(-m.Req.By)
	r.doWhatIsDue(c)
	m.Answer(messages.Done{}, nil)
}

func (r *Relay) start(c actor.Context) {
	r.cfg.Tip.SubscribeLatest(c)
	poolview.Join(r.ctx, c, r.cfg.Pool, r.cfg.Changes, func(m poolview.Contents) any { return m })
	r.readInfo(c)
	if reader := r.cfg.Chain.Open(); reader != nil {
		r.tip = reader.Active().Tip()
	}
	r.reannounce = r.cfg.Now().Add(reannounceMin + rand.N(reannounceMax-reannounceMin)) //nolint:gosec // no secret
	r.timer.Set(c, tickEvery, tick{})
}

func (r *Relay) stop(c actor.Context) {
	r.cfg.Tip.Unsubscribe(c)
	r.cfg.Changes.Unsubscribe(c)
	r.cancel()
	r.timer.Stop()
	r.reading.Close()
	for _, p := range r.peers {
		p.handled()
	}
}

// doWhatIsDue sends the announcements and requests whose time has come.
func (r *Relay) doWhatIsDue(c actor.Context) {
	now := r.cfg.Now()
	if now.After(r.reannounce) {
		r.reannounce = now.Add(reannounceMin + rand.N(reannounceMax-reannounceMin)) //nolint:gosec // no secret
		for wid := range r.ours {
			sender{r}.announce(wid)
		}
	}
	r.request(now)
	for _, b := range r.backlogs {
		sender{r}.drain(c, b, now)
	}
	var list []outgoing
	for _, p := range r.peers {
		if a, ok := (sender{r}).due(p, now); ok {
			list = append(list, a)
		}
		r.sendFeeFilter(c, p, now)
	}
	sender{r}.tell(c, list)
}

// poolRead takes over the pool's contents before the first change.
func (r *Relay) poolRead(m poolview.Contents) {
	err := r.pool.Begin(m, func(tx *poolview.Tx, of *messages.PoolTx) {
		if of.Unbroadcast {
			r.ours[tx.WID] = struct{}{}
		}
	})
	if err != nil {
		r.cfg.Log.Warn("relay does not know the memory pool", "err", err)
	}
}

// poolChanged follows the pool, and announces what is to be announced.
func (r *Relay) poolChanged(c actor.Context, m messages.PoolChanged) {
	if m.Reset {
		r.pool.Reset()
		clear(r.recent)
		clear(r.ours)
	}
	isConfirmed := func(change messages.PoolChange) bool { return !change.Added && change.Reason == messages.PoolBlock }
	if slices.ContainsFunc(m.Changes, isConfirmed) {
		clear(r.recent)
	}
	for i := range m.Changes {
		change := &m.Changes[i]
		left := r.pool.Change(change)
		if change.Added {
			r.requests.forget(change.ID, change.WID)
			r.orphans.remove(change.WID)
			reviewer{r}.adopt(c, change.Tx)
			continue
		}
		delete(r.ours, change.WID)
		if !isConfirmed(*change) {
			continue
		}
		if left != nil {
			r.recent[left.ID], r.recent[left.WID] = left, left
		}
		r.confirmed.add(change.ID)
		r.confirmed.add(change.WID)
	}
	for _, tx := range m.Announce {
		if tx.Own {
			r.ours[tx.WID] = struct{}{}
		}
		if !tx.Later {
			sender{r}.announce(tx.WID)
		}
	}
}

// describe tells of the peers.
func (r *Relay) describe(nodemsg.GetPeerRelay) (map[int64]nodemsg.PeerRelay, error) {
	states := make(map[int64]nodemsg.PeerRelay, len(r.peers))
	for id, p := range r.peers {
		states[id] = nodemsg.PeerRelay{
			LastTx: p.lastTx, MinFeeFilter: btcutil.Amount(p.minFee), LastInv: p.lastInv, ToAnnounce: len(p.pending),
		}
	}
	return states, nil
}

// describeSending tells of the limits of announcements.
func (r *Relay) describeSending(nodemsg.GetTxSending) (nodemsg.TxSending, error) {
	now := r.cfg.Now()
	of := func(b *backlog) nodemsg.TxBacklog {
		b.fill(now)
		return nodemsg.TxBacklog{Waiting: len(b.waiting), Txs: b.txs.level, Bytes: b.bytes.level}
	}
	return nodemsg.TxSending{Rate: r.cfg.SendRate, Inbound: of(r.backlogs[0]), Outbound: of(r.backlogs[1])}, nil
}

// upToDate reports whether the chain is so young that transactions can be judged.
func (r *Relay) upToDate() bool {
	if r.synced {
		return true
	}
	reader := r.cfg.Chain.Open()
	if reader == nil {
		return false
	}
	tip := reader.Active().Tip()
	r.synced = r.cfg.Now().Sub(tip.Time()) < r.cfg.MaxTipAge
	return r.synced
}
