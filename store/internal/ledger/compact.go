package ledger

import (
	"bytes"
	"context"
	"time"

	"github.com/syndtr/goleveldb/leveldb/util"
)

const (
	// compactFrom is the number of bytes from which on the room of deleted pairs is taken back at once: below
	// it a compaction would cost more than it brings.
	compactFrom = 256 << 10

	// compactStep is how many bytes of files are compacted in one go. Closing the ledger waits for the step
	// that is running.
	compactStep = 4 << 20

	// compactTable is the time of a step for which [Ledger.Lag] counts another table. A step goes on until no new
	// table lies over its keys: it ends if busy writers slow down more and more.
	compactTable = 100 * time.Millisecond
)

// Compact takes back the room of deleted pairs, from the key from and before the key to, if that is worth the cost.
// It takes seconds for a gigabyte; others read and write meanwhile. Errors: those of ctx, [ErrClosed], those of the
// file system.
func (l *Ledger) Compact(ctx context.Context, from, to []byte) error {
	size, err := l.sizeOf(from, to)
	if err != nil || size < compactFrom {
		return err
	}
	return l.compact(ctx, from, to, size)
}

// compact compacts, step by step, where the files have so many bytes.
func (l *Ledger) compact(ctx context.Context, from, to []byte, size int64) error {
	middle := between(from, to)
	if size <= compactStep || middle == nil {
		return l.compactNow(ctx, from, to)
	}
	for _, half := range [][2][]byte{{from, middle}, {middle, to}} {
		size, err := l.sizeOf(half[0], half[1])
		if err == nil && size > 0 {
			err = l.compact(ctx, half[0], half[1], size)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *Ledger) compactNow(ctx context.Context, from, to []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l.open.RLock()
	db := l.db
	l.open.RUnlock()
	if db == nil {
		return ErrClosed
	}
	l.compacting.Store(time.Now().UnixNano())
	defer l.compacting.Store(0)
	return fromLevelDB(db.CompactRange(util.Range{Start: from, Limit: to})) // it ends where the ledger is closed
}

// compactLag returns how many tables behind the ledger is by the step that is compacted.
func (l *Ledger) compactLag() int {
	began := l.compacting.Load()
	if began == 0 {
		return 0
	}
	return int((time.Now().UnixNano() - began) / int64(compactTable))
}

// sizeOf returns about how many bytes the files have of the pairs between two keys.
func (l *Ledger) sizeOf(from, to []byte) (int64, error) {
	l.open.RLock()
	defer l.open.RUnlock()
	if l.db == nil {
		return 0, ErrClosed
	}
	sizes, err := l.db.SizeOf([]util.Range{{Start: from, Limit: to}})
	return sizes.Sum(), fromLevelDB(err)
}

// between returns a key in the middle between two, nil where there is none of their length.
func between(from, to []byte) []byte {
	n := max(len(from), len(to))
	a, b := make([]byte, n), make([]byte, n)
	copy(a, from)
	copy(b, to)
	middle, carry := make([]byte, n+1), 0
	for i := n - 1; i >= 0; i-- { // the sum
		carry += int(a[i]) + int(b[i])
		middle[i+1], carry = byte(carry), carry>>8
	}
	middle[0] = byte(carry)
	rest := 0
	for i, digit := range middle { // and its half
		rest = rest<<8 | int(digit)
		middle[i], rest = byte(rest/2), rest%2
	}
	if middle = middle[1:]; bytes.Compare(middle, from) <= 0 || bytes.Compare(middle, to) >= 0 {
		return nil
	}
	return middle
}
