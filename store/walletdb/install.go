package walletdb

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed61375155/trawl/internal/vfs"
)

// What SQLite calls the files beside a database.
var beside = []string{"", "-journal", "-wal", "-shm"}

const temporarySuffix = ".tmp"

// install lets build fill a temporary file beside path, which then gets the
// name path, unless another file has it. If it fails, the temporary file and
// what SQLite leaves beside it are removed.
func install(path string, build func(temporary string) error) error {
	return installBy(path, giveName, build)
}

// installBy is install with another way of giving the file its name.
func installBy(path string, name func(temporary, path string) error, build func(temporary string) error) error {
	dir := filepath.Dir(path)
	removeStale(dir, filepath.Base(path))
	defer share(dir)()
	file, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*"+temporarySuffix)
	if err != nil {
		return err
	}
	temporary := file.Name()
	err = file.Close()
	if err == nil {
		err = build(temporary)
	}
	if err == nil {
		err = name(temporary, path)
	}
	if err != nil {
		return errors.Join(err, removeOwn(temporary))
	}
	return vfs.OS.SyncDir(dir)
}

// removeOwn deletes a database that this package made, with its journal.
func removeOwn(temporary string) error {
	var failed error
	for _, suffix := range beside {
		if err := os.Remove(temporary + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// RemoveStale deletes the files that processes which were killed while they made
// wallets left in a directory and those below it: they hold keys, and never got
// the name of a wallet. What a running process is making stays.
func RemoveStale(dir string) {
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fs.SkipDir
		}
		if entry.IsDir() {
			removeStale(path, FileName)
		}
		return nil
	})
}

// removeStale deletes what install made in a directory for files of a name, if
// nobody is at it there. What stays, for whatever reason, does no harm.
func removeStale(dir, name string) {
	stale, err := filepath.Glob(filepath.Join(escapeGlob(dir), "."+escapeGlob(name)+".*"+temporarySuffix+"*"))
	if err != nil || len(stale) == 0 {
		return
	}
	release, ok := exclude(dir)
	if !ok {
		return
	}
	defer release()
	for _, path := range stale {
		if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
			continue
		}
		if temporary, ok := temporaryOf(path, name); ok {
			_ = removeOwn(temporary)
		}
	}
}

// escapeGlob makes a pattern that matches a path as it is.
func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// temporaryOf returns the path of the temporary file that a file is or belongs
// to.
func temporaryOf(path, name string) (temporary string, ok bool) {
	base, prefix := filepath.Base(path), "."+name+"."
	for _, suffix := range beside {
		number, found := strings.CutSuffix(base, temporarySuffix+suffix)
		if number, ours := strings.CutPrefix(number, prefix); found && ours && isNumber(number) {
			return strings.TrimSuffix(path, suffix), true
		}
	}
	return "", false
}

func isNumber(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}
