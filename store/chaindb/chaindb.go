// Package chaindb is the durable store under btcd's blockchain.BlockChain.
//
// Blocks and undo data lie in flat files of Bitcoin Core's format (package
// blockfile), metadata in goleveldb; schema.md has the key spaces. [DB.BTCD]
// gives btcd its database.DB. The rest of the node reads blocks, headers and
// spent outputs by hash with the methods of [DB]. The methods also cover blocks
// that left the chain.
//
// # Durability
//
// A committed transaction is with the operating system when the commit returns:
// killing the process loses nothing. [DB.Sync] is the commit point for a loss
// of power. Commits are numbered, and the numbers since the last Sync are kept;
// [Open] checks that none is missing and that the blocks and undo data that
// they name are in the files. Otherwise it reports [ErrDamaged], and the
// metadata is rebuilt from the blocks. A program does it as follows:
//
//	db, err := chaindb.Open(o)
//	if errors.Is(err, chaindb.ErrDamaged) {
//		err = chaindb.Rebuild(o)
//		// then Open again
//	}
//	chain, err := blockchain.New(…db.BTCD()…)
//	if db.Reloading() {
//		for record, err := range db.Reload() {
//			// feed record.Block to chain
//		}
//		err = db.ReloadDone()
//	}
//
// # Undo data
//
// btcd's spend journal is kept as undo data in rev files. btcd deletes an entry
// when its block leaves the chain; here the undo data stays, only btcd no
// longer sees the entry.
package chaindb

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/database"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/iterator"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/store/blockfile"
	"github.com/seed61375155/trawl/store/internal/dbfiles"
)

// Options say where a chain database lies and how it is written.
type Options struct {
	FS        vfs.FS  // nil: the operating system's
	Dir       string  // metadata: a leveldb folder of its own; made when missing
	BlocksDir string  // blk and rev files and xor.dat; made when missing
	Magic     [4]byte // of the network, as it appears on the wire
	XOR       bool    // obfuscate new block files (-blocksxor)
	FastPrune bool    // small block files (-fastprune)
	Prunable  bool    // files may be removed: Prune
	Strips    bool    // blocks may lose their witnesses: Strip

	// HeaderLen returns the bytes before the transactions of a block; nil: those
	// of Bitcoin's header. It believes no length that the bytes do not back, and
	// may return -1.
	HeaderLen func(raw []byte) int

	// WroteCoins is notified of the bytes of each change of the unspent outputs, while many of them are
	// written together; nil: nobody is. A test may end the program there.
	WroteCoins func(bytes int)

	Log *slog.Logger // nil: slog.Default

	writeBuffer int // bytes of metadata in memory; 0: what a node wants
}

// reader is what a leveldb snapshot and the database itself have in common.
type reader interface {
	Get(key []byte, ro *opt.ReadOptions) ([]byte, error)
	Has(key []byte, ro *opt.ReadOptions) (bool, error)
	NewIterator(slice *util.Range, ro *opt.ReadOptions) iterator.Iterator
}

// A DB is an open chain database. Its methods are safe for concurrent use.
type DB struct {
	stripped

	o      Options
	ldb    *leveldb.DB
	folder *dbfiles.Storage // ldb's
	blocks *blockfile.Files
	undo   *blockfile.Files
	gate   gate
	found  foundBlocks
	places places
	used   atomic.Int64 // bytes in the files, the sum of ends
	copies *blockfile.Copies

	isStripped  atomic.Bool // the format says that witnesses were removed from blocks
	wasStripped bool        // it said so when the database was opened

	suspect sync.Once // damage was noted

	// moving is held by who looks up where a block lies, until it is read, and by who moves blocks.
	moving sync.RWMutex

	// writer is held by the read-write transaction, of which there is one at a
	// time, and by Sync. It guards what follows.
	writer  sync.Mutex
	ends    map[int]fileEnds
	current int    // number of the blk file that is being filled
	seq     uint64 // number of the last commit
	synced  uint64 // number of the last commit that is durable
	last    blockShape
	held    map[int][]chainhash.Hash // blocks by file; nil unless files are removed or rewritten
	twoSets bool                     // the format says that the second set was written
	failed  error                    // of a write: what follows it might be lost
	stuck   bool                     // ldb may not close: see writeTables

	// published guards dir together with the state of ldb that it belongs to.
	published sync.RWMutex
	dir       *directory

	// gone are the numbers of the files that were removed. The map is never changed
	// once published.
	gone map[int]struct{}

	reloading bool // set by Open, cleared by ReloadDone; guarded by published
}

