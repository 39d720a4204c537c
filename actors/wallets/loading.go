package wallets

import (
	"fmt"
	"slices"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/messages"
)

// A load brings one wallet into memory.
type load struct {
	home      *home
	onStartup messages.OnStartup
	tell      func(messages.WalletLoaded, error)
	ref       *ask.Ref   // nil: waiting for its turn
	of        *migrating // that made the wallet; nil: none
}

// enqueue begins a load, or has it wait for its turn.
func (w *Wallets) enqueue(c actor.Context, l *load) {
	name := l.home.name
	e, m := w.entries[name], w.moving[name]
	if w.loads[name] != nil || e != nil && e.unload != nil || m != nil && m != l.of {
		l.tell(messages.WalletLoaded{}, errLoading)
		return
	}
	l.home.step("Waiting…", 0)
	w.loads[name] = l
	w.queue = append(w.queue, l)
	w.next(c)
}

// next begins the loads whose turn it is.
func (w *Wallets) next(c actor.Context) {
	for len(w.queue) > 0 && len(w.loads)-len(w.queue) < w.cfg.Loading {
		l := w.queue[0]
		w.queue = w.queue[1:]
		child := fmt.Sprintf("wallet-%d", w.children.Add(1))
		ref, err := ask.Spawn(c, w.cfg.Log, child, w.cfg.Calls, newWallet(l.home), WalletRequests)
		if err != nil {
			w.end(c, l, unexpected(err))
			return
		}
		w.cfg.Meter.Add(ref)
		l.ref = ref
	}
}

// end tells why a load failed, and begins the next.
func (w *Wallets) end(c actor.Context, l *load, err error) {
	if w.loads[l.home.name] == l {
		delete(w.loads, l.home.name)
	}
	l.tell(messages.WalletLoaded{}, err)
	w.next(c)
}

// arrived enters a wallet that is loaded.
func (w *Wallets) arrived(c actor.Context, m arrived) {
	l := w.loads[m.home.name]
	if l == nil || l.home != m.home {
		return // loaded before, and restarted
	}
	name := m.home.name
	if !w.cfg.Directory.Add(name, l.ref) {
		c.Stop(l.ref.PID())
		w.end(c, l, codes.Errorf(codes.Loaded, "Wallet \"%s\" is already loaded.", name))
		return
	}
	w.entries[name] = &entry{name: name, home: l.home, ref: l.ref}
	w.names = append(w.names, name)
	delete(w.loads, name)
	w.next(c)
	w.remember(c, name, l.onStartup, func(warnings []string) {
		l.tell(messages.WalletLoaded{Name: name, Warnings: append(m.warnings, warnings...)}, nil)
	})
}

// refused ends the load of a wallet that cannot be used.
func (w *Wallets) refused(c actor.Context, m refused) {
	c.Stop(m.from)
	if l := w.loads[m.home.name]; l != nil && l.home == m.home {
		w.end(c, l, m.err)
		return
	}
	w.cfg.Log.Error("wallet cannot be opened again", "wallet", m.home.name, "err", m.err)
}

// lost ends the load of a wallet whose actor was stopped, after too many failures, before it could
// report the end.
func (w *Wallets) lost(c actor.Context, l *load) {
	delete(w.loads, l.home.name)
	undo := l.home.settle(false)
	w.work(c, func(*ask.Job) func() {
		if err := undo(); err != nil {
			w.cfg.Log.Error("beginnings of a wallet stay", "wallet", l.home.name, "err", err)
		}
		return func() {
			w.end(c, l, codes.Errorf(codes.Wallet, "Wallet loading failed. %v", ask.ErrStopped))
		}
	})
}

// abort ends a load. It reports false when there is none of that name.
func (w *Wallets) abort(c actor.Context, name string) bool {
	l := w.loads[name]
	if l == nil {
		return false
	}
	if l.ref != nil {
		l.home.abort()
		return true
	}
	w.queue = slices.DeleteFunc(w.queue, func(q *load) bool { return q == l })
	w.end(c, l, errRescan)
	return true
}

// loading tells how far the loads have come, oldest first.
func (w *Wallets) loading(messages.GetLoading) ([]messages.WalletLoading, error) {
	var all []messages.WalletLoading
	for _, l := range w.loads {
		all = append(all, l.home.status())
	}
	slices.SortFunc(all, func(a, b messages.WalletLoading) int { return a.Since.Compare(b.Since) })
	return all, nil
}
