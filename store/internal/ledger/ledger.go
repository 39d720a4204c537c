// Package ledger is goleveldb with the habits of a store that must not lie.
//
// A commit is one batch with a number and a position, which says what the store is
// in step with. It is with the operating system when [Ledger.Commit] returns: killing
// the process loses nothing. [Ledger.Sync] makes all commits so far survive a loss of
// power, and marks them. [Open] looks for a hole in the commits behind the mark, which
// goleveldb passes over without a word: it reads on behind a part of its journal that
// never reached the disk. A store with a hole goes back to the mark, rows of lost
// commits may be left.
//
// Everything here is a cache of the chain, unless [Options] say that it is to be kept.
// A damaged folder is emptied when it is opened, and damage found later is [ErrDamaged]
// at each call, until [Ledger.Wipe]. A read that fails with EIO counts as damage of a
// cache: its next read may fail as well, and to rebuild it costs time alone. Data of
// another program or a later version is never changed.
//
// The keys of the package itself begin with V, S, C, P and M; schema.md has them.
package ledger

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/store/internal/dbfiles"
)

// Options say where a ledger lies and what it is.
type Options struct {
	FS   vfs.FS // nil: the operating system's
	Dir  string // a folder of its own; made when missing
	Name string // of the store, in logs and errors

	Version byte    // of the store's keys and values; those before Oldest are no longer read
	Oldest  byte    // version from which on a store is taken over as it is; 0: none but Version
	Network [4]byte // as it appears on the wire

	// Owns reports whether a pair can be the store's own; the value of a deleted key is
	// nil. A folder with files of other pairs is another program's. Nil: not looked at.
	Owns func(key, value []byte) bool

	// Adopt takes over the keys of a folder from before there were ledgers: it puts
	// into the batch what has to change and returns the position. ErrForeign: these
	// keys are another program's; ErrDamaged: they are worthless. Nil: there was no
	// such time.
	Adopt func(old Reader, change *Batch) (position []byte, err error)

	Marks int // how many marks are kept to go back to

	// Paced says that whoever commits much asks [Ledger.Lag] before: then no commit waits until tables are
	// merged, but where there are as many as maxLag.
	Paced bool

	// Keep says that nothing here can be made again. A read that fails with EIO is no damage then, but an error
	// of the file system: the next may succeed.
	Keep bool

	Cache, WriteBuffer int  // bytes; 0: goleveldb's own
	Bloom              bool // for reads of keys that are not there

	Log *slog.Logger // nil: none
}

// A Batch collects what one commit does.
type Batch = leveldb.Batch

// A Ledger is open. It is safe for concurrent use.
type Ledger struct {
	o    Options
	disk *dbfiles.Storage

	open sync.RWMutex // held to write while db changes
	db   *leveldb.DB  // nil: closed

	writer   sync.Mutex // one change at a time; guards what follows
	seq      uint64     // of the last commit
	synced   uint64     // of the last commit that is durable
	position []byte     // of the last commit; nil: none was made
	marks    []mark     // newest first
	failed   error      // of a write: what follows it might be lost
	closed   bool

	compacting atomic.Int64 // when the step of [Ledger.Compact] began that goes on; 0: none does
}

// A mark is a state that survives a loss of power.
type mark struct {
	seq      uint64
	position []byte
}