// Open opens the chain database, or makes an empty one. Beyond errors of the
// file system it reports [ErrDamaged], [ErrWrongNetwork], [ErrNewer], [ErrForeign],
// [ErrKey] and [blockfile.ErrKeyStored]. A database is open in one process at a time.
func Open(o Options) (*DB, error) {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.FS == nil {
		o.FS = vfs.OS
	}
	if err := refuseForeign(o.Dir); err != nil {
		return nil, err
	}
	for _, dir := range []string{o.Dir, o.BlocksDir} {
		if err := vfs.MakeDir(o.FS, dir, 0o700); err != nil {
			return nil, fmt.Errorf("open chain database: %w", err)
		}
	}
	key, err := blockfile.InitKey(o.FS, o.BlocksDir, o.XOR)
	if err != nil {
		return nil, fmt.Errorf("open chain database: %w", err)
	}
	ldb, folder, err := openLevelDB(&o)
	if err != nil {
		return nil, err
	}
	db := &DB{
		o:      o,
		ldb:    ldb,
		folder: folder,
		blocks: blockfile.NewFiles(o.FS, o.BlocksDir, blockfile.Blocks, o.Magic, key),
		undo:   blockfile.NewFiles(o.FS, o.BlocksDir, blockfile.Undo, o.Magic, key),
		ends:   map[int]fileEnds{},
	}
	db.gate.init()
	db.stripped = stripped{db}
	if err = db.load(); err == nil {
		db.copies, err = blockfile.OpenCopies(o.FS, o.BlocksDir, key)
	}
	if err != nil {
		return nil, errors.Join(err, ldb.Close(), folder.Close())
	}
	return db, nil
}

// CacheSize is how many bytes of changes goleveldb holds in memory, which is all that it
// caches.
const CacheSize = 16 * opt.MiB

// openLevelDB opens the metadata. If that fails, it does not use goleveldb's
// RecoverFile, which drops tables that it cannot read and can bring deleted
// keys back. A UTXO set with such a hole would pass for a good set.
func openLevelDB(o *Options) (*leveldb.DB, *dbfiles.Storage, error) {
	folder, err := dbfiles.Open(o.FS, o.Dir)
	if err != nil {
		return nil, nil, fmt.Errorf("open chain database in %s: %w", o.Dir, err)
	}
	ldb, err := leveldb.Open(folder, &opt.Options{
		// Without a cache of blocks, indexes and filters of open tables stay in memory,
		// some 3 % of the tables' size. In a cache they would push each other out: a coin
		// that was made long ago cost reading half a megabyte then. Coins that are looked
		// up again soon are in the cache of unspent outputs.
		DisableBlockCache: true,

		WriteBuffer:            cmp.Or(o.writeBuffer, CacheSize),
		OpenFilesCacheCapacity: 1000, // a set of 11 GB has 350 tables, and more while it is written
		Filter:                 filter.NewBloomFilter(10),
		DisableSeeksCompaction: true,

		// Ids and scripts do not compress. Unspent outputs are written in ascending order,
		// some 25 tables at a time that do not overlap: they are moved down without
		// being read, and need not be before the second time.
		Compression:            opt.NoCompression,
		CompactionTableSize:    32 * opt.MiB,
		CompactionTotalSize:    400 * opt.MiB,
		CompactionL0Trigger:    40,
		WriteL0SlowdownTrigger: 64,
		WriteL0PauseTrigger:    96,
	})
	switch err = fromLevelDB(err); {
	case errors.Is(err, ErrCorrupt):
		return nil, nil, errors.Join(fmt.Errorf("%w: %w", ErrDamaged, err), folder.Close())
	case err != nil:
		return nil, nil, errors.Join(fmt.Errorf("open chain database in %s: %w", o.Dir, err), folder.Close())
	}
	return ldb, folder, nil
}

// BTCD returns the database in the form that btcd's blockchain package uses.
// Its Close is that of the DB. It keeps the spend journal for stored blocks
// only, and does not prune: see [DB.Prune].
func (db *DB) BTCD() database.DB { return btcdDB{db} }

// Close syncs and closes the database. It waits for running transactions;
// everything begun later is [ErrClosed].
func (db *DB) Close() error {
	if !db.gate.close() {
		return ErrClosed
	}
	err := db.sync()
	if errors.Is(err, ErrFailed) {
		err = nil // its caller got the error
	}
	return errors.Join(err, db.closeLevelDB(), db.folder.Close(), db.blocks.Close(), db.undo.Close())
}

// closeLevelDB closes the metadata. A stuck database, which may never close, is
// left alone, with its folder frozen.
func (db *DB) closeLevelDB() error {
	db.writer.Lock()
	defer db.writer.Unlock()
	if !db.stuck {
		return db.ldb.Close()
	}
	db.folder.Freeze()
	go db.ldb.Close() // ends what it has in the background; may wait for ever itself
	return nil
}

// fileLimit returns the size that block files stay below.
func (db *DB) fileLimit() int64 {
	if db.o.FastPrune {
		return blockfile.FastPruneFileSize
	}
	return blockfile.MaxFileSize
}
