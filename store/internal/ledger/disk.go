package ledger

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

// disk is the folder of a database, as goleveldb wants it, with names and formats of
// files as goleveldb's own storage has them. It keeps no log of goleveldb's.
type disk struct {
	fs     vfs.FS
	dir    string
	lock   vfs.File
	frozen bool // nothing may be changed
}

// lockDisk makes a folder this process's own.
func lockDisk(fs vfs.FS, dir string) (*disk, error) {
	lock, err := fs.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := flock(lock); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", ErrLocked, err), lock.Close())
	}
	return &disk{fs: fs, dir: dir, lock: lock}, nil
}

// unlock gives the folder back.
func (d *disk) unlock() error { return d.lock.Close() }

// readOnly returns the same folder, not to be changed.
func (d *disk) readOnly() *disk { return &disk{fs: d.fs, dir: d.dir, frozen: true} }

var errFrozen = errors.New("opened for reading")

// clear removes all files of the database.
func (d *disk) clear() error {
	entries, err := d.fs.ReadDir(d.dir)
	if err != nil {
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
	return d.syncDir()
}

// syncJournals makes all journals and their names durable.
func (d *disk) syncJournals() error {
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
	return d.syncDir()
}

func (d *disk) syncDir() error { return d.fs.SyncDir(d.dir) }

func (d *disk) path(name string) string { return filepath.Join(d.dir, name) }

// Lock implements storage.Storage: the folder is locked already.
func (*disk) Lock() (storage.Locker, error) { return unlocked{}, nil }

type unlocked struct{}

// Unlock implements storage.Locker.
func (unlocked) Unlock() {}

// Log implements storage.Storage.
func (*disk) Log(string) {}

// Close implements storage.Storage.
func (*disk) Close() error { return nil }

// SetMeta implements storage.Storage.
func (d *disk) SetMeta(fd storage.FileDesc) error {
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
	return d.syncDir()
}

// GetMeta implements storage.Storage.
func (d *disk) GetMeta() (storage.FileDesc, error) {
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
func (d *disk) List(types storage.FileType) (found []storage.FileDesc, err error) {
	entries, err := d.fs.ReadDir(d.dir)
	for _, entry := range entries {
		if fd, ok := parseName(entry.Name()); ok && fd.Type&types != 0 {
			found = append(found, fd)
		}
	}
	return found, err
}

// Open implements storage.Storage.
func (d *disk) Open(fd storage.FileDesc) (storage.Reader, error) {
	return d.fs.OpenFile(d.path(fileName(fd)), os.O_RDONLY, 0)
}

// Create implements storage.Storage.
func (d *disk) Create(fd storage.FileDesc) (storage.Writer, error) {
	if d.frozen {
		return nil, errFrozen
	}
	f, err := d.fs.OpenFile(d.path(fileName(fd)), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil || fd.Type == storage.TypeJournal {
		return f, err
	}
	return &named{File: f, disk: d}, nil
}

// named is a table or a manifest: a sync makes its name durable, too, since those of
// others follow from it.
type named struct {
	vfs.File

	disk  *disk
	known bool // its name is durable
}

// Sync implements storage.Writer.
func (n *named) Sync() error {
	err := n.File.Sync()
	if err == nil && !n.known {
		err = n.disk.syncDir()
		n.known = err == nil
	}
	return err
}

// Remove implements storage.Storage.
func (d *disk) Remove(fd storage.FileDesc) error {
	if d.frozen {
		return errFrozen
	}
	return d.fs.Remove(d.path(fileName(fd)))
}

// Rename implements storage.Storage.
func (d *disk) Rename(from, to storage.FileDesc) error {
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
