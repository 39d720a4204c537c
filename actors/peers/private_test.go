package peers_test

import (
	"context"
	"encoding/base32"
	"errors"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/peers"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/internal/p2p/netsetup"
	"github.com/seed61375155/trawl/messages"
)

// hiding connects to peers of the test, which do as it says. It never connects openly.
type hiding struct {
	directory

	ask     func(tx chainhash.Hash) []*wire.InvVect // what a peer asks for
	silent  atomic.Bool                             // peers do not speak
	useless bool                                    // peers take no transactions

	peers sync.WaitGroup
	made  chan *hiddenPeer
}

func newHiding() *hiding {
	return &hiding{made: make(chan *hiddenPeer, 1000), ask: func(tx chainhash.Hash) []*wire.InvVect {
		return []*wire.InvVect{{Type: wire.InvTypeWitnessTx, Hash: tx}}
	}}
}

// A hiddenPeer notes what it receives.
type hiddenPeer struct {
	*p2p.Session

	of       *hiding
	at       string
	greeting p2p.Remote
	got      []string // commands
	tx       *wire.MsgTx
}

func (h *hiddenPeer) Established(r p2p.Remote) { h.greeting = r }
func (*hiddenPeer) Misbehaved(error)           {}
func (*hiddenPeer) Writable()                  {}
func (h *hiddenPeer) Received(m p2p.Message) {
	h.got = append(h.got, m.Command())
	switch msg := m.Message.(type) {
	case *wire.MsgInv:
		if list := h.of.ask(msg.InvList[0].Hash); list != nil {
			_ = h.Send(&wire.MsgFeeFilter{MinFee: 1}) // which means nothing here
			_ = h.Send(&wire.MsgGetData{InvList: list})
		}
	case *wire.MsgTx:
		h.tx = msg
	}
}

// DialPrivately makes a connection in memory.
func (s *hiding) DialPrivately(_ context.Context, addr string) (net.Conn, error) {
	here, there := net.Pipe()
	h := &hiddenPeer{of: s, at: addr}
	end := func(c net.Conn) net.Conn { return end{c, &net.TCPAddr{IP: net.IPv4(8, 8, 8, 8), Port: 1}} }
	if s.silent.Load() {
		s.made <- h
		return end(here), nil
	}
	h.Session = p2p.New(end(there), p2p.Config{
		Type: p2p.Inbound, Magic: [4]byte{0xfa, 0xbf, 0xb5, 0xda}, NoTransactions: s.useless,
		Services: wire.SFNodeNetwork | wire.SFNodeWitness,
	}, h)
	h.Want(1000)
	s.peers.Go(func() { //nolint:contextcheck // ends with its connection, not with the dialing
		_ = h.Run(context.Background())
		s.made <- h
	})
	return end(here), nil
}

// A privateRig is a node that hands over transactions, with a pool that judges them.
type privateRig struct {
	*node

	t      *testing.T
	source *hiding
	refuse *messages.TxReject // what the pool says; nil: it would take all
	fails  error              // of a pool that does not judge
	tx     *wire.MsgTx
}

func newPrivateRig(t *testing.T, source *hiding, wishes ...func(*peers.Config)) *privateRig {
	t.Helper()
	actortest.InBubble(t)
	network, err := dialect.Bitcoin("regtest")
	if err != nil {
		t.Fatal(err)
	}
	r := &privateRig{t: t, source: source, tx: wire.NewMsgTx(2)}
	r.tx.AddTxIn(&wire.TxIn{Witness: wire.TxWitness{{1}}})
	view := new(chainview.Current)
	view.Set(chaintest.New(network.Params))
	sys := actortest.New(t)
	pool := sys.Spawn("mempool", func() actor.Actor {
		return actor.ReceiveFunc(func(c actor.Context) {
			if m, ok := c.Message().(*ask.Call[messages.TestTxs, messages.PackageResult]); ok {
				m.Answer(messages.PackageResult{Failed: r.refuse}, r.fails)
			}
		})
	})
	cfg := peers.Config{
		Network: network, Chain: view, Log: sys.Log, Source: source, Dir: t.TempDir(), UserAgent: "/Trawl:test/",
		Services: wire.SFNodeNetwork | wire.SFNodeWitness, MaxPeers: peers.DefaultMaxPeers, Private: true, Pool: pool,
		Proxies: map[netaddr.Network]netsetup.Proxy{netaddr.I2P: {Addr: "127.0.0.1:7656"}},
	}
	for _, wish := range wishes {
		wish(&cfg)
	}
	r.node = &node{Ref: sys.Spawn("peers", peers.New(cfg), peers.Requests...)}
	t.Cleanup(func() {
		if err := r.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		source.peers.Wait()
	})
	return r
}

