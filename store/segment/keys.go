package segment

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"syscall"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/store/internal/dbfiles"
)

// keyOptions: the records are hashes, which do not compress, and are read
// once, at the start.
func keyOptions(buffer int) *opt.Options {
	return &opt.Options{
		Compression:            opt.NoCompression,
		BlockCacheCapacity:     1 << 20,
		OpenFilesCacheCapacity: 64,
		WriteBuffer:            buffer,
	}
}

var (
	durably  = &opt.WriteOptions{Sync: true}
	uncached = &opt.ReadOptions{DontFillCache: true}
)

// errKeysDamaged reports a database that has to be recovered or wiped.
var errKeysDamaged = errors.New("filter keys are damaged")

// keys is the database of records and marks.
type keys struct {
	db   *leveldb.DB
	stor *dbfiles.Storage
}

// marks are the single values of the database.
type marks struct {
	tip       chainhash.Hash // zero: none was set
	hasTip    bool
	synced    syncMark
	hasSynced bool
}

// openKeys opens the database and reads it into a catalog: as it is, else as
// far as it can be recovered, else empty.
func openKeys(fs vfs.FS, dir string, o *opt.Options, log *slog.Logger) (*keys, catalog, marks, error) {
	steps := []struct {
		name string
		open openFunc
	}{
		{"open", openAsIs},
		{"salvage", salvage},
		{"recover", recoverTables},
		{"wipe", wipe},
	}
	var failure error
	for _, step := range steps {
		k, err := openWith(fs, dir, o, step.open)
		var c catalog
		var m marks
		if err == nil {
			if c, m, err = k.load(log); err == nil {
				return k, c, m, nil
			}
			err = errors.Join(err, k.close())
		}
		failure = fmt.Errorf("%s filter keys: %w", step.name, err)
		if !isDamage(err) {
			break
		}
		log.Warn("filter index database is damaged", "step", step.name, "err", err)
	}
	return nil, catalog{}, marks{}, failure
}

// An openFunc opens a database.
type openFunc func(*dbfiles.Storage, *opt.Options) (*leveldb.DB, error)

// openWith locks the directory and opens the database in it. Each failure of
// the database over damaged files, panics included, is an error.
func openWith(fs vfs.FS, dir string, o *opt.Options, open openFunc) (k *keys, err error) {
	stor, err := dbfiles.Open(fs, dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: panic: %v", errKeysDamaged, r)
		}
		if err != nil {
			stor.Close()
		}
	}()
	db, err := open(stor, o)
	if err != nil {
		return nil, err
	}
	return &keys{db, stor}, nil
}

func openAsIs(stor *dbfiles.Storage, o *opt.Options) (*leveldb.DB, error) {
	return leveldb.Open(stor, o)
}

