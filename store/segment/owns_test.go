package segment

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/store/internal/dbfiles"
)

// A folder is a store's own by its database or the beginning of a segment, and another's by other bytes there.
func TestLook(t *testing.T) {
	own, _ := newStore(t, 3)
	mustClose(t, own)
	for name, test := range map[string]struct {
		files map[string]string
		want  dbfiles.Verdict
	}{
		"nothing":          {nil, dbfiles.Empty},
		"a segment":        {map[string]string{"fltr00000.dat": string(magic) + "x"}, dbfiles.Own},
		"another's":        {map[string]string{"fltr00000.dat": "something"}, dbfiles.Foreign},
		"one of both":      {map[string]string{"fltr00000.dat": "something", "fltr00001.dat": string(magic)}, dbfiles.Own},
		"zeros":            {map[string]string{"fltr00000.dat": strings.Repeat("\x00", 100)}, dbfiles.Empty},
		"an empty segment": {map[string]string{"fltr00000.dat": ""}, dbfiles.Empty},
		"other files":      {map[string]string{"blk00000.dat": "something"}, dbfiles.Empty},
	} {
		dir := t.TempDir()
		for file, content := range test.files {
			mustWriteFile(t, filepath.Join(dir, file), []byte(content))
		}
		if got, err := Look(dir); got != test.want || err != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if err := flipAt(own.Segments()[0].Path, 3); err != nil {
		t.Fatal(err)
	}
	if got, err := Look(own.dir); got != dbfiles.Own || err != nil {
		t.Errorf("a store: %v, %v", got, err)
	}
	if got, err := Look(filepath.Join(t.TempDir(), "none")); got != dbfiles.Empty || err != nil {
		t.Errorf("none: %v, %v", got, err)
	}
	if paths, err := filesLike(vfs.OS, filepath.Join(t.TempDir(), "none"), "*"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("files of none: %q, %v", paths, err)
	}
}
