package datadir

import (
	"fmt"
	"strings"
)

// kind is what a ForeignError is about.
type kind int

const (
	dataDir kind = iota
	blocksDir
	databases // in a directory of ours
)

// A ForeignError reports a directory that holds data of another program.
type ForeignError struct {
	Kind  kind
	Dir   string
	Found []string // what was seen, in the directory
}

// shown is how many of the things found are named.
const shown = 4

// Error implements error, with advice for the operator.
func (e *ForeignError) Error() string {
	found := strings.Join(e.Found[:min(shown, len(e.Found))], ", ")
	if more := len(e.Found) - shown; more > 0 {
		found += fmt.Sprintf(" and %d more", more)
	}
	switch e.Kind {
	case blocksDir:
		return fmt.Sprintf("Blocks directory \"%s\" holds block files that Trawl did not write (%s). Nothing in it "+
			"was changed. "+
			"Choose another one with -blocksdir, and import these blocks with -loadblock=FILE.", e.Dir, found)
	case databases:
		return fmt.Sprintf("Data directory \"%s\" holds databases of another program among those of Trawl (%s). "+
			"Nothing in it was changed. "+
			"Move them away: Trawl makes its own from the blocks.", e.Dir, found)
	default:
		return fmt.Sprintf("Data directory \"%s\" holds data of another program (%s). Nothing in it was changed. "+
			"Choose another one with -datadir. The configuration file may stay where it is (-conf=FILE), wallets can "+
			"be copied, "+
			"and blocks are imported with -loadblock=FILE or come from the other node (-connect=ADDRESS).", e.Dir,
			found)
	}
}

// A NewerError reports a directory of a later revision.
type NewerError struct {
	Dir    string
	Format int // of the directory
}

// Error implements error.
func (e *NewerError) Error() string {
	return fmt.Sprintf("Directory \"%s\" has format %d, which a newer version of Trawl has written; this one knows "+
		"formats up to %d. "+
		"Nothing in it was changed. Use that version, or choose another directory.", e.Dir, e.Format, Format)
}

// A NetworkError reports a directory of another network.
type NetworkError struct {
	Dir       string
	Has, Want string // names of networks; Has may be empty
}

// Error implements error.
func (e *NetworkError) Error() string {
	has := "another network"
	if e.Has != "" {
		has = e.Has
	}
	return fmt.Sprintf("Directory \"%s\" belongs to %s, not to %s. Nothing in it was changed.", e.Dir, has, e.Want)
}
