// Package wallets holds the actors of the node's wallets: the registry, which
// creates, loads, restores and unloads them, and one child of it for each wallet
// that is loaded.
//
// A child enters the directory of [Config] under the wallet's name once it is
// loaded and up to date; clients find it there and ask it directly. A child that
// its supervisor gives up is taken out, and the node lives on.
package wallets

import (
	"math"
	"slices"
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/nodefiles"
)

// Wallets is the registry's actor; make one with [New].
type Wallets struct {
	*shared

	jobs     *ask.Lane // all that waits
	previews *ask.Lane

	loads   map[string]*load      // waiting or under way, by name
	queue   []*load               // waiting
	moving  map[string]*migrating // that use a name
	entries map[string]*entry

	starting   int // loads of the start that are not over; -1: not begun
	waiting    []*ask.Call[messages.WaitWallets, messages.Done]
	notStarted error // a wallet of the start that could not be loaded
}

// shared is what the instances of the registry have in common.
type shared struct {
	cfg      Config
	settings *nodefiles.Settings
	children atomic.Uint64
	names    []string // of wallets that are loaded; used by one instance at a time
	begun    bool
}

// entry is a wallet that is loaded.
type entry struct {
	name   string
	home   *home
	ref    *ask.Ref
	unload *unloading // the request that waits for its end; nil: none
}

// unloading is how a wallet is to end.
type unloading struct {
	onStartup messages.OnStartup
	tell      func(messages.WalletUnloaded, error)
}

// New returns the producer of the registry.
func New(cfg Config) actor.Producer {
	cfg.setDefaults()
	s := &shared{cfg: cfg, settings: nodefiles.NewSettings(nil, cfg.Settings).Named(cfg.Client)}
	return func() actor.Actor {
		w := &Wallets{
			shared: s, loads: make(map[string]*load), entries: make(map[string]*entry),
			moving: make(map[string]*migrating), starting: -1,
			jobs: ask.NewLane(math.MaxInt), previews: ask.NewLane(maxPreviews),
		}
		return w
	}
}

// Receive implements actor.Actor.
func (w *Wallets) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *actor.Started:
		w.start(c)
	case *actor.Stopping, *actor.Restarting:
		w.close()
	case *actor.Terminated:
		w.terminated(c, m.Who)
	case arrived:
		w.arrived(c, m)
	case refused:
		w.refused(c, m)
	default:
		table.Serve(w, c)
	}
}

func (w *Wallets) createWallet(c actor.Context, m *ask.Call[messages.CreateWallet, messages.WalletLoaded]) {
	h := newHome(&w.cfg, m.Req.Name)
	h.first = (&creation{h, m.Req}).run
	w.enqueue(c, &load{home: h, onStartup: m.Req.OnStartup, tell: answerTo(m)})
}

func (w *Wallets) loadWallet(c actor.Context, m *ask.Call[messages.LoadWallet, messages.WalletLoaded]) {
	if w.entries[m.Req.Name] != nil && w.entries[m.Req.Name].unload == nil {
		m.Answer(
			messages.WalletLoaded{}, codes.Errorf(codes.Loaded, "Wallet \"%s\" is already loaded.", m.Req.Name),
		)
		return
	}
	w.enqueue(c, &load{home: newHome(&w.cfg, m.Req.Name), onStartup: m.Req.OnStartup, tell: answerTo(m)})
}

func (w *Wallets) restoreWallet(c actor.Context, m *ask.Call[messages.RestoreWallet, messages.WalletLoaded]) {
	h := newHome(&w.cfg, m.Req.Name)
	h.first = (&restoration{home: h, source: m.Req.Backup}).run
	w.enqueue(c, &load{home: h, onStartup: m.Req.OnStartup, tell: answerTo(m)})
}

func (w *Wallets) unloadWallet(c actor.Context, m *ask.Call[messages.UnloadWallet, messages.WalletUnloaded]) {
	w.unload(c, m.Req.Name, &unloading{m.Req.OnStartup, func(got messages.WalletUnloaded, err error) {
		m.Answer(got, err)
	}})
}

func (w *Wallets) abortRestore(c actor.Context, m *ask.Call[messages.AbortRestore, bool]) {
	m.Answer(w.abort(c, m.Req.Name), nil)
}

func (w *Wallets) listWalletDir(c actor.Context, m *ask.Call[messages.ListWalletDir, []messages.WalletDirEntry]) {
	w.work(c, func(*ask.Job) func() {
		found := listDir(w.cfg.Dir, w.cfg.Network.Magic, w.cfg.Log)
		return func() { m.Answer(found, nil) }
	})
}

