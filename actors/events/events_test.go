package events_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/actors/events"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
)

// rig is the actor with all that it listens to.
type rig struct {
	t    *testing.T
	cfg  events.Config
	ref  *ask.Ref
	scan atomic.Pointer[messages.ScanStatus] // what the scanner answers
}

func newRig(t *testing.T) *rig {
	t.Helper()
	sys := actortest.New(t)
	r := &rig{t: t, cfg: events.Config{
		Tip: new(ask.Feed[messages.TipChanged]), Pool: new(ask.Feed[messages.PoolChanged]),
		Wallets: new(ask.Feed[messages.WalletChanged]), WalletTxs: new(ask.Feed[messages.WalletTxChanged]),
		Scans: new(ask.Feed[messages.ScanChanged]), Peers: new(ask.Feed[messages.PeerChanged]),
	}}
	r.scan.Store(new(messages.ScanStatus))
	r.cfg.Scanner = sys.Spawn("scanner", func() actor.Actor {
		return actor.ReceiveFunc(func(c actor.Context) {
			if call, ok := c.Message().(*ask.Call[messages.GetScanStatus, messages.ScanStatus]); ok {
				call.Answer(*r.scan.Load(), nil)
				return
			}
			ask.Unhandled(c)
		})
	})
	r.ref = sys.Spawn("events", events.New(r.cfg), events.Requests...)
	synctest.Wait()
	return r
}

func (r *rig) subscribe(kinds ...messages.EventKind) messages.Subscription {
	r.t.Helper()
	s, err := ask.Ask(r.t.Context(), r.ref, nodemsg.Subscribe{Kinds: kinds})
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

// next returns what is there to read.
func (r *rig) next(s messages.Subscription) (messages.Event, error) {
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Millisecond)
	defer cancel()
	return s.Next(ctx)
}

func (r *rig) peer(id int64) { r.cfg.Peers.Publish(messages.PeerChanged{ID: id}) }

// The tests of every actor.
func TestSuite(t *testing.T) {
	actortest.Suite(t, func(t *testing.T) *actortest.Subject {
		t.Helper()
		r := newRig(t)
		return &actortest.Subject{
			Ref: r.ref, Served: events.Requests,
			News: func() {
				r.cfg.Tip.Publish(messages.TipChanged{Height: 1})
				r.cfg.Pool.Publish(messages.PoolChanged{Reset: true, Changes: []messages.PoolChange{{}}})
				r.cfg.Wallets.Publish(messages.WalletChanged{})
				r.cfg.Scans.Publish(messages.ScanChanged{})
				r.peer(1)
			},
			Check: func() {
				s := r.subscribe(messages.EventPeer)
				r.peer(7)
				if e, err := r.next(s); err != nil || e.News != (messages.PeerChanged{ID: 7}) {
					t.Errorf("%+v, %v", e, err)
				}
				s.Close()
			},
		}
	})
}

// Each kind comes to those who asked for it, in its order and with ids that ascend.
func TestKinds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		all, pool := r.subscribe(), r.subscribe(messages.EventPool, messages.EventTip)
		r.peer(1)
		r.cfg.Tip.Publish(messages.TipChanged{Height: 5})
		r.cfg.Pool.Publish(messages.PoolChanged{Reset: true, Changes: []messages.PoolChange{
			{Fee: 1}, {Fee: 2, Added: true},
		}})
		r.cfg.Wallets.Publish(messages.WalletChanged{Name: "w", Loaded: true})
		r.cfg.WalletTxs.Publish(messages.WalletTxChanged{Wallet: "w"})
		synctest.Wait()
		want := []messages.News{
			messages.PeerChanged{ID: 1},
			messages.TipChanged{Height: 5},
			messages.PoolReset{},
			messages.PoolChange{Fee: 1},
			messages.PoolChange{Fee: 2, Added: true},
			messages.WalletChanged{Name: "w", Loaded: true},
			messages.WalletTxChanged{Wallet: "w"},
		}
		for i, news := range want {
			if e, err := r.next(all); err != nil || e.News != news || e.ID != uint64(i+1) {
				t.Errorf("%+v, %v, want %+v", e, err, news)
			}
		}
		for i, news := range want[1:5] {
			if e, err := r.next(pool); err != nil || e.News != news || e.ID != uint64(i+2) {
				t.Errorf("%+v, %v, want %+v", e, err, news)
			}
		}
		if e, err := r.next(pool); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(e, err)
		}
		pool.Close()
		if e, err := r.next(pool); !errors.Is(err, messages.ErrUnsubscribed) {
			t.Error(e, err)
		}
		if err := r.ref.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		if e, err := r.next(all); !errors.Is(err, ask.ErrStopped) {
			t.Error(e, err)
		}
	})
}

