package relay_test

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/relay"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/enginetest"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/peerhandle"
	"github.com/seed61375155/trawl/messages"
)

// remote is a peer whose messages the test reads.
type remote struct {
	r    *rig
	info peerhandle.Info

	mu      sync.Mutex
	sent    []wire.Message
	filters []int64 // fee rates that it was sent
	said    int     // messages that it has sent
	handled int
	left    string                    // why it was disconnected
	fails   func(m wire.Message) bool // sending panics; nil: never
}

func (p *remote) Info() peerhandle.Info { return p.info }
func (*remote) CanWrite() bool          { return true }
func (*remote) Misbehaving(string)      {}

func (p *remote) Disconnect(reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left = reason
}

func (p *remote) Send(m wire.Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fails != nil && p.fails(m) {
		panic("boom")
	}
	if m, ok := m.(*wire.MsgFeeFilter); ok {
		p.filters = append(p.filters, m.MinFee)
		return
	}
	p.sent = append(p.sent, m)
}

// says has the peer send a message, and waits for what follows at once.
func (p *remote) says(m wire.Message) {
	p.said++
	p.r.ref.Tell(peerhandle.Received{Peer: p, Message: p2p.Message{Message: m}, Handled: func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.handled++
	}})
	synctest.Wait()
}

// got returns what was sent to the peer since it was asked last.
func (p *remote) got() []wire.Message {
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	sent := p.sent
	p.sent = nil
	return sent
}

// expect returns the only message that was sent to the peer.
func expect[M wire.Message](p *remote) M {
	p.r.t.Helper()
	got := p.got()
	if len(got) == 1 {
		if m, ok := got[0].(M); ok {
			return m
		}
	}
	p.r.t.Fatalf("peer %d was sent %v, want one %T", p.info.ID, got, *new(M))
	panic("unreachable")
}

func (p *remote) quiet(step string) {
	p.r.t.Helper()
	if got := p.got(); len(got) > 0 {
		p.r.t.Errorf("%s: peer %d was sent %T", step, p.info.ID, got[0])
	}
}

// rig is the actor with a pool that the test answers for.
type rig struct {
	root  *actor.RootContext
	chain *chaintest.Chain
	tip   ask.Feed[messages.TipChanged]
	t     *testing.T
	ref   *ask.Ref
	feed  ask.Feed[messages.PoolChanged]

	restarted ask.Feed[peerhandle.Restarted]

	verdict  map[chainhash.Hash]error
	offered  []chainhash.Hash
	packages []chainhash.Hash // offered together
	peers    int64
	holds    bool                    // nothing is judged
	delays   map[chainhash.Hash]bool // what is judged when the test says so
	delayed  []func()
	mu       sync.Mutex       // of arrived and order
	arrived  []chainhash.Hash // in the pool, by wtxid
	order    []chainhash.Hash // in which they are mined; nil: in which they came
	joined   []*remote
	ahead    atomic.Int64 // of the clock, in nanoseconds

	contents []messages.PoolTx // of the pool at first
	fails    error             // in place of a package's result; nil: none

	minFee  int64                                               // of the pool
	marked  []chainhash.Hash                                    // what a peer has asked for of our own
	outcome func(q nodemsg.OfferPackage) messages.PackageResult // of packages; nil: all is taken
}

// connections plays the actors of the connections.
func (r *rig) connections(c actor.Context) {
	switch c.Message().(type) {
	case *actor.Started:
		r.restarted.SubscribeLatest(c)
	case peerhandle.Restarted:
		for _, p := range r.joined {
			r.ref.Tell(peerhandle.Joined{Peer: p})
		}
	}
}

func bubble(t *testing.T, test func(r *rig)) {
	t.Helper()
	bubbleOf(t, 0, test)
}

// bubbleOf is bubble with a tip of that age.
func bubbleOf(t *testing.T, age time.Duration, test func(r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, age)
		test(r)
		r.leave()
	})
}

// leave has all peers leave. Each message of theirs must have been done with once, whatever became of it, but that
// which the actor failed over.
func (r *rig) leave() {
	r.t.Helper()
	for _, p := range r.joined {
		r.ref.Tell(peerhandle.Left{ID: p.info.ID})
	}
	synctest.Wait()
	for _, p := range r.joined {
		if p.left == "" && p.handled != p.said {
			r.t.Errorf("peer %d: %d messages were done with, of %d", p.info.ID, p.handled, p.said)
		}
	}
}

// lost counts messages to actors that have stopped.
func (r *rig) lost() func() int {
	r.t.Helper()
	lost := new(atomic.Int64)
	events := r.root.ActorSystem().EventStream
	sub := events.Subscribe(func(e any) {
		if _, ok := e.(*actor.DeadLetterEvent); ok {
			lost.Add(1)
		}
	})
	r.t.Cleanup(func() { events.Unsubscribe(sub) })
	return func() int { return int(lost.Load()) }
}

// newRig starts the actor over a tip of that age.
func newRig(t *testing.T, age time.Duration) *rig {
	t.Helper()
	return newRigWith(t, age, nil)
}

