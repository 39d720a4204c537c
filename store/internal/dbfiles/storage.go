package dbfiles

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/syndtr/goleveldb/leveldb/storage"

	"github.com/seed61375155/trawl/internal/vfs"
)

const (
	lockFile    = "LOCK"
	currentFile = "CURRENT"
)

// ErrLocked reports, from [Open], a folder that is open already.
var ErrLocked = errors.New("the folder is in use")

// Storage is where goleveldb keeps a database: a folder of a [vfs.FS], with names and formats of files as goleveldb's
// own storage has them. The name of a table or manifest is durable when its content is; what holds the journals' is for
// the store to say, with [Storage.SyncJournals]. goleveldb's log is not kept.
type Storage struct {
	fs     vfs.FS
	dir    string
	lock   vfs.File // nil: another's
	frozen atomic.Bool
	broken chan struct{} // closed when a manifest was not written

	created, named atomic.Uint64 // files, and how many of them have durable names

	breaks sync.Once
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
	return &Storage{fs: fs, dir: dir, lock: lock, broken: make(chan struct{})}, nil
}

// Close gives the folder back, another time with an error. Close the database first.
func (d *Storage) Close() error {
	if d.lock == nil {
		return nil
	}
	unlock(d.lock)
	return d.lock.Close()
}

// ReadOnly returns the same folder, not to be changed.
func (d *Storage) ReadOnly() *Storage {
	r := &Storage{fs: d.fs, dir: d.dir}
	r.Freeze()
	return r
}

// Broken is closed when a manifest could not be written. goleveldb then tries again for
// ever, and who needs the manifest waits for ever.
func (d *Storage) Broken() <-chan struct{} { return d.broken }

// Freeze has every change fail from now on, those to files that are open as well: for
// a database that cannot be closed.
func (d *Storage) Freeze() { d.frozen.Store(true) }

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
func (d *Storage) SyncDir() error {
	created := d.created.Load()
	if err := d.fs.SyncDir(d.dir); err != nil {
		return err
	}
	for named := d.named.Load(); named < created && !d.named.CompareAndSwap(named, created); {
		named = d.named.Load()
	}
	return nil
}

// SyncNames is SyncDir where a file was made since the last one.
func (d *Storage) SyncNames() error {
	if d.created.Load() == d.named.Load() {
		return nil
	}
	return d.SyncDir()
}

func (d *Storage) path(name string) string { return filepath.Join(d.dir, name) }

// Lock implements storage.Storage: the folder is locked already.
func (*Storage) Lock() (storage.Locker, error) { return unlocked{}, nil }

type unlocked struct{}

// Unlock implements storage.Locker.
func (unlocked) Unlock() {}

// Log implements storage.Storage.
func (*Storage) Log(string) {}

// SetMeta implements storage.Storage. goleveldb removes a manifest that it could not
// make the current one. Where the name may lead to it already nothing is changed any
// more.
func (d *Storage) SetMeta(fd storage.FileDesc) error {
	if d.frozen.Load() {
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
	err = d.fs.Rename(d.path(name), d.path(currentFile))
	if err == nil {
		err = d.SyncDir()
	}
	if err != nil {
		d.Freeze()
	}
	return err
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
	if !ok || !known || fd.Type != storage.TypeManifest {
		return storage.FileDesc{}, &storage.ErrCorrupted{Err: fmt.Errorf("file %s holds %q", currentFile, content)}
	}
	switch _, err := d.fs.Stat(d.path(name)); {
	case errors.Is(err, os.ErrNotExist):
		return storage.FileDesc{}, &storage.ErrCorrupted{Fd: fd, Err: err}
	case err != nil:
		return storage.FileDesc{}, err
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
	f, err := d.fs.OpenFile(d.path(fileName(fd)), os.O_RDONLY, 0)
	if err != nil || fd.Type != storage.TypeTable {
		return f, err
	}
	return &table{File: f, pages: filePages{file: f}}, nil
}

// Create implements storage.Storage.
func (d *Storage) Create(fd storage.FileDesc) (storage.Writer, error) {
	if d.frozen.Load() {
		return nil, errFrozen
	}
	f, err := d.fs.OpenFile(d.path(fileName(fd)), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	d.created.Add(1)
	return &writer{File: f, in: d, known: fd.Type == storage.TypeJournal, manifest: fd.Type == storage.TypeManifest},
		nil
}

// writer is a file that is being written. A sync of a table or a manifest makes its
// name durable, too, since the use of other files depends on the name.
type writer struct {
	vfs.File

	in    *Storage
	known bool // its name is durable, or somebody else's concern

	manifest bool
}

func (w *writer) seen(err error) error {
	if err != nil && w.manifest {
		w.in.breaks.Do(func() { close(w.in.broken) })
	}
	return err
}

// Write implements storage.Writer.
func (w *writer) Write(p []byte) (int, error) {
	if w.in.frozen.Load() {
		return 0, errFrozen
	}
	n, err := w.File.Write(p)
	return n, w.seen(err)
}

// Sync implements storage.Writer.
func (w *writer) Sync() error {
	err := w.File.Sync()
	if err == nil && !w.known {
		err = w.in.SyncDir()
		w.known = err == nil
	}
	return w.seen(err)
}

// Remove implements storage.Storage.
func (d *Storage) Remove(fd storage.FileDesc) error {
	if d.frozen.Load() {
		return errFrozen
	}
	return d.fs.Remove(d.path(fileName(fd)))
}

// Rename implements storage.Storage.
func (d *Storage) Rename(from, to storage.FileDesc) error {
	if d.frozen.Load() {
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
	for _, kind := range []storage.FileType{
		storage.TypeManifest, storage.TypeJournal, storage.TypeTable, storage.TypeTemp,
	} {
		fd.Type = kind
		format := "MANIFEST-%d"
		if kind != storage.TypeManifest {
			format = "%d." + extensions[kind]
		}
		if n, _ := fmt.Sscanf(name, format, &fd.Num); n == 1 && fd.Num >= 0 && fileName(fd) == name {
			return fd, true
		}
	}
	return storage.FileDesc{}, false
}
