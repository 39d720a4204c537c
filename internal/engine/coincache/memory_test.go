package coincache

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// Places of removed records are counted until they are gone. A table in which as many
// records come as go stays as large as it was, and finds missing records to be
// missing.
func TestManyComeAndGo(t *testing.T) {
	c := New(&memory{coins: map[string][]byte{}}, 64<<20)
	defer c.Close()
	const live = 3_000
	largest := 0
	for n := range 200_000 {
		c.Put(hashKey(n), coinAt(n), true)
		if n >= live {
			c.Spend(hashKey(n - live))
		}
		c.Forget()
		if n == 5*live {
			largest = len(c.table.slots)
		}
	}
	if len(c.table.slots) > largest || c.table.live != live {
		t.Errorf("%d records in %d places, %d before", c.table.live, len(c.table.slots), largest)
	}
	empty := 0
	for _, slot := range c.table.slots {
		if slot == 0 {
			empty++
		}
	}
	if taken := len(c.table.slots) - empty; taken != c.table.live+c.table.dead {
		t.Errorf("%d places are taken, by %d records and %d that were", taken, c.table.live, c.table.dead)
	}
	for n := 200_000 - live; n < 200_000; n++ {
		if got, err := c.Get(hashKey(n)); err != nil || string(got) != string(coinAt(n)) {
			t.Fatalf("coin %d: %x, %v", n, got, err)
		}
	}
}

// The memory of records that went while somebody read the changes is used again when he
// has ended.
func TestReadersGiveBack(t *testing.T) {
	store := &memory{coins: map[string][]byte{}}
	c := New(store, 64<<20)
	defer c.Close()
	const records = 5_000
	put := func() {
		for n := range records {
			c.Put(hashKey(n), coinAt(n), true)
		}
		c.Forget()
	}
	put()
	first, _ := c.Size()
	for range 40 {
		changes := c.Changes()
		for n := range records {
			c.Spend(hashKey(n))
		}
		c.Forget()
		changes.Release()
		put()
	}
	if err := c.Flush(&chainhash.Hash{1}, 1); err != nil {
		t.Fatal(err)
	}
	if size, _ := c.Size(); size > first+2*chunkSize {
		t.Errorf("%d bytes, %d before", size, first)
	}
}

// A cache that is closed gives its memory back to the system.
func TestCloseGivesBack(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("memory is the collector's, or is not shown")
	}
	before := mapped(t)
	const caches = 100
	for range caches {
		c := New(&memory{coins: map[string][]byte{}}, 1<<20)
		c.Put(hashKey(1), coinAt(1), true)
		c.Close()
	}
	if more := mapped(t) - before; more > caches*chunkSize/2 {
		t.Errorf("%d bytes more are mapped", more)
	}
}

// mapped returns how large the process is, in bytes.
func mapped(t *testing.T) (size int) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fscan(strings.NewReader(string(text)), &size); err != nil {
		t.Fatal(err)
	}
	return size * os.Getpagesize()
}
