package wallets

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/seed61375155/trawl/actors/wallets/internal/files"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/messages"
)

// migrate makes the files of a migration, and loads the wallets.
func (w *Wallets) migrate(j *ask.Job, q messages.MigrateWallet) (messages.WalletMigrated, error) {
	defer q.Passphrase.Wipe()
	m := w.files.Spec(q.Name).Migrate()
	var err error
	if ended := j.Do(func() { err = w.mayMigrate(m) }); ended != nil || err != nil {
		return messages.WalletMigrated{}, cmp.Or(ended, err)
	}
	err = m.Run(j.Context(), q.Passphrase)
	switch {
	case err != nil:
	case q.DontLoad:
		for _, name := range m.Made() {
			_ = w.remember(name, messages.DontLoadOnStartup)
		}
	default:
		err = w.loadMigrated(j, m)
	}
	if ended := j.Do(func() { w.endMigration(m) }); ended != nil {
		return messages.WalletMigrated{}, ended
	}
	switch {
	case err == nil:
		return m.Result(), nil
	case !codes.IsAnswer(err):
		err = codes.Unexpected(err)
	}
	return messages.WalletMigrated{}, err
}

// mayMigrate keeps the names of a migration from others, unless others use them.
func (w *Wallets) mayMigrate(m *files.Migration) error {
	e := w.entries[m.Name]
	switch {
	case e != nil && !e.unloading:
		return files.ErrNotLegacy
	case e != nil || w.busy(m.Names()):
		return files.ErrLoading
	}
	for _, used := range m.Names() {
		w.migrations[used] = m
	}
	return nil
}

// busy reports whether one of the names is being loaded or migrated.
func (w *Wallets) busy(names []string) bool {
	for _, name := range names {
		if w.loads[name] != nil || w.migrations[name] != nil {
			return true
		}
	}
	return false
}

// endMigration gives the names free.
func (w *Wallets) endMigration(m *files.Migration) {
	for _, name := range m.Names() {
		if w.migrations[name] == m {
			delete(w.migrations, name)
		}
	}
	m.Free()
}

// loadMigrated loads the new wallets. If one cannot be loaded, the old wallet is there again.
func (w *Wallets) loadMigrated(j *ask.Job, m *files.Migration) error {
	made := m.Made()
	for i, name := range made {
		on := messages.LoadOnStartup
		if name == m.Name {
			on = messages.LeaveOnStartup
		}
		_, err := w.load(j, &load{spec: w.spec(name), onStartup: on, of: m})
		switch {
		case j.Context().Err() != nil:
			return err
		case err != nil:
			w.cfg.Log.Error("migrated wallet not loaded; the old one is restored", "wallet", name, "err", err)
			return w.undoMigration(j, m, made[:i], err)
		}
	}
	return nil
}

// undoMigration unloads the new wallets that are loaded, and brings the old wallet back. It returns the reason in the
// caller's words.
func (w *Wallets) undoMigration(j *ask.Job, m *files.Migration, loaded []string, reason error) error {
	for _, name := range slices.Backward(loaded) {
		_, err := w.unload(j, messages.UnloadWallet{Name: name, OnStartup: messages.DontLoadOnStartup})
		switch {
		case j.Context().Err() != nil:
			return err
		case err != nil && !errors.Is(err, messages.ErrWalletNotFound):
			return codes.Errorf(codes.Wallet, "%s\nUnable to cleanup failed migration", codes.TextOf(reason))
		}
	}
	switch err := m.Undo(); {
	case errors.Is(err, files.ErrOtherName):
		return codes.Errorf(codes.Wallet, "%s\nThe new wallets stay, since one of them is loaded by another "+
			"name.", strings.TrimSuffix(codes.TextOf(reason), "\n"))
	case err != nil:
		return codes.Errorf(codes.Wallet, "%s%v\nUnable to restore backup of wallet.", codes.TextOf(reason), err)
	}
	return reason
}
