package chaindb

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	ldberrors "github.com/syndtr/goleveldb/leveldb/errors"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/store/blockfile"
)

// ErrKey reports, from [Open], that the block files hold nothing that the key in
// xor.dat makes readable.
var ErrKey = errors.New("no block can be read from the block files: xor.dat does not fit them, or they are damaged. " +
	"Put back the xor.dat that they were written with, or restart with -reindex to download the blocks again")

// suspectFile is the name of the note, beside leveldb's files, that a table could not
// be read as it was written.
const suspectFile = "SUSPECT"

// seen takes note of an error that says that the database's own files are damaged,
// and returns it. Damage in the files of blocks is another matter.
func (db *DB) seen(err error) error {
	var damage *ldberrors.ErrCorrupted
	if errors.As(err, &damage) {
		db.suspect.Do(func() {
			db.o.Log.Error(damagedText, "err", damage)
			note := filepath.Join(db.o.Dir, suspectFile)
			if err := vfs.ReplaceFile(db.o.FS, note, []byte(err.Error()+"\n"), 0o600); err != nil {
				db.o.Log.Error("this could not be noted for the next start", "err", err)
			}
		})
	}
	return err
}

// mustRead is for reads whose interface has no error: to go on would be to take for
// missing what is damaged. The panic is one of the chain's actor, which opens the
// database again.
func (db *DB) mustRead(err error) {
	if err == nil {
		return
	}
	if err = fromLevelDB(db.seen(err)); !errors.Is(err, ErrClosed) {
		panic(fmt.Errorf("read chain database: %w", err))
	}
}

// checkSuspect reads the whole database where damage was found before. It was no
// more than a fault of the memory where everything can be read.
func (db *DB) checkSuspect() error {
	note := filepath.Join(db.o.Dir, suspectFile)
	if _, err := db.o.FS.Stat(note); errors.Is(err, os.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	db.o.Log.Warn("damage was found in the chain database, checking all of it")
	it := db.ldb.NewIterator(nil, &opt.ReadOptions{DontFillCache: true})
	defer it.Release()
	for it.Next() { // every block of every table has a checksum
	}
	if err := it.Error(); err != nil {
		return err
	}
	db.o.Log.Info("the chain database is sound")
	return errors.Join(db.o.FS.Remove(note), db.folder.SyncDir())
}

// checkKey looks for some blocks in their files. With the wrong key nothing that the
// files hold looks like a block. Blocks that a loss of power may have torn prove
// nothing and are left out.
func (db *DB) checkKey() error {
	const some = 16
	fresh, err := db.unsynced()
	if err != nil {
		return err
	}
	looked := 0
	it := db.ldb.NewIterator(util.BytesPrefix([]byte{prefixBlock}), nil)
	defer it.Release()
	for looked < some && it.Next() {
		l, err := decodeLocation(it.Value())
		if err != nil {
			return err
		}
		if db.isGone(int(l.file)) || fresh[l.hash()] {
			continue
		}
		looked++
		if _, err := db.blocks.ReadRecord(
			int(l.file), int64(l.offset), int(l.length), 0,
		); !errors.Is(err, blockfile.ErrCorrupt) {
			return it.Error() // there, or missing for another reason
		}
	}
	if err := it.Error(); err != nil {
		return err
	}
	if looked > 0 {
		return ErrKey
	}
	return nil
}
