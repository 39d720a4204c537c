package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/store/blockfile"
	"github.com/seed61375155/trawl/store/blockrows"
	"github.com/seed61375155/trawl/store/chaindb"
	"github.com/seed61375155/trawl/store/internal/dbfiles"
	"github.com/seed61375155/trawl/store/scriptindex"
	"github.com/seed61375155/trawl/store/segment"
	"github.com/seed61375155/trawl/store/spenders"
	"github.com/seed61375155/trawl/store/txindex"
)

// looked is what was seen in a data directory. Names are paths below it.
type looked struct {
	dir        string
	marked     bool
	own        bool            // marked, or a database is Trawl's
	chain      chaindb.Finding // of the chain database
	foreign    []string        // databases of others where Trawl has its own
	signs      []string        // what else only a node makes
	blockFiles []string        // in the blocks directory
}

// look looks at the databases, and in a directory without a mark at all else that
// a node makes.
func look(d Dirs, marked bool) (*looked, error) {
	l := &looked{dir: d.Data, marked: marked, own: marked}
	for _, step := range []func() error{
		l.lookAtChain,
		l.lookAtIndexes,
		func() error { return l.lookAtBlocks(d.Blocks) },
	} {
		if err := step(); err != nil {
			return nil, fmt.Errorf("look at %s: %w", d.Data, err)
		}
	}
	if !marked {
		l.lookForOthers()
	}
	return l, nil
}

func (l *looked) lookAtChain() (err error) {
	const name = "chainstate"
	l.chain, err = chaindb.Look(filepath.Join(l.dir, name), !l.marked)
	l.note(name, l.chain.Whose)
	return err
}

// note keeps whose a database is.
func (l *looked) note(name string, whose dbfiles.Verdict) {
	switch whose {
	case dbfiles.Own:
		l.own = true
	case dbfiles.Foreign:
		l.foreign = append(l.foreign, name)
	case dbfiles.Unknown: // damaged: ours where anything else says that it is
		l.signs = append(l.signs, name)
	case dbfiles.Empty:
	}
}

func (l *looked) lookAtIndexes() error {
	for name, look := range map[string]func(dir string) (dbfiles.Verdict, error){
		"indexes/blockfilter/basic": segment.Look,
		"indexes/txindex":           txindex.Look,
		"indexes/coinstatsindex":    lookBeside(blockrows.Look),
		"indexes/txospenderindex":   lookBeside(spenders.Look),
		"indexes/scriptindex":       scriptindex.Look,
	} {
		whose, err := look(l.path(name))
		if err != nil {
			return err
		}
		l.note(name, whose)
	}
	return nil
}

// lookBeside looks at the folder of an index that Bitcoin Core has in a folder below.
func lookBeside(look func(dir string) (dbfiles.Verdict, error)) func(string) (dbfiles.Verdict, error) {
	return func(dir string) (dbfiles.Verdict, error) {
		if hasEntries(filepath.Join(dir, "db")) {
			return dbfiles.Foreign, nil
		}
		return look(dir)
	}
}

// lookAtBlocks notes block and undo files.
func (l *looked) lookAtBlocks(dir string) error {
	for _, kind := range []blockfile.Kind{blockfile.Blocks, blockfile.Undo} {
		numbers, err := kind.Numbers(vfs.OS, dir)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		for _, n := range numbers {
			l.blockFiles = append(l.blockFiles, filepath.Base(kind.Path(dir, n)))
		}
	}
	if dir == l.path("blocks") {
		for _, name := range l.blockFiles {
			l.signs = append(l.signs, "blocks/"+name)
		}
		return nil
	}
	if hasEntries(filepath.Join(dir, "index")) {
		l.blockFiles = append(l.blockFiles, "index")
	}
	return nil
}

// lookForOthers notes what Trawl never makes.
func (l *looked) lookForOthers() {
	for _, name := range []string{"blocks/index", "chainstate_snapshot"} {
		if hasEntries(l.path(name)) {
			l.signs = append(l.signs, name)
		}
	}
	// Any other index: a folder with a database in it.
	_ = filepath.WalkDir(l.path("indexes"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // what cannot be seen is no sign
		}
		if entry.Name() == "CURRENT" || strings.HasPrefix(entry.Name(), "fltr") {
			if name, err := filepath.Rel(l.dir, filepath.Dir(path)); err == nil {
				l.signs = append(l.signs, filepath.ToSlash(name))
			}
		}
		return nil
	})
}

func (l *looked) path(name string) string { return filepath.Join(l.dir, filepath.FromSlash(name)) }

func hasEntries(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && len(entries) > 0
}
