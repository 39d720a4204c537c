// Package scanner is the actor that owns the node's one block-filter scan.
//
// Its requests are in table. The matching runs in the workers of the node's [match.Scheduler], so that the actor
// itself answers at once whatever a scan does. The indexer rebuilds a damaged filter while the scan goes on. If it
// cannot, the scan fails: a scan is never called complete over a hole.
package scanner

import (
	"cmp"
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/messages"
)

// Config is what the actor is made of.
type Config struct {
	Scheduler *match.Scheduler // matches the filters, and has damaged ones repaired
	Chain     *chainview.Current
	Indexer   *ask.Ref
	HeaderLen func(raw []byte) int // bytes before a block's transactions

	// News is where the beginning and the end of a scan are announced; nil: nowhere.
	News *ask.Feed[messages.ScanChanged]

	// Fetch gets blocks that were pruned; nil where none are.
	Fetch chainview.Fetch

	Log *slog.Logger
}

var table = ask.TableOf(
	ask.AtOnce((*Scanner).getStatus), ask.AtOnce((*Scanner).report), ask.AtOnce((*Scanner).release),
	ask.AtOnce((*Scanner).abort), ask.On((*Scanner).reserve), ask.On((*Scanner).run),
)

// Requests lists what a plain protoactor request may ask.
var Requests = table.Served

// Scanner is the actor; make one with [New].
type Scanner struct {
	cfg      Config
	slot     *ask.JobSlot[messages.ScanResult]
	scan     *scan               // the running one; nil unless one runs
	draining []*scan             // answered already, their workers about to stop
	ended    messages.ScanStatus // at the end of the scan whose slot is held
	stage    messages.ScanStage  // that the holder of the slot reported last
}

// New returns the producer of a scanner.
func New(cfg Config) actor.Producer {
	var issued atomic.Uint64
	return func() actor.Actor {
		s := &Scanner{cfg: cfg}
		s.slot = ask.NewJobSlot[messages.ScanResult](ask.JobSlotConfig{
			Issued: &issued, Busy: messages.ErrScanBusy, Expired: messages.ErrNoSuchScan, Stop: func() { s.end(nil) },
		})
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
	default:
		table.Serve(s, c)
	}
}

func (s *Scanner) reserve(_ actor.Context, m *ask.Call[messages.ReserveScan, messages.ScanSlot]) {
	if s.slot.Reserve(m.Answer) {
		s.announce(false)
	}
}

func (s *Scanner) report(q messages.ReportScan) (messages.Done, error) {
	if s.slot.Report(q.Slot, q.Progress) {
		s.stage = q.Stage
	}
	return messages.Done{}, nil
}

func (s *Scanner) release(q messages.ReleaseScan) (messages.Done, error) {
	if s.slot.Release(q.Slot) {
		s.announce(q.Completed)
	}
	return messages.Done{}, nil
}

func (s *Scanner) abort(q messages.AbortScan) (bool, error) {
	return (q.Slot == 0 || s.slot.Holds(q.Slot)) && s.slot.Abort(), nil
}

func (s *Scanner) getStatus(messages.GetScanStatus) (messages.ScanStatus, error) {
	return s.status(), nil
}

// status says how far the scan is.
func (s *Scanner) status() messages.ScanStatus {
	progress, reported := s.slot.Progress()
	switch s.slot.State() {
	case ask.JobReserved:
		return messages.ScanStatus{Running: true, Stage: messages.ScanDeriving, Progress: progress}
	case ask.JobRunning:
		return s.scan.status()
	case ask.JobHeld:
		if !reported {
			return s.ended // most holders only answer: progress does not fall for that
		}
		return messages.ScanStatus{
			Running: true, Stage: cmp.Or(s.stage, messages.ScanReading), Progress: progress, Height: s.ended.Height,
			Pass: s.ended.Pass,
		}
	default:
		return messages.ScanStatus{}
	}
}

// run begins a scan, or answers at once where its slot was aborted.
func (s *Scanner) run(c actor.Context, call *ask.Call[messages.RunScan, messages.ScanResult]) {
	q := &call.Req
	held := s.slot.State()
	if s.slot.Begin(q.Slot, q.Hold, call.Answer, messages.ScanResult{From: q.Start, To: q.Start}) {
		s.begin(c, q)
	} else if s.slot.State() != held {
		s.ended = messages.ScanStatus{Running: true, Height: q.Start, Progress: q.Part.Percent(0), Pass: q.Pass}
		s.announce(false)
	}
}