// A subscriber that does not read is cut off after the events that there was room for,
// and costs others nothing.
func TestSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		slow, quick := r.subscribe(), r.subscribe()
		for id := range int64(3000) {
			r.peer(id)
			if e, err := quick.Next(t.Context()); err != nil || e.News != (messages.PeerChanged{ID: id}) {
				t.Fatal(e, err)
			}
		}
		for id := range int64(1024) {
			if e, err := r.next(slow); err != nil || e.News != (messages.PeerChanged{ID: id}) {
				t.Fatal(e, err)
			}
		}
		for range 2 {
			if e, err := r.next(slow); !errors.Is(err, messages.ErrLagged) {
				t.Error(e, err)
			}
		}
	})
}

// An actor that failed while a scan ran publishes it again.
func TestScanAfterRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		lost := r.subscribe()
		r.scan.Store(&messages.ScanStatus{Running: true, Progress: 30})
		r.cfg.Pool.Publish(messages.PoolChanged{Changes: []messages.PoolChange{{}}})
		r.ref.Tell(failing{})
		synctest.Wait()
		if _, err := r.next(lost); err != nil {
			t.Error(err)
		}
		if e, err := r.next(lost); !errors.Is(err, messages.ErrLagged) {
			t.Error(e, err)
		}
		s := r.subscribe(messages.EventScan)
		r.scan.Store(&messages.ScanStatus{Running: true, Progress: 50})
		e, err := s.Next(t.Context())
		want := messages.ScanChanged{ScanStatus: messages.ScanStatus{Running: true, Progress: 50}}
		if err != nil || e.News != want || e.ID < 2 {
			t.Errorf("%+v, %v", e, err)
		}
	})
}

// failing is an event that the actor panics over.
type failing struct{}

// Kind implements messages.News.
func (failing) Kind() messages.EventKind { panic("broken") }

// A scan is published from its beginning to its end, and in between when it has come further.
func TestScan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		s := r.subscribe(messages.EventScan)
		want := func(news messages.ScanChanged) {
			t.Helper()
			if e, err := s.Next(t.Context()); err != nil || e.News != news {
				t.Errorf("%+v, %v, want %+v", e, err, news)
			}
		}
		running := func(progress int) messages.ScanChanged {
			return messages.ScanChanged{ScanStatus: messages.ScanStatus{Running: true, Progress: progress}}
		}
		set := func(progress int, runs bool) {
			r.scan.Store(&messages.ScanStatus{Running: runs, Progress: progress})
		}
		set(0, true)
		r.cfg.Scans.Publish(running(0))
		want(running(0))
		time.Sleep(3 * time.Second)
		set(40, true)
		want(running(40))
		reading := running(40)
		reading.Stage = messages.ScanReading
		r.scan.Store(&reading.ScanStatus)
		want(reading)
		set(0, false)
		r.cfg.Scans.Publish(messages.ScanChanged{Completed: true})
		want(messages.ScanChanged{Completed: true})
		time.Sleep(time.Minute)
		if e, err := r.next(s); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(e, err)
		}
	})
}
