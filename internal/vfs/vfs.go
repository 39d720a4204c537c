// Package vfs is the disk as stores see it: an interface to files and folders,
// so that tests put faults below them (package faultfs).
//
// Names are paths as package os takes them, and so are flags, modes and errors.
// A write to a File or an FS has reached the operating system when the call
// returns. It survives a loss of power after [File.Sync], and for names in a
// folder, new and removed ones alike, [FS.SyncDir].
package vfs

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
)

// FS is a file system. Its methods are safe for concurrent use.
type FS interface {
	OpenFile(name string, flag int, mode os.FileMode) (File, error)
	Rename(from, to string) error // replaces an existing file named to
	Remove(name string) error
	MkdirAll(dir string, mode os.FileMode) error
	Stat(name string) (os.FileInfo, error)
	ReadDir(dir string) ([]os.DirEntry, error)
	SyncDir(dir string) error // makes the names in a folder durable
}

// File is an open file. *[os.File] is one.
type File interface {
	io.Reader
	io.ReaderAt
	io.Writer
	io.WriterAt
	io.Seeker
	io.Closer
	Name() string
	Stat() (os.FileInfo, error)
	Chmod(mode os.FileMode) error
	Truncate(size int64) error
	Sync() error
	Fd() uintptr // to map it into memory, or to lock it
}

// OS is the operating system's.
var OS FS = osFS{}

type osFS struct{}

func (osFS) OpenFile(name string, flag int, mode os.FileMode) (File, error) {
	file, err := os.OpenFile(name, flag, mode) //nolint:gosec // the caller's own path
	if err != nil {
		return nil, err // not a nil *os.File in an interface
	}
	return file, nil
}

func (osFS) Rename(from, to string) error                { return os.Rename(from, to) }
func (osFS) Remove(name string) error                    { return os.Remove(name) }
func (osFS) MkdirAll(dir string, mode os.FileMode) error { return os.MkdirAll(dir, mode) }
func (osFS) Stat(name string) (os.FileInfo, error)       { return os.Stat(name) }
func (osFS) ReadDir(dir string) ([]os.DirEntry, error)   { return os.ReadDir(dir) }

// SyncDir implements FS. Windows needs no such call and has none.
func (osFS) SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir) //nolint:gosec // the caller's own path
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// MakeDir makes a folder and those above it, and makes their names durable.
func MakeDir(fs FS, dir string, mode os.FileMode) error {
	var parents []string // of missing folders
	for at := filepath.Clean(dir); filepath.Dir(at) != at; at = filepath.Dir(at) {
		if _, err := fs.Stat(at); !errors.Is(err, os.ErrNotExist) {
			break // or MkdirAll will say what is wrong
		}
		parents = append(parents, filepath.Dir(at))
	}
	if err := fs.MkdirAll(dir, mode); err != nil {
		return err
	}
	for _, parent := range parents {
		if err := fs.SyncDir(parent); err != nil {
			return err
		}
	}
	return nil
}

// Errors of ReadFile.
var (
	ErrTooLarge   = errors.New("file is too large")
	ErrNotRegular = errors.New("not a regular file")
)

// ReadFile reads a whole file of at most limit bytes. It opens nothing but a
// regular file: a pipe would wait for a writer, a device might never end.
//
// Errors: ErrTooLarge, ErrNotRegular, and those of the file system, all of them
// with the name.
func ReadFile(fs FS, name string, limit int64) ([]byte, error) {
	file, err := Open(fs, name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(content)) > limit {
		err = &os.PathError{Op: "read", Path: name, Err: ErrTooLarge}
	}
	if err != nil {
		return nil, err
	}
	return content, nil
}

// Open opens a regular file to read it.
func Open(fs FS, name string) (File, error) {
	info, err := fs.Stat(name) // before opening
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &os.PathError{Op: "open", Path: name, Err: ErrNotRegular}
	}
	return fs.OpenFile(name, os.O_RDONLY, 0)
}

// RemoveAll removes a file or a folder with all that is in it. A missing file
// or folder is no error.
func RemoveAll(fs FS, name string) error {
	info, err := fs.Stat(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.IsDir():
		entries, err := fs.ReadDir(name)
		if err != nil {
			return err
		}
		for _, entry := range entries {
			if entry.Type()&os.ModeSymlink != 0 {
				err = fs.Remove(filepath.Join(name, entry.Name())) // not what it points to
			} else {
				err = RemoveAll(fs, filepath.Join(name, entry.Name()))
			}
			if err != nil {
				return err
			}
		}
	}
	if err := fs.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
