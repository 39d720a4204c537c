package relay

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/peerhandle"
	"github.com/seed61375155/trawl/internal/poolview"
	"github.com/seed61375155/trawl/messages"
)

// A peer is a connection, and what is known of its transactions.
type peer struct {
	peerhandle.Peer

	info    peerhandle.Info
	wtxid   bool // transactions are named by their wtxid
	listens bool // transactions may be announced to it

	known    *rollingSet                 // that it has, by the ids that it uses
	pending  map[chainhash.Hash]struct{} // to be announced, by wtxid
	nextInv  time.Time
	sequence uint64 // the last order in the pool when the last announcement was sent
	lastInv  uint64 // the pool's number of the next change then; 0: none is ever sent
	minFee   int64  // that it wants, for 1000 virtual bytes
	lastTx   time.Time

	announced map[chainhash.Hash]*txRequest // by it
	inFlight  int

	filterSent int64 // -1: none
	nextFilter time.Time

	done     func() // reads on
	settling bool   // the message that done ends is judged
	waits    int    // for orphans of other peers
	work     work
}

func (r *Relay) join(c actor.Context, remote peerhandle.Peer) {
	info := remote.Info()
	if r.peers[info.ID] != nil {
		return
	}
	p := &peer{
		Peer: remote, info: info, wtxid: info.Remote.WtxidRelay,
		known: newRollingSet(maxKnown), pending: make(map[chainhash.Hash]struct{}),
		announced: make(map[chainhash.Hash]*txRequest), filterSent: -1,
	}
	switch info.Type {
	case p2p.BlockRelayOnly, p2p.Feeler:
	default:
		p.listens = !info.Remote.Version.NoTransactions
	}
	r.peers[info.ID] = p
	p.nextInv = sender{r}.nextInv(p, r.cfg.Now())
	p.noteInv(r.pool)
	r.sendFeeFilter(c, p, r.cfg.Now())
}

func (r *Relay) leave(c actor.Context, id int64) {
	p := r.peers[id]
	if p == nil {
		return
	}
	delete(r.peers, id)
	r.requests.drop(p)
	reviewer{r}.judgeAgain(c, r.orphans.dropPeer(id)...)
	reviewer{r}.release(p)
	p.handled()
}

// handled lets the peer be read on.
func (p *peer) handled() {
	if p.done != nil {
		p.done()
		p.done = nil
	}
}

func (p *peer) inbound() bool { return p.info.Type == p2p.Inbound }

// preferred reports whether the peer is asked before others.
func (p *peer) preferred() bool { return !p.inbound() || p.info.Permissions.NoBan }

// name returns the id by which the peer knows a transaction.
func (p *peer) name(tx *poolview.Tx) chainhash.Hash {
	if p.wtxid {
		return tx.WID
	}
	return tx.ID
}

// maxPending is of how many transactions a peer is to be told at most; a peer that is told of none misses some.
const maxPending = 300_000

// due returns what a peer is to be told of when its time has come; ok reports whether it has.
func (r sender) due(p *peer, now time.Time) (a outgoing, ok bool) {
	if now.Before(p.nextInv) && !p.info.Permissions.NoBan {
		return a, false
	}
	p.nextInv = r.nextInv(p, now)
	return outgoing{to: p, of: p.take(r.pool)}, true
}

// nextInv returns when a peer is sent announcements next, after what it is sent now. Inbound peers share the times:
// who makes many connections learns no more of when a transaction came than who makes a single connection.
func (r sender) nextInv(p *peer, now time.Time) time.Time {
	traffic, by := &r.cfg.Network.Traffic, ""
	if !p.inbound() {
		return now.Add(poisson(traffic.Outbound))
	}
	if traffic.TimesByAddress {
		by = p.info.CameBy
	}
	if !r.nextInbound[by].After(now) {
		r.nextInbound[by] = now.Add(poisson(traffic.Inbound))
	}
	return r.nextInbound[by]
}

// noteInv notes that a peer may ask for all transactions that have come until now.
func (p *peer) noteInv(pool *poolview.View) {
	p.sequence = pool.Last()
	if p.listens {
		p.lastInv = max(pool.Sequence(), 1)
	}
}

// take takes the transactions out that are to be announced, in no order.
func (p *peer) take(pool *poolview.View) (list []*poolview.Tx) {
	for wid := range p.pending {
		if tx := pool.ByWID(wid); tx != nil && !p.known.has(p.name(tx)) && p.accepts(tx) {
			list = append(list, tx)
		}
	}
	clear(p.pending)
	return list
}

