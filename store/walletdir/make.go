package walletdir

import (
	"os"
	"path/filepath"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/store/walletdb"
)

// Made is a directory that did not exist; empty when it did.
type Made string

// Make makes a directory with its parents, unless it exists.
func Make(dir string) (Made, error) {
	switch _, err := os.Stat(dir); {
	case err == nil:
		return "", nil
	case !walletdb.Missing(err): // as it is, it cannot be made: not even its parents are
		return "", err
	}
	dir = filepath.Clean(dir)
	there := filepath.Dir(dir)
	for ; there != filepath.Dir(there); there = filepath.Dir(there) {
		if _, err := os.Stat(there); err == nil {
			break
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	for at := filepath.Dir(dir); ; at = filepath.Dir(at) {
		if err := vfs.OS.SyncDir(at); err != nil {
			return Made(dir), err
		}
		if at == there {
			return Made(dir), nil
		}
	}
}

// Remove takes the directory away again if it is empty. Parents stay, as in Core.
func (m Made) Remove() error {
	if m == "" {
		return nil
	}
	return os.Remove(string(m))
}
