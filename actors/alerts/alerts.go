// Package alerts is the actor that owns the warnings for the operator. It warns of
// rules that miners have activated and the node does not know. Other components of the
// node add warnings, such as of a wallet that cannot be written.
//
// It serves [nodemsg.GetWarnings], and publishes each new warning. It looks at every
// new tip once the node has left its initial download, whose end it notices: the tip
// is looked at while it is recent, whether anybody asks or not.
package alerts

import (
	"fmt"
	"log/slog"
	"slices"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/internal/versionbits"
	"github.com/seed61375155/trawl/messages"
)

// Config is what the actor is made of.
type Config struct {
	Network *dialect.Network
	View    *chainview.Current
	Tip     *ask.Feed[messages.TipChanged]
	Initial *chainview.InitialDownload
	Changed *ask.Feed[nodemsg.WarningChanged] // that other components report
	Raised  *ask.Feed[nodemsg.WarningRaised]  // where new warnings are published
	Lasting []string                          // warnings that hold as long as the node runs
	Log     *slog.Logger
}

var table = ask.TableOf(ask.On((*Alerts).warnings))

// Requests lists what a plain protoactor request may ask.
var Requests = table.Served

type getWarnings = ask.Call[nodemsg.GetWarnings, []string]

// Alerts is the actor; make one with [New].
type Alerts struct {
	cfg     Config
	unknown *versionbits.Unknown // the worker's while there is one

	worker   ask.Tasks                 // at most one, which looks at a tip
	seen     *chainview.Block          // tip that was looked at last; nil: none was
	newRules string                    // warning of unknown rules that are active; empty: there are none
	reported *[]nodemsg.WarningChanged // by other components, one each, the oldest first; of all instances

	waiting []*getWarnings // for the next look
	served  []*getWarnings // for the one under way
}

// New returns the producer of the actor.
func New(cfg Config) actor.Producer {
	var reported []nodemsg.WarningChanged
	return func() actor.Actor {
		return &Alerts{cfg: cfg, unknown: versionbits.NewUnknown(cfg.Network), reported: &reported}
	}
}

// Receive implements actor.Actor.
func (a *Alerts) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *actor.Started:
		a.cfg.Tip.SubscribeLatest(c)
		a.cfg.Changed.Subscribe(c)
		a.look(c)
	case *actor.Stopping, *actor.Restarting:
		a.cfg.Tip.Unsubscribe(c)
		a.cfg.Changed.Unsubscribe(c)
		a.worker.Drop()
	case messages.TipChanged:
		a.look(c)
	case nodemsg.WarningChanged:
		a.changed(m)
	default:
		table.Serve(a, c)
	}
}

func (a *Alerts) warnings(c actor.Context, m *getWarnings) {
	a.waiting = append(a.waiting, m)
	a.look(c)
}

// look has a worker look at the tip, unless that was done before. While a worker is at work it
// does nothing: another look follows.
func (a *Alerts) look(c actor.Context) {
	if a.worker.Len() > 0 {
		return
	}
	tip := a.tip()
	if tip == nil || tip.Is(a.seen) || a.cfg.Initial.Lasts(tip) {
		a.answer(a.waiting)
		a.waiting = nil
		return
	}
	a.served, a.waiting = a.waiting, nil
	a.worker.Go(c, func() func() {
		lockedIn, active := a.unknown.After(tip)
		return func() { a.found(c, tip, lockedIn, active) }
	})
}

// tip is the end of the active chain, nil before it is open.
func (a *Alerts) tip() *chainview.Block {
	if reader := a.cfg.View.Open(); reader != nil {
		return reader.Active().Tip()
	}
	return nil
}

// found takes over the version bits that a look at a tip has found, and looks again where it is out of date.
func (a *Alerts) found(c actor.Context, tip *chainview.Block, lockedIn, active []int) {
	a.seen = tip
	for _, bit := range lockedIn {
		a.cfg.Log.Warn("Unknown new rules are locked in", "versionbit", bit, "height", tip.Height)
	}
	if len(active) > 0 && a.newRules == "" {
		a.newRules = ruleText(active[0])
		a.cfg.Log.Warn("Unknown new rules activated", "versionbit", active[0], "height", tip.Height)
		a.cfg.Raised.Publish(nodemsg.WarningRaised{Text: a.newRules})
	}
	a.answer(a.served)
	a.served = nil
	a.look(c)
}

func ruleText(bit int) string { return fmt.Sprintf("Unknown new rules activated (versionbit %d)", bit) }

// changed takes over a warning of another component, or its end.
func (a *Alerts) changed(m nodemsg.WarningChanged) {
	reported := *a.reported
	at := slices.IndexFunc(reported, func(t nodemsg.WarningChanged) bool { return t.Of == m.Of })
	switch {
	case at >= 0 && reported[at].Text == m.Text:
		return
	case at >= 0:
		reported = slices.Delete(reported, at, at+1)
	}
	if m.Text != "" {
		reported = append(reported, m)
		a.cfg.Raised.Publish(nodemsg.WarningRaised{Text: m.Text})
	}
	*a.reported = reported
}

// answer gives callers all warnings.
func (a *Alerts) answer(calls []*getWarnings) {
	for _, call := range calls {
		list := []string{}
		if a.newRules != "" {
			list = append(list, a.newRules)
		}
		list = append(list, a.cfg.Lasting...)
		for _, reported := range *a.reported {
			list = append(list, reported.Text)
		}
		call.Answer(list, nil)
	}
}
