package rpc

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
)

// unixMode lets the owner alone connect.
const unixMode = 0o600

// A unixListener listens on a socket in the file system and removes it in the
// end.
type unixListener struct {
	net.Listener
	path string
	made fs.FileInfo // the socket; no other has its inode while it is open
	once sync.Once
}

// listenUnix makes a socket at path. It is there with its mode or not at all: it is made beside its place, under a
// name that nothing else has. A socket that nobody listens on any more is replaced.
func listenUnix(ctx context.Context, path string) (net.Listener, error) {
	if err := checkFree(ctx, path); err != nil {
		return nil, err
	}
	part := filepath.Join(filepath.Dir(path), "."+rand.Text()[:8]) // short, as names of sockets have to be
	l, err := (&net.ListenConfig{}).Listen(ctx, "unix", part)      // fails where there is something
	if err != nil {
		return nil, err
	}
	if u, ok := l.(*net.UnixListener); ok {
		u.SetUnlinkOnClose(false) // it would remove the name that the socket has had
	}
	made, err := place(part, path)
	if err != nil {
		return nil, errors.Join(err, l.Close(), os.Remove(part))
	}
	return &unixListener{Listener: l, path: path, made: made}, nil
}

// place gives a socket its mode and then its name. It returns which file that is.
func place(part, path string) (fs.FileInfo, error) {
	if err := os.Chmod(part, unixMode); err != nil {
		return nil, err
	}
	made, err := os.Lstat(part)
	if err != nil {
		return nil, err
	}
	return made, os.Rename(part, path)
}

// checkFree refuses a path where there is something else than a socket, or a
// socket that somebody listens on.
func checkFree(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("%s: %w", path, fs.ErrExist)
	}
	c, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	if err != nil {
		return nil //nolint:nilerr // nobody answers, as it should be
	}
	_ = c.Close()
	return fmt.Errorf("%s: already in use", path)
}

// Close implements net.Listener.
func (l *unixListener) Close() error {
	err := net.ErrClosed
	l.once.Do(func() { err = errors.Join(l.remove(), l.Listener.Close()) })
	return err
}

// remove deletes the socket, unless it is gone or another file has its place.
func (l *unixListener) remove() error {
	now, err := os.Lstat(l.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !os.SameFile(now, l.made):
		return nil
	}
	return os.Remove(l.path)
}