// newRigWith is newRig with another configuration.
func newRigWith(t *testing.T, age time.Duration, with func(*rig, *relay.Config)) *rig {
	t.Helper()
	actortest.InBubble(t)
	r := &rig{t: t, verdict: make(map[chainhash.Hash]error), delays: make(map[chainhash.Hash]bool), minFee: 100}
	sys := actortest.New(t)
	r.root = sys.Root
	pool := sys.Spawn("mempool", func() actor.Actor { return actor.ReceiveFunc(r.pool) })
	r.chain = chaintest.New(&chaincfg.RegressionNetParams)
	r.chain.Mine(chaintest.Template{Time: time.Now().Add(-age)})
	view := new(chainview.Current)
	view.Set(r.chain)
	sys.Spawn("connections", func() actor.Actor { return actor.ReceiveFunc(r.connections) })
	cfg := relay.Config{
		Network: enginetest.Regtest(t), Restarted: &r.restarted, Pool: pool, Changes: &r.feed, Chain: view, Tip: &r.tip,
		Log: sys.Log,
		Now: func() time.Time { return time.Now().Add(time.Duration(r.ahead.Load())) },
	}
	if with != nil {
		with(r, &cfg)
	}
	r.ref = sys.Spawn("relay", relay.New(cfg), relay.Requests...)
	synctest.Wait()
	return r
}

// pool plays the pool: what has no verdict is taken in.
func (r *rig) pool(c actor.Context) {
	switch m := c.Message().(type) {
	case *ask.Call[messages.GetPoolTxs, messages.PoolTxs]:
		m.Answer(messages.PoolTxs{Txs: r.contents}, nil)
	case *ask.Call[messages.GetPoolInfo, messages.PoolInfo]:
		m.Answer(messages.PoolInfo{MinFee: r.minFee, MinRelayFee: 100}, nil)
	case *ask.Call[nodemsg.OfferTx, messages.Done]:
		id := m.Req.Tx.TxHash()
		r.offered = append(r.offered, id)
		if r.holds {
			return // the answer never comes
		}
		judge := func() {
			err := r.verdict[id]
			if err == nil {
				r.takeIn(m.Req.Tx, false)
			}
			m.Answer(messages.Done{}, err)
		}
		if r.delays[id] {
			r.delayed = append(r.delayed, judge)
			return
		}
		judge()
	case *ask.Call[nodemsg.SortTxs, []chainhash.Hash]:
		m.Answer(slices.DeleteFunc(r.mined(), func(wid chainhash.Hash) bool {
			return !slices.Contains(m.Req.WIDs, wid)
		}), r.fails)
	case *ask.Call[nodemsg.OfferPackage, messages.PackageResult]:
		for _, tx := range m.Req.Txs {
			r.packages = append(r.packages, tx.TxHash())
		}
		if r.fails != nil {
			m.Answer(messages.PackageResult{}, r.fails)
			return
		}
		if r.outcome != nil {
			m.Answer(r.outcome(m.Req), nil)
			return
		}
		m.Answer(messages.PackageResult{Results: make([]messages.TxResult, len(m.Req.Txs))}, nil)
	case nodemsg.MarkBroadcast:
		r.marked = append(r.marked, m.ID)
	default:
		ask.Unhandled(c)
	}
}

func (r *rig) arrives(wid chainhash.Hash) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.arrived = append(r.arrived, wid)
}

// mined returns transactions in the order in which they are mined.
func (r *rig) mined() []chainhash.Hash {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.order != nil {
		return slices.Clone(r.order)
	}
	return slices.Clone(r.arrived)
}

// judge has the pool judge what was delayed first.
func (r *rig) judge() {
	r.t.Helper()
	if len(r.delayed) == 0 {
		r.t.Fatal("nothing is being judged")
	}
	judge := r.delayed[0]
	r.delayed = r.delayed[1:]
	judge()
	synctest.Wait()
}

func (r *rig) takeIn(tx *wire.MsgTx, isOurs bool) {
	id, wid := tx.TxHash(), tx.WitnessHash()
	r.arrives(wid)
	r.feed.Publish(messages.PoolChanged{
		Changes:  []messages.PoolChange{{Tx: tx, ID: id, WID: wid, Fee: 1000, VSize: 100, Added: true, Sequence: 1}},
		Announce: []messages.RelayTx{{ID: id, WID: wid, Own: isOurs}},
	})
}

// takeInAt takes a transaction in that pays a fee and is announced to nobody.
func (r *rig) takeInAt(tx *wire.MsgTx, fee int64) {
	r.arrives(tx.WitnessHash())
	r.feed.Publish(messages.PoolChanged{Changes: []messages.PoolChange{
		{Tx: tx, ID: tx.TxHash(), WID: tx.WitnessHash(), Fee: fee, VSize: 100, Added: true, Sequence: 1},
	}})
}

func (r *rig) join(typ p2p.ConnectionType) *remote {
	r.t.Helper()
	return r.joinWith(typ, nil)
}

// joinWith has a peer join of which something is different.
func (r *rig) joinWith(typ p2p.ConnectionType, change func(*peerhandle.Info)) *remote {
	r.t.Helper()
	r.peers++
	p := &remote{r: r, info: peerhandle.Info{ID: r.peers, Type: typ, Remote: p2p.Remote{
		WtxidRelay: true, Version: codec.Version{Services: wire.SFNodeWitness},
	}}}
	if change != nil {
		change(&p.info)
	}
	r.joined = append(r.joined, p)
	r.ref.Tell(peerhandle.Joined{Peer: p})
	synctest.Wait()
	return p
}

func transaction(salt uint32, from ...*wire.MsgTx) *wire.MsgTx {
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Index: salt}, Witness: wire.TxWitness{{1}}})
	for _, parent := range from {
		tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: parent.TxHash()}})
	}
	tx.AddTxOut(wire.NewTxOut(1, []byte{0x51}))
	return tx
}

func inv(txs ...*wire.MsgTx) *wire.MsgInv {
	m := wire.NewMsgInv()
	for _, tx := range txs {
		hash := tx.WitnessHash()
		_ = m.AddInvVect(wire.NewInvVect(codec.InvWtx, &hash))
	}
	return m
}

func getData(txs ...*wire.MsgTx) *wire.MsgGetData {
	return &wire.MsgGetData{InvList: inv(txs...).InvList}
}
