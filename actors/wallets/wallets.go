// Package wallets holds the actors of the node's wallets: the registry, which
// creates, loads, restores and unloads them, and one child of it for each wallet
// that is loaded.
//
// A child enters the directory of [Config] under the wallet's name once it is
// loaded and up to date; clients find it there and ask it directly. A child that
// its supervisor gives up is taken out, and the node lives on.
package wallets

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/actors/wallets/internal/files"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/nodefiles"
)

const (
	// previewTime is how long a preview may take.
	previewTime = 30 * time.Second

	// maxPreviews is how many previews are made at a time.
	maxPreviews = 2
)

var errPreviewTime = codes.Errorf(codes.Wallet, "The backup could not be looked through within %d seconds.",
	previewTime/time.Second)

// Wallets is the registry's actor; make one with [New].
type Wallets struct {
	*shared

	c        actor.Context // the actor's own
	jobs     *ask.Lane     // all that waits
	loader   *ask.Lane     // loads, in the order in which they came
	previews *ask.Lane

	loads      map[string]*load            // waiting or under way, by name
	migrations map[string]*files.Migration // that use a name
	entries    map[string]*entry

	starting   int           // loads of the start that are not over; -1: not begun
	started    chan struct{} // closed when there are none
	notStarted error         // a wallet of the start that could not be loaded
}

// shared is what the instances of the registry have in common.
type shared struct {
	cfg      Config
	files    files.Config
	settings *nodefiles.Settings
	children atomic.Uint64
	names    []string // of wallets that are loaded; used by one instance at a time
	begun    bool
}

// entry is a wallet that is loaded.
type entry struct {
	name      string
	spec      *spec
	ref       *ask.Ref
	unloading bool
}

// New returns the producer of the registry.
func New(cfg Config) actor.Producer {
	cfg.setDefaults()
	s := &shared{cfg: cfg, files: cfg.files(), settings: nodefiles.NewSettings(nil, cfg.Settings).Named(cfg.Client)}
	return func() actor.Actor {
		w := &Wallets{
			shared: s, loads: make(map[string]*load), entries: make(map[string]*entry),
			migrations: make(map[string]*files.Migration), starting: -1, started: make(chan struct{}),
			jobs: ask.NewLane(math.MaxInt), loader: ask.NewLane(s.cfg.Loading), previews: ask.NewLane(maxPreviews),
		}
		return w
	}
}

// Receive implements actor.Actor.
func (w *Wallets) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *actor.Started:
		w.c = c
		w.start()
	case *actor.Stopping, *actor.Restarting:
		w.close()
	case *actor.Terminated:
		w.terminated(m.Who)
	default:
		table.Serve(w, c)
	}
}

// serve has a job serve a request to its end, also when the caller leaves.
func serve[Q messages.Request[R], R any](
	do func(*Wallets, *ask.Job, Q) (R, error),
) func(*Wallets, actor.Context, *ask.Call[Q, R]) {
	return func(w *Wallets, c actor.Context, m *ask.Call[Q, R]) {
		ask.ServeIn(c, w.jobs, m, func(j *ask.Job, q Q) (R, error) { return do(w, j.Through(), q) })
	}
}

func (w *Wallets) createWallet(j *ask.Job, q messages.CreateWallet) (messages.WalletLoaded, error) {
	s := w.spec(q.Name)
	return w.load(j, &load{spec: s, origin: s.Create(q), onStartup: q.OnStartup})
}

func (w *Wallets) loadWallet(j *ask.Job, q messages.LoadWallet) (messages.WalletLoaded, error) {
	return w.load(j, &load{spec: w.spec(q.Name), onStartup: q.OnStartup})
}

func (w *Wallets) restoreWallet(j *ask.Job, q messages.RestoreWallet) (messages.WalletLoaded, error) {
	s := w.spec(q.Name)
	return w.load(j, &load{spec: s, origin: s.Restore(q.Backup), onStartup: q.OnStartup})
}

func (w *Wallets) listWalletDir(*ask.Job, messages.ListWalletDir) ([]messages.WalletDirEntry, error) {
	return files.List(w.cfg.Dir, w.cfg.Network.Magic, w.cfg.Log), nil
}

func (w *Wallets) syncWallets(j *ask.Job, _ messages.SyncWallets) (messages.Done, error) {
	return w.sync(j, 0)
}

func (w *Wallets) advanceTimers(j *ask.Job, q messages.AdvanceTimers) (messages.Done, error) {
	return w.sync(j, q.By)
}

