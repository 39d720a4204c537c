package coincache

import (
	"bytes"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/seed61375155/trawl/internal/cores"
	"github.com/seed61375155/trawl/store/blockfile"
)

// coins makes n keys, and a store that has every other one.
func coins(n int) (keys [][]byte, store *memory) {
	store = &memory{coins: map[string][]byte{}}
	for i := range n {
		key := append(make([]byte, 32), byte(i), byte(i>>8))
		keys = append(keys, key)
		if i%2 == 0 {
			store.coins[string(key)] = blockfile.AppendUnspent(nil, blockfile.Coin{Height: int32(i), Script: key})
		}
	}
	return keys, store
}

// hooked calls before each read.
type hooked struct {
	*memory
	before func(key []byte) error
}

func (h hooked) Coin(key []byte) ([]byte, error) {
	if err := h.before(key); err != nil {
		return nil, err
	}
	return h.memory.Coin(key)
}

// Fetched coins are the stored coins, and are not read again; changed coins stay changed.
func TestFetch(t *testing.T) {
	for _, n := range []int{0, 1, readShare - 1, readShare, readShare + 1, readers*readShare + 5} {
		keys, store := coins(n)
		var reads atomic.Int64
		c := New(hooked{store, func([]byte) error { reads.Add(1); return nil }}, 1<<30)
		changed := map[string][]byte{}
		if n > 4 {
			c.Put(keys[1], []byte{1, 2, 3}, true)
			c.Put(keys[2], []byte{4, 5, 6}, false)
			c.Spend(keys[4])
			changed = map[string][]byte{string(keys[1]): {1, 2, 3}, string(keys[2]): {4, 5, 6}, string(keys[4]): nil}
		}
		mark := c.Mark()
		if err := c.Fetch(append(keys, keys...)); err != nil {
			t.Fatal(err)
		}
		if _, records := c.Size(); n <= 4 && records != (n+1)/2 || c.Mark() != mark {
			t.Errorf("%d keys: %d records", n, records)
		}
		if got := reads.Swap(0); got != int64(2*n) {
			t.Errorf("%d keys: %d reads", n, got)
		}
		for i, key := range keys {
			want, ok := changed[string(key)]
			if !ok {
				want = store.coins[string(key)]
			}
			reads.Store(0)
			if got, err := c.Get(key); err != nil || !bytes.Equal(got, want) {
				t.Errorf("key %d of %d: %x, %v; want %x", i, n, got, err, want)
			}
			if ok || i%2 == 0 {
				if reads.Load() != 0 || !c.Has(key) {
					t.Errorf("key %d of %d was read again, or is not there", i, n)
				}
			}
		}
		c.Close()
	}
}

// The reads wait for each other's company: one after the other they would wait for ever.
func TestFetchReadsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keys, store := coins(readers * readShare)
		var waiting atomic.Int64
		all := make(chan struct{})
		c := New(hooked{store, func([]byte) error {
			if waiting.Add(1) == readers {
				close(all)
			}
			<-all
			return nil
		}}, 1<<30)
		defer c.Close()
		if err := c.Fetch(keys); err != nil {
			t.Fatal(err)
		}
	})
}

// After an error nothing was added; a panic is the caller's, and no goroutine is left.
func TestFetchFails(t *testing.T) {
	keys, store := coins(500)
	broken := errors.New("cannot be read")
	panics := false
	c := New(hooked{store, func(key []byte) error {
		switch {
		case !bytes.Equal(key, keys[400]):
			return nil
		case panics:
			panic(broken)
		}
		return broken
	}}, 1<<30)
	defer c.Close()
	if err := c.Fetch(keys); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	panics = true
	func() {
		defer func() {
			if p, ok := recover().(*cores.Panic); !ok || p.Value != any(broken) {
				t.Errorf("panic %v", p)
			}
		}()
		_ = c.Fetch(keys)
		t.Error("no panic")
	}()
	if _, records := c.Size(); records != 0 {
		t.Errorf("%d records after failures", records)
	}
}
