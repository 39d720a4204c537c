package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/migrate"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/walletdb"
	"github.com/seed61375155/trawl/store/walletdb/bdb"
	"github.com/seed61375155/trawl/store/walletdir"
)

// defaultPrefix stands in names for that of the default wallet, which is empty.
const defaultPrefix = "default_wallet"

// newFile is a wallet that a migration makes.
type newFile struct {
	*Spec
	records []walletfile.Record // nil: there is no such wallet
	created bool
	folder  walletdir.Made
}

// A Migration makes the files of the wallets that a legacy wallet becomes. The old file is copied first, and the
// wallets beside it are made; it loses its place last, in one step, to a file that is
// complete. So whatever ends the process, there is the old wallet or the new ones: a
// migration that was cut short is begun again, and finds what it has made.
type Migration struct {
	*Spec

	source  string // the old file
	isFile  bool   // the wallet is not a directory, but the old file itself
	backup  string
	release func() // gives the old file free for other migrations; nil: it is not this one's

	main, watched, solvable newFile
	replaced                bool // the old file is not in its place any more
	warnings                []string
}

// Migrate returns the migration of a wallet.
func (s *Spec) Migrate() *Migration {
	prefix := s.Name
	if s.Name == "" {
		prefix = defaultPrefix
	}
	m := &Migration{Spec: s}
	m.main.Spec = s
	m.watched.Spec = s.cfg.Spec(prefix + "_watchonly")
	m.solvable.Spec = s.cfg.Spec(prefix + "_solvables")
	return m
}

// Names are the names of wallets that the migration uses.
func (m *Migration) Names() []string { return []string{m.Name, m.watched.Name, m.solvable.Name} }

// Made returns the names of the wallets that were made, in the order in which they are to be loaded.
func (m *Migration) Made() (names []string) {
	for _, f := range []*newFile{&m.main, &m.watched, &m.solvable} {
		if f.records != nil {
			names = append(names, f.Name)
		}
	}
	return names
}

// Run makes the files of the new wallets, and wipes the passphrase.
//
// Errors: *messages.WalletError.
func (m *Migration) Run(ctx context.Context, passphrase messages.Secret) error {
	defer passphrase.Wipe()
	if err := m.find(); err != nil {
		return err
	}
	if err := m.claim(); err != nil {
		return err
	}
	old, err := m.read() //nolint:contextcheck // files know no contexts
	if err != nil {
		return err
	}
	defer old.Zero()
	if old.Flags.Has(walletfile.Descriptors) {
		return ErrNotLegacy
	}
	if err := m.copyOld(); err != nil { //nolint:contextcheck // files know no contexts
		m.cfg.Log.Error("legacy wallet not copied", "wallet", m.Label(), "err", err)
		return codes.Errorf(codes.Wallet, "Error: Unable to make a backup of your wallet")
	}
	master, err := migrate.Unlock(ctx, old, passphrase)
	if err != nil {
		return err
	}
	defer master.Zero()
	seed := NewSeed()
	defer seed.Zero()
	files, err := migrate.Wallet(ctx, old, migrate.Params{
		Params: m.params(), Master: master, Seed: seed, Now: m.cfg.now(),
	})
	if err != nil {
		return err
	}
	m.main.records, m.watched.records, m.solvable.records = files.Main, files.Watched, files.Solvable
	m.warnings = files.Warnings
	if err := m.write(); err != nil { //nolint:contextcheck // as above
		if failed := m.Undo(); failed != nil {
			m.cfg.Log.Error("beginnings of a migration stay", "wallet", m.Label(), "err", failed)
		}
		return err
	}
	return nil
}

// find finds the old file.
func (m *Migration) find() error {
	if wrong := m.wrongPath(false); wrong != "" {
		return codes.Errorf(codes.Wallet, "%s", wrong)
	}
	info, err := os.Stat(m.dir)
	switch {
	case walletdb.Missing(err):
		return codes.Errorf(codes.Wallet, "Error: Wallet does not exist")
	case err != nil:
		return codes.FileSystem("status", err, m.dir)
	}
	m.source, m.isFile = m.file, info.Mode().IsRegular()
	if m.isFile {
		m.source = m.dir
	}
	format, err := walletdb.FormatOf(m.source, m.cfg.Network.Magic)
	if err != nil || format != walletdb.Berkeley {
		return ErrNotLegacy // as in Core what is not seen to be a legacy wallet is none
	}
	return nil
}

// claim keeps other migrations from the old file, which may go by other names too.
func (m *Migration) claim() error {
	release, err := walletdb.Claim(m.source)
	switch {
	case errors.Is(err, walletdb.ErrLocked):
		return ErrLoading
	case err != nil:
		return refusedFile(err)
	}
	m.release = release
	return nil
}

// Free gives the old file free. It is called when the migration is over.
func (m *Migration) Free() {
	if m.release != nil {
		m.release()
	}
}

