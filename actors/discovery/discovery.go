// Package discovery is the actor that owns the node's one discovery: the search for all accounts of a wallet.
//
// Its requests are in table. The discovery itself is a job beside the actor, which derives scripts, has the scanner
// look for them, pass after pass, and reads the blocks found. So the actor answers at once. Keys are known to the job
// alone, until its end.
package discovery

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/messages"
)

// Config is what the actor is made of.
type Config struct {
	Network *dialect.Network
	Chain   *chainview.Current
	Scanner *ask.Ref        // looks for scripts
	Fetch   chainview.Fetch // gets blocks that were pruned; nil where none are
	Limit   int             // of the scripts; 0: 10 million
	Log     *slog.Logger
}

var table = ask.TableOf(
	ask.On((*Discovery).discover), ask.On((*Discovery).status), ask.AtOnce((*Discovery).abort),
)

// Requests lists what a plain protoactor request may ask.
var Requests = table.Served

// Discovery is the actor; make one with [New].
type Discovery struct {
	cfg  *Config
	lane *ask.Lane
	run  *run // nil: none
}

// A run is a discovery that has begun.
type run struct {
	id     uint64
	ctx    context.Context //nolint:containedctx // ends the job
	cancel context.CancelCauseFunc
	status messages.DiscoveryStatus
	keys   bool // private keys were looked at; the job's own
}

// errAborted ends a discovery, which answers with the accounts that are known.
var errAborted = errors.New("discovery was aborted")

// New returns the producer of the actor.
func New(cfg Config) actor.Producer {
	return func() actor.Actor { return &Discovery{cfg: &cfg, lane: ask.NewLane(1)} }
}

// Receive implements actor.Actor.
func (d *Discovery) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *actor.Stopping, *actor.Restarting:
		d.lane.Close()
	case scanned:
		m.call.Answer(d.with(&m), nil)
	default:
		table.Serve(d, c)
	}
}

type (
	discoverCall = ask.Call[messages.DiscoverAccounts, messages.Discovery]
	statusCall   = ask.Call[messages.GetDiscovery, messages.DiscoveryStatus]
)

// discover begins a discovery, unless one runs.
func (d *Discovery) discover(c actor.Context, call *discoverCall) {
	if d.run != nil {
		call.Answer(messages.Discovery{}, messages.ErrScanBusy)
		return
	}
	r := &run{id: call.Req.ID, status: messages.DiscoveryStatus{
		ScanStatus: messages.ScanStatus{Running: true, Stage: messages.ScanDeriving},
	}}
	r.ctx, r.cancel = context.WithCancelCause(context.Background())
	d.run = r
	d.lane.Add(c, func(j *ask.Job) {
		found, err := d.answer(j, r, call)
		r.cancel(nil)
		if j.Do(func() { d.run = nil }) == nil { // else the actor ends, which answers
			call.Answer(found, err)
		}
		if r.keys {
			debug.FreeOSMemory() // and what the keys have left in it
		}
	})
}

// answer makes the answer. The job ends with the call, and with an abort.
func (d *Discovery) answer(j *ask.Job, r *run, call *discoverCall) (found messages.Discovery, err error) {
	err = j.Until(call.Ctx, func(j *ask.Job) error {
		return j.Until(r.ctx, func(j *ask.Job) (err error) {
			found, r.keys, err = d.cfg.discover(j, &call.Req, func(s messages.DiscoveryStatus) error {
				return j.Do(func() { r.status = s })
			})
			return err
		})
	})
	return found, err
}

// scanned is how far the scanner is.
type scanned struct {
	call *statusCall
	scan messages.ScanStatus
	err  error
}

// status asks the scanner while it looks at blocks.
func (d *Discovery) status(c actor.Context, call *statusCall) {
	if d.run == nil {
		call.Answer(messages.DiscoveryStatus{}, nil)
		return
	}
	if d.run.status.Stage != messages.ScanMatching {
		call.Answer(d.run.status, nil)
		return
	}
	ask.Then(call.Ctx, c, d.cfg.Scanner, messages.GetScanStatus{}, func(s messages.ScanStatus, err error) any {
		return scanned{call, s, err}
	})
}

// with returns the status with the scanner's part in it.
func (d *Discovery) with(m *scanned) messages.DiscoveryStatus {
	if d.run == nil {
		return messages.DiscoveryStatus{}
	}
	s := d.run.status
	if m.err == nil && m.scan.Running && m.scan.Stage == s.Stage {
		s.ScanStatus = m.scan
	}
	return s
}

func (d *Discovery) abort(q messages.AbortDiscovery) (bool, error) {
	if d.run == nil || q.ID != 0 && q.ID != d.run.id {
		return false, nil
	}
	d.run.cancel(errAborted)
	return true, nil
}
