package nodefiles

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/p2p/addrman"
	"github.com/seed61375155/trawl/internal/vfs"
)

const (
	addrsName = "peers.dat"

	// bugReport is where bugs are reported.
	bugReport = "https://github.com/seed61375155/trawl/issues"
)

// OpenAddrs reads the addresses of nodes, for the network with the given magic. A
// missing file is created empty. A file of a later format is replaced by an empty
// file and kept beside it, with the ending .bak. A file of an earlier format is
// rewritten at once. A failed write is only logged.
//
// Errors: [*AddrsError], and an error if the file is in the way.
func (f Files) OpenAddrs(magic [4]byte, log *slog.Logger) (*addrman.Manager, error) {
	if f.Dir == "" {
		return f.newAddrs(), nil
	}
	path := f.path(addrsName)
	began := time.Now()
	content, err := vfs.ReadFile(f.disk(), path, addrman.MaxFile)
	if err == nil {
		var addrs *addrman.Manager
		if addrs, err = addrman.Parse(content, magic, f.ASMap); err == nil {
			corelog.Printf(log, slog.LevelInfo, "Loaded %d addresses from peers.dat  %dms",
				addrs.Len(), time.Since(began).Milliseconds())
			if addrman.IsOld(content) {
				f.saveNew(addrs, magic, log)
			}
			return addrs, nil
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		corelog.Printf(log, slog.LevelInfo, "Creating peers.dat because the file was not found (\"%s\")", path)
	case errors.Is(err, addrman.ErrVersion):
		if err := f.disk().Rename(path, path+".bak"); err != nil {
			return nil, errRename
		}
		corelog.Printf(log, slog.LevelWarn, "Creating new peers.dat because the file version was not compatible "+
			"(\"%s\"). Original backed up to peers.dat.bak", path)
	default:
		return nil, &AddrsError{path, err}
	}
	addrs := f.newAddrs()
	f.saveNew(addrs, magic, log)
	return addrs, nil
}

// newAddrs returns tables of which nothing is known.
func (f Files) newAddrs() *addrman.Manager {
	if f.FixedKey {
		return addrman.NewFixed(f.ASMap)
	}
	return addrman.New(f.ASMap)
}

// saveNew writes addresses on opening. It will be tried again when there are others.
func (f Files) saveNew(addrs *addrman.Manager, magic [4]byte, log *slog.Logger) {
	if err := f.SaveAddrs(addrs.Marshal(magic)); err != nil {
		log.Error("addresses of peers not written", "err", err)
	}
}

// SaveAddrs writes what [addrman.Manager.Marshal] has made. After nil it is on the
// disk.
func (f Files) SaveAddrs(content []byte) error { return f.write(addrsName, content) }

// An AddrsError reports a file of addresses that cannot be read.
type AddrsError struct {
	path   string
	reason error
}

// errRename reports a file that stands in the way.
//
//nolint:revive,staticcheck // Core's words
var errRename = errors.New("Failed to rename invalid peers.dat file. Please move or delete it and try again.")

// Error implements error, in Core's words but for where to report it.
func (e *AddrsError) Error() string {
	return fmt.Sprintf("Invalid or corrupt peers.dat (%v). If you believe this is a bug, please report it to %s. "+
		"As a workaround, you can move the file (\"%s\") out of the way (rename, move, or delete) "+
		"to have a new one created on the next start.", e.reason, bugReport, e.path)
}

// Unwrap returns the reason.
func (e *AddrsError) Unwrap() error { return e.reason }