func (w *Wallets) syncWallets(c actor.Context, m *ask.Call[messages.SyncWallets, messages.Done]) {
	w.sync(c, 0, m.Answer)
}

func (w *Wallets) advanceTimers(c actor.Context, m *ask.Call[messages.AdvanceTimers, messages.Done]) {
	w.sync(c, m.Req.By, m.Answer)
}

func (w *Wallets) waitWallets(_ actor.Context, m *ask.Call[messages.WaitWallets, messages.Done]) {
	w.waiting = append(w.waiting, m)
	w.answerWaiting()
}

func answerTo[Q messages.Request[messages.WalletLoaded]](
	call *ask.Call[Q, messages.WalletLoaded],
) func(messages.WalletLoaded, error) {
	return func(got messages.WalletLoaded, err error) { call.Answer(got, err) }
}

// unload has a wallet close its file.
func (w *Wallets) unload(c actor.Context, name string, u *unloading) {
	e := w.entries[name]
	if e == nil || e.unload != nil {
		u.tell(messages.WalletUnloaded{}, messages.ErrWalletNotFound)
		return
	}
	e.unload = u
	w.work(c, func(j *ask.Job) func() {
		_, err := ask.Await(j, e.ref, closing{})
		return func() { w.unloaded(c, e, u, err) }
	})
}

// unloaded stops the actor of a wallet that has closed its file, or tells why the wallet goes on.
func (w *Wallets) unloaded(c actor.Context, e *entry, u *unloading, err error) {
	if isAnswer(err) {
		e.unload = nil
		u.tell(messages.WalletUnloaded{}, err)
		return
	}
	if err != nil {
		w.cfg.Log.Error("wallet not closed cleanly", "wallet", e.name, "err", err)
	}
	w.cfg.Directory.Remove(e.name)
	if w.entries[e.name] == e {
		c.Stop(e.ref.PID())
	}
}

// terminated takes a wallet out whose actor has stopped.
func (w *Wallets) terminated(c actor.Context, who *actor.PID) {
	for _, l := range w.loads {
		if l.ref != nil && l.ref.PID().Equal(who) {
			w.lost(c, l)
			return
		}
	}
	for _, e := range w.entries {
		if e.ref.PID().Equal(who) {
			w.leave(c, e)
			return
		}
	}
}

// leave forgets a wallet that has stopped.
func (w *Wallets) leave(c actor.Context, e *entry) {
	delete(w.entries, e.name)
	w.cfg.Directory.Remove(e.name)
	w.names = slices.DeleteFunc(w.names, func(n string) bool { return n == e.name })
	if file := e.home.fault.take(); file != nil { // of an instance after which there was none
		if err := file.Close(); err != nil {
			w.cfg.Log.Error("wallet not closed cleanly", "wallet", e.name, "err", err)
		}
	}
	if e.unload == nil {
		w.cfg.Log.Error("wallet failed too often or cannot be read any more, and is not loaded now", "wallet", e.name)
		return
	}
	w.cfg.Log.Info("Releasing wallet", "wallet", e.name)
	w.remember(c, e.name, e.unload.onStartup, func(warnings []string) {
		e.unload.tell(messages.WalletUnloaded{Warnings: warnings}, nil)
	})
}

// remember enters a wallet into the settings, or takes it out, and calls back
// with what went wrong.
func (w *Wallets) remember(c actor.Context, name string, on messages.OnStartup, then func(warnings []string)) {
	if on == messages.LeaveOnStartup {
		then(nil)
		return
	}
	w.work(c, func(*ask.Job) func() {
		err := w.settings.SetWallet(name, on == messages.LoadOnStartup)
		if err == nil {
			return func() { then(nil) }
		}
		w.cfg.Log.Error("settings not written", "err", err)
		consequence := "so wallet may not be loaded next node startup."
		if on == messages.DontLoadOnStartup {
			consequence = "so wallet may still be loaded next node startup."
		}
		return func() {
			then([]string{"Wallet load on startup setting could not be updated, " + consequence})
		}
	})
}

// work runs work in a job, and what it returns in the actor.
func (w *Wallets) work(c actor.Context, work func(*ask.Job) (then func())) {
	workIn(w.jobs, c, (*ask.Job).Do, work)
}

// close lets go of everything. The children stop after this.
func (w *Wallets) close() {
	w.jobs.Close()
	w.previews.Close()
	for name := range w.entries {
		w.cfg.Directory.Remove(name)
	}
	clear(w.entries)
	clear(w.loads)
	for _, m := range w.moving {
		m.free()
	}
	clear(w.moving)
	w.queue = nil
}