// begin pins the blocks of a scan and waits for their filters.
func (s *Scanner) begin(c actor.Context, req *messages.RunScan) {
	reader := s.cfg.Chain.Open()
	if reader == nil {
		s.answer(messages.ScanResult{}, chainview.ErrNotReady)
		return
	}
	stop := reader.Lookup(&req.Stop)
	if stop == nil || req.Start < 0 || req.Start > stop.Height {
		s.answer(messages.ScanResult{}, messages.ErrBlockNotFound)
		return
	}
	s.scan = newScan(&s.cfg, reader, req, stop)
	s.announce(false)
	if s.indexedAlready(stop) {
		s.indexed(c, nil)
		return
	}
	s.awaitIndexed(c)
}

// maxAsked is how often an indexer that fails is asked for the filters of one scan: it may fail over them.
const maxAsked = 3

// awaitIndexed has the indexer tell when every block of the range has its filter.
func (s *Scanner) awaitIndexed(c actor.Context) {
	current := s.scan
	current.asked++
	ask.Then(current.ctx, c, s.cfg.Indexer, messages.WaitIndexed{Block: current.stop.Hash},
		func(_ messages.Done, err error) any { return indexed{current, err} })
}

// indexedAlready reports whether there is nothing to wait for: a block is on the
// index's active chain only if it and all before it have their filters.
func (s *Scanner) indexedAlready(stop *chainview.Block) bool {
	view := s.cfg.Scheduler.View()
	defer view.Release()
	return view.Active(stop.Height, &stop.Hash)
}

// indexed goes on when every block of the range has its filter.
func (s *Scanner) indexed(c actor.Context, err error) {
	if errors.Is(err, ask.ErrRestarted) && s.scan.asked < maxAsked { // its next instance knows nothing of the scan
		s.awaitIndexed(c)
		return
	}
	if err != nil {
		s.end(&messages.FilterError{Block: s.scan.stop.Hash, Err: err})
		return
	}
	if s.scan.isLarge() {
		current := s.scan
		current.prepare(c, func() { s.prepared(c, current) })
		return
	}
	s.scan.makePass()
	s.match(c)
}

// prepared goes on when the scripts of a scan are ready to be looked for.
func (s *Scanner) prepared(c actor.Context, of *scan) {
	if of != s.scan {
		s.forget(of)
		return
	}
	s.match(c)
}

// match starts the matching.
func (s *Scanner) match(c actor.Context) {
	current := s.scan
	current.ready = true
	current.match(c, func(err error) { s.matched(current, err) })
}

// matched ends the scan, unless it was ended before.
func (s *Scanner) matched(of *scan, err error) {
	if of != s.scan {
		s.forget(of)
		return
	}
	if lost, ok := errors.AsType[*match.LostError](err); ok {
		err = &messages.FilterError{Block: lost.Block, Err: lost.Err}
	}
	s.end(err)
}

// end answers the caller with the blocks found and tells the workers to stop. The next scan does not wait until
// they have.
func (s *Scanner) end(err error) {
	ended := s.scan
	s.scan = nil
	ended.cancel()
	s.ended = ended.status()
	var result messages.ScanResult
	if err == nil {
		result = ended.result()
	}
	s.answer(result, err)
	s.draining = append(s.draining, ended)
	s.forget(ended)
}

// answer ends the job in the slot.
func (s *Scanner) answer(result messages.ScanResult, err error) {
	s.slot.End(result, err)
	s.announce(result.Completed)
}

// announce publishes the scan's status. completed counts only if the scan has ended.
func (s *Scanner) announce(completed bool) {
	if s.cfg.News == nil {
		return
	}
	news := messages.ScanChanged{ScanStatus: s.status()}
	news.Completed = completed && !news.Running
	s.cfg.News.Publish(news)
}

// forget lets go of an ended scan once its last worker has stopped.
func (s *Scanner) forget(ended *scan) {
	if ended.workers.Len() == 0 {
		s.draining = slices.DeleteFunc(s.draining, func(e *scan) bool { return e == ended })
	}
}

// close stops every worker. Callers are answered by the guard of the actor.
func (s *Scanner) close() {
	if s.scan != nil {
		s.draining = append(s.draining, s.scan)
		s.scan = nil
	}
	if s.slot.State() != ask.JobIdle && s.cfg.News != nil {
		s.cfg.News.Publish(messages.ScanChanged{})
	}
	for _, e := range s.draining {
		e.cancel()
	}
	for _, e := range s.draining {
		e.workers.Drop()
	}
}

// indexed says that the filters of a scan's blocks are there.
type indexed struct {
	scan *scan
	err  error
}
