// Package coins is the actor that reads the set of unspent outputs: it owns the
// node's one scan of it, and counts it.
//
// Its requests are in table. The set is read in workers from a snapshot
// that the chain hands out, so that the chain goes on meanwhile and the actor answers at once
// whatever a scan does.
package coins

import (
	"errors"
	"log/slog"
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/messages"
)

// errNoSet reports that the chain gave an empty answer, which it must not.
var errNoSet = errors.New("no set of unspent outputs")

// Config is what the actor is made of.
type Config struct {
	Chain   *ask.Ref
	Workers int     // that read at the same time; at least 1
	Magic   [4]byte // of the network, in files
	FS      vfs.FS  // where files are written; nil: the operating system's
	Log     *slog.Logger
}

var table = ask.TableOf(
	ask.AtOnce((*Coins).status), ask.AtOnce((*Coins).report), ask.AtOnce((*Coins).release), ask.AtOnce((*Coins).abort),
	ask.On((*Coins).reserve), ask.On((*Coins).runScan), ask.On((*Coins).sum), ask.On((*Coins).dump),
)

// Requests lists what a plain protoactor request may ask.
var Requests = table.Served

// Coins is the actor; make one with [New].
type Coins struct {
	cfg   Config
	slot  *ask.JobSlot[messages.CoinScanResult]
	scan  *scan       // the running one; nil unless one runs
	ended int         // progress of the scan whose slot is held
	scans []*coinScan // all passes that have not ended, those of aborted scans included
}

// New returns the producer of the actor.
func New(cfg Config) actor.Producer {
	var issued atomic.Uint64
	return func() actor.Actor {
		s := &Coins{cfg: cfg}
		s.slot = ask.NewJobSlot[messages.CoinScanResult](ask.JobSlotConfig{
			Issued: &issued, Busy: messages.ErrCoinScanBusy, Expired: messages.ErrNoSuchScan,
			Stop: func() { s.end(nil) },
		})
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
	default:
		table.Serve(s, c)
	}
}

func (s *Coins) reserve(_ actor.Context, m *ask.Call[messages.ReserveCoinScan, messages.ScanSlot]) {
	s.slot.Reserve(m.Answer)
}

func (s *Coins) report(q messages.ReportCoinScan) (messages.Done, error) {
	s.slot.Report(q.Slot, q.Progress)
	return messages.Done{}, nil
}

func (s *Coins) release(q messages.ReleaseCoinScan) (messages.Done, error) {
	s.slot.Release(q.Slot)
	return messages.Done{}, nil
}

func (s *Coins) abort(messages.AbortCoinScan) (bool, error) { return s.slot.Abort(), nil }

func (s *Coins) runScan(c actor.Context, m *ask.Call[messages.RunCoinScan, messages.CoinScanResult]) {
	if s.slot.Begin(m.Req.Slot, m.Req.Hold, m.Answer, messages.CoinScanResult{}) {
		s.run(c, m.Req.Scripts)
	}
}

// status says how far the scan is.
func (s *Coins) status(messages.GetCoinScanStatus) (messages.CoinScanStatus, error) {
	progress, reported := s.slot.Progress()
	switch s.slot.State() {
	case ask.JobReserved:
		return messages.CoinScanStatus{Running: true, Stage: messages.ScanDeriving, Progress: progress}, nil
	case ask.JobRunning:
		return messages.CoinScanStatus{Running: true, Progress: s.scan.progress()}, nil
	case ask.JobHeld:
		if !reported {
			return messages.CoinScanStatus{Running: true, Progress: s.ended}, nil
		}
		return messages.CoinScanStatus{Running: true, Stage: messages.ScanReading, Progress: progress}, nil
	default:
		return messages.CoinScanStatus{}, nil
	}
}

// run starts a scan.
func (s *Coins) run(c actor.Context, scripts [][]byte) {
	s.scan = &scan{scripts: scripts}
	current := s.scan
	current.pass = s.start(c, coinScanJob{
		readers: s.cfg.Workers, prepare: current.prepare, reader: current.reader,
		ended: func(err error) {
			if s.scan == current {
				s.end(err)
			}
		},
	})
}

// end answers the caller of the scan with the coins found and tells the workers to stop. The
// next scan does not wait until they have.
func (s *Coins) end(err error) {
	ended := s.scan
	s.scan = nil
	ended.pass.cancel()
	s.ended = ended.progress()
	if err != nil {
		s.slot.End(messages.CoinScanResult{}, err)
		return
	}
	s.slot.End(ended.result(), nil)
}

// sum counts the set.
func (s *Coins) sum(c actor.Context, call *ask.Call[messages.SumCoins, messages.CoinSums]) {
	t := newCoinTotals(call.Req.Hash)
	pass := s.start(c, coinScanJob{
		readers: t.readers(s.cfg.Workers), prepare: t.prepare, reader: t.reader,
		ended: func(err error) {
			if err != nil {
				call.Answer(messages.CoinSums{}, err)
				return
			}
			call.Answer(t.result(), nil)
		},
	})
	pass.endWith(call.Ctx)
}

// close stops every worker. Callers are answered by the guard of the actor.
func (s *Coins) close() {
	for _, pass := range s.scans {
		pass.cancel()
	}
	for _, pass := range s.scans {
		pass.drop()
	}
	s.scans, s.scan = nil, nil
}