// Open opens a ledger, or makes an empty one, and returns the position of its last
// commit; nil: it is empty. Repairs are logged.
//
// Errors: [ErrForeign], [ErrNewer], [ErrLocked], and those of the file system.
func Open(o Options) (*Ledger, []byte, error) {
	if o.FS == nil {
		o.FS = vfs.OS
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	l := &Ledger{o: o}
	if err := vfs.MakeDir(o.FS, o.Dir, 0o700); err != nil {
		return nil, nil, fmt.Errorf("open %s: %w", o.Name, err)
	}
	disk, err := dbfiles.Open(o.FS, o.Dir)
	if err != nil {
		return nil, nil, fmt.Errorf("open %s in %s: %w", o.Name, o.Dir, err)
	}
	l.disk = disk
	err = l.probe()
	if err == nil {
		err = l.load()
	}
	if errors.Is(err, ErrDamaged) {
		o.Log.Warn("index is damaged, building it anew", "index", o.Name, "err", err)
		_ = l.shut()
		if err = l.empty(); err == nil {
			err = l.load()
		}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("open %s in %s: %w", o.Name, o.Dir, errors.Join(err, l.shut(), disk.Close()))
	}
	return l, l.position, nil
}

const (
	// mergedSoon is how many tables that are not merged yet are no reason to wait.
	mergedSoon = 8

	// maxLag is with how many of them each commit waits. goleveldb's own 12 are of so few bytes that they
	// come together while the next level is merged once, which takes seconds.
	maxLag = 100
)

// Lag returns how many tables more than usual wait to be merged, of a write buffer each, more while [Ledger.Compact]
// takes long. It does not wait.
func (l *Ledger) Lag() int {
	if !l.open.TryRLock() {
		return 0 // it is closed, or opened
	}
	defer l.open.RUnlock()
	var stats leveldb.DBStats
	if l.db == nil || l.db.Stats(&stats) != nil || len(stats.LevelTablesCounts) == 0 {
		return 0
	}
	return max(0, stats.LevelTablesCounts[0]-mergedSoon) + l.compactLag()
}

// probe refuses what is not to be touched: opening it to write would change it.
func (l *Ledger) probe() error {
	if l.o.Owns != nil {
		whose, err := dbfiles.Judge(l.o.Dir, l.o.Owns)
		if err != nil {
			return err
		}
		if whose == dbfiles.Foreign {
			return ErrForeign
		}
	}
	db, err := openDB(l.disk.ReadOnly(), &opt.Options{ReadOnly: true}) // which makes none
	switch {
	case errors.Is(err, errMissing):
		return nil
	case err != nil:
		return err
	}
	_, err = l.checkFormat(reader{db, l.o.Keep}, new(Batch))
	return errors.Join(err, db.Close())
}

// load opens the database and checks it.
func (l *Ledger) load() error {
	o := &opt.Options{
		BlockCacheCapacity: l.o.Cache, WriteBuffer: l.o.WriteBuffer, OpenFilesCacheCapacity: 32,
		DisableSeeksCompaction: true,
	}
	if l.o.Paced {
		o.WriteL0SlowdownTrigger, o.WriteL0PauseTrigger = maxLag, maxLag
	}
	if l.o.Bloom {
		o.Filter = filter.NewBloomFilter(10)
	}
	db, err := openDB(l.disk, o)
	if err != nil {
		return err
	}
	l.open.Lock()
	l.db = db
	l.open.Unlock()
	return l.restore()
}

// openDB opens a database. Each failure of goleveldb over damaged files, panics
// included, is an error.
func openDB(d *dbfiles.Storage, o *opt.Options) (db *leveldb.DB, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: panic: %v", ErrDamaged, p)
		}
	}()
	db, err = leveldb.Open(d, o)
	return db, fromLevelDB(err)
}

// shut closes the database, if it is open.
func (l *Ledger) shut() error {
	l.open.Lock()
	defer l.open.Unlock()
	if l.db == nil {
		return nil
	}
	err := l.db.Close()
	l.db = nil
	return err
}

// Close syncs and closes the ledger. Another time it does nothing.
func (l *Ledger) Close() error {
	l.writer.Lock()
	defer l.writer.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	var err error
	if l.db != nil && l.failed == nil { // else its caller got the error
		err = l.sync()
	}
	return errors.Join(err, l.shut(), l.disk.Close())
}

// Wipe empties the ledger: it is damaged, or its content is of no use. Readers find
// nothing from then on.
func (l *Ledger) Wipe() error {
	l.writer.Lock()
	defer l.writer.Unlock()
	if l.closed {
		return ErrClosed
	}
	_ = l.shut() // of a damaged one nothing else is to be expected
	err := l.empty()
	if err == nil {
		err = l.load()
	}
	if err != nil {
		return fmt.Errorf("empty %s: %w", l.o.Name, errors.Join(err, l.shut()))
	}
	return nil
}

// empty removes all files of the database, and forgets what opening them does not read.
func (l *Ledger) empty() error {
	l.marks, l.failed = nil, nil
	return l.disk.Clear()
}
