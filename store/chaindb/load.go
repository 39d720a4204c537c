package chaindb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/seed61375155/trawl/store/blockfile"
)

// load reads the state of the database and checks it. Anything that does not
// fit together is [ErrDamaged].
func (db *DB) load() error {
	format, err := db.ldb.Get(formatKey, nil)
	if errors.Is(err, leveldb.ErrNotFound) {
		err = db.create()
	} else if err == nil {
		err = db.checkFormat(format)
	}
	for _, step := range []func() error{
		db.checkSuspect, db.loadDirectory, leftovers{db}.order, db.loadFiles, db.loadPruned, db.loadReloading,
		db.checkKey, db.verifyCommits, db.loadHeld,
	} {
		if err == nil {
			err = step()
		}
	}
	if err = fromLevelDB(err); errors.Is(err, ErrCorrupt) || errors.Is(err, ErrNotFound) {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}

// create writes the first records. Block files that are there already, from
// before a [Rebuild] or from another node, are left to [DB.Reload]; what is
// written goes behind them.
func (db *DB) create() error {
	if err := (leftovers{db}).order(); err != nil { // before anything is removed
		return err
	}
	if db.o.Prunable {
		if err := dropLoose(db.o.FS, db.o.BlocksDir); err != nil {
			return err
		}
	}
	numbers, err := blockfile.Blocks.Numbers(db.o.FS, db.o.BlocksDir)
	if err != nil {
		return err
	}
	batch := new(leveldb.Batch)
	for _, n := range numbers {
		var ends fileEnds
		if ends.blk, err = db.blocks.Size(n); err != nil {
			return err
		}
		if ends.rev, err = db.undo.Size(n); err != nil {
			return err
		}
		batch.Put(numberKey(prefixFile, uint64(n)), ends.encode())
	}
	if len(numbers) > 0 {
		batch.Put(reloadKey, nil)
	}
	batch.Put(syncedKey, make([]byte, 8))
	batch.Put(formatKey, db.format(formatVersion))
	return db.writeDurably(batch)
}

// format is the value of the format record: version and network.
func (db *DB) format(version byte) []byte { return append([]byte{version}, db.o.Magic[:]...) }

func (db *DB) checkFormat(format []byte) error {
	switch {
	case bytes.Equal(format, db.format(formatVersion)):
		return nil
	case bytes.Equal(format, db.format(formatTwoSets)):
		db.twoSets = true
		return nil
	case bytes.Equal(format, db.format(formatStripped)):
		db.twoSets = true // or may come to be, without a word
		db.isStripped.Store(true)
		db.wasStripped = true
		return nil
	case len(format) != 5:
		return fmt.Errorf("%w: format record %x", ErrCorrupt, format)
	case format[0] > formatStripped:
		return fmt.Errorf("%w: format %d, this one knows formats up to %d", ErrNewer, format[0], formatStripped)
	case format[0] < formatVersion:
		return fmt.Errorf("%w: format %d, this program writes %d", ErrDamaged, format[0], formatVersion)
	}
	return fmt.Errorf("%w: %x instead of %x", ErrWrongNetwork, format[1:], db.o.Magic[:])
}

func (db *DB) loadDirectory() (err error) {
	db.dir, err = loadDirectory(db.ldb)
	return err
}

// loadFiles reads how far each file is used.
func (db *DB) loadFiles() error {
	it := db.ldb.NewIterator(util.BytesPrefix([]byte{prefixFile}), nil)
	defer it.Release()
	missing := map[int]bool{}
	for it.Next() {
		n, err := keyNumber(it.Key())
		if err != nil {
			return err
		}
		ends, err := decodeFileEnds(it.Value())
		if err != nil {
			return err
		}
		gone, err := db.loadFile(int(n), ends)
		if err != nil {
			return err
		}
		if gone {
			missing[int(n)] = true
		}
	}
	if err := it.Error(); err != nil || len(missing) == 0 {
		return err
	}
	return db.refuseMissing(missing)
}

// checkSize reports a file that is shorter than its written data.
func checkSize(files *blockfile.Files, number int, least int64) error {
	size, err := files.Size(number)
	if err == nil && size < least {
		err = fmt.Errorf("%w: file %d has %d bytes, %d were written", ErrCorrupt, number, size, least)
	}
	return err
}

// verifyCommits checks the commits after the last Sync. No commit may be
// missing before a later commit, and the blocks and undo data that a commit
// names must be readable. The check is needed because goleveldb passes over a
// damaged part of its journal without a word.
func (db *DB) verifyCommits() error {
	synced, err := db.ldb.Get(syncedKey, nil)
	if err != nil {
		return err
	}
	if len(synced) != 8 {
		return fmt.Errorf("%w: sync record %x", ErrCorrupt, synced)
	}
	db.synced = binary.BigEndian.Uint64(synced)
	db.seq = db.synced

	it := db.ldb.NewIterator(util.BytesPrefix([]byte{prefixCommit}), nil)
	defer it.Release()
	for it.Next() {
		n, err := keyNumber(it.Key())
		if err != nil {
			return err
		}
		if n != db.seq+1 {
			return fmt.Errorf("%w: commit %d is missing", ErrCorrupt, db.seq+1)
		}
		db.seq = n
		if err := db.verifyCommit(it.Value()); err != nil {
			return fmt.Errorf("commit %d: %w", n, err)
		}
	}
	if db.seq != db.synced {
		db.o.Log.Info("chain database was not closed cleanly; recent blocks verified", "commits", db.seq-db.synced)
	}
	return it.Error()
}

// The kinds of records that a commit names.
const (
	wroteBlock = 0
	wroteUndo  = 1
)

// writtenSize is the size of a record's kind and hash.
const writtenSize = 1 + chainhash.HashSize

// appendWritten adds a record to the list that a commit keeps.
func appendWritten(list []byte, kind byte, hash *chainhash.Hash) []byte {
	return append(append(list, kind), hash[:]...)
}

// verifyCommit reads back what one commit wrote to the files.
func (db *DB) verifyCommit(list []byte) error {
	if len(list)%writtenSize != 0 {
		return fmt.Errorf("%w: commit record of %d bytes", ErrCorrupt, len(list))
	}
	for ; len(list) > 0; list = list[writtenSize:] {
		hash := chainhash.Hash(list[1:writtenSize])
		l, err := findLocation(db.ldb, &hash)
		if err != nil {
			return err
		}
		if list[0] == wroteBlock {
			_, err = db.readBlock(&hash, l)
		} else {
			_, err = db.readUndo(db.ldb, &hash, l)
		}
		if err != nil {
			return fmt.Errorf("block %v: %w", hash, err)
		}
	}
	return nil
}
