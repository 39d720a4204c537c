package ledger

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

func (o *Options) format() []byte { return append([]byte{o.Version}, o.Network[:]...) }

// checkFormat reports whether a database is the ledger's, and what has to change
// where it is from before there were ledgers, or is empty: fresh.
func (l *Ledger) checkFormat(r Reader, change *Batch) (fresh bool, err error) {
	format, err := r.Get(formatKey)
	switch {
	case errors.Is(err, ErrNotFound):
	case err != nil:
		return false, err
	case bytes.Equal(format, l.o.format()):
		return false, nil
	case len(format) != len(l.o.format()):
		return false, fmt.Errorf("%w: format %x", ErrDamaged, format)
	case !bytes.Equal(format[1:], l.o.Network[:]):
		return false, fmt.Errorf("%w: network %x", ErrForeign, format[1:])
	case format[0] > l.o.Version:
		return false, fmt.Errorf("%w: format %d, this one writes %d", ErrNewer, format[0], l.o.Version)
	case l.o.Oldest > 0 && l.o.Oldest <= format[0]:
		change.Put(formatKey, l.o.format())
		return false, nil
	default:
		return false, fmt.Errorf("%w: format %d, those before %d are no longer read", ErrDamaged, format[0], l.o.Oldest)
	}
	for _, err := range r.Range(nil) {
		if err != nil {
			return false, err
		}
		position, err := l.adopt(r, change) // there is a key
		if err != nil {
			return false, err
		}
		if position != nil {
			change.Put(positionKey, position)
			change.Put(numberKey(markPrefix, 0), position)
		}
		return true, nil
	}
	return true, nil
}

func (l *Ledger) adopt(r Reader, change *Batch) ([]byte, error) {
	if l.o.Adopt == nil {
		return nil, ErrForeign
	}
	return l.o.Adopt(r, change)
}

// restore reads the state of the ledger and checks it.
func (l *Ledger) restore() error {
	first := new(Batch)
	fresh, err := l.checkFormat(l, first)
	if err != nil {
		return err
	}
	if fresh {
		first.Put(syncedKey, make([]byte, 8))
		first.Put(formatKey, l.o.format())
	}
	if err := l.write(first); err != nil {
		return err
	}
	synced, err := l.Get(syncedKey)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	if len(synced) != 8 {
		return fmt.Errorf("%w: sync record %x", ErrDamaged, synced)
	}
	l.synced = binary.BigEndian.Uint64(synced)
	l.position, err = l.Get(positionKey)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	if err := l.restoreMarks(); err != nil {
		return err
	}
	return l.verify()
}

// write writes what belongs to no commit, durably.
func (l *Ledger) write(b *Batch) error {
	err := l.db.Write(b, durably)
	if err == nil {
		err = l.disk.SyncDir()
	}
	return fromLevelDB(err)
}

func (l *Ledger) restoreMarks() error {
	for pair, err := range l.Range(markPrefix) {
		if err != nil {
			return err
		}
		seq, err := keyNumber(pair.Key)
		if err != nil {
			return err
		}
		l.marks = append(l.marks, mark{seq, bytes.Clone(pair.Value)})
	}
	slices.Reverse(l.marks)
	return nil
}

// verify looks for a hole in the commits that are not marked as durable.
func (l *Ledger) verify() error {
	l.seq = l.synced
	whole := true
	drop := new(Batch)
	for pair, err := range l.Range(commitPrefix) {
		if err != nil {
			return err
		}
		n, err := keyNumber(pair.Key)
		if err != nil {
			return err
		}
		whole = whole && n == l.seq+1
		l.seq = n
		drop.Delete(bytes.Clone(pair.Key))
	}
	if whole {
		return l.sync() // goleveldb has made tables of the journals
	}
	l.o.Log.Warn("index lost what was written last, going back to what is sure", "index", l.o.Name,
		"commits", l.seq-l.synced)
	l.seq, l.position = l.synced, nil
	switch {
	case len(l.marks) > 0 && l.marks[0].seq == l.synced:
		l.position = l.marks[0].position
		drop.Put(positionKey, l.position)
	case l.synced == 0:
		drop.Delete(positionKey)
	default:
		return fmt.Errorf("%w: mark %d is missing", ErrDamaged, l.synced)
	}
	return l.write(drop)
}
