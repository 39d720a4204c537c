//go:build !race

package ledger

import (
	"math/rand/v2"
	"testing"
	"time"
)

// A ledger whose commits are paced takes them while tables wait to be merged, and tells how many do.
func TestLag(t *testing.T) {
	o := options(t, t.TempDir())
	o.Paced = true
	l, _ := mustOpen(t, o)
	if lag := l.Lag(); lag != 0 {
		t.Errorf("lag %d of an empty ledger", lag)
	}
	random := rand.NewChaCha8([32]byte{1})
	const beyond = 12 - mergedSoon // with so many more, commits would wait by themselves
	for n, deadline := uint64(1), time.Now().Add(time.Minute); l.Lag() <= beyond; n++ {
		b := new(Batch)
		for range 4 {
			row := make([]byte, 1<<20) // so large that even a slow disk takes more than is merged
			_, _ = random.Read(row)    // never fails
			b.Put(row[:16], row)
		}
		if err := l.Commit(b, position(n)); err != nil {
			t.Fatal(err)
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d commits made no more tables than are merged meanwhile", n)
		}
	}
	for deadline := time.Now().Add(time.Minute); l.Lag() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("lag is still %d", l.Lag())
		}
	}
	mustClose(t, l)
	if lag := l.Lag(); lag != 0 {
		t.Errorf("lag %d after the end", lag)
	}
}
