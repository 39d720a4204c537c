package chaindb

import (
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/store/blockfile"
	"github.com/seed61375155/trawl/store/internal/dbfiles"
)

// OpenIndex opens a database that is there to read its metadata, and changes nothing on the disk. Blocks cannot
// be read, nor anything written. Errors are as of [Open], and [os.ErrNotExist] where there is none.
func OpenIndex(o Options) (_ *DB, err error) {
	if o.FS == nil {
		o.FS = vfs.OS
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if _, err := o.FS.Stat(o.Dir); err != nil {
		return nil, err
	}
	if err := refuseForeign(o.Dir); err != nil {
		return nil, err
	}
	folder, err := dbfiles.Open(o.FS, o.Dir)
	if err != nil {
		return nil, fmt.Errorf("open chain database in %s: %w", o.Dir, err)
	}
	ldb, err := leveldb.Open(folder.ReadOnly(), &opt.Options{ReadOnly: true, DisableBlockCache: true})
	if err != nil {
		return nil, errors.Join(fromLevelDB(err), folder.Close())
	}
	db := &DB{
		o: o, ldb: ldb, folder: folder, ends: map[int]fileEnds{},
		blocks: blockfile.NewFiles(o.FS, o.BlocksDir, blockfile.Blocks, o.Magic, blockfile.Key{}),
		undo:   blockfile.NewFiles(o.FS, o.BlocksDir, blockfile.Undo, o.Magic, blockfile.Key{}),
	}
	db.gate.init()
	db.stripped = stripped{db}
	format, err := ldb.Get(formatKey, nil)
	if err == nil {
		err = db.checkFormat(format)
	}
	if err == nil {
		err = db.loadDirectory()
	}
	if err != nil {
		return nil, errors.Join(fromLevelDB(err), ldb.Close(), folder.Close())
	}
	return db, nil
}

// WasStripped reports whether witnesses were ever removed from blocks of a database that is not open, false where
// there is none. An error is that of a database that cannot be read.
func WasStripped(o Options) (bool, error) {
	db, err := OpenIndex(o)
	switch {
	case errors.Is(err, os.ErrNotExist), errors.Is(err, ErrNotFound): // nothing was ever written
		return false, nil
	case err != nil:
		return false, err
	}
	return db.HasStripped(), db.Close()
}
