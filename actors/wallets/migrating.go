package wallets

import (
	"errors"
	"strings"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/messages"
)

var errNotLegacy = codes.Errorf(codes.Wallet, "Error: This wallet is already a descriptor wallet")

// migrating is the migration of one wallet: its files are made in a worker, then the
// wallets are loaded one after the other. If one cannot be loaded, all is taken back.
type migrating struct {
	*migratedFiles

	name   string
	call   *ask.Call[messages.MigrateWallet, messages.WalletMigrated]
	first  *string  // name of the wallet that was loaded first
	loaded []string // names of the wallets that are loaded
}

// names are the names of wallets that a migration uses.
func (m *migrating) names() []string {
	return []string{m.name, m.watched.home.name, m.solvable.home.name}
}

// migrate begins a migration.
func (w *Wallets) migrate(c actor.Context, call *ask.Call[messages.MigrateWallet, messages.WalletMigrated]) {
	name := call.Req.Name
	m := &migrating{name: name, call: call, migratedFiles: newMigratedFiles(&w.cfg, name)}
	e := w.entries[name]
	switch {
	case e != nil && e.unload == nil:
		call.Req.Passphrase.Wipe()
		call.Answer(messages.WalletMigrated{}, errNotLegacy)
		return
	case e != nil || w.busy(m.names()):
		call.Req.Passphrase.Wipe()
		call.Answer(messages.WalletMigrated{}, errLoading)
		return
	}
	for _, used := range m.names() {
		w.moving[used] = m
	}
	w.tasks.Go(c, func() func() {
		defer call.Req.Passphrase.Wipe()
		err := m.make(w.ctx, call.Req.Passphrase)
		return func() {
			if err != nil {
				w.migrated(m, err)
				return
			}
			if m.call.Req.DontLoad {
				w.leaveMigrated(c, m, 0)
				return
			}
			w.loadMigrated(c, m)
		}
	})
}

// busy reports whether one of the names is being loaded or migrated.
func (w *Wallets) busy(names []string) bool {
	for _, name := range names {
		if w.loads[name] != nil || w.moving[name] != nil {
			return true
		}
	}
	return false
}

// migrated answers, and gives the names free.
func (w *Wallets) migrated(m *migrating, err error) {
	for _, name := range m.names() {
		if w.moving[name] == m {
			delete(w.moving, name)
		}
	}
	m.free()
	if err != nil {
		if !isAnswer(err) {
			err = unexpected(err)
		}
		m.call.Answer(messages.WalletMigrated{}, err)
		return
	}
	got := messages.WalletMigrated{BackupPath: m.backup, Warnings: m.warnings}
	for _, text := range m.warnings {
		w.cfg.Log.Warn("part of a legacy wallet left out", "wallet", m.name, "what", text)
	}
	if m.first != nil {
		got.Name = *m.first
	}
	if name := m.watched.home.name; m.watched.records != nil && name != got.Name {
		got.WatchOnly = name
	}
	if name := m.solvable.home.name; m.solvable.records != nil && name != got.Name {
		got.Solvables = name
	}
	w.cfg.Log.Info("wallet migrated", "wallet", m.name, "backup", m.backup)
	m.call.Answer(got, nil)
}

// leaveMigrated ends a migration whose wallets, from the n-th on, are not to be loaded, now or at start.
func (w *Wallets) leaveMigrated(c actor.Context, m *migrating, n int) {
	next := m.next(n)
	if next == nil {
		w.migrated(m, nil)
		return
	}
	if m.first == nil {
		m.first = &next.home.name
	}
	w.remember(c, next.home.name, messages.DontLoadOnStartup, func([]string) { w.leaveMigrated(c, m, n+1) })
}

// loadMigrated loads the next of the new wallets.
func (w *Wallets) loadMigrated(c actor.Context, m *migrating) {
	next := m.next(len(m.loaded))
	if next == nil {
		w.migrated(m, nil)
		return
	}
	name, on := next.home.name, messages.LoadOnStartup
	if name == m.name {
		on = messages.LeaveOnStartup
	}
	w.enqueue(c, &load{home: next.home, onStartup: on, of: m, tell: func(_ messages.WalletLoaded, err error) {
		if err != nil {
			w.cfg.Log.Error("migrated wallet not loaded; the old one is restored", "wallet", name, "err", err)
			w.undoMigration(c, m, err)
			return
		}
		if m.first == nil {
			m.first = &name
		}
		m.loaded = append(m.loaded, name)
		w.loadMigrated(c, m)
	}})
}

// undoMigration unloads what was loaded and brings the old wallet back.
func (w *Wallets) undoMigration(c actor.Context, m *migrating, reason error) {
	if len(m.loaded) > 0 {
		name := m.loaded[len(m.loaded)-1]
		m.loaded = m.loaded[:len(m.loaded)-1]
		w.unload(c, name, &unloading{messages.DontLoadOnStartup, func(_ messages.WalletUnloaded, err error) {
			if err != nil && !errors.Is(err, messages.ErrWalletNotFound) {
				w.migrated(m, codes.Errorf(codes.Wallet, "%s\nUnable to cleanup failed migration", textOf(reason)))
				return
			}
			w.undoMigration(c, m, reason)
		}})
		return
	}
	w.tasks.Go(c, func() func() {
		switch err := m.undo(); {
		case errors.Is(err, errOtherName):
			reason = codes.Errorf(codes.Wallet, "%s\nThe new wallets stay, since one of them is loaded by another "+
				"name.", strings.TrimSuffix(textOf(reason), "\n"))
		case err != nil:
			reason = codes.Errorf(codes.Wallet, "%s%v\nUnable to restore backup of wallet.", textOf(reason), err)
		}
		return func() { w.migrated(m, reason) }
	})
}

// textOf is the text of an error for the caller.
func textOf(err error) string {
	var answer *messages.WalletError
	if errors.As(err, &answer) {
		return answer.Text
	}
	return err.Error()
}
