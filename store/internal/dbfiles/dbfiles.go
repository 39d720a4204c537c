// Package dbfiles has the files of goleveldb's databases. A [Storage] is the folder of an
// open database. [Walk] and [Judge] read the files without opening the database, which
// would change it, and tell whose it is. They write nothing, take no lock, and believe
// nothing that the bytes do not back.
package dbfiles

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Limits of the pairs read from a file, and of the files read from a folder.
const (
	keysPerFile = 1 << 16
	maxFiles    = 1 << 14
)

// A Visit gets the pairs of one file after the other, those of a table in the
// order of their keys. It returns false when it has seen enough of the file. Key
// and value are valid during the call; of a deleted key the value is nil.
type Visit func(key, value []byte) (more bool)

// Walk reads the first pairs of every table and journal in a folder. The result
// read is the number of files with a readable pair, all the number of files that
// are not empty. Damaged parts are passed over. A missing folder has no files.
//
// The error is of the file system.
func Walk(dir string, visit Visit) (read, all int, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, fmt.Errorf("look at database: %w", err)
	}
	for _, entry := range slices.Backward(entries) { // the newest first
		if all == maxFiles {
			break
		}
		walk := walker(entry.Name())
		info, err := entry.Info()
		if err != nil || walk == nil || !info.Mode().IsRegular() || info.Size() == 0 {
			continue
		}
		all++
		n, err := walkFile(filepath.Join(dir, entry.Name()), info.Size(), walk, visit)
		if err != nil {
			return read, all, fmt.Errorf("look at database: %w", err)
		}
		if n > 0 {
			read++
		}
	}
	return read, all, nil
}

// A walk reads a file of the given size.
type walk func(file io.ReaderAt, size int64, visit Visit) error

// walker returns the function that reads a file, nil for files that have no pairs.
func walker(name string) walk {
	switch {
	case strings.HasSuffix(name, ".ldb"), strings.HasSuffix(name, ".sst"):
		return walkTable
	case strings.HasSuffix(name, ".log"):
		return walkJournal
	}
	return nil
}

// walkFile returns how many pairs it has read.
func walkFile(path string, size int64, walk walk, visit Visit) (n int, err error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	counted := func(key, value []byte) bool {
		n++
		return visit(key, value) && n < keysPerFile
	}
	// Damage ends the file, nothing more: it is about whose it is.
	if err := walk(file, size, counted); err != nil && !errors.Is(err, errDamaged) {
		return n, err
	}
	return n, nil
}

// Verdict is whose a database is.
type Verdict int

// The verdicts.
const (
	Empty   Verdict = iota // no folder, or one without pairs
	Own                    // most pairs that were read are our own
	Foreign                // they are not
	Unknown                // there are files, of which nothing can be read
)

// Judge tells whose a database is by the majority of some of its pairs: a damaged
// database may have a few garbled pairs.
func Judge(dir string, own func(key, value []byte) bool) (Verdict, error) {
	const inFile, inAll = 32, 4096 // pairs that are enough
	seen, ours := 0, 0
	read, all, err := Walk(dir, func(key, value []byte) bool {
		if seen >= inAll {
			return false
		}
		seen++
		if own(key, value) {
			ours++
		}
		return seen%inFile != 0
	})
	switch {
	case err != nil:
		return Unknown, err
	case ours > seen-ours:
		return Own, nil
	case seen > 0:
		return Foreign, nil
	case all > read:
		return Unknown, nil
	}
	return Empty, nil
}