// read reads the old file.
func (m *Migration) read() (*walletfile.LegacyContent, error) {
	records, err := walletdb.ReadLegacy(m.source)
	var refused *bdb.Error
	switch {
	case errors.As(err, &refused):
		return nil, codes.Errorf(codes.Wallet, "Wallet file verification failed. %s", refused.Text)
	case err != nil:
		return nil, refusedFile(err)
	}
	params := m.params()
	old, severity, err := walletfile.LoadLegacy(slices.Values(records), params.LoadOptions())
	if err != nil {
		m.cfg.Log.Warn("legacy wallet refused", "wallet", m.Label(), "err", err)
		return nil, codes.Errorf(codes.Wallet, "Wallet loading failed. %s", severity.Message(m.source, m.cfg.Client))
	}
	return old, nil
}

// copyOld copies the old file into the wallets directory. A copy that is there stays.
func (m *Migration) copyOld() error {
	prefix := defaultPrefix
	if m.Name != "" {
		whole, err := filepath.EvalSymlinks(m.dir)
		if err != nil {
			return err
		}
		prefix = filepath.Base(whole)
	}
	m.backup = walletdir.Join(m.cfg.Dir, fmt.Sprintf("%s_%d.legacy.bak", prefix, m.cfg.now()))
	err := walletdb.Copy(m.source, m.backup, false, m.cfg.renamed)
	if errors.Is(err, fs.ErrExist) {
		there, err := walletdb.Sum(m.backup)
		if err != nil {
			return err
		}
		if own, err := walletdb.Sum(m.source); err != nil || own != there {
			return errors.Join(err, fs.ErrExist)
		}
		return nil
	}
	return err
}

// write makes the files of the wallets, that of the wallet itself last.
func (m *Migration) write() error {
	for _, f := range []*newFile{&m.watched, &m.solvable} {
		if f.records == nil {
			continue
		}
		if err := m.create(f); err != nil {
			return err
		}
	}
	if err := m.cfg.Fail(); err != nil {
		return err
	}
	m.replaced = true
	return m.replace()
}

// create makes the file of a wallet that is new. A file that an earlier attempt has
// made with exactly these records is used instead.
func (m *Migration) create(f *newFile) error {
	if err := m.cfg.Fail(); err != nil {
		return err
	}
	same, err := walletdb.SameRecords(f.file, m.cfg.options(), f.records)
	if err == nil && same {
		f.created, f.folder = true, walletdir.Made(filepath.Clean(f.dir))
		return nil
	}
	if f.folder, err = walletdir.Make(f.dir); err != nil {
		return codes.Errorf(codes.Wallet, "Wallet file creation failed: %s",
			codes.FileSystemText("cannot create directories", err, f.dir))
	}
	file, err := walletdb.Create(f.file, m.cfg.options(), walletdb.Fill(f.records))
	if err != nil {
		var refused *walletdb.Error
		err = errors.Join(err, f.folder.Remove())
		if errors.As(err, &refused) {
			return codes.Errorf(codes.Wallet, "Wallet file creation failed: %s", refused.Text)
		}
		return codes.Errorf(codes.Wallet, "Wallet file creation failed: %v", err)
	}
	f.created = true
	return file.Close()
}

// replace puts the new wallet in the place of the old one, which is gone if there is
// none.
func (m *Migration) replace() error {
	var err error
	switch {
	case m.main.records == nil:
		err = walletdb.Remove(m.source)
	case m.isFile:
		err = walletdb.ReplaceFile(m.source, m.cfg.options(), walletdb.Fill(m.main.records))
	default:
		err = walletdb.Replace(m.file, m.cfg.options(), walletdb.Fill(m.main.records))
	}
	if err != nil {
		return codes.Errorf(codes.Wallet, "Wallet file creation failed: %v", err)
	}
	return nil
}

// Undo takes back what was made, and brings the old file back. Wallets stay if one of them is loaded by another
// name: it may have given out addresses.
func (m *Migration) Undo() error {
	for _, f := range []*newFile{&m.main, &m.watched, &m.solvable} {
		if (f.created || f == &m.main && m.replaced) && walletdb.InUse(f.file, m.cfg.options()) {
			return ErrOtherName
		}
	}
	var failed error
	for _, f := range []*newFile{&m.watched, &m.solvable} {
		if f.created {
			failed = errors.Join(failed, walletdb.Discard(f.file), f.folder.Remove())
		}
	}
	if !m.replaced {
		return failed
	}
	if format, err := walletdb.FormatOf(m.source, m.cfg.Network.Magic); err == nil && format == walletdb.Berkeley {
		return failed // it never lost its place
	}
	if m.isFile && m.main.records != nil {
		return errors.Join(failed, walletdb.RestoreFile(m.backup, m.source, m.cfg.renamed))
	}
	return errors.Join(failed, walletdb.Copy(m.backup, m.source, true, m.cfg.renamed))
}

// Result describes the wallets that were made.
func (m *Migration) Result() messages.WalletMigrated {
	got := messages.WalletMigrated{BackupPath: m.backup, Warnings: m.warnings}
	for _, text := range m.warnings {
		m.cfg.Log.Warn("part of a legacy wallet left out", "wallet", m.Name, "what", text)
	}
	if made := m.Made(); len(made) > 0 {
		got.Name = made[0]
	}
	if m.watched.records != nil && m.watched.Name != got.Name {
		got.WatchOnly = m.watched.Name
	}
	if m.solvable.records != nil && m.solvable.Name != got.Name {
		got.Solvables = m.solvable.Name
	}
	m.cfg.Log.Info("wallet migrated", "wallet", m.Name, "backup", m.backup)
	return got
}
