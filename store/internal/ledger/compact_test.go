package ledger

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"testing"
	"time"
)

// filesOf is how many bytes the files of a folder have.
func filesOf(t *testing.T, dir string) (size int64) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if info, err := f.Info(); err == nil { // it may be deleted by now
			size += info.Size()
		}
	}
	return size
}

// The room of deleted pairs is free after Compact, whatever else is written meanwhile, and all other pairs are
// there.
func TestCompact(t *testing.T) {
	o := options(t, t.TempDir())
	o.Paced, o.WriteBuffer = true, 1<<20
	l, _ := mustOpen(t, o)
	r := rand.New(rand.NewPCG(1, 1))
	const rows, kinds = 20_000, 4
	name := func(kind byte, n int) []byte { return binary.BigEndian.AppendUint32([]byte{'k', kind}, uint32(n)) }
	value := make([]byte, 200)
	each := func(do func(b *Batch, n int)) {
		t.Helper()
		for n := 0; n < rows; {
			b := new(Batch)
			for range 1000 {
				do(b, n)
				n++
			}
			if err := l.Commit(b, []byte("here")); err != nil {
				t.Fatal(err)
			}
		}
	}
	each(func(b *Batch, n int) {
		for i := range value {
			value[i] = byte(r.Uint32())
		}
		for kind := range byte(kinds) {
			b.Put(name(kind, n), value)
		}
	})
	each(func(b *Batch, n int) {
		b.Delete(name(1, n))
		b.Delete(name(2, n))
	})
	before := filesOf(t, o.Dir)
	written := make(chan error, 1)
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		for n := 0; ctx.Err() == nil; n++ {
			b := new(Batch)
			b.Put(name(9, n), bytes.Repeat([]byte{1}, 1000))
			if err := l.Commit(b, []byte("here")); err != nil {
				written <- err
				return
			}
			time.Sleep(time.Duration(l.Lag()) * time.Millisecond)
		}
		written <- nil
	}()
	if err := l.Compact(t.Context(), name(1, 0), name(3, 0)); err != nil {
		t.Error(err)
	}
	stop()
	if err := <-written; err != nil {
		t.Error(err)
	}
	if size, err := l.sizeOf(name(1, 0), name(3, 0)); size > compactFrom || err != nil {
		t.Errorf("%d bytes are left of what was deleted, %v", size, err)
	}
	for kind, want := range []int{rows, 0, 0, rows} {
		got := 0
		for _, err := range l.Range([]byte{'k', byte(kind)}) {
			if got++; err != nil {
				t.Fatal(err)
			}
		}
		if got != want {
			t.Errorf("%d rows of kind %d, want %d", got, kind, want)
		}
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	for kind := range byte(kinds) { // of all rows, and of fewer
		if err := l.Compact(stopped, name(0, 0), name(kind+1, 0)); !errors.Is(err, context.Canceled) {
			t.Errorf("stopped: %v", err)
		}
	}
	if lag := l.Lag(); lag > maxLag {
		t.Errorf("lag %d after the compaction", lag)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		// Unused files are removed some time later.
		if after := filesOf(t, o.Dir); after < before*3/4 {
			break
		} else if time.Now().After(deadline) {
			t.Fatalf("files had %d bytes, have %d", before, after)
		}
	}
	mustClose(t, l)
	if err := l.Compact(t.Context(), name(0, 0), name(1, 0)); !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

// A key in the middle lies between two, and there is one where a key of their length does.
func TestBetween(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 10_000 {
		a, b := make([]byte, r.IntN(4)), make([]byte, r.IntN(4))
		for _, k := range [][]byte{a, b} {
			for i := range k {
				k[i] = byte(r.IntN(3)) * 0x7f
			}
		}
		if bytes.Compare(a, b) > 0 {
			a, b = b, a
		}
		number := func(k []byte) int {
			var n [4]byte
			copy(n[:], k)
			return int(binary.BigEndian.Uint32(n[:])) >> (8 * (4 - max(len(a), len(b))))
		}
		m := between(a, b)
		switch {
		case m == nil:
			if number(b)-number(a) > 1 {
				t.Fatalf("none between %x and %x", a, b)
			}
		case bytes.Compare(a, m) >= 0 || bytes.Compare(m, b) >= 0:
			t.Fatalf("%x is not between %x and %x", m, a, b)
		case number(m) != (number(a)+number(b))/2:
			t.Fatalf("%x is not in the middle between %x and %x", m, a, b)
		}
	}
}
