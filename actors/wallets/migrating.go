package wallets

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/messages"
)

var errNotLegacy = codes.Errorf(codes.Wallet, "Error: This wallet is already a descriptor wallet")

// migrating is the migration of one wallet: its files are made in a worker, then the
// wallets are loaded one after the other. If one cannot be loaded, all is taken back.
type migrating struct {
	*migratedFiles

	name string
	made []string // names of the new wallets that are loaded, or are not to be loaded
}

// names are the names of wallets that a migration uses.
func (m *migrating) names() []string {
	return []string{m.name, m.watched.home.name, m.solvable.home.name}
}

// migrate makes the files of a migration, and loads the wallets.
func (w *Wallets) migrate(j *ask.Job, q messages.MigrateWallet) (messages.WalletMigrated, error) {
	defer q.Passphrase.Wipe()
	m := &migrating{name: q.Name, migratedFiles: newMigratedFiles(&w.cfg, q.Name)}
	var err error
	if ended := j.Do(func() { err = w.mayMigrate(m) }); ended != nil || err != nil {
		return messages.WalletMigrated{}, cmp.Or(ended, err)
	}
	err = m.make(j.Context(), q.Passphrase)
	switch {
	case err != nil:
	case q.DontLoad:
		for next := m.next(0); next != nil; next = m.next(len(m.made)) {
			_ = w.remember(next.home.name, messages.DontLoadOnStartup)
			m.made = append(m.made, next.home.name)
		}
	default:
		err = w.loadMigrated(j, m)
	}
	if ended := j.Do(func() { w.endMigration(m) }); ended != nil {
		return messages.WalletMigrated{}, ended
	}
	switch {
	case err == nil:
		return m.result(), nil
	case !isAnswer(err):
		err = codes.Unexpected(err)
	}
	return messages.WalletMigrated{}, err
}

// mayMigrate keeps the names of a migration from others, unless others use them.
func (w *Wallets) mayMigrate(m *migrating) error {
	e := w.entries[m.name]
	switch {
	case e != nil && !e.leaves:
		return errNotLegacy
	case e != nil || w.busy(m.names()):
		return errLoading
	}
	for _, used := range m.names() {
		w.moving[used] = m
	}
	return nil
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

// endMigration gives the names free.
func (w *Wallets) endMigration(m *migrating) {
	for _, name := range m.names() {
		if w.moving[name] == m {
			delete(w.moving, name)
		}
	}
	m.free()
}

// result describes what was made.
func (m *migrating) result() messages.WalletMigrated {
	got := messages.WalletMigrated{BackupPath: m.backup, Warnings: m.warnings}
	for _, text := range m.warnings {
		m.cfg.Log.Warn("part of a legacy wallet left out", "wallet", m.name, "what", text)
	}
	if len(m.made) > 0 {
		got.Name = m.made[0]
	}
	if name := m.watched.home.name; m.watched.records != nil && name != got.Name {
		got.WatchOnly = name
	}
	if name := m.solvable.home.name; m.solvable.records != nil && name != got.Name {
		got.Solvables = name
	}
	m.cfg.Log.Info("wallet migrated", "wallet", m.name, "backup", m.backup)
	return got
}

// loadMigrated loads the new wallets. If one cannot be loaded, the old wallet is there again.
func (w *Wallets) loadMigrated(j *ask.Job, m *migrating) error {
	for next := m.next(0); next != nil; next = m.next(len(m.made)) {
		name, on := next.home.name, messages.LoadOnStartup
		if name == m.name {
			on = messages.LeaveOnStartup
		}
		_, err := w.load(j, &load{home: next.home, onStartup: on, of: m})
		switch {
		case j.Context().Err() != nil:
			return err
		case err != nil:
			w.cfg.Log.Error("migrated wallet not loaded; the old one is restored", "wallet", name, "err", err)
			return w.undoMigration(j, m, err)
		}
		m.made = append(m.made, name)
	}
	return nil
}

// undoMigration unloads what was loaded and brings the old wallet back. It returns the reason in the caller's words.
func (w *Wallets) undoMigration(j *ask.Job, m *migrating, reason error) error {
	for _, name := range slices.Backward(m.made) {
		_, err := w.unload(j, name, messages.DontLoadOnStartup)
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
