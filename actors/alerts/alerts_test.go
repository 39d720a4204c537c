package alerts_test

import (
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/actors/alerts"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
)

const (
	unknown = 0x20000000 | 1<<27
	warning = "Unknown new rules activated (versionbit 27)"
)

// rig is the actor over a chain in memory.
type rig struct {
	t        *testing.T
	chain    *chaintest.Chain
	view     chainview.Current
	tip      ask.Feed[messages.TipChanged]
	changed  ask.Feed[nodemsg.WarningChanged]
	raised   ask.Feed[nodemsg.WarningRaised]
	initial  *chainview.InitialDownload
	left     atomic.Bool // the initial download
	broken   atomic.Bool // the chain panics, once
	now      atomic.Int64
	ref      *ask.Ref
	listener *actortest.Probe
}

// reader is a chain that can be made to panic.
type reader struct {
	*chaintest.Chain
	broken *atomic.Bool
}

// Active implements chainview.Reader.
func (r reader) Active() *chainview.Chain {
	if r.broken.Swap(false) {
		panic("broken")
	}
	return r.Chain.Active()
}

func newRig(t *testing.T, change ...func(*alerts.Config)) *rig {
	t.Helper()
	net, err := dialect.Bitcoin("regtest")
	if err != nil {
		t.Fatal(err)
	}
	sys := actortest.New(t)
	r := &rig{t: t, chain: chaintest.New(net.Params)}
	r.view.Set(reader{r.chain, &r.broken})
	r.at(0)
	r.initial = chainview.NewInitialDownload(
		&r.view, "", 0, func() time.Time { return time.Unix(r.now.Load(), 0) }, func() { r.left.Store(true) },
	)
	r.listener = sys.Probe("probe")
	sys.Spawn("listener", func() actor.Actor {
		return actor.ReceiveFunc(func(c actor.Context) {
			switch m := c.Message().(type) {
			case *actor.Started:
				r.raised.Subscribe(c)
			case nodemsg.WarningRaised:
				r.listener.Tell(m)
			}
		})
	})
	cfg := alerts.Config{
		Network: net, View: &r.view, Tip: &r.tip, Initial: r.initial, Changed: &r.changed, Raised: &r.raised,
		Log: sys.Log,
	}
	for _, c := range change {
		c(&cfg)
	}
	r.ref = sys.Spawn("alerts", alerts.New(cfg), alerts.Requests...)
	synctest.Wait()
	return r
}

// at sets the clock to so many seconds after the tip.
func (r *rig) at(seconds int64) {
	r.now.Store(r.chain.Active().Tip().Time().Unix() + seconds)
}

// mine adds blocks, of which the actor hears.
func (r *rig) mine(n int, version int32) {
	for range n {
		r.chain.Mine(chaintest.Template{Version: version})
	}
	r.at(0)
	tip := r.chain.Active().Tip()
	r.tip.Publish(messages.TipChanged{Hash: tip.Hash, Height: tip.Height})
}

func (r *rig) warnings() []string {
	r.t.Helper()
	list, err := ask.Ask(r.t.Context(), r.ref, nodemsg.GetWarnings{})
	if err != nil {
		r.t.Fatal(err)
	}
	return list
}

// Unknown active rules are announced once. A caller that has heard of a tip gets the warnings
// as of that tip.
func TestUnknownRules(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.mine(143, 0)
		r.mine(144, unknown)
		r.mine(143, 0)
		if got := r.warnings(); len(got) != 0 {
			t.Errorf("before the rules are active: %q", got)
		}
		r.mine(1, 0)
		if got := r.warnings(); !slices.Equal(got, []string{warning}) {
			t.Errorf("got %q", got)
		}
		r.mine(300, unknown)
		if got := r.warnings(); !slices.Equal(got, []string{warning}) {
			t.Errorf("later: %q", got)
		}
		if got := actortest.Expect[nodemsg.WarningRaised](r.listener); got.Text != warning {
			t.Errorf("raised %q", got.Text)
		}
		synctest.Wait()
		r.listener.Quiet()
	})
}

// During the initial download nothing is told; its end is noticed while the tip is
// recent, without a question.
func TestInitialDownload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *alerts.Config) { c.View.SetImporting(true) })
		r.mine(143, 0)
		r.mine(144, unknown)
		r.mine(144, 0)
		if got := r.warnings(); len(got) != 0 || r.left.Load() {
			t.Errorf("during the initial download: %q", got)
		}
		r.view.SetImporting(false)
		r.mine(1, 0)
		synctest.Wait()
		r.at(1_000_000)
		if !r.left.Load() || r.initial.Lasts(r.chain.Active().Tip()) {
			t.Error("the end of the initial download was not noticed")
		}
		if got := r.warnings(); !slices.Equal(got, []string{warning}) {
			t.Errorf("got %q", got)
		}
	})
}

// A warning of another component lasts until that component withdraws it, even over a panic of the actor.
// New warnings are announced.
func TestOtherComponents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		report := func(of, text string, want ...string) {
			t.Helper()
			r.changed.Publish(nodemsg.WarningChanged{Of: of, Text: text})
			if got := r.warnings(); !slices.Equal(got, want) {
				t.Errorf("%s: %q: got %q, want %q", of, text, got, want)
			}
		}
		report("a", "disk full", "disk full")
		report("b", "moved", "disk full", "moved")
		report("a", "disk full", "disk full", "moved")
		report("a", "gone", "moved", "gone")
		r.broken.Store(true)
		r.mine(1, 0)
		synctest.Wait()
		report("b", "", "gone")
		report("b", "", "gone")
		report("a", "")
		for _, want := range []string{"disk full", "moved", "gone"} {
			if got := actortest.Expect[nodemsg.WarningRaised](r.listener); got.Text != want {
				t.Errorf("announced %q, want %q", got.Text, want)
			}
		}
		synctest.Wait()
		r.listener.Quiet()
	})
}

// A node whose chain is not open yet has nothing to tell.
func TestNoChain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *alerts.Config) { c.View = new(chainview.Current) })
		if got := r.warnings(); got == nil || len(got) != 0 {
			t.Errorf("got %#v", got)
		}
	})
}

// After a panic the actor looks again; the caller of the broken look gets ErrRestarted.
func TestPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.mine(143, 0)
		r.mine(144, unknown)
		for range 144 {
			r.chain.Mine(chaintest.Template{})
		}
		r.at(0)
		synctest.Wait()
		r.broken.Store(true)
		if _, err := ask.Ask(t.Context(), r.ref, nodemsg.GetWarnings{}); !errors.Is(err, ask.ErrRestarted) {
			t.Errorf("got %v", err)
		}
		synctest.Wait()
		if got := r.warnings(); !slices.Equal(got, []string{warning}) {
			t.Errorf("after the restart: %q", got)
		}
	})
}
