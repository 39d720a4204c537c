// Package dbstorage is where goleveldb keeps a database: a folder of a [vfs.FS], with
// names and formats of files as goleveldb's own storage has them. The name of a table
// or manifest is durable when its content is; what holds the journals' is for the store
// to say, with [Storage.SyncJournals]. goleveldb's log is not kept.
package dbstorage

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/syndtr/goleveldb/leveldb/storage"

	"github.com/seed61375155/trawl/internal/vfs"
)

const (
	lockFile    = "LOCK"
	currentFile = "CURRENT"
)

// ErrLocked reports, from [Open], a folder that is open already.
var ErrLocked = errors.New("the folder is in use")

// Storage is the folder of a database.
type Storage struct {
	fs     vfs.FS
	dir    string
	lock   vfs.File // nil: another's
	frozen bool     // nothing may be changed
}

var _ storage.Storage = (*Storage)(nil)

// Open makes a folder, which must be there, this process's own until Close. Errors:
// [ErrLocked], those of the file system.
func Open(fs vfs.FS, dir string) (*Storage, error) {
	lock, err := fs.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := flock(lock); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", ErrLocked, err), lock.Close())
	}
	return &Storage{fs: fs, dir: dir, lock: lock}, nil
}

// Close gives the folder back, another time with an error. Close the database first.
func (d *Storage) Close() error {
	if d.lock == nil {
		return nil
	}
	return d.lock.Close()
}

// ReadOnly returns the same folder, not to be changed.
func (d *Storage) ReadOnly() *Storage { return &Storage{fs: d.fs, dir: d.dir, frozen: true} }

var errFrozen = errors.New("opened for reading")

// Clear removes all files of the database, that first without which what is left of
// it is no database.
func (d *Storage) Clear() error {
	entries, err := d.fs.ReadDir(d.dir)
	if err != nil {
		return err
	}
	if err := d.fs.Remove(d.path(currentFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, entry := range entries {
		name := entry.Name()
		if _, ok := parseName(name); !ok && !strings.HasPrefix(name, currentFile) && !strings.HasPrefix(name, "LOG") {
			continue
		}
		if err := d.fs.Remove(d.path(name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return d.SyncDir()
}

// SyncJournals makes all journals and their names durable.
func (d *Storage) SyncJournals() error {
	journals, err := d.List(storage.TypeJournal)
	if err != nil {
		return err
	}
	for _, fd := range journals {
		f, err := d.fs.OpenFile(d.path(fileName(fd)), os.O_RDWR, 0)
		if errors.Is(err, os.ErrNotExist) {
			continue // it is in a table by now
		}
		if err != nil {
			return err
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			return err
		}
	}
	return d.SyncDir()
}

// SyncDir makes the names of all files durable.
func (d *Storage) SyncDir() error { return d.fs.SyncDir(d.dir) }

func (d *Storage) path(name string) string { return filepath.Join(d.dir, name) }

// Lock implements storage.Storage: the folder is locked already.
func (*Storage) Lock() (storage.Locker, error) { return unlocked{}, nil }

type unlocked struct{}

// Unlock implements storage.Locker.
func (unlocked) Unlock() {}

// Log implements storage.Storage.
func (*Storage) Log(string) {}

// SetMeta implements storage.Storage.
func (d *Storage) SetMeta(fd storage.FileDesc) error {
	if d.frozen {
		return errFrozen
	}
	if now, err := d.GetMeta(); err == nil && now == fd {
		return nil
	}
	name := fmt.Sprintf("%s.%d", currentFile, fd.Num)
	f, err := d.fs.OpenFile(d.path(name), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write([]byte(fileName(fd) + "\n"))
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := d.fs.Rename(d.path(name), d.path(currentFile)); err != nil {
		return err
	}
	return d.SyncDir()
}

// GetMeta implements storage.Storage.
func (d *Storage) GetMeta() (storage.FileDesc, error) {
	const limit = 64
	content, err := vfs.ReadFile(d.fs, d.path(currentFile), limit)
	if errors.Is(err, os.ErrNotExist) {
		return storage.FileDesc{}, os.ErrNotExist
	}
	if err != nil && !errors.Is(err, vfs.ErrTooLarge) {
		return storage.FileDesc{}, err
	}
	name, ok := strings.CutSuffix(string(content), "\n")
	fd, known := parseName(name)
	if !ok || !known {
		return storage.FileDesc{}, &storage.ErrCorrupted{Err: fmt.Errorf("file %s holds %q", currentFile, content)}
	}
	if _, err := d.fs.Stat(d.path(name)); err != nil {
		return storage.FileDesc{}, &storage.ErrCorrupted{Fd: fd, Err: err}
	}
	return fd, nil
}

// List implements storage.Storage.
func (d *Storage) List(types storage.FileType) (found []storage.FileDesc, err error) {
	entries, err := d.fs.ReadDir(d.dir)
	for _, entry := range entries {
		if fd, ok := parseName(entry.Name()); ok && fd.Type&types != 0 {
			found = append(found, fd)
		}
	}
	return found, err
}

// Open implements storage.Storage.
func (d *Storage) Open(fd storage.FileDesc) (storage.Reader, error) {
	return d.fs.OpenFile(d.path(fileName(fd)), os.O_RDONLY, 0)
}

// Create implements storage.Storage.
func (d *Storage) Create(fd storage.FileDesc) (storage.Writer, error) {
	if d.frozen {
		return nil, errFrozen
	}
	f, err := d.fs.OpenFile(d.path(fileName(fd)), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil || fd.Type == storage.TypeJournal {
		return f, err
	}
	return &named{File: f, in: d}, nil
}

// named is a table or a manifest: a sync makes its name durable, too, since those of
// others follow from it.
type named struct {
	vfs.File

	in    *Storage
	known bool // its name is durable
}

// Sync implements storage.Writer.
func (n *named) Sync() error {
	err := n.File.Sync()
	if err == nil && !n.known {
		err = n.in.SyncDir()
		n.known = err == nil
	}
	return err
}

// Remove implements storage.Storage.
func (d *Storage) Remove(fd storage.FileDesc) error {
	if d.frozen {
		return errFrozen
	}
	return d.fs.Remove(d.path(fileName(fd)))
}

// Rename implements storage.Storage.
func (d *Storage) Rename(from, to storage.FileDesc) error {
	if d.frozen {
		return errFrozen
	}
	return d.fs.Rename(d.path(fileName(from)), d.path(fileName(to)))
}

// extensions are those of numbered files.
var extensions = map[storage.FileType]string{
	storage.TypeJournal: "log", storage.TypeTable: "ldb", storage.TypeTemp: "tmp",
}

func fileName(fd storage.FileDesc) string {
	if fd.Type == storage.TypeManifest {
		return fmt.Sprintf("MANIFEST-%06d", fd.Num)
	}
	return fmt.Sprintf("%06d.%s", fd.Num, extensions[fd.Type])
}

// parseName is the inverse of fileName.
func parseName(name string) (fd storage.FileDesc, ok bool) {
	for _, kind := range []storage.FileType{storage.TypeManifest, storage.TypeJournal, storage.TypeTable, storage.TypeTemp} {
		fd.Type = kind
		format := "MANIFEST-%d"
		if kind != storage.TypeManifest {
			format = "%d." + extensions[kind]
		}
		if n, _ := fmt.Sscanf(name, format, &fd.Num); n == 1 && fileName(fd) == name {
			return fd, true
		}
	}
	return storage.FileDesc{}, false
}
