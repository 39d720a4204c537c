// Package events is the actor by which events leave the node. It numbers the announcements of
// the node's components, and hands them to subscribers, each of which reads at its own speed.
//
// Its requests are in table. A subscriber that leaves too many events unread is cut off, and
// costs nobody else anything. When the actor fails, all subscribers are cut off: announcements
// before its restart are lost.
package events

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
)

// scanInterval is how often a scan that runs is asked how far it is.
const scanInterval = time.Second

// Config is what the actor is made of: where events come from.
type Config struct {
	Tip       *ask.Feed[messages.TipChanged]
	Pool      *ask.Feed[messages.PoolChanged]
	Wallets   *ask.Feed[messages.WalletChanged]
	WalletTxs *ask.Feed[messages.WalletTxChanged]
	Scans     *ask.Feed[messages.ScanChanged]
	Searches  *ask.Feed[messages.News] // nil: none
	Peers     *ask.Feed[messages.PeerChanged]
	Scanner   *ask.Ref
}

var table = ask.TableOf(ask.On((*Events).subscribe))

// Requests lists what a plain protoactor request may ask.
var Requests = table.Served

// Events is the actor; make one with [New].
type Events struct {
	cfg     Config
	last    *atomic.Uint64 // id of an event, of all instances
	readers []*reader
	again   bool // it is not the first instance

	ctx      context.Context //nolint:containedctx // ends when the actor stops
	cancel   context.CancelFunc
	scanning bool               // a scan runs, and is looked at now and then
	progress int                // that was published last
	stage    messages.ScanStage // that was published last
	tip      messages.TipChanged
	timer    ask.Timer
}

// Messages of the actor to itself.
type (
	look   struct{}
	looked struct {
		status messages.ScanStatus
		err    error
		first  bool // of this instance
	}
)

// New returns the producer of the actor.
func New(cfg Config) actor.Producer {
	last, made := new(atomic.Uint64), new(atomic.Bool)
	return func() actor.Actor {
		e := &Events{cfg: cfg, last: last, again: made.Swap(true)}
		e.ctx, e.cancel = context.WithCancel(context.Background())
		return e
	}
}

// Receive implements actor.Actor.
func (e *Events) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *actor.Started:
		e.listen(c)
		if e.again {
			e.look(c, true) // one may run already
		}
	case *actor.Stopping:
		e.stop(c, ask.ErrStopped)
	case *actor.Restarting:
		e.stop(c, messages.ErrLagged)
	case messages.PoolChanged:
		e.pool(m)
	case messages.ScanChanged:
		e.scan(c, m)
	case messages.TipChanged:
		if m != e.tip { // else blocks before a snapshot were validated
			e.tip = m
			e.publish(m)
		}
	case messages.News:
		e.publish(m)
	case look:
		e.look(c, false)
	case looked:
		e.looked(c, m)
	default:
		table.Serve(e, c)
	}
}

func (e *Events) subscribe(_ actor.Context, m *ask.Call[nodemsg.Subscribe, messages.Subscription]) {
	r := newReader(m.Req.Kinds)
	if m.Answer(r, nil) {
		e.readers = append(e.readers, r)
	}
}

func (e *Events) listen(c actor.Context) {
	e.cfg.Tip.SubscribeLatest(c)
	e.cfg.Pool.Subscribe(c)
	e.cfg.Wallets.Subscribe(c)
	e.cfg.WalletTxs.Subscribe(c)
	e.cfg.Scans.Subscribe(c)
	if e.cfg.Searches != nil {
		e.cfg.Searches.Subscribe(c)
	}
	e.cfg.Peers.Subscribe(c)
}

// stop lets all readers go with a reason.
func (e *Events) stop(c actor.Context, why error) {
	e.cfg.Tip.Unsubscribe(c)
	if e.cfg.Searches != nil {
		e.cfg.Searches.Unsubscribe(c)
	}
	e.cfg.Pool.Unsubscribe(c)
	e.cfg.Wallets.Unsubscribe(c)
	e.cfg.WalletTxs.Unsubscribe(c)
	e.cfg.Scans.Unsubscribe(c)
	e.cfg.Peers.Unsubscribe(c)
	e.cancel()
	e.timer.Stop()
	for _, r := range e.readers {
		r.end(why)
	}
}

// publish numbers an event and offers it to all readers.
func (e *Events) publish(news messages.News) {
	event := messages.Event{ID: e.last.Add(1), News: news}
	e.readers = slices.DeleteFunc(e.readers, func(r *reader) bool { return !r.offer(event) })
}

func (e *Events) pool(m messages.PoolChanged) {
	if m.Reset {
		e.publish(messages.PoolReset{})
	}
	for _, change := range m.Changes {
		e.publish(change)
	}
}

// scan publishes the beginning or the end of a scan.
func (e *Events) scan(c actor.Context, m messages.ScanChanged) {
	began := m.Running && !e.scanning
	e.scanning, e.progress, e.stage = m.Running, m.Progress, m.Stage
	e.publish(m)
	if began {
		e.lookLater(c)
	}
}

func (e *Events) lookLater(c actor.Context) { e.timer.Set(c, scanInterval, look{}) }

// look asks how far the scan is.
func (e *Events) look(c actor.Context, first bool) {
	ask.Then(e.ctx, c, e.cfg.Scanner, messages.GetScanStatus{}, func(s messages.ScanStatus, err error) any {
		return looked{s, err, first}
	})
}

// looked publishes how far the scan is, where that has changed, and looks again while it runs.
func (e *Events) looked(c actor.Context, m looked) {
	if m.err != nil || !m.status.Running || !e.scanning && !m.first {
		e.scanning = false // the scanner publishes its end, or has done so
		return
	}
	if m.status.Progress != e.progress || m.status.Stage != e.stage {
		e.progress, e.stage = m.status.Progress, m.status.Stage
		e.publish(messages.ScanChanged{ScanStatus: m.status})
	}
	e.scanning = true
	e.lookLater(c)
}
