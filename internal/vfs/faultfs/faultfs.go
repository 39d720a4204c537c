// Package faultfs is a file system for tests on which calls fail and power is
// lost. It lies over the operating system's, so that files can be mapped. Of its
// files it keeps copies in memory. That a folder was renamed is durable at once.
//
// A call that changes something, or makes a change durable, first asks the
// function given to [FS.Inject], and fails with the error that this function
// returns. The first half of a failing write is done. A read asks the function
// given to [FS.InjectReads]. [FS.PowerLoss] puts the files into a state in
// which a loss of power may leave them.
package faultfs

import (
	"os"
	"path/filepath"
	"sync"

	"github.com/seed61375155/trawl/internal/vfs"
)

// Kind is what a call does.
type Kind int

// The calls that can fail.
const (
	Create Kind = iota // OpenFile that may make or cut a file
	Write
	Truncate
	Chmod
	Sync
	Rename
	Remove
	Mkdir
	SyncDir
	Read // what is mapped into memory is read without a call
)

// An Op is a call that is about to be made.
type Op struct {
	Kind Kind
	Path string // of the file or folder, the old one of a Rename
}

// FS implements vfs.FS.
type FS struct {
	mu     sync.Mutex
	inject func(Op) error
	reads  func(Op) error
	lost   bool // the power
	dirs   map[string]*dir
}

var _ vfs.FS = (*FS)(nil)

// New returns a file system on which nothing fails yet. A file counts as durable
// in the state in which it is first touched.
func New() *FS { return &FS{dirs: map[string]*dir{}} }

// Inject has f decide which calls fail. It is called for one call at a time.
func (fs *FS) Inject(f func(Op) error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.inject = f
}

// InjectReads has f decide which reads fail. It is called for one read at a time.
func (fs *FS) InjectReads(f func(Op) error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.reads = f
}

// checkRead asks whether a read fails.
func (fs *FS) checkRead(path string) error {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.reads == nil {
		return nil
	}
	if err := fs.reads(Op{Read, path}); err != nil {
		return &os.PathError{Op: "read", Path: path, Err: err}
	}
	return nil
}

// Nth is for [FS.Inject] and [FS.InjectReads]: the n-th call fails, counted from 0, and no other.
func Nth(n int, err error) func(Op) error {
	return func(Op) error {
		n--
		if n == -1 {
			return err
		}
		return nil
	}
}

// From is for [FS.Inject]: the n-th call fails, counted from 0, and all behind it,
// as on a disk that is full or broken.
func From(n int, err error) func(Op) error {
	return func(Op) error {
		n--
		if n < 0 {
			return err
		}
		return nil
	}
}

// check asks whether a call fails. fs.mu is held.
func (fs *FS) check(kind Kind, path string) error {
	if fs.lost {
		return &os.PathError{Op: "write", Path: path, Err: ErrPowerLost}
	}
	if fs.inject == nil {
		return nil
	}
	if err := fs.inject(Op{kind, path}); err != nil {
		return &os.PathError{Op: "write", Path: path, Err: err}
	}
	return nil
}

// OpenFile implements vfs.FS.
func (fs *FS) OpenFile(name string, flag int, mode os.FileMode) (vfs.File, error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	var n *node
	if flag&(os.O_WRONLY|os.O_RDWR|os.O_CREATE|os.O_TRUNC) != 0 {
		if err := fs.check(Create, name); err != nil {
			return nil, err
		}
		var err error
		if n, err = fs.lookup(name); err != nil {
			return nil, err
		}
	}
	if flag&os.O_WRONLY != 0 {
		flag = flag&^os.O_WRONLY | os.O_RDWR // a sync reads what it makes durable
	}
	f, err := os.OpenFile(name, flag, mode) //nolint:gosec // the caller's own path
	if err != nil {
		return nil, err
	}
	if n == nil && flag&os.O_CREATE != 0 {
		n = new(node)
		fs.dir(name).set(filepath.Base(name), n)
	}
	return &file{File: f, fs: fs, node: n}, nil
}

