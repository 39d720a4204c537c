package rpc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
)

// unixMode lets the owner alone connect.
const unixMode = 0o600

// A unixListener listens on a socket in the file system and removes it in the
// end.
type unixListener struct {
	net.Listener
	path string
}

// listenUnix makes a socket at path. It is there with its mode or not at all:
// it is made beside its place. A socket that nobody listens on any more
// is replaced.
func listenUnix(ctx context.Context, path string) (net.Listener, error) {
	if err := checkFree(ctx, path); err != nil {
		return nil, err
	}
	part := path + ".tmp"
	if err := os.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "unix", part)
	if err != nil {
		return nil, err
	}
	if u, ok := l.(*net.UnixListener); ok {
		u.SetUnlinkOnClose(false) // it would remove the name that the socket has had
	}
	err = os.Chmod(part, unixMode)
	if err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close(), os.Remove(part))
	}
	return &unixListener{l, path}, nil
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
	err := l.Listener.Close()
	if errors.Is(err, net.ErrClosed) {
		return err // and the path may be another's by now
	}
	return errors.Join(err, os.Remove(l.path))
}
