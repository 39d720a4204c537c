// Package scanner is the actor that owns the node's one block-filter scan.
//
// It serves [messages.ReserveScan], [messages.ReleaseScan], [messages.RunScan],
// [messages.GetScanStatus] and [messages.AbortScan]. The matching runs in
// workers, one a core, so that the actor itself answers at once whatever a scan
// does. A damaged filter is re-made by the indexer while the scan goes on; one
// that cannot be re-made fails the scan, which is never called complete over a
// hole.
package scanner

import (
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/internal/slots"
	"github.com/seed61375155/trawl/messages"
)

// Config is what the actor is made of.
type Config struct {
	Source    match.Source
	Chain     *chainview.Current
	Indexer   *ask.Ref
	HeaderLen func(raw []byte) int // bytes before a block's transactions
	Workers   int                  // that match; at least 1

	// Spread starts a goroutine on a core that has nothing to do; nil stands for
	// the go statement.
	Spread func(work func())

	// Fetch gets blocks that were pruned; nil where none are.
	Fetch chainview.Fetch

	Log *slog.Logger
}

// Requests lists what a plain protoactor request may ask.
var Requests = []ask.Served{
	ask.Serve[messages.ReserveScan](), ask.Serve[messages.ReleaseScan](),
	ask.Serve[messages.RunScan](), ask.Serve[messages.GetScanStatus](),
	ask.Serve[messages.AbortScan](),
}

type (
	reserve   = ask.Call[messages.ReserveScan, messages.ScanSlot]
	release   = ask.Call[messages.ReleaseScan, messages.Done]
	runScan   = ask.Call[messages.RunScan, messages.ScanResult]
	getStatus = ask.Call[messages.GetScanStatus, messages.ScanStatus]
	abortScan = ask.Call[messages.AbortScan, bool]
)

// Scanner is the actor; make one with [New].
type Scanner struct {
	cfg  Config
	mode actor.Behavior // idle, reserved or scanning

	slots *slots.Slots

	scan   *scan    // the running one; nil unless scanning
	call   *runScan // who waits for it
	ending []*scan  // answered already, their workers about to stop
}

// New returns the producer of a scanner.
func New(cfg Config) actor.Producer {
	var given atomic.Uint64
	return func() actor.Actor {
		s := &Scanner{cfg: cfg, mode: actor.NewBehavior(), slots: slots.New(&given)}
		if s.cfg.Spread == nil {
			s.cfg.Spread = goStatement
		}
		s.mode.Become(s.idle)
		return s
	}
}

// Receive implements actor.Actor.
func (s *Scanner) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *actor.Stopping, *actor.Restarting:
		s.close()
	case indexed:
		if m.scan == s.scan {
			s.indexed(c, m.err)
		}
	case prepared:
		s.prepared(c, m)
	case workerDone:
		s.workerDone(c, m)
	case repaired:
		if m.scan == s.scan {
			s.repaired(c, m)
		}
	case *release:
		s.release(m)
	default:
		s.mode.Receive(c)
	}
}

// idle has no scan and no slot given away.
func (s *Scanner) idle(c actor.Context) {
	switch m := c.Message().(type) {
	case *reserve:
		s.reserve(m)
	case *runScan:
		s.late(m)
	case *getStatus:
		m.Answer(messages.ScanStatus{}, nil)
	case *abortScan:
		m.Answer(false, nil)
	default:
		ask.Unhandled(c)
	}
}

// reserved waits for the scan of whoever holds the slot.
func (s *Scanner) reserved(c actor.Context) {
	switch m := c.Message().(type) {
	case *reserve:
		m.Answer(messages.ScanSlot{}, messages.ErrScanBusy)
	case *runScan:
		if !s.slots.Last(m.Req.Slot) {
			s.late(m)
			return
		}
		s.begin(c, m)
	case *getStatus:
		m.Answer(messages.ScanStatus{Running: true}, nil)
	case *abortScan:
		s.abortReservation()
		m.Answer(true, nil)
	default:
		ask.Unhandled(c)
	}
}

// scanning has a scan and refuses a second.
func (s *Scanner) scanning(c actor.Context) {
	switch m := c.Message().(type) {
	case *reserve:
		m.Answer(messages.ScanSlot{}, messages.ErrScanBusy)
	case *runScan:
		s.late(m)
	case *getStatus:
		m.Answer(s.scan.status(), nil)
	case *abortScan:
		s.end(nil)
		m.Answer(true, nil)
	default:
		ask.Unhandled(c)
	}
}

func (s *Scanner) reserve(m *reserve) {
	if m.Answer(s.slots.Reserve(), nil) {
		s.mode.Become(s.reserved)
	}
}

// abortReservation ends the preparation of a scan and frees the slot, whose
// holder may be gone. Should it come with its scan yet, it gets an empty result.
func (s *Scanner) abortReservation() {
	s.slots.Abort()
	s.mode.Become(s.idle)
}

// release takes a slot back, whoever else may have one by now.
func (s *Scanner) release(m *release) {
	s.slots.Orphan(m.Req.Slot)
	if s.scan == nil && s.slots.Last(m.Req.Slot) {
		s.mode.Become(s.idle)
	}
	m.Answer(messages.Done{}, nil)
}

// late answers a scan whose slot is not reserved any more.
func (s *Scanner) late(m *runScan) {
	if s.slots.Orphan(m.Req.Slot) {
		m.Answer(messages.ScanResult{From: m.Req.Start, To: m.Req.Start}, nil)
		return
	}
	m.Answer(messages.ScanResult{}, messages.ErrNoSuchScan)
}

