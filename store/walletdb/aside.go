package walletdb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/seed61375155/trawl/internal/vfs"
)

// asideMark is in the name of a file that was set aside, before a number.
const asideMark = ".stale-"

// errInTheWay reports a file beside a wallet's place that cannot be set aside.
var errInTheWay = errors.New("a file of another database is in the way")

// place gives a complete file its name. SQLite would take files that are named as a
// journal, a log or an index beside it for the file's own, and play them into the
// file. Such files are therefore set aside first, for good.
func place(
	disk vfs.FS, temporary, path string, name func(temporary, path string) error, onSetAside func(from, to string),
) error {
	moved, err := setAside(disk, path, onSetAside, beside[1:]...)
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	if moved { // a loss of power must not bring them back beside the file
		if err := disk.SyncDir(dir); err != nil {
			return err
		}
	}
	if err := name(temporary, path); err != nil {
		return err
	}
	return disk.SyncDir(dir)
}

// setAside renames what has the name of one of SQLite's files beside a database. No
// content is changed and no other file replaced. Each is reported with its new name.
func setAside(disk vfs.FS, path string, onSetAside func(from, to string), suffixes ...string) (moved bool, err error) {
	for _, suffix := range suffixes {
		from := path + suffix
		_, err := os.Lstat(from)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENAMETOOLONG) {
			continue
		}
		to := ""
		if err == nil {
			to, err = asideName(path, suffix)
		}
		if err == nil {
			err = disk.Rename(from, to)
		}
		if err != nil {
			return moved, fmt.Errorf("%w: %s: %w", errInTheWay, from, err)
		}
		moved = true
		if onSetAside != nil {
			onSetAside(from, to)
		}
	}
	return moved, nil
}

// asideName returns a free name for a file beside path.
func asideName(path, suffix string) (string, error) {
	for n := 1; ; n++ {
		to := filepath.Join(filepath.Dir(path), shortened(filepath.Base(path))+suffix+asideMark+strconv.Itoa(n))
		switch _, err := os.Lstat(to); {
		case errors.Is(err, fs.ErrNotExist):
			return to, nil
		case err != nil:
			return "", err
		}
	}
}

// maxBase is how many bytes of a file's name are in names that are derived from the
// name. With their additions they are still short enough for the file system.
const maxBase = 200

func shortened(base string) string { return base[:min(len(base), maxBase)] }