// preview has a dry run of a restore made, now or when it is its turn. It ends with the caller, the actor, or when it
// has taken too long.
func (w *Wallets) preview(c actor.Context, m *ask.Call[messages.PreviewRestore, messages.RestorePreview]) {
	ask.ServeIn(c, w.previews, m, func(j *ask.Job, q messages.PreviewRestore) (messages.RestorePreview, error) {
		ctx, cancel := context.WithTimeoutCause(j.Context(), previewTime, errPreviewTime)
		defer cancel()
		got, err := w.files.Preview(ctx, q)
		if err != nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return got, err
	})
}

// waitWallets waits for the end of the start.
func (w *Wallets) waitWallets(c actor.Context, m *ask.Call[messages.WaitWallets, messages.Done]) {
	ask.ServeIn(c, w.jobs, m, func(j *ask.Job, _ messages.WaitWallets) (messages.Done, error) {
		select {
		case <-w.started:
			return messages.Done{}, w.notStarted
		case <-j.Context().Done():
			return messages.Done{}, context.Cause(j.Context())
		}
	})
}

// sync has all loaded wallets write their knowledge of the memory pool. If a time has passed by their
// timers, they do first what is due. The error of a wallet that was unloaded meanwhile does not count: the
// unloading has written its changes.
func (w *Wallets) sync(j *ask.Job, passed time.Duration) (messages.Done, error) {
	var all []*entry
	err := j.Do(func() { all = slices.Collect(maps.Values(w.entries)) })
	for _, e := range all {
		_, failed := ask.Await(j, e.ref, seeing{Passed: passed})
		ended := j.Do(func() {
			if failed != nil && !e.unloading {
				w.cfg.Log.Error("wallet has not written what is in the memory pool", "wallet", e.name, "err", failed)
				err = errors.Join(err, failed)
			}
		})
		if ended != nil {
			return messages.Done{}, ended
		}
	}
	return messages.Done{}, err
}

// unload has a wallet close its file, and takes it out.
func (w *Wallets) unload(j *ask.Job, q messages.UnloadWallet) (got messages.WalletUnloaded, err error) {
	var e *entry
	ended := j.Do(func() {
		if e = w.entries[q.Name]; e == nil || e.unloading {
			err = messages.ErrWalletNotFound
			return
		}
		e.unloading = true
	})
	if err = cmp.Or(ended, err); err != nil {
		return got, err
	}
	_, err = ask.Await(j, e.ref, closing{})
	if codes.IsAnswer(err) { // the wallet goes on
		return got, cmp.Or(j.Do(func() { e.unloading = false }), err)
	}
	if err != nil && j.Context().Err() == nil {
		w.cfg.Log.Error("wallet not closed cleanly", "wallet", e.name, "err", err)
	}
	w.cfg.Directory.Remove(e.name)
	err = e.ref.Stop(j.Context())
	if err == nil {
		err = j.Do(func() { w.leave(e) })
	}
	if err != nil {
		return got, err
	}
	w.cfg.Log.Info("Releasing wallet", "wallet", e.name)
	got.Warnings = w.remember(q.Name, q.OnStartup)
	return got, nil
}

// terminated takes a wallet out whose actor has stopped without being told to.
func (w *Wallets) terminated(who *actor.PID) {
	for _, e := range w.entries {
		if e.ref.PID().Equal(who) && !e.unloading {
			w.leave(e)
			w.cfg.Log.Error("wallet failed too often or cannot be read any more, and is not loaded now",
				"wallet", e.name)
			return
		}
	}
}

// leave forgets a wallet that has stopped.
func (w *Wallets) leave(e *entry) {
	delete(w.entries, e.name)
	w.cfg.Directory.Remove(e.name)
	w.names = slices.DeleteFunc(w.names, func(n string) bool { return n == e.name })
	if file := e.spec.fault.take(); file != nil { // of an instance after which there was none
		if err := file.Close(); err != nil {
			w.cfg.Log.Error("wallet not closed cleanly", "wallet", e.name, "err", err)
		}
	}
}

// remember enters a wallet into the settings, or takes it out. It returns what went wrong.
func (w *Wallets) remember(name string, on messages.OnStartup) (warnings []string) {
	if on == messages.LeaveOnStartup {
		return nil
	}
	err := w.settings.SetWallet(name, on == messages.LoadOnStartup)
	if err == nil {
		return nil
	}
	w.cfg.Log.Error("settings not written", "err", err)
	consequence := "so wallet may not be loaded next node startup."
	if on == messages.DontLoadOnStartup {
		consequence = "so wallet may still be loaded next node startup."
	}
	return []string{"Wallet load on startup setting could not be updated, " + consequence}
}

// close lets go of everything. The children stop after this.
func (w *Wallets) close() {
	w.jobs.Close()
	w.loader.Close()
	w.previews.Close()
	for name := range w.entries {
		w.cfg.Directory.Remove(name)
	}
	clear(w.entries)
	clear(w.loads)
	for _, m := range w.migrations {
		m.Free()
	}
	clear(w.migrations)
}