// begin pins the blocks of a scan and waits for their filters.
func (s *Scanner) begin(c actor.Context, call *runScan) {
	reader := s.cfg.Chain.Open()
	if reader == nil {
		s.mode.Become(s.idle)
		call.Answer(messages.ScanResult{}, chainview.ErrNotReady)
		return
	}
	stop := reader.Lookup(&call.Req.Stop)
	if stop == nil || call.Req.Start < 0 || call.Req.Start > stop.Height {
		s.mode.Become(s.idle)
		call.Answer(messages.ScanResult{}, messages.ErrBlockNotFound)
		return
	}
	s.call, s.scan = call, newScan(&s.cfg, reader, &call.Req, stop)
	s.mode.Become(s.scanning)
	if s.indexedAlready(stop) {
		s.indexed(c, nil)
		return
	}
	current := s.scan
	ask.Then(current.ctx, c, s.cfg.Indexer, messages.WaitIndexed{Block: stop.Hash},
		func(_ messages.Done, err error) any { return indexed{current, err} })
}

// indexedAlready reports whether there is nothing to wait for: a block is on the
// index's active chain only if it and all before it have their filters.
func (s *Scanner) indexedAlready(stop *chainview.Block) bool {
	view := s.cfg.Source.View()
	defer view.Release()
	return view.Active(stop.Height, &stop.Hash)
}

// indexed goes on when every block of the range has its filter.
func (s *Scanner) indexed(c actor.Context, err error) {
	if err != nil {
		s.end(&messages.FilterError{Block: s.scan.stop.Hash, Err: err})
		return
	}
	if len(s.scan.scripts) > fewScripts {
		s.scan.prepare(c)
		return
	}
	s.scan.makePass()
	s.match(c)
}

func (s *Scanner) prepared(c actor.Context, m prepared) {
	m.scan.running--
	if m.scan != s.scan {
		s.forget(m.scan)
		return
	}
	s.match(c)
}

// match starts the workers. The last one takes the core that this runs on.
func (s *Scanner) match(c actor.Context) {
	s.scan.ready = true
	for range s.scan.pass.Workers(s.cfg.Workers) - 1 {
		s.scan.startWorker(c, s.cfg.Spread, match.Heights{})
	}
	s.scan.startWorker(c, goStatement, match.Heights{})
}

func (s *Scanner) workerDone(c actor.Context, m workerDone) {
	m.scan.running--
	if m.scan != s.scan {
		s.forget(m.scan)
		return
	}
	var damage *match.DamagedError
	switch {
	case errors.As(m.err, &damage):
		s.repair(c, m.left, damage)
	case m.err != nil:
		s.end(m.err)
	case s.scan.pass.Complete():
		s.end(nil)
	}
}

// repair has a damaged filter re-made, once for each block. What was left
// unmatched because of it is begun with afterwards.
func (s *Scanner) repair(c actor.Context, left match.Heights, damage *match.DamagedError) {
	if !s.scan.mayRepair(damage) {
		s.end(&messages.FilterError{Block: damage.Block, Err: damage})
		return
	}
	s.cfg.Log.Warn("scan met a damaged block filter", "err", damage)
	current := s.scan
	ask.Then(current.ctx, c, s.cfg.Indexer, messages.RepairFilter{Block: damage.Block},
		func(_ messages.Done, err error) any { return repaired{current, left, damage, err} })
}

func (s *Scanner) repaired(c actor.Context, m repaired) {
	if m.err != nil {
		s.end(&messages.FilterError{Block: m.damage.Block, Err: m.err})
		return
	}
	s.scan.startWorker(c, goStatement, m.left)
}

// end answers the caller with what was found, tells the workers to stop, and
// is free for the next scan without waiting for them.
func (s *Scanner) end(err error) {
	ended, call := s.scan, s.call
	s.scan, s.call = nil, nil
	s.mode.Become(s.idle)
	ended.cancel()
	if err != nil {
		call.Answer(messages.ScanResult{}, err)
	} else {
		call.Answer(ended.result(), nil)
	}
	s.ending = append(s.ending, ended)
	s.forget(ended)
}

// forget lets go of an ended scan once its last worker has stopped.
func (s *Scanner) forget(ended *scan) {
	if ended.running == 0 {
		s.ending = slices.DeleteFunc(s.ending, func(e *scan) bool { return e == ended })
	}
}

// close stops every worker. Callers are answered by the guard of the actor.
func (s *Scanner) close() {
	if s.scan != nil {
		s.ending = append(s.ending, s.scan)
		s.scan = nil
	}
	for _, e := range s.ending {
		e.cancel()
	}
	for _, e := range s.ending {
		e.drop()
	}
	s.ending = nil
}

// Messages of the scanner to itself.
type (
	// indexed says that the filters of a scan's blocks are there.
	indexed struct {
		scan *scan
		err  error
	}
	// prepared says that the scripts of a scan are ready to be looked for.
	prepared struct{ scan *scan }
	// workerDone says that a worker has no more to do, or cannot go on.
	workerDone struct {
		scan *scan
		left match.Heights // could not be matched; empty without an error
		err  error
	}
	// repaired says that a damaged filter was re-made.
	repaired struct {
		scan   *scan
		left   match.Heights
		damage *match.DamagedError
		err    error
	}
)
