package scriptindex

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/store/internal/dbfiles"
)

// Look reads whose index lies in a folder. Nothing is changed.
func Look(dir string) (dbfiles.Verdict, error) {
	raw, err := vfs.ReadFile(vfs.OS, filepath.Join(dir, manifestName), maxManifest)
	if err == nil && strings.HasPrefix(string(raw), string(manifestMagic)) {
		return dbfiles.Own, nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, vfs.ErrTooLarge) {
		return dbfiles.Unknown, err
	}
	entries, err := vfs.OS.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return dbfiles.Empty, nil
	}
	if err != nil {
		return dbfiles.Unknown, err
	}
	verdict := dbfiles.Empty
	for _, e := range entries {
		if !ours(e.Name()) {
			return dbfiles.Foreign, nil
		}
		verdict = dbfiles.Unknown // a damaged manifest, or none yet
	}
	return verdict, nil
}

// ours reports whether the store makes files of such a name.
func ours(name string) bool {
	name = strings.TrimSuffix(name, vfs.ReplacementSuffix)
	_, ok := parseName(name)
	return ok || name == manifestName || name == secretName
}

// parseName returns the number in a name that path has made.
func parseName(name string) (number uint32, ok bool) {
	var kind string
	name = strings.TrimSuffix(name, vfs.ReplacementSuffix)
	if _, err := fmt.Sscanf(name, "%08d.%3s", &number, &kind); err != nil || kind != logName && kind != tabName {
		return 0, false
	}
	return number, fmt.Sprintf(nameForm, number, kind) == name
}
