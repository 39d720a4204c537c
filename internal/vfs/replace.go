package vfs

import (
	"errors"
	"os"
	"path/filepath"
)

// ReplacementSuffix is the ending of the name under which a file is written.
const ReplacementSuffix = ".new"

// ReplaceFile puts a file with the given content and mode at path.
func ReplaceFile(fs FS, path string, content []byte, mode os.FileMode) error {
	file, err := CreateReplacement(fs, path, mode)
	if err != nil {
		return err
	}
	if _, err := file.Write(content); err != nil {
		return errors.Join(err, file.Discard())
	}
	return file.Commit()
}

// A Replacement is a file that takes the place of another in one step. After a kill, a full disk
// or a loss of power the name leads to the whole old contents or to the whole new contents. When
// [ReplaceFile] or [Replacement.Commit] has returned nil, the name leads to the new contents for
// good.
//
// It has the name with the ending .new until then. A file that an earlier process has left there
// is overwritten. Only one writer of a name may be at work at a time. It ends with Commit or
// Discard.
type Replacement struct {
	File

	fs   FS
	path string
	done bool
}

// CreateReplacement begins a file that is to take the name path. It has the given mode,
// whatever the umask says.
func CreateReplacement(fs FS, path string, mode os.FileMode) (*Replacement, error) {
	// 0600 until it has its own mode: nobody reads what is not complete.
	file, err := fs.OpenFile(path+ReplacementSuffix, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	f := &Replacement{File: file, fs: fs, path: path}
	if err := file.Chmod(mode); err != nil {
		return nil, errors.Join(err, f.Discard())
	}
	return f, nil
}

// Commit gives the file its name, for good. After an error the file that was
// there before is still there, unless the error came from the folder's sync:
// then a loss of power may bring it back.
func (f *Replacement) Commit() error {
	if f.done {
		return os.ErrClosed
	}
	if err := f.Sync(); err != nil {
		return errors.Join(err, f.Discard())
	}
	f.done = true
	err := f.Close()
	if err == nil {
		err = f.fs.Rename(f.path+ReplacementSuffix, f.path)
	}
	if err != nil {
		return errors.Join(err, f.remove())
	}
	return f.fs.SyncDir(filepath.Dir(f.path))
}

// Discard removes what was written. After Commit it does nothing.
func (f *Replacement) Discard() error {
	if f.done {
		return nil
	}
	f.done = true
	return errors.Join(f.Close(), f.remove())
}

func (f *Replacement) remove() error {
	if err := f.fs.Remove(f.path + ReplacementSuffix); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
