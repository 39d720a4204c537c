package walletdb

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed61375155/trawl/internal/vfs"
)

// Suffixes of a database and of SQLite's files beside it.
var beside = []string{"", "-journal", "-wal", "-shm"}

const temporarySuffix = ".tmp"

// An installation makes a file that gets its name when it is complete.
type installation struct {
	path       string
	name       func(temporary, path string) error // gives the file its name
	onSetAside func(from, to string)              // is called for each file that is set aside; may be nil
}

// install lets build fill a temporary file beside path, which then gets the
// name path, unless another file has it. If it fails, the temporary file and
// what SQLite leaves beside it are removed.
func install(path string, onSetAside func(from, to string), build func(temporary string) error) error {
	return installation{path, giveName, onSetAside}.run(build)
}

// run is install. An error does not name the temporary file.
func (i installation) run(build func(temporary string) error) error {
	return withTemporary(filepath.Dir(i.path), filepath.Base(i.path), func(temporary string) error {
		err := build(temporary)
		if err == nil {
			err = place(vfs.OS, temporary, i.path, i.name, i.onSetAside)
		}
		return err
	})
}

// withTemporary lets use fill an empty file in a directory, of a name made of base. If
// use fails, the file and what SQLite leaves beside it are removed, and the error has
// base in place of the file's name.
func withTemporary(dir, base string, use func(temporary string) error) error {
	removeStale(dir, base)
	defer share(dir)()
	file, err := os.CreateTemp(dir, temporaryPrefix(base)+"*"+temporarySuffix)
	if err != nil {
		return renamed(err, "", filepath.Join(dir, base))
	}
	temporary := file.Name()
	err = file.Close()
	if err == nil {
		err = use(temporary)
	}
	if err != nil {
		err = errors.Join(err, removeOwn(temporary))
	}
	return renamed(err, temporary, filepath.Join(dir, base))
}

// temporaryPrefix is how names of temporary files for files of a name begin.
func temporaryPrefix(base string) string { return "." + shortened(base) + "." }

// renamed is an error in whose text a file has another name. If from is empty, the
// file that the error names is renamed.
func renamed(err error, from, to string) error {
	if err == nil {
		return nil
	}
	var path *fs.PathError
	if from == "" && errors.As(err, &path) {
		from = path.Path
	}
	if from == "" || !strings.Contains(err.Error(), from) {
		return err
	}
	return &renamedError{strings.ReplaceAll(err.Error(), from, to), err}
}

type renamedError struct {
	text string
	err  error
}

func (e *renamedError) Error() string { return e.text }
func (e *renamedError) Unwrap() error { return e.err }

// removeOwn deletes a database that this package made, with its journal. The file goes
// first: without its journal it might be half of a change.
func removeOwn(temporary string) error {
	return errors.Join(removeIfThere(temporary), removeBeside(temporary))
}

// removeBeside deletes what SQLite left beside a database that this package made.
func removeBeside(path string) error {
	var failed error
	for _, suffix := range beside[1:] {
		failed = errors.Join(failed, removeIfThere(path+suffix))
	}
	return failed
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// RemoveStale deletes the files that processes which were killed while they made
// wallets left in a directory and those below it: they hold keys, and never got
// the name of a wallet. Files that a running process is making stay.
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
// no process is making files there. Files that stay for some reason do no harm.
func removeStale(dir, name string) {
	stale, err := filepath.Glob(filepath.Join(escapeGlob(dir), escapeGlob(temporaryPrefix(name))+"*"+temporarySuffix+"*"))
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
	base, prefix := filepath.Base(path), temporaryPrefix(name)
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
