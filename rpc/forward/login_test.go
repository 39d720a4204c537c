package forward

import (
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/corenode"
)

// Where Core's configuration is not known, a login may what is said of such, once Core has
// accepted it; and not before.
func TestRightsAtAnAddress(t *testing.T) {
	core := newCoreSim(t)
	core.start(t, wide, "1")
	g := newGate(t, core, true)
	g.lose(t)
	if got := rightsOf(g.login(t.Context(), "full", password("full"))); got != "" {
		t.Errorf("never asked: %q", got)
	}
	core.set(up)
	for range 2 {
		if got := rightsOf(g.login(t.Context(), "full", password("full"))); got != "chs" {
			t.Errorf("may %q", got)
		}
		g.ago += remembered
		g.lose(t)
	}
	if err := g.reload(); err != nil {
		t.Error(err)
	}
	if got := rightsOf(g.login(t.Context(), "full", password("full"))); got != "" {
		t.Errorf("forgotten: %q", got)
	}
}

// While Core hangs one call asks it, which waits for a moment; the others do not wait at all.
func TestHungCoreDelaysOne(t *testing.T) {
	core := newCoreSim(t)
	core.start(t, wide, "1")
	g := newGate(t, core, false)
	if g.login(t.Context(), "full", password("full")) == nil {
		t.Fatal("not let in")
	}
	core.set(hung)
	g.ago += remembered
	before := core.count()
	began := time.Now()
	for range 50 {
		if rightsOf(g.Known(t.Context(), header("full", password("full")))) != "chsw" {
			t.Fatal("other rights")
		}
	}
	if took := time.Since(began); took > 6*time.Second {
		t.Errorf("50 calls took %v", took)
	}
	if n := core.count() - before; n > 3 { // about the login, and whether Core is there at all
		t.Errorf("asked %d times", n)
	}
}

// A login that Core has accepted counts for a minute, under each spelling of its header; more
// logins than are remembered push out the oldest one alone.
func TestLoginIsRemembered(t *testing.T) {
	core := newCoreSim(t)
	core.start(t, wide, "1")
	g := newGate(t, core, false)
	steps := []struct {
		do    func()
		asked int
	}{
		{func() {}, 1},
		{func() { g.ago += remembered / 2 }, 0},
		{func() { g.ago += remembered / 2 }, 1},
		{func() {}, 0},
	}
	for i, step := range steps {
		step.do()
		before := core.count()
		for range 3 {
			if g.login(t.Context(), "full", password("full")) == nil {
				t.Fatal("not let in")
			}
			if g.Known(t.Context(), header("full", password("full"))+" ") == nil {
				t.Fatal("not let in with a space")
			}
		}
		if asked := core.count() - before; asked != step.asked {
			t.Errorf("%d: asked %d times, want %d", i, asked, step.asked)
		}
	}
	for i := range maxRemembered {
		g.remember(loginID{byte(i), byte(i >> 8), 1}, accepted{at: g.now().Add(time.Second)})
	}
	if len(g.known) != maxRemembered {
		t.Errorf("%d logins are remembered", len(g.known))
	}
	g.core.set(down)
	if g.Known(t.Context(), header("full", password("full"))) != nil {
		t.Error("the oldest one is still known")
	}
}

// A Core whose queue is full for a moment is asked again within one call.
func TestBusyCoreIsAskedAgain(t *testing.T) {
	core := newCoreSim(t)
	core.start(t, wide, "1")
	g := newGate(t, core, false)
	g.waits.busy = busyTime
	core.set(busy)
	free := time.AfterFunc(2*patience, func() { core.set(up) })
	defer free.Stop()
	if got := rightsOf(g.login(t.Context(), "low", password("low"))); got != "c" {
		t.Errorf("may %q", got)
	}
}

// A Core that refuses the node for its address says nothing of a login: a wrong one is not let in by that, and a right
// one may what it could.
func TestBarredFromCore(t *testing.T) {
	for _, remote := range []bool{false, true} {
		core := newCoreSim(t)
		core.start(t, wide, "1")
		g := newGate(t, core, remote)
		before := rightsOf(g.login(t.Context(), "full", password("full")))
		core.set(barred)
		g.ago += remembered
		for user, want := range map[string]string{"full": before, "low": "", "nobody": ""} {
			if got := rightsOf(g.login(t.Context(), user, password(user))); got != want {
				t.Errorf("remote %v: %s may %q, want %q", remote, user, got, want)
			}
		}
		if login, err := g.Ask(t.Context(), header("nobody", "any")); login != nil || err == nil {
			t.Errorf("remote %v: %v, %v", remote, login, err)
		}
	}
}

// A login that Core is asked about while the configuration is read again has the rights of the new configuration.
func TestReloadWhileCoreIsAsked(t *testing.T) {
	core := newCoreSim(t)
	core.start(t, wide, "1")
	g := newGate(t, core, false)
	reread, read := g.reread, false
	g.reread = func() (corenode.Configured, error) {
		if !read {
			read = true
			_, _ = g.Ask(t.Context(), header("scan", password("scan")))
		}
		return reread()
	}
	core.write(t, narrow)
	if err := g.reload(); err != nil {
		t.Fatal(err)
	}
	if got := rightsOf(g.login(t.Context(), "scan", password("scan"))); got != "c" {
		t.Errorf("may %q", got)
	}
}