// know has the node know others in I2P.
func (r *privateRig) know() {
	r.t.Helper()
	for i := range byte(20) {
		name := base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(append(make([]byte, 31), i))
		must(r.t, r.node, messages.AddPeerAddress{Host: strings.ToLower(name) + ".b32.i2p"})
	}
}

// send has a transaction handed over, with nodes to hand it to.
func (r *privateRig) send() {
	r.t.Helper()
	r.know()
	must(r.t, r.node, messages.BroadcastPrivately{Tx: r.tx})
}

// wait lets time pass.
func (r *privateRig) wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// queued returns the only transaction that is handed over.
func (r *privateRig) queued() messages.PrivateBroadcast {
	r.t.Helper()
	list := must(r.t, r.node, messages.GetPrivateBroadcasts{})
	if len(list) != 1 {
		r.t.Fatalf("%d transactions wait", len(list))
	}
	return list[0]
}

// A transaction is handed to three nodes, by connections that say nothing of the node.
func TestPrivateBroadcast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newPrivateRig(t, newHiding())
		r.send()
		r.wait(10 * time.Second)
		q := r.queued()
		wrong := func(s messages.PrivateSend) bool {
			return s.Received.IsZero() || s.At.IsZero() || !strings.HasSuffix(s.Addr, ".b32.i2p:0")
		}
		if len(q.Sent) != 3 || q.WID != r.tx.WitnessHash() || slices.ContainsFunc(q.Sent, wrong) {
			t.Errorf("got %+v", q)
		}
		for range 3 {
			h := <-r.source.made
			v := h.greeting.Version
			if v.Services != 0 || v.Time != 0 || v.UserAgent != "/pynode:0.0.1/" || v.StartHeight != 0 ||
				!v.NoTransactions || v.You.IsValid() || v.Protocol != 70016 ||
				h.greeting.WtxidRelay || h.greeting.AddrV2 {
				t.Errorf("said of itself %+v", h.greeting)
			}
			if !slices.Equal(h.got, []string{"inv", "tx"}) || h.tx.WitnessHash() != r.tx.WitnessHash() {
				t.Errorf("received %v", h.got)
			}
		}
		if n := len(must(t, r.node, messages.GetPeers{})); n != 0 {
			t.Errorf("%d peers are left", n)
		}
		if len(r.source.dialed) != 0 {
			t.Errorf("connected openly to %v", r.source.dialed)
		}
	})
}

// Nodes that do not get the transaction are followed by others.
func TestPrivateInVain(t *testing.T) {
	none := func(chainhash.Hash) []*wire.InvVect { return nil }
	for name, test := range map[string]struct {
		change func(*hiding)
		within time.Duration
	}{
		"takes none":   {func(s *hiding) { s.useless = true }, 10 * time.Second},
		"never asks":   {func(s *hiding) { s.ask = none }, 10 * time.Minute},
		"never speaks": {func(s *hiding) { s.silent.Store(true) }, 10 * time.Minute},
		"asks for other": {func(s *hiding) {
			s.ask = func(chainhash.Hash) []*wire.InvVect { return []*wire.InvVect{{}} }
		}, 10 * time.Second},
		"asks for two": {func(s *hiding) {
			s.ask = func(tx chainhash.Hash) []*wire.InvVect {
				return []*wire.InvVect{{Type: wire.InvTypeTx, Hash: tx}, {Type: wire.InvTypeTx, Hash: tx}}
			}
		}, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newPrivateRig(t, newHiding())
				test.change(r.source)
				r.send()
				r.wait(test.within)
				if n := len(r.source.made); n < 4 {
					t.Errorf("%d nodes were tried", n)
				}
				if confirmed := slices.ContainsFunc(r.queued().Sent, func(s messages.PrivateSend) bool {
					return !s.Received.IsZero()
				}); confirmed {
					t.Error("one is believed to have got it")
				}
			})
		})
	}
}

