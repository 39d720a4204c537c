package wallets

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed61375155/trawl/actors/wallets/internal/files"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/messages"
)

// A load brings one wallet into memory.
type load struct {
	spec      *spec
	origin    origin // of the file; nil: it is there
	onStartup messages.OnStartup
	of        *files.Migration // that made the wallet; nil: none

	began    bool          // its turn has come
	over     chan struct{} // closed at the end
	warnings []string
	err      error // why the wallet is not loaded
}

// load loads a wallet when it is its turn.
func (w *Wallets) load(j *ask.Job, l *load) (messages.WalletLoaded, error) {
	if err := j.Do(func() { w.enqueue(l) }); err != nil {
		return messages.WalletLoaded{}, err
	}
	return l.wait(j)
}

// enqueue begins a load, or has it wait for its turn.
func (w *Wallets) enqueue(l *load) {
	l.over = make(chan struct{})
	name := l.spec.Name
	e, m := w.entries[name], w.migrations[name]
	switch {
	case e != nil && !e.unloading && l.origin == nil:
		w.end(l, codes.Errorf(codes.Loaded, "Wallet \"%s\" is already loaded.", name))
	case w.loads[name] != nil || e != nil && e.unloading || m != nil && m != l.of:
		w.end(l, files.ErrLoading)
	default:
		l.spec.progress("Waiting…", 0)
		w.loads[name] = l
		w.loader.Add(w.c, func(j *ask.Job) { w.run(j, l) })
	}
}

// wait waits for the end of a load.
func (l *load) wait(j *ask.Job) (messages.WalletLoaded, error) {
	select {
	case <-l.over:
	case <-j.Context().Done():
		return messages.WalletLoaded{}, context.Cause(j.Context())
	}
	if l.err != nil {
		return messages.WalletLoaded{}, l.err
	}
	return messages.WalletLoaded{Name: l.spec.Name, Warnings: l.warnings}, nil
}

// run carries a load out. If the wallet cannot be loaded, its beginnings are taken back.
func (w *Wallets) run(j *ask.Job, l *load) {
	var ref *ask.Ref
	var err error
	ended := j.Do(func() {
		if l.err == nil { // else it was aborted
			l.began = true
			ref, err = w.spawn(l)
		}
	})
	switch {
	case ended != nil || !l.began:
		return
	case err == nil:
		l.warnings, err = ask.Await(j, ref, beginning{})
		if err == nil {
			ended = j.Do(func() { err = w.enter(l, ref) })
			if err != nil {
				_ = ref.Stop(context.WithoutCancel(j.Context())) // cannot fail
			}
		}
		if err != nil || ended != nil {
			w.takeBack(j, l, ref, err)
		}
		if ended != nil {
			return
		}
	}
	if err == nil {
		l.warnings = append(l.warnings, w.remember(l.spec.Name, l.onStartup)...)
	} else {
		err = l.spec.loadingError(err)
	}
	_ = j.Do(func() { w.end(l, err) })
}

// spawn starts the actor of a wallet.
func (w *Wallets) spawn(l *load) (*ask.Ref, error) {
	child := fmt.Sprintf("wallet-%d", w.children.Add(1))
	ref, err := ask.Spawn(w.c, w.cfg.Log, child, w.cfg.Calls, newWallet(l.spec, l.origin), WalletRequests)
	if err != nil {
		return nil, codes.Unexpected(err)
	}
	w.cfg.Meter.Add(ref)
	return ref, nil
}

// enter enters a wallet that is loaded.
func (w *Wallets) enter(l *load, ref *ask.Ref) error {
	name := l.spec.Name
	if !w.cfg.Directory.Add(name, ref) {
		return codes.Errorf(codes.Loaded, "Wallet \"%s\" is already loaded.", name)
	}
	w.entries[name] = &entry{name: name, spec: l.spec, ref: ref}
	w.names = append(w.names, name)
	delete(w.loads, name)
	return nil
}

// takeBack stops the actor of a wallet that is not loaded, and takes back what was begun. It does not end with the
// registry: nothing is left half made. An actor that has refused the wallet has closed the file, and may have to wait
// for its workers.
func (w *Wallets) takeBack(j *ask.Job, l *load, ref *ask.Ref, why error) {
	if !codes.IsAnswer(why) {
		_ = ref.Stop(context.WithoutCancel(j.Context())) // cannot fail
	}
	if l.origin != nil {
		if err := l.origin.Undo(); err != nil {
			w.cfg.Log.Error("beginnings of a wallet stay", "wallet", l.spec.Label(), "err", err)
		}
	}
	_ = j.Do(func() { w.c.Stop(ref.PID()) })
}

// end ends a load.
func (w *Wallets) end(l *load, err error) {
	if w.loads[l.spec.Name] == l {
		delete(w.loads, l.spec.Name)
	}
	l.err = err
	close(l.over)
}

// abortRestore ends a load. It answers false when there is none of that name.
func (w *Wallets) abortRestore(q messages.AbortRestore) (bool, error) {
	l := w.loads[q.Name]
	switch {
	case l == nil:
		return false, nil
	case l.began:
		l.spec.abort()
	default:
		w.end(l, errRescan)
	}
	return true, nil
}

// loading tells how far the loads have come, oldest first.
func (w *Wallets) loading(messages.GetLoading) ([]messages.WalletLoading, error) {
	var all []messages.WalletLoading
	for _, l := range w.loads {
		all = append(all, l.spec.status())
	}
	slices.SortFunc(all, func(a, b messages.WalletLoading) int { return a.Since.Compare(b.Since) })
	return all, nil
}