// Rename implements vfs.FS.
func (fs *FS) Rename(from, to string) error {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if err := fs.check(Rename, from); err != nil {
		return err
	}
	moved, err := fs.lookup(from)
	if err == nil {
		err = fs.keep(to)
	}
	if err == nil {
		err = os.Rename(from, to)
	}
	if err != nil {
		return err
	}
	if moved.isDir {
		delete(fs.dir(from).names, filepath.Base(from))
		fs.dir(to).names[filepath.Base(to)] = moved
		fs.moveDirs(from, to)
		return nil
	}
	fs.dir(to).move(filepath.Base(to), moved, fs.dir(from), filepath.Base(from))
	return nil
}

// Remove implements vfs.FS.
func (fs *FS) Remove(name string) error {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if err := fs.check(Remove, name); err != nil {
		return err
	}
	if err := fs.keep(name); err != nil {
		return err
	}
	if err := os.Remove(name); err != nil {
		return err
	}
	fs.dir(name).set(filepath.Base(name), nil)
	return nil
}

// MkdirAll implements vfs.FS.
func (fs *FS) MkdirAll(name string, mode os.FileMode) error {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if err := fs.check(Mkdir, name); err != nil {
		return err
	}
	return fs.mkdirAll(filepath.Clean(name), mode)
}

func (fs *FS) mkdirAll(name string, mode os.FileMode) error {
	if _, err := os.Stat(name); err == nil {
		return os.MkdirAll(name, mode)
	}
	if parent := filepath.Dir(name); parent != name {
		if err := fs.mkdirAll(parent, mode); err != nil {
			return err
		}
	}
	if err := os.Mkdir(name, mode); err != nil {
		return err
	}
	fs.dir(name).set(filepath.Base(name), &node{isDir: true})
	return nil
}

// Stat implements vfs.FS.
func (*FS) Stat(name string) (os.FileInfo, error) { return os.Stat(name) }

// ReadDir implements vfs.FS.
func (*FS) ReadDir(name string) ([]os.DirEntry, error) { return os.ReadDir(name) }

// SyncDir implements vfs.FS.
func (fs *FS) SyncDir(name string) error {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if err := fs.check(SyncDir, name); err != nil {
		return err
	}
	if _, err := os.Stat(name); err != nil {
		return err
	}
	fs.dirAt(filepath.Clean(name)).pending = nil
	return nil
}

// A file is open.
type file struct {
	*os.File

	fs   *FS
	node *node // nil: open for reading
}

func (f *file) do(kind Kind, call func() error) error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.fs.check(kind, f.Name()); err != nil {
		return err
	}
	return call()
}

// torn makes a write of which the first half is done where it is to fail.
func (f *file) torn(p []byte, write func([]byte) (int, error)) (n int, err error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.fs.check(Write, f.Name()); err != nil {
		if f.fs.lost {
			return 0, err
		}
		n, _ := write(p[:len(p)/2])
		return n, err
	}
	return write(p)
}

// Read implements vfs.File.
func (f *file) Read(p []byte) (int, error) {
	if err := f.fs.checkRead(f.Name()); err != nil {
		return 0, err
	}
	return f.File.Read(p)
}

// ReadAt implements vfs.File.
func (f *file) ReadAt(p []byte, at int64) (int, error) {
	if err := f.fs.checkRead(f.Name()); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, at)
}

// Write implements vfs.File.
func (f *file) Write(p []byte) (int, error) { return f.torn(p, f.File.Write) }

// WriteAt implements vfs.File.
func (f *file) WriteAt(p []byte, at int64) (int, error) {
	return f.torn(p, func(p []byte) (int, error) { return f.File.WriteAt(p, at) })
}

// Truncate implements vfs.File.
func (f *file) Truncate(size int64) error {
	return f.do(Truncate, func() error { return f.File.Truncate(size) })
}

// Chmod implements vfs.File.
func (f *file) Chmod(mode os.FileMode) error {
	return f.do(Chmod, func() error { return f.File.Chmod(mode) })
}

// Sync implements vfs.File. The disk itself is not waited for.
func (f *file) Sync() error {
	return f.do(Sync, func() error {
		if f.node == nil {
			return nil
		}
		content, err := readAll(f.File)
		if err == nil {
			f.node.durable = content
		}
		return err
	})
}
