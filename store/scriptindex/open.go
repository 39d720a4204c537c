package scriptindex

import (
	"crypto/rand"
	"errors"
	"fmt"
	"hash/crc32"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/seed61375155/trawl/internal/vfs"
)

const (
	secretName = "script.key"
	secretSize = 16
)

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// Open opens the index in a folder, or makes an empty one. A damaged one is emptied.
//
// Errors: [ErrForeign], [ErrNewer], and those of the file system.
func Open(o Options) (*Store, error) {
	if o.FS == nil {
		o.FS = vfs.OS
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Limits.setDefaults()
	s := &Store{o: o, base: nowhere}
	err := vfs.MakeDir(o.FS, o.Dir, 0o700)
	if err == nil {
		err = s.open()
	}
	if err != nil {
		for _, t := range s.tables {
			t.release()
		}
		return nil, errors.Join(fmt.Errorf("script index: %w", err), s.log.close())
	}
	return s, nil
}

func (s *Store) open() error {
	raw, err := vfs.ReadFile(s.o.FS, filepath.Join(s.o.Dir, manifestName), maxManifest)
	missing := errors.Is(err, os.ErrNotExist)
	if err != nil && !missing && !errors.Is(err, vfs.ErrTooLarge) {
		return err
	}
	var m manifest
	if err == nil {
		m, err = decodeManifest(raw)
		if err == nil && m.network != s.o.Network {
			err = fmt.Errorf("%w: network %x", ErrForeign, m.network)
		}
		if errors.Is(err, ErrForeign) || errors.Is(err, ErrNewer) {
			return err
		}
	}
	if keyErr := s.openSecret(); keyErr != nil {
		return keyErr
	}
	if err == nil {
		s.numbers.Store(m.numbers)
		err = s.openFiles(&m)
	}
	if err == nil {
		return s.sweep(&m)
	}
	if !missing && !isDamage(err) {
		return err
	}
	if !missing {
		s.o.Log.Warn("index is damaged, building it anew from all blocks", "index", "scriptindex", "err", err)
	}
	return s.begin()
}

// isDamage reports whether a store with such an error is emptied.
func isDamage(err error) bool {
	return errors.Is(err, ErrDamaged) || errors.Is(err, os.ErrNotExist) || errors.Is(err, vfs.ErrTooLarge)
}

// begin makes an empty store of whatever is there.
func (s *Store) begin() error {
	for _, t := range s.tables {
		t.release()
	}
	s.tables, s.base = nil, nowhere
	s.setPending(nil)
	if err := s.log.close(); err != nil {
		return err
	}
	s.log = logFile{}
	entries, err := s.o.FS.ReadDir(s.o.Dir)
	if err != nil {
		return err
	}
	for _, e := range entries { // a number is taken once
		if number, ok := parseName(e.Name()); ok {
			s.numbers.Store(max(s.numbers.Load(), number))
		}
	}
	if err := s.commit(nil, nowhere, nil); err != nil {
		return err
	}
	return s.sweep(&manifest{log: s.log.number})
}

// openSecret reads the secret, or makes one. Without it what was hashed with it is worth nothing.
func (s *Store) openSecret() error {
	path := filepath.Join(s.o.Dir, secretName)
	secret, err := vfs.ReadFile(s.o.FS, path, secretSize)
	if err == nil && len(secret) == secretSize {
		copy(s.secret[:], secret)
		return nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, vfs.ErrTooLarge) {
		return err
	}
	_, _ = rand.Read(s.secret[:]) // never fails
	return vfs.ReplaceFile(s.o.FS, path, s.secret[:], 0o600)
}

func (s *Store) openFiles(m *manifest) error {
	if m.key != keyCheck(&s.secret) {
		return fmt.Errorf("%w: it was made with another key", ErrDamaged)
	}
	for _, name := range m.tables {
		t, err := s.openTable(name)
		if err != nil {
			return err
		}
		s.tables = append(s.tables, t)
	}
	s.base = m.base
	return s.openLog(m.log)
}

// sweep removes files that no manifest names.
func (s *Store) sweep(m *manifest) error {
	entries, err := s.o.FS.ReadDir(s.o.Dir)
	if err != nil {
		return err
	}
	named := map[string]bool{manifestName: true, secretName: true, filepath.Base(s.path(m.log, logName)): true}
	for _, t := range m.tables {
		named[filepath.Base(s.path(t.number, tabName))] = true
	}
	for _, e := range entries {
		if named[e.Name()] || !ours(e.Name()) {
			continue
		}
		if err := s.o.FS.Remove(filepath.Join(s.o.Dir, e.Name())); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}
