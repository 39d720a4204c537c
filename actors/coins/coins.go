// Package coins is the actor that reads the set of unspent outputs: it owns the
// node's one scan of it, and counts it.
//
// It serves [messages.ReserveCoinScan], [messages.ReleaseCoinScan],
// [messages.RunCoinScan], [messages.GetCoinScanStatus],
// [messages.AbortCoinScan] and [messages.SumCoins]. The set is read in workers
// from a snapshot that the chain hands out, so that the chain goes on meanwhile
// and the actor answers at once whatever a scan does.
package coins

import (
	"errors"
	"log/slog"
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/slots"
	"github.com/seed61375155/trawl/messages"
)

// errNoSet reports that the chain gave an empty answer, which it must not.
var errNoSet = errors.New("no set of unspent outputs")

// Config is what the actor is made of.
type Config struct {
	Chain   *ask.Ref
	Workers int // that read at the same time; at least 1
	Log     *slog.Logger
}

// Requests lists what a plain protoactor request may ask.
var Requests = []ask.Served{
	ask.Serve[messages.ReserveCoinScan](), ask.Serve[messages.ReleaseCoinScan](),
	ask.Serve[messages.RunCoinScan](), ask.Serve[messages.GetCoinScanStatus](),
	ask.Serve[messages.AbortCoinScan](), ask.Serve[messages.SumCoins](),
}

type (
	reserve   = ask.Call[messages.ReserveCoinScan, messages.ScanSlot]
	release   = ask.Call[messages.ReleaseCoinScan, messages.Done]
	runScan   = ask.Call[messages.RunCoinScan, messages.CoinScanResult]
	getStatus = ask.Call[messages.GetCoinScanStatus, messages.CoinScanStatus]
	abortScan = ask.Call[messages.AbortCoinScan, bool]
	sumCoins  = ask.Call[messages.SumCoins, messages.CoinSums]
)

// Coins is the actor; make one with [New].
type Coins struct {
	cfg  Config
	mode actor.Behavior // idle, reserved or scanning

	slots *slots.Slots

	scan   *scan    // the running one; nil unless scanning
	call   *runScan // who waits for it
	sweeps []*sweep // all that have not ended, those of aborted scans included
}

// New returns the producer of the actor.
func New(cfg Config) actor.Producer {
	var given atomic.Uint64
	return func() actor.Actor {
		s := &Coins{cfg: cfg, mode: actor.NewBehavior(), slots: slots.New(&given)}
		s.mode.Become(s.idle)
		return s
	}
}

// Receive implements actor.Actor.
func (s *Coins) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *actor.Stopping, *actor.Restarting:
		s.close()
	case snapshot:
		s.begin(c, m)
	case workerDone:
		s.workerDone(c, m)
	case *sumCoins:
		s.sum(c, m)
	case *release:
		s.release(m)
	default:
		s.mode.Receive(c)
	}
}

// idle has no scan and no slot given away.
func (s *Coins) idle(c actor.Context) {
	switch m := c.Message().(type) {
	case *reserve:
		s.reserve(m)
	case *runScan:
		s.late(m)
	case *getStatus:
		m.Answer(messages.CoinScanStatus{}, nil)
	case *abortScan:
		m.Answer(false, nil)
	default:
		ask.Unhandled(c)
	}
}

// reserved waits for the scan of whoever holds the slot.
func (s *Coins) reserved(c actor.Context) {
	switch m := c.Message().(type) {
	case *reserve:
		m.Answer(messages.ScanSlot{}, messages.ErrCoinScanBusy)
	case *runScan:
		if !s.slots.Last(m.Req.Slot) {
			s.late(m)
			return
		}
		s.run(c, m)
	case *getStatus:
		m.Answer(messages.CoinScanStatus{Running: true}, nil)
	case *abortScan:
		s.slots.Abort()
		s.mode.Become(s.idle)
		m.Answer(true, nil)
	default:
		ask.Unhandled(c)
	}
}

// scanning has a scan and refuses a second.
func (s *Coins) scanning(c actor.Context) {
	switch m := c.Message().(type) {
	case *reserve:
		m.Answer(messages.ScanSlot{}, messages.ErrCoinScanBusy)
	case *runScan:
		s.late(m)
	case *getStatus:
		m.Answer(messages.CoinScanStatus{Running: true, Progress: s.scan.progress()}, nil)
	case *abortScan:
		s.end(nil)
		m.Answer(true, nil)
	default:
		ask.Unhandled(c)
	}
}

func (s *Coins) reserve(m *reserve) {
	if m.Answer(s.slots.Reserve(), nil) {
		s.mode.Become(s.reserved)
	}
}

// release takes a slot back, whoever else may have one by now.
func (s *Coins) release(m *release) {
	s.slots.Orphan(m.Req.Slot)
	if s.scan == nil && s.slots.Last(m.Req.Slot) {
		s.mode.Become(s.idle)
	}
	m.Answer(messages.Done{}, nil)
}

// late answers a scan whose slot is not reserved any more: with nothing when it
// was aborted before it came.
func (s *Coins) late(m *runScan) {
	if s.slots.Orphan(m.Req.Slot) {
		m.Answer(messages.CoinScanResult{}, nil)
		return
	}
	m.Answer(messages.CoinScanResult{}, messages.ErrNoSuchScan)
}

// run starts a scan.
func (s *Coins) run(c actor.Context, call *runScan) {
	s.scan, s.call = &scan{scripts: call.Req.Scripts}, call
	s.mode.Become(s.scanning)
	current := s.scan
	current.sweep = s.start(c, sweepPlan{
		readers: s.cfg.Workers, prepare: current.prepare, reader: current.reader,
		ended: func(err error) {
			if s.scan == current {
				s.end(err)
			}
		},
	})
}

// end answers who waits for the scan with what was found, tells its workers to
// stop, and is free for the next without waiting for them.
func (s *Coins) end(err error) {
	ended, call := s.scan, s.call
	s.scan, s.call = nil, nil
	s.mode.Become(s.idle)
	ended.sweep.cancel()
	if err != nil {
		call.Answer(messages.CoinScanResult{}, err)
		return
	}
	call.Answer(ended.result(), nil)
}

// sum counts the set.
func (s *Coins) sum(c actor.Context, call *sumCoins) {
	t := newTally(call.Req.Hash)
	sw := s.start(c, sweepPlan{
		readers: t.readers(s.cfg.Workers), prepare: t.prepare, reader: t.reader,
		ended: func(err error) {
			if err != nil {
				call.Answer(messages.CoinSums{}, err)
				return
			}
			call.Answer(t.result(), nil)
		},
	})
	sw.endWith(call.Ctx)
}

// close stops every worker. Callers are answered by the guard of the actor.
func (s *Coins) close() {
	for _, sw := range s.sweeps {
		sw.cancel()
	}
	for _, sw := range s.sweeps {
		sw.drop()
	}
	s.sweeps, s.scan, s.call = nil, nil, nil
}
