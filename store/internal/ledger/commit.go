package ledger

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/syndtr/goleveldb/leveldb/opt"
)

// The key spaces.
var (
	formatKey    = []byte{'V'} // version and network
	syncedKey    = []byte{'S'} // number of the last durable commit, and its position
	positionKey  = []byte{'P'} // of the last commit
	commitPrefix = []byte{'C'} // number of a commit that is not marked as durable
	markPrefix   = []byte{'M'} // number of a commit that was the last at a mark: its position
)

// Owns reports whether a pair can be one of a ledger's own keys; the value of a deleted
// one is nil.
func Owns(key, value []byte) bool {
	switch {
	case bytes.Equal(key, formatKey):
		return value == nil || len(value) == 5
	case bytes.Equal(key, syncedKey):
		return value == nil || len(value) == 8
	case bytes.Equal(key, positionKey):
		return true
	case bytes.HasPrefix(key, commitPrefix):
		return len(key) == 9 && len(value) == 0
	case bytes.HasPrefix(key, markPrefix):
		return len(key) == 9
	}
	return false
}

var durably = &opt.WriteOptions{Sync: true}

// numberKey returns a key that sorts by its number.
func numberKey(prefix []byte, n uint64) []byte {
	return binary.BigEndian.AppendUint64(bytes.Clone(prefix), n)
}

// keyNumber is the inverse of numberKey.
func keyNumber(key []byte) (uint64, error) {
	if len(key) != 9 {
		return 0, fmt.Errorf("%w: key %x", ErrDamaged, key)
	}
	return binary.BigEndian.Uint64(key[1:]), nil
}

// Commit writes a batch together with the position after it, in one step. The batch
// is the caller's again afterwards, with more in it. After a commit that failed there
// is none until the ledger is opened again or wiped.
//
// Errors: [ErrDamaged], [ErrFailed], [ErrClosed], those of the file system.
func (l *Ledger) Commit(b *Batch, position []byte) error {
	l.writer.Lock()
	defer l.writer.Unlock()
	if err := l.writable(); err != nil {
		return err
	}
	b.Put(positionKey, position)
	b.Put(numberKey(commitPrefix, l.seq+1), nil)
	if err := l.db.Write(b, nil); err != nil {
		return l.fail(fmt.Errorf("write %s: %w", l.o.Name, fromLevelDB(err)))
	}
	l.seq++
	l.position = bytes.Clone(position)
	return nil
}

// writable reports why nothing can be written. writer is held.
func (l *Ledger) writable() error {
	switch {
	case l.db == nil:
		return ErrClosed
	case l.failed != nil:
		return fmt.Errorf("write %s: %w: %w", l.o.Name, ErrFailed, l.failed)
	}
	return nil
}

func (l *Ledger) fail(err error) error {
	l.failed = err
	return err
}

// Sync makes everything committed so far survive a loss of power. Without changes it
// costs nothing. After a failed sync nothing is written any more: the system may
// have dropped the data that it could not write.
func (l *Ledger) Sync() error {
	l.writer.Lock()
	defer l.writer.Unlock()
	if err := l.writable(); err != nil {
		return err
	}
	return l.sync()
}

func (l *Ledger) sync() error {
	if l.seq == l.synced {
		return nil
	}
	// goleveldb syncs its newest journal only, and an older one is in use until what
	// it holds is in a table.
	if err := l.disk.SyncJournals(); err != nil {
		return l.fail(fmt.Errorf("sync %s: %w", l.o.Name, err))
	}
	b := new(Batch)
	for n := l.synced + 1; n <= l.seq; n++ {
		b.Delete(numberKey(commitPrefix, n))
	}
	marks := l.mark(b, l.seq, l.position)
	err := l.db.Write(b, durably)
	if err == nil {
		err = l.disk.SyncDir() // the write may have begun a journal
	}
	if err != nil {
		return l.fail(fmt.Errorf("sync %s: %w", l.o.Name, fromLevelDB(err)))
	}
	l.synced, l.marks = l.seq, marks
	return nil
}

// mark puts into a batch that all is durable up to a commit, and returns the marks after that.
func (l *Ledger) mark(b *Batch, seq uint64, position []byte) []mark {
	marks := append([]mark{{seq, bytes.Clone(position)}}, l.marks...)
	b.Put(numberKey(markPrefix, seq), position)
	for len(marks) > max(1, l.o.Marks) {
		b.Delete(numberKey(markPrefix, marks[len(marks)-1].seq))
		marks = marks[:len(marks)-1]
	}
	b.Put(syncedKey, binary.BigEndian.AppendUint64(nil, seq))
	return marks
}

// CommitDurably is [Ledger.Commit] and [Ledger.Sync] in one write, which the disk takes whole or not at all.
func (l *Ledger) CommitDurably(b *Batch, position []byte) error {
	l.writer.Lock()
	defer l.writer.Unlock()
	if err := l.writable(); err != nil {
		return err
	}
	if err := l.sync(); err != nil { // what was committed before may be in another journal
		return err
	}
	b.Put(positionKey, position)
	marks := l.mark(b, l.seq+1, position)
	err := l.db.Write(b, durably)
	if err == nil {
		err = l.disk.SyncNames() // the write may have begun a journal
	}
	if err != nil {
		return l.fail(fmt.Errorf("write %s: %w", l.o.Name, fromLevelDB(err)))
	}
	l.seq++
	l.synced, l.marks, l.position = l.seq, marks, bytes.Clone(position)
	return nil
}

// Rewind goes back to the newest mark whose position is accepted, and returns that;
// where none is, the ledger is wiped. Rows of later commits are left.
func (l *Ledger) Rewind(accept func(position []byte) bool) (position []byte, err error) {
	l.writer.Lock()
	marks := slices.Clone(l.marks)
	l.writer.Unlock()
	for _, m := range marks {
		if accept(m.position) {
			return m.position, l.Commit(new(Batch), m.position)
		}
	}
	return nil, l.Wipe()
}
