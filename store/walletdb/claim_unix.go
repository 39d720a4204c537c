//go:build unix

package walletdb

import (
	"errors"
	"os"
	"sync"
	"syscall"
)

// Claim keeps others, in this process too, from claiming a file until release is called. The file may have
// several names: the file is locked, not a name. Where files cannot be locked, the file counts as unclaimed.
// Calling release again does nothing.
//
// Errors: ErrLocked if the file is claimed or is not at path any more, those of the file system.
func Claim(path string) (release func(), err error) {
	f, err := lock(path, syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return nil, ErrLocked
	case err != nil:
		_, err = os.Stat(path)
		return func() {}, err
	}
	release = sync.OnceFunc(func() { unlock(f) })
	own, err := f.Stat()
	if err == nil {
		var at os.FileInfo
		if at, err = os.Stat(path); err == nil && !os.SameFile(own, at) {
			err = ErrLocked // who had it before has put another in its place
		}
	}
	if err != nil {
		release()
		return nil, err
	}
	return release, nil
}
