package rpc

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/seed61375155/trawl/internal/vfs"
)

// cookieUser is the user name of the cookie login.
const cookieUser = "__cookie__"

// maxCookie bounds the bytes that are read of the file: more are not this server's.
const maxCookie = 4096

// A cookie is a file with a login that lasts as long as the server runs.
type cookie struct {
	path     string
	password string
}

// cookieModes are the values of -rpccookieperms.
var cookieModes = map[string]fs.FileMode{"owner": 0o600, "group": 0o640, "all": 0o644}

// writeCookie makes a new login and writes it to path, as a whole or not at
// all: to a file beside it first, which then takes its name.
func writeCookie(path string, mode fs.FileMode) (*cookie, error) {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails
	c := &cookie{path: path, password: hex.EncodeToString(secret)}
	part := path + ".tmp"
	if err := writeFile(part, cookieUser+":"+c.password, mode); err != nil {
		return nil, fmt.Errorf("rpc cookie: %w", err)
	}
	if err := os.Rename(part, path); err != nil {
		return nil, fmt.Errorf("rpc cookie: %w", err)
	}
	return c, nil
}

// writeFile gives the file its mode before its contents, whatever it was
// before and whatever the umask says.
func writeFile(path, contents string, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) //nolint:gosec // the operator's own option
	if err != nil {
		return err
	}
	if err = f.Chmod(mode); err == nil {
		_, err = f.WriteString(contents)
	}
	return errors.Join(err, f.Close())
}

// remove deletes the file, unless it is gone or another server has replaced
// it.
func (c *cookie) remove() error {
	contents, err := vfs.ReadFile(vfs.OS, c.path, maxCookie)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, vfs.ErrNotRegular) || errors.Is(err, vfs.ErrTooLarge):
		return nil
	case err != nil:
		return err
	case string(contents) != cookieUser+":"+c.password:
		return nil
	}
	return os.Remove(c.path)
}