// A transaction that waits long is handed over again while the pool would take it, and is forgotten if not.
func TestPrivateRetry(t *testing.T) {
	for _, refuse := range []*messages.TxReject{nil, {Reason: "txn-already-known"}} {
		synctest.Test(t, func(t *testing.T) {
			r := newPrivateRig(t, newHiding())
			r.send()
			r.wait(2 * time.Minute)
			r.refuse = refuse
			must(t, r.node, messages.AdvanceTimers{By: time.Hour})
			r.wait(2 * time.Second)
			list := must(t, r.node, messages.GetPrivateBroadcasts{})
			if refuse != nil {
				if len(list) != 0 {
					t.Errorf("still %+v", list)
				}
				return
			}
			if len(list) != 1 || len(list[0].Sent) != 4 {
				t.Errorf("got %+v", list)
			}
		})
	}
}

// A pool that cannot judge, since it has failed, does not end that a transaction is handed over.
func TestPrivateRetryWithoutPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newPrivateRig(t, newHiding())
		r.send()
		r.wait(2 * time.Minute)
		for _, r.fails = range []error{ask.ErrRestarted, nil} {
			must(t, r.node, messages.AdvanceTimers{By: time.Hour})
			r.wait(2 * time.Second)
			want := 3
			if r.fails == nil {
				want = 4
			}
			if got := len(r.queued().Sent); got != want {
				t.Errorf("%v: handed over %d times, want %d", r.fails, got, want)
			}
		}
	})
}

// A restart of the table keeps what it was asked for, and hands it over.
func TestPrivateOutlivesPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := newHiding()
		r := newPrivateRig(t, source)
		source.silent.Store(true)
		r.send()
		r.wait(10 * time.Second)
		// A panic in Receive: a nil transaction has no hash.
		if _, err := ask.Ask(t.Context(), r.Ref, messages.BroadcastPrivately{}); err == nil {
			t.Fatal("nothing was wrong")
		}
		source.silent.Store(false)
		r.wait(10 * time.Second)
		arrived := 0
		for _, s := range r.queued().Sent {
			if !s.Received.IsZero() {
				arrived++
			}
		}
		if arrived != 3 {
			t.Errorf("%d nodes have got it", arrived)
		}
	})
}

// The operator may give a transaction up, by either id.
func TestPrivateAbort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newPrivateRig(t, newHiding())
		for _, id := range []chainhash.Hash{r.tx.TxHash(), r.tx.WitnessHash()} {
			must(t, r.node, messages.BroadcastPrivately{Tx: r.tx})
			must(t, r.node, messages.BroadcastPrivately{Tx: r.tx}) // once is enough
			if got := must(t, r.node, messages.AbortPrivateBroadcast{ID: id}); len(got) != 1 || got[0].Tx != r.tx {
				t.Errorf("got %+v", got)
			}
			_, err := ask.Ask(t.Context(), r.Ref, messages.AbortPrivateBroadcast{ID: id})
			if !errors.Is(err, messages.ErrNotInPrivate) {
				t.Errorf("again: %v", err)
			}
		}
		r.know()
		r.wait(time.Minute)
		if len(r.source.made) != 0 {
			t.Error("connected for nothing")
		}
	})
}

// Without the option nothing is taken, and without a network that hides nothing is connected to.
func TestPrivateOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newPrivateRig(t, newHiding(), func(c *peers.Config) { c.Private = false })
		for _, asked := range []func() error{
			func() error { _, err := ask.Ask(t.Context(), r.Ref, messages.BroadcastPrivately{Tx: r.tx}); return err },
			func() error { _, err := ask.Ask(t.Context(), r.Ref, messages.GetPrivateBroadcasts{}); return err },
			func() error { _, err := ask.Ask(t.Context(), r.Ref, messages.AbortPrivateBroadcast{}); return err },
		} {
			if err := asked(); !errors.Is(err, messages.ErrNotPrivate) {
				t.Errorf("got %v", err)
			}
		}
	})
	synctest.Test(t, func(t *testing.T) {
		r := newPrivateRig(t, newHiding(), func(c *peers.Config) { c.Proxies = nil })
		r.send()
		r.wait(time.Minute)
		if len(r.source.made) != 0 {
			t.Error("connected without a proxy")
		}
	})
}
