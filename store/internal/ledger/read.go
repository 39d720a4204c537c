package ledger

import (
	"bytes"
	"iter"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"
)

// A Reader reads keys.
type Reader interface {
	// Get returns a value, which is the caller's. Errors: ErrNotFound, ErrDamaged,
	// ErrClosed.
	Get(key []byte) ([]byte, error)

	// Range yields the pairs whose keys begin with a prefix, in order. They are
	// valid until the next. The last is an error, if there is one.
	Range(prefix []byte) iter.Seq2[Pair, error]

	// Last returns the last key that begins with a prefix. Errors as of Get.
	Last(prefix []byte) ([]byte, error)
}

// A Pair is a key with its value.
type Pair struct{ Key, Value []byte }

// Get implements Reader.
func (l *Ledger) Get(key []byte) ([]byte, error) {
	l.open.RLock()
	defer l.open.RUnlock()
	if l.db == nil {
		return nil, ErrClosed
	}
	return reader{l.db, l.o.Keep}.Get(key)
}

// Range implements Reader. The loop's body must not call the ledger: a Close or a
// Wipe may be waiting for the end of the loop.
func (l *Ledger) Range(prefix []byte) iter.Seq2[Pair, error] {
	return func(yield func(Pair, error) bool) {
		l.open.RLock()
		defer l.open.RUnlock()
		if l.db == nil {
			yield(Pair{}, ErrClosed)
			return
		}
		reader{l.db, l.o.Keep}.Range(prefix)(yield)
	}
}

// Between yields the pairs whose keys lie from one on and before another, as Range does.
func (l *Ledger) Between(from, to []byte) iter.Seq2[Pair, error] {
	return func(yield func(Pair, error) bool) {
		l.open.RLock()
		defer l.open.RUnlock()
		if l.db == nil {
			yield(Pair{}, ErrClosed)
			return
		}
		reader{l.db, l.o.Keep}.between(&util.Range{Start: from, Limit: to}, yield)
	}
}

// Last implements Reader.
func (l *Ledger) Last(prefix []byte) ([]byte, error) {
	l.open.RLock()
	defer l.open.RUnlock()
	if l.db == nil {
		return nil, ErrClosed
	}
	return reader{l.db, l.o.Keep}.Last(prefix)
}

// reader reads a database.
type reader struct {
	db   *leveldb.DB
	keep bool // as in Options
}

func (r reader) Get(key []byte) ([]byte, error) {
	value, err := r.db.Get(key, nil)
	return value, fromRead(err, r.keep)
}

func (r reader) Range(prefix []byte) iter.Seq2[Pair, error] {
	return func(yield func(Pair, error) bool) { r.between(util.BytesPrefix(prefix), yield) }
}

func (r reader) between(keys *util.Range, yield func(Pair, error) bool) {
	it := r.db.NewIterator(keys, &opt.ReadOptions{DontFillCache: true})
	defer it.Release()
	for it.Next() {
		if !yield(Pair{it.Key(), it.Value()}, nil) {
			return
		}
	}
	if err := it.Error(); err != nil {
		yield(Pair{}, fromRead(err, r.keep))
	}
}

func (r reader) Last(prefix []byte) ([]byte, error) {
	it := r.db.NewIterator(util.BytesPrefix(prefix), nil)
	defer it.Release()
	if it.Last() {
		return bytes.Clone(it.Key()), nil
	}
	if err := it.Error(); err != nil {
		return nil, fromRead(err, r.keep)
	}
	return nil, ErrNotFound
}