// relevant reports whether the filter that the peer has set lets a transaction through, and
// has it follow what that pays.
func (p *peer) relevant(tx *poolview.Tx) bool {
	return p.info.Filter == nil || p.info.Filter.Relevant(tx.Tx, &tx.ID)
}

// accepts reports whether a transaction pays what the peer asks for.
func (p *peer) accepts(tx *poolview.Tx) bool {
	high, low := bits.Mul64(uint64(p.minFee), uint64(tx.VSize)) // the rate may be all the money there is
	return high == 0 && low <= uint64(tx.Fee)*1000
}

// sendInv announces transactions, but for those that the peer's filter keeps back.
func (p *peer) sendInv(list []*poolview.Tx) {
	list = slices.DeleteFunc(list, func(tx *poolview.Tx) bool { return !p.relevant(tx) })
	for len(list) > 0 {
		inv := wire.NewMsgInv()
		n := min(len(list), wire.MaxInvPerMsg)
		for _, tx := range list[:n] {
			name, kind := p.name(tx), wire.InvTypeTx
			if p.wtxid {
				kind = codec.InvWtx
			}
			p.known.add(name)
			_ = inv.AddInvVect(wire.NewInvVect(kind, &name)) // no more than fit
		}
		p.Send(inv)
		list = list[n:]
	}
}

// poisson returns a random time with the given mean.
func poisson(mean time.Duration) time.Duration {
	return time.Duration(rand.ExpFloat64() * float64(mean))
}

// Telling peers which fees are of use here (BIP133).
const (
	maxFilter     = 1e7
	filterSpacing = 1.1
)

// feeSteps are the rates that peers are sent, and nothing: Core's buckets.
type feeSteps []int64

// newFeeSteps begins with half of the rate that a network's nodes relay at least.
func newFeeSteps(relayFee int64) feeSteps {
	steps := feeSteps{0}
	for rate := max(1, float64(relayFee/2)); rate <= maxFilter; rate *= filterSpacing {
		steps = append(steps, int64(rate))
	}
	return steps
}

// top tells peers that no transaction is wanted.
func (s feeSteps) top() int64 { return s[len(s)-1] }

// sendFeeFilter tells a peer below which fee rate it need not announce.
func (r *Relay) sendFeeFilter(c actor.Context, p *peer, now time.Time) {
	if r.cfg.BlocksOnly || p.info.Type == p2p.BlockRelayOnly || p.info.Type == p2p.Feeler ||
		p.info.Permissions.ForceRelay || now.Before(p.nextFilter) {
		return
	}
	if r.fees == nil {
		return // asked for at the start
	}
	p.nextFilter = now.Add(poisson(r.cfg.Network.Traffic.FeeFilter))
	filter := r.fees.relayFee
	switch {
	case !r.upToDate():
		filter = max(r.feeSteps.top(), filter)
		p.nextFilter = now // to be looked at again with every tick
	case r.fees.minFee > filter:
		filter = max(r.feeSteps.rounded(r.fees.minFee), filter)
	}
	if filter != p.filterSent {
		p.filterSent = filter
		p.Send(wire.NewMsgFeeFilter(filter))
	}
	if r.synced {
		r.readInfo(c) // for the next time
	}
}

// readInfo asks the pool for its least fee.
func (r *Relay) readInfo(c actor.Context) {
	ask.Then(r.ctx, c, r.cfg.Pool, messages.GetPoolInfo{}, func(info messages.PoolInfo, err error) any {
		if err != nil {
			return nil
		}
		return infoRead{info.MinFee, info.MinRelayFee}
	})
}

// rounded rounds a rate to one of a few steps, at random mostly down, so that it
// tells little of the pool.
func (s feeSteps) rounded(rate int64) int64 {
	i, _ := slices.BinarySearch(s, rate)
	if i == len(s) || i > 0 && rand.IntN(3) != 0 { //nolint:gosec // no secret
		i--
	}
	return s[i]
}

// txType is how a transaction is asked for by its id: with its witness where the peer
// has it.
func (p *peer) txType() wire.InvType {
	if p.info.Remote.Version.Services&wire.SFNodeWitness != 0 {
		return wire.InvTypeWitnessTx
	}
	return wire.InvTypeTx
}
