package chaindb

import (
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/util"
)

// A CoinStore reads and writes the set of unspent outputs, by the keys and values
// that the set has on disk.
type CoinStore struct {
	db     *DB
	set    CoinSet
	prefix []byte
}

// CoinStore returns a set, whose bucket must have been made.
func (db *DB) CoinStore(set CoinSet) (*CoinStore, error) {
	db.published.RLock()
	defer db.published.RUnlock()
	id, ok := db.dir.child(0, []byte(coinSets[set].bucket))
	if !ok {
		return nil, fmt.Errorf("%w: %s", errNoBucket, coinSets[set].bucket)
	}
	return &CoinStore{db: db, set: set, prefix: id.itemPrefix()}, nil
}

// Erase deletes up to so many outputs of the set, and the block that it is at before them, and
// reports whether there are more. Deletions survive a loss of power.
func (s *CoinStore) Erase(limit int) (more bool, err error) {
	if err := s.db.gate.enter(); err != nil {
		return false, err
	}
	defer s.db.gate.leave()
	s.db.writer.Lock()
	defer s.db.writer.Unlock()
	if err := s.db.writable(); err != nil {
		return false, err
	}
	tip, err := s.db.ldb.Has(s.set.tipKey(), nil)
	if err != nil {
		return false, fromLevelDB(s.db.seen(err))
	}
	batch := new(leveldb.Batch)
	if tip {
		batch.Delete(s.set.tipKey())
	}
	it := s.db.ldb.NewIterator(util.BytesPrefix(s.prefix), nil)
	defer it.Release()
	for more = it.Next(); more && batch.Len() < limit; more = it.Next() {
		batch.Delete(it.Key())
	}
	err = it.Error()
	if err == nil && batch.Len() > 0 {
		err = s.db.writeDurably(batch)
	}
	if err != nil {
		return false, fmt.Errorf("erase unspent outputs: %w", fromLevelDB(s.db.seen(err)))
	}
	return more, nil
}

// Coin returns the value under a key, nil where there is none.
func (s *CoinStore) Coin(key []byte) ([]byte, error) {
	if err := s.db.gate.enter(); err != nil {
		return nil, err
	}
	defer s.db.gate.leave()
	whole := append(append(make([]byte, 0, len(s.prefix)+len(key)), s.prefix...), key...)
	value, err := s.db.ldb.Get(whole, nil)
	if errors.Is(err, leveldb.ErrNotFound) {
		return nil, nil
	}
	return value, fromLevelDB(s.db.seen(err))
}

// smallFlush is up to how many bytes changes of the set are an ordinary commit;
// more bypass the journal.
const smallFlush = 1 << 20

// WriteCoins makes changes of the set, of about size bytes, and notes that the set
// has all blocks up to tip: all of it or nothing. A nil value deletes. The blocks
// that the changes rest on are made durable first, so that the set is never ahead
// of the blocks.
func (s *CoinStore) WriteCoins(
	tip *chainhash.Hash, size int, changes func(put func(key, value []byte) error) error,
) error {
	if err := s.db.Sync(); err != nil {
		return err
	}
	t, err := s.db.begin(true)
	if err != nil {
		return err
	}
	defer t.close()
	if err := s.db.writable(); err != nil {
		return err
	}
	if err := s.note(); err != nil {
		return err
	}
	if size > smallFlush {
		return s.writeTables(tip, changes)
	}
	err = changes(func(key, value []byte) error {
		whole := append(append([]byte(nil), s.prefix...), key...)
		if value != nil {
			value = append(make([]byte, 0, len(value)), value...)
		}
		t.note(whole, value)
		return nil
	})
	if err != nil {
		return err
	}
	t.note(s.set.tipKey(), append([]byte(nil), tip[:]...))
	return t.commit()
}

// note has the format say that the second set is written.
func (s *CoinStore) note() error {
	if s.set == FirstCoins || s.db.twoSets {
		return nil
	}
	batch := new(leveldb.Batch)
	batch.Put(formatKey, s.db.format(formatTwoSets))
	if err := s.db.writeDurably(batch); err != nil {
		return fmt.Errorf("write unspent outputs: %w", fromLevelDB(s.db.seen(err)))
	}
	s.db.twoSets = true
	return nil
}

// writeTables writes changes as tables of their own, which are durable and become
// visible together.
//
// goleveldb keeps locks when a transaction cannot be begun or committed. Nothing can
// be written any more then, and to close it would wait for ever.
func (s *CoinStore) writeTables(tip *chainhash.Hash, changes func(put func(key, value []byte) error) error) error {
	t, err := s.db.ldb.OpenTransaction()
	if err != nil {
		s.db.stuck = true
		_ = s.db.fail(err)
		return fmt.Errorf("write unspent outputs: %w", fromLevelDB(s.db.seen(err)))
	}
	defer func() {
		if !s.db.stuck { // else it may wait for ever, too
			t.Discard()
		}
	}()
	whole := append([]byte(nil), s.prefix...)
	err = changes(func(key, value []byte) error {
		whole = append(whole[:len(s.prefix)], key...)
		var err error
		if value == nil {
			err = t.Delete(whole, nil)
		} else {
			err = t.Put(whole, value, nil)
		}
		if err == nil && s.db.o.WroteCoins != nil {
			s.db.o.WroteCoins(len(whole) + len(value))
		}
		return s.db.fail(err)
	})
	if err == nil {
		err = s.db.fail(t.Put(s.set.tipKey(), tip[:], nil))
	}
	if err == nil {
		err = s.db.fail(s.db.commitTables(t))
		if s.db.stuck = err != nil; s.db.stuck {
			s.db.folder.Freeze() // the tables may count already: they must not be removed
		}
	}
	if err != nil {
		return fmt.Errorf("write unspent outputs: %w", fromLevelDB(s.db.seen(err)))
	}
	return nil
}

var errManifest = errors.New("the list of tables cannot be written")

// commitTables commits a transaction, unless goleveldb cannot write its manifest: then
// the commit may wait for ever for a compaction that tries it again and again.
func (db *DB) commitTables(t *leveldb.Transaction) error {
	done := make(chan error, 1)
	go func() { done <- t.Commit() }()
	select {
	case err := <-done:
		return err
	case <-db.folder.Broken():
		return errManifest
	}
}
