// Package coins is the actor that reads the set of unspent outputs: it owns the
// node's one scan of it, and counts it.
//
// It serves [messages.ReserveCoinScan], [messages.ReportCoinScan], [messages.RunCoinScan],
// [messages.ReleaseCoinScan], [messages.GetCoinScanStatus], [messages.AbortCoinScan],
// [messages.SumCoins] and [messages.DumpCoins]. The set is read in workers from a snapshot
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

// Requests lists what a plain protoactor request may ask.
var Requests = []ask.Served{
	ask.Serve[messages.ReserveCoinScan](), ask.Serve[messages.ReleaseCoinScan](),
	ask.Serve[messages.RunCoinScan](), ask.Serve[messages.GetCoinScanStatus](),
	ask.Serve[messages.AbortCoinScan](), ask.Serve[messages.SumCoins](),
	ask.Serve[messages.DumpCoins](), ask.Serve[messages.ReportCoinScan](),
}

type (
	reserve   = ask.Call[messages.ReserveCoinScan, messages.ScanSlot]
	release   = ask.Call[messages.ReleaseCoinScan, messages.Done]
	runScan   = ask.Call[messages.RunCoinScan, messages.CoinScanResult]
	getStatus = ask.Call[messages.GetCoinScanStatus, messages.CoinScanStatus]
	abortScan = ask.Call[messages.AbortCoinScan, bool]
	sumCoins  = ask.Call[messages.SumCoins, messages.CoinSums]
	report    = ask.Call[messages.ReportCoinScan, messages.Done]
	dumpCoins = ask.Call[messages.DumpCoins, messages.DumpedCoins]
)

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
	case workerDone:
		s.workerDone(c, m)
	case *sumCoins:
		s.sum(c, m)
	case *dumpCoins:
		s.dump(c, m)
	case *reserve:
		s.slot.Reserve(m.Answer)
	case *report:
		s.slot.Report(m.Req.Slot, m.Req.Progress)
		m.Answer(messages.Done{}, nil)
	case *release:
		s.slot.Release(m.Req.Slot)
		m.Answer(messages.Done{}, nil)
	case *runScan:
		if s.slot.Begin(m.Req.Slot, m.Req.Hold, m.Answer, messages.CoinScanResult{}) {
			s.run(c, m.Req.Scripts)
		}
	case *getStatus:
		m.Answer(s.status(), nil)
	case *abortScan:
		m.Answer(s.slot.Abort(), nil)
	default:
		ask.Unhandled(c)
	}
}

// status says how far the scan is.
func (s *Coins) status() messages.CoinScanStatus {
	progress, reported := s.slot.Progress()
	switch s.slot.State() {
	case ask.JobReserved:
		return messages.CoinScanStatus{Running: true, Stage: messages.ScanDeriving, Progress: progress}
	case ask.JobRunning:
		return messages.CoinScanStatus{Running: true, Progress: s.scan.progress()}
	case ask.JobHeld:
		if !reported {
			return messages.CoinScanStatus{Running: true, Progress: s.ended}
		}
		return messages.CoinScanStatus{Running: true, Stage: messages.ScanReading, Progress: progress}
	default:
		return messages.CoinScanStatus{}
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

// end answers who waits for the scan with what was found and tells its workers to
// stop. The next scan does not wait for them.
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
func (s *Coins) sum(c actor.Context, call *sumCoins) {
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
