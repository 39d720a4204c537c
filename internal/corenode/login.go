package corenode

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"sync"
)

// maxLogin bounds the bytes of a file with a login.
const maxLogin = 4096

// A loginFile is where a login stands, as user:password.
type loginFile struct {
	path    string
	private bool // nobody but its owner may read it

	mu   sync.Mutex
	read []byte // user:password; nil: not read yet
}

// get returns the login. again has the file read anew, unless that was done since the
// login that was refused.
func (f *loginFile) get(refused []byte) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.read != nil && (refused == nil || !bytes.Equal(refused, f.read)) {
		return f.read, nil
	}
	login, err := readLogin(f.path, f.private)
	if err != nil {
		return nil, err
	}
	f.read = login
	return login, nil
}

// readLogin reads a login. Errors name the file, never what is in it.
func readLogin(path string, private bool) ([]byte, error) {
	text, err := readSmall(path, private)
	if err != nil {
		return nil, away("%w: %w", ErrLogin, err)
	}
	text = bytes.TrimRight(text, "\r\n")
	if user, _, ok := bytes.Cut(text, []byte{':'}); !ok || len(user) == 0 || bytes.ContainsAny(text, "\x00\r\n") {
		clear(text)
		return nil, away("%w: %s does not hold one line user:password", ErrLogin, path)
	}
	return text, nil
}

// ReadCookie reads the login in Core's cookie file, as user:password.
func ReadCookie(path string) ([]byte, error) { return readLogin(path, false) }

var (
	errNotRegular = errors.New("it is no regular file")
	errReadable   = errors.New("others may read it: its mode has to be 0600")
	errLarge      = fmt.Errorf("it is larger than %d bytes", maxLogin)
)

// readSmall reads a small regular file and does not wait for one that is something else.
func readSmall(path string, private bool) ([]byte, error) {
	refused := func(err error) error { return &fs.PathError{Op: "read", Path: path, Err: err} }
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular(): // opening a pipe would wait for who writes
		return nil, refused(errNotRegular)
	}
	f, err := os.Open(path) //nolint:gosec // the operator or Core's configuration names it
	if err != nil {
		return nil, err
	}
	defer f.Close()
	switch info, err = f.Stat(); {
	case err != nil:
		return nil, err
	case private && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return nil, refused(errReadable)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxLogin+1))
	if err == nil && len(text) > maxLogin {
		err = refused(errLarge)
	}
	if err != nil {
		clear(text)
		return nil, err
	}
	return text, nil
}
