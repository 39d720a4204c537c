package corenode

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
)

// maxLogin bounds the bytes of a file with a login.
const maxLogin = 4096

// A loginFile is where a login stands, as user:password.
type loginFile struct {
	path    string
	below   string // directory that no link leads out of on the way to it; empty: any may
	private bool   // nobody but its owner may read it

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
	login, err := f.readLogin()
	if err != nil {
		return nil, err
	}
	f.read = login
	return login, nil
}

// A loginSource returns a login as user:password, and what has come in its place where that
// was refused.
type loginSource interface {
	get(refused []byte) ([]byte, error)
}

// A fixedLogin never changes.
type fixedLogin []byte

func (f fixedLogin) get([]byte) ([]byte, error) { return f, nil }

// noLogin is the source of a client without a login.
type noLogin struct{}

func (noLogin) get([]byte) ([]byte, error) { return nil, away("%w: there is none", ErrLogin) }

// A configuredLogin is the login of Core's configuration. The configuration is read again
// when Core refuses the login, since Core may have restarted with a new configuration.
type configuredLogin struct {
	configuration func() (Configured, error)

	mu   sync.Mutex
	read []byte // user:password; nil: not read yet
}

func (c *configuredLogin) get(refused []byte) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.read != nil && (refused == nil || !bytes.Equal(refused, c.read)) {
		return c.read, nil
	}
	now, err := c.configuration()
	if err != nil {
		return nil, away("%w", unreadable{err})
	}
	login, err := now.readLogin()
	if err != nil {
		return nil, err
	}
	c.read = login
	return login, nil
}

// readLogin returns the login of a Core with such a configuration.
func (c *Configured) readLogin() ([]byte, error) {
	switch {
	case c.Password != "":
		return []byte(c.User + ":" + c.Password), nil
	case c.Cookie == "":
		return noLogin{}.get(nil)
	}
	return c.ReadCookie()
}

// unreadable reports a login that cannot be read. It is an [ErrLogin].
type unreadable struct{ error }

// Error implements error.
func (u unreadable) Error() string { return "its login cannot be read: " + u.error.Error() }

// Is reports whether target is ErrLogin.
func (unreadable) Is(target error) bool { return target == ErrLogin }

// Unwrap returns the reason.
func (u unreadable) Unwrap() error { return u.error }

// readLogin reads the login. Errors name the file, never what is in it.
func (f *loginFile) readLogin() ([]byte, error) {
	text, err := f.readSmall()
	if err != nil {
		return nil, away("%w", unreadable{err})
	}
	text = bytes.TrimRight(text, "\r\n")
	if user, _, ok := bytes.Cut(text, []byte{':'}); !ok || len(user) == 0 || bytes.ContainsAny(text, "\x00\r\n") {
		clear(text)
		return nil, away("%w", unreadable{fmt.Errorf("%s does not hold one line user:password", f.path)})
	}
	return text, nil
}

// ReadCookie reads the login in the cookie file of a Core with such a configuration, as
// user:password.
func (c *Configured) ReadCookie() ([]byte, error) {
	return (&loginFile{path: c.Cookie, below: c.CookieBelow}).readLogin()
}

var (
	errNotRegular = errors.New("it is no regular file")
	errReadable   = errors.New("others may read it: its mode has to be 0600")
	errLarge      = fmt.Errorf("it is larger than %d bytes", maxLogin)
)

// readSmall reads a small regular file. It refuses other kinds of files without opening
// them, since opening a pipe could wait.
func (f *loginFile) readSmall() ([]byte, error) {
	refused := func(err error) error { // os.Root names the path in its own way
		if at, ok := errors.AsType[*fs.PathError](err); ok {
			err = at.Err
		}
		return &fs.PathError{Op: "read", Path: f.path, Err: err}
	}
	stat, open, name := os.Stat, os.Open, f.path
	if f.below != "" {
		root, err := os.OpenRoot(f.below)
		if err != nil {
			return nil, refused(err)
		}
		defer root.Close()
		stat, open = root.Stat, root.Open
		if name, err = filepath.Rel(f.below, f.path); err != nil {
			return nil, refused(err)
		}
	}
	info, err := stat(name)
	switch {
	case err != nil:
		return nil, refused(err)
	case !info.Mode().IsRegular(): // opening a pipe would wait for who writes
		return nil, refused(errNotRegular)
	}
	file, err := open(name)
	if err != nil {
		return nil, refused(err)
	}
	defer file.Close()
	switch info, err = file.Stat(); {
	case err != nil:
		return nil, refused(err)
	case f.private && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return nil, refused(errReadable)
	}
	text, err := io.ReadAll(io.LimitReader(file, maxLogin+1))
	if err == nil && len(text) > maxLogin {
		err = refused(errLarge)
	}
	if err != nil {
		clear(text)
		return nil, err
	}
	return text, nil
}
