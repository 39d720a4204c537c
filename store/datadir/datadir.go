// Package datadir tells Trawl's data directories from those of other programs,
// which lie in the same places under the same names: Bitcoin Core's first of all.
//
// A directory is Trawl's by a mark, a file that is written before anything else.
// A directory without a mark may be new, or of a revision that wrote no marks:
// then its databases identify it. Otherwise it is another program's: [Check] and
// [Claim] refuse it and change nothing in it.
//
// Wallets, mempool.dat, fee_estimates.dat, peers.dat, banlist.json, settings and
// configuration files are no sign of another program: people copy them over.
package datadir

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed61375155/trawl/internal/vfs"
)

// Dirs are the directories of a node, on one network.
type Dirs struct {
	Data   string // with chainstate and indexes
	Blocks string // with the block files; empty: blocks in Data
}

// A Network is what the data is of.
type Network struct {
	Name  string // for messages
	Magic [4]byte
}

// Check reports whether a node may use its directories. It changes nothing.
//
// Errors: [*ForeignError], [*NewerError], [*NetworkError], [ErrMark], and those of
// the file system.
func Check(d Dirs, n Network) error {
	_, err := check(d, n)
	return err
}

// Claim is Check, and then makes the directories where they are missing, and marks them as
// Trawl's. It is on disk when it returns.
func Claim(d Dirs, n Network) error {
	unmarked, err := check(d, n)
	if err != nil {
		return err
	}
	for _, dir := range unmarked {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("trawl: %w", err)
		}
	}
	// The data directory last: it is by its database that block files are known
	// that have no mark yet.
	for _, dir := range unmarked {
		if err := writeMark(vfs.OS, dir, n); err != nil {
			return err
		}
	}
	return nil
}

// check returns the directories that have no mark yet.
func check(d Dirs, n Network) (unmarked []string, err error) {
	d.Data, d.Blocks = filepath.Clean(d.Data), filepath.Clean(cmp.Or(d.Blocks, filepath.Join(d.Data, "blocks")))
	dataMarked, err := checkMark(d.Data, n)
	if err != nil {
		return nil, err
	}
	blocksMarked, err := checkMark(d.Blocks, n)
	if err != nil {
		return nil, err
	}
	found, err := look(d, dataMarked)
	if err == nil {
		err = found.judge(n)
	}
	if err == nil && !blocksMarked {
		err = found.judgeBlocks(d.Blocks)
	}
	if !blocksMarked {
		unmarked = append(unmarked, d.Blocks)
	}
	if !dataMarked {
		unmarked = append(unmarked, d.Data)
	}
	return unmarked, err
}

// judge refuses what cannot be Trawl's, or is of another network.
func (l *looked) judge(n Network) error {
	switch {
	case l.own && len(l.foreign) > 0:
		return &ForeignError{Kind: databases, Dir: l.dir, Found: l.foreign}
	case !l.own && len(l.foreign)+len(l.signs) > 0:
		return &ForeignError{Kind: dataDir, Dir: l.dir, Found: unique(append(l.foreign, l.signs...))}
	case l.chain.HasMagic && l.chain.Magic != n.Magic:
		return &NetworkError{Dir: l.dir, Want: n.Name}
	}
	return nil
}

// judgeBlocks refuses block files without a mark, unless they lie in a data
// directory that is Trawl's, or belong to its database.
func (l *looked) judgeBlocks(dir string) error {
	if len(l.blockFiles) == 0 {
		return nil
	}
	if l.own && !l.marked {
		if dir == l.path("blocks") {
			return nil
		}
		if fits, err := l.chain.Fits(dir); fits || err != nil {
			return err
		}
	}
	return &ForeignError{Kind: blocksDir, Dir: dir, Found: l.blockFiles}
}

func unique(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// ErrMark reports a mark that cannot be read.
var ErrMark = errors.New("mark of the directory cannot be read")