// salvage copies the readable pairs of a database with damaged blocks in its
// tables into a new database. Recover rewrites such tables, too, but fails for
// tables with several versions of a key. Nearly all have several versions of
// the tip's key.
func salvage(stor *dbfiles.Storage, o *opt.Options) (*leveldb.DB, error) {
	lenient := *o
	lenient.Strict = opt.StrictBlockChecksum | opt.StrictJournalChecksum
	old, err := leveldb.Open(stor, &lenient)
	if err != nil {
		return nil, err
	}
	batch := new(leveldb.Batch)
	it := old.NewIterator(nil, uncached)
	for it.Next() {
		batch.Put(it.Key(), it.Value())
	}
	it.Release()
	if err := errors.Join(it.Error(), old.Close()); err != nil {
		return nil, err
	}
	db, err := wipe(stor, o)
	if err != nil {
		return nil, err
	}
	if err := db.Write(batch, durably); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// recoverTables finds the tables of a database whose list of tables is lost.
func recoverTables(stor *dbfiles.Storage, o *opt.Options) (*leveldb.DB, error) {
	return leveldb.Recover(stor, o)
}

// wipe removes every file of the database, whose lock is held.
func wipe(stor *dbfiles.Storage, o *opt.Options) (*leveldb.DB, error) {
	if err := stor.Clear(); err != nil {
		return nil, err
	}
	return leveldb.Recover(stor, o) // which, unlike Open, asks for no file
}

// isDamage tells damage of the database, missing files included, from outside
// causes: a lock, permissions, a full disk.
func isDamage(err error) bool {
	var system syscall.Errno
	if errors.As(err, &system) {
		return errors.Is(err, fs.ErrNotExist)
	}
	return !errors.Is(err, dbfiles.ErrLocked) && !errors.Is(err, ErrForeign)
}

// load reads all keys, which also verifies every block of the database.
// Records that contradict others are deleted.
func (k *keys) load(log *slog.Logger) (c catalog, m marks, err error) {
	if err := k.checkFormat(); err != nil {
		return c, m, err
	}
	drop := new(leveldb.Batch)
	it := k.db.NewIterator(nil, uncached)
	defer it.Release()
	for it.Next() {
		if !c.addPair(&m, it.Key(), it.Value()) {
			drop.Delete(it.Key())
		}
	}
	if err := it.Error(); err != nil {
		return c, m, err
	}
	if drop.Len() > 0 {
		log.Warn("filter index drops records that contradict others", "records", drop.Len())
		return c, m, k.db.Write(drop, durably)
	}
	return c, m, nil
}

// addPair takes one pair of the database. False means that it is worthless.
func (c *catalog) addPair(m *marks, key, value []byte) bool {
	switch {
	case bytes.HasPrefix(key, keyFilter):
		at, ok := parsePosition(key[len(keyFilter):])
		if !ok {
			return false
		}
		r, ok := parseRecord(at, value)
		return ok && c.add(&r)
	case bytes.Equal(key, keyTip):
		m.hasTip = m.tip.SetBytes(value) == nil
		return m.hasTip
	case bytes.Equal(key, keySynced):
		m.synced, m.hasSynced = parseSyncMark(value)
		return m.hasSynced
	}
	return bytes.Equal(key, keyFormat)
}

// checkFormat reads the format version; a new database gets it, together with
// marks that nothing is synced and no block is the tip: a mark that is absent
// later was lost.
func (k *keys) checkFormat() error {
	version, err := k.db.Get(keyFormat, nil)
	switch {
	case err == nil && bytes.Equal(version, []byte{formatVersion}):
		return nil
	case err == nil:
		return fmt.Errorf("%w: unknown format %x", errKeysDamaged, version)
	case !errors.Is(err, leveldb.ErrNotFound):
		return err
	}
	empty, ours, err := k.peek()
	if err != nil {
		return err
	}
	if !empty && !ours {
		return ErrForeign
	}
	batch := new(leveldb.Batch)
	batch.Put(keyFormat, []byte{formatVersion})
	if empty {
		batch.Put(keySynced, new(syncMark).value())
		batch.Put(keyTip, make([]byte, chainhash.HashSize))
	}
	return k.db.Write(batch, durably)
}

// peek tells whether the database is empty, and whether its first key could
// be one of this package.
func (k *keys) peek() (empty, ours bool, err error) {
	it := k.db.NewIterator(nil, uncached)
	defer it.Release()
	if !it.Next() {
		return true, false, it.Error()
	}
	for _, prefix := range [][]byte{keyFormat, keyTip, keySynced, keyFilter} {
		ours = ours || bytes.HasPrefix(it.Key(), prefix)
	}
	return false, ours, nil
}

// recordOf reads the record of a block. The record was read when the store was
// opened: if it is now different or gone, that is damage.
func (k *keys) recordOf(at position, block *chainhash.Hash) (record, error) {
	r, err := k.filter(at)
	if err == nil && r.block != *block {
		err = errKeys
	}
	if err != nil {
		return record{}, fmt.Errorf("filter record of block %v: %w", block, err)
	}
	return r, nil
}

// filter reads the record at a position.
func (k *keys) filter(at position) (record, error) {
	value, err := k.db.Get(at.key(), nil)
	switch {
	case errors.Is(err, leveldb.ErrClosed):
		return record{}, ErrClosed
	case err != nil:
		return record{}, fmt.Errorf("%w: %w", errKeys, err)
	}
	r, ok := parseRecord(at, value)
	if !ok {
		return record{}, errKeys
	}
	return r, nil
}

// put writes records and hands them to the operating system.
func (k *keys) put(records []record) error {
	batch := new(leveldb.Batch)
	for i := range records {
		batch.Put(records[i].key(), records[i].value())
	}
	if err := k.db.Write(batch, nil); err != nil {
		return fmt.Errorf("write filter keys: %w", err)
	}
	return nil
}

// cut deletes the records from a position on.
func (k *keys) cut(from position) error {
	batch := new(leveldb.Batch)
	end := util.BytesPrefix(keyFilter).Limit
	it := k.db.NewIterator(&util.Range{Start: from.key(), Limit: end}, uncached)
	defer it.Release()
	for it.Next() {
		batch.Delete(it.Key())
	}
	if err := it.Error(); err != nil {
		return err
	}
	return k.db.Write(batch, durably)
}

// sync makes every record written so far durable, then writes the mark durably.
//
// A synced write flushes only its own journal, and not the journal before,
// which may still wait to be turned into a table. Therefore the journals are
// flushed by name.
func (k *keys) sync(mark syncMark) error {
	if err := k.stor.SyncJournals(); err != nil {
		return err
	}
	if err := k.db.Put(keySynced, mark.value(), durably); err != nil {
		return err
	}
	return k.stor.SyncDir() // the write may have begun a journal
}

func (k *keys) close() error {
	return errors.Join(k.db.Close(), k.stor.Close())
}
