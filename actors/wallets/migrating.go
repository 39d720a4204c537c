package wallets

import (
	"errors"
	"slices"
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
	w.work(c, func(j *ask.Job) func() {
		defer call.Req.Passphrase.Wipe()
		err := m.make(j.Context(), call.Req.Passphrase)
		if err == nil {
			err = w.loadMigrated(j, c, m)
		}
		return func() { w.migrated(m, err) }
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
	if len(m.loaded) > 0 {
		got.Name = m.loaded[0]
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

// loadMigrated loads the new wallets. If one cannot be loaded, the old wallet is there again.
func (w *Wallets) loadMigrated(j *ask.Job, c actor.Context, m *migrating) error {
	for next := m.next(0); next != nil; next = m.next(len(m.loaded)) {
		name, on := next.home.name, messages.LoadOnStartup
		if name == m.name {
			on = messages.LeaveOnStartup
		}
		err := await(j, (*ask.Job).Do, func(then func(error)) {
			w.enqueue(c, &load{home: next.home, onStartup: on, of: m, tell: func(_ messages.WalletLoaded, err error) {
				then(err)
			}})
		})
		switch {
		case j.Context().Err() != nil:
			return err
		case err != nil:
			w.cfg.Log.Error("migrated wallet not loaded; the old one is restored", "wallet", name, "err", err)
			return w.undoMigration(j, c, m, err)
		}
		m.loaded = append(m.loaded, name)
	}
	return nil
}

// undoMigration unloads what was loaded and brings the old wallet back. It returns the reason in the caller's words.
func (w *Wallets) undoMigration(j *ask.Job, c actor.Context, m *migrating, reason error) error {
	for _, name := range slices.Backward(m.loaded) {
		err := await(j, (*ask.Job).Do, func(then func(error)) {
			w.unload(c, name, &unloading{messages.DontLoadOnStartup, func(_ messages.WalletUnloaded, err error) {
				then(err)
			}})
		})
		switch {
		case j.Context().Err() != nil:
			return err
		case err != nil && !errors.Is(err, messages.ErrWalletNotFound):
			return codes.Errorf(codes.Wallet, "%s\nUnable to cleanup failed migration", textOf(reason))
		}
	}
	switch err := m.undo(); {
	case errors.Is(err, errOtherName):
		return codes.Errorf(codes.Wallet, "%s\nThe new wallets stay, since one of them is loaded by another "+
			"name.", strings.TrimSuffix(textOf(reason), "\n"))
	case err != nil:
		return codes.Errorf(codes.Wallet, "%s%v\nUnable to restore backup of wallet.", textOf(reason), err)
	}
	return reason
}

// textOf is the text of an error for the caller.
func textOf(err error) string {
	var answer *messages.WalletError
	if errors.As(err, &answer) {
		return answer.Text
	}
	return err.Error()
}
