package coincache

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"pgregory.net/rapid"

	"github.com/seed61375155/trawl/store/blockfile"
)

// frontKey makes keys whose ids begin alike in many ways: in two bytes, in eight, in
// all bytes.
func frontKey(n int) []byte {
	key := make([]byte, 32, 37)
	switch n % 4 {
	case 0:
		key[0], key[1] = byte(n), byte(n/5)
	case 1:
		key[1] = byte(n / 3)
	case 2:
		key[0], key[1], key[31] = 0xff, 0xff, byte(n/11)
	case 3:
		key[9] = byte(n / 7)
	}
	return blockfile.AppendOutputIndex(key, uint32(n%13*100))
}

// A moment is what a cache was, and the store below it, when changes were taken.
type moment struct {
	changes *Changes
	stored  map[string][]byte
	model   map[string][]byte
}

// read merges the changes of a range, and checks the order.
func (m *moment) read(first, last uint16) (map[string][]byte, error) {
	within := func(key string) bool {
		n := uint16(key[0])<<8 | uint16(key[1])
		return n >= first && n <= last
	}
	got, before := map[string][]byte{}, ""
	err := m.changes.Merge(first, last, func(next func(key, value []byte) error) error {
		for _, key := range slices.Sorted(maps.Keys(m.stored)) {
			if !within(key) {
				continue
			}
			if err := next([]byte(key), m.stored[key]); err != nil {
				return err
			}
		}
		return nil
	}, func(key, value []byte) error {
		if !within(string(key)) || before != "" && before >= string(key) {
			return fmt.Errorf("key %x after %x", key, before)
		}
		before = string(key)
		got[before] = bytes.Clone(value)
		return nil
	})
	return got, err
}

func (m *moment) check(t *rapid.T, first, last uint16) {
	got, err := m.read(first, last)
	want := maps.Clone(m.model)
	maps.DeleteFunc(want, func(key string, _ []byte) bool {
		n := uint16(key[0])<<8 | uint16(key[1])
		return n < first || n > last
	})
	if err != nil || !maps.EqualFunc(got, want, bytes.Equal) {
		t.Fatalf("%04x to %04x: %v, got %d rows %v, want %d %v", first, last, err, len(got), got, len(want), want)
	}
}

// Changes over the rows below them are what the cache was at their moment, whatever
// was put, spent, taken back and flushed since.
func TestChangesAreOfOneMoment(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		store := &memory{coins: map[string][]byte{}}
		c := New(store, rapid.SampledFrom([]int64{1, 1 << 30}).Draw(t, "limit"))
		defer func() { c.Close() }()
		model := map[string][]byte{}
		var moments []*moment
		defer func() {
			for _, m := range moments {
				m.changes.Release()
			}
		}()
		keys := rapid.IntRange(0, 300)
		height := int32(0)
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				for range rapid.IntRange(1, 20).Draw(t, "n") {
					key := frontKey(keys.Draw(t, "key"))
					height++
					value := blockfile.AppendUnspent(nil, blockfile.Coin{
						Height: height, Amount: 5, Script: bytes.Repeat([]byte{0x51}, int(height)%90),
					})
					_, stored := store.coins[string(key)]
					c.Put(key, value, !stored)
					model[string(key)] = value
				}
			},
			"spend": func(t *rapid.T) {
				for range rapid.IntRange(1, 20).Draw(t, "n") {
					if key := frontKey(keys.Draw(t, "key")); model[string(key)] != nil {
						c.Spend(key)
						delete(model, string(key))
					}
				}
			},
			"take back": func(t *rapid.T) {
				c.Forget()
				mark := c.Mark()
				for n := range rapid.IntRange(1, 20).Draw(t, "n") {
					c.Put(frontKey(n*7), coinAt(n), false)
				}
				c.Rollback(mark)
			},
			"flush": func(t *rapid.T) {
				c.Forget()
				write := c.Flush
				if rapid.Bool().Draw(t, "rest") {
					write = c.Rest
				}
				if err := write(&chainhash.Hash{}, height); err != nil {
					t.Fatal(err)
				}
			},
			"changes": func(*rapid.T) {
				moments = append(moments, &moment{c.Changes(), maps.Clone(store.coins), maps.Clone(model)})
			},
			"release": func(t *rapid.T) {
				if n := len(moments); n > 0 {
					i := rapid.IntRange(0, n-1).Draw(t, "which")
					moments[i].changes.Release()
					moments[i].changes.Release() // once more does nothing
					if _, err := moments[i].read(0, 1); !errors.Is(err, errReleased) {
						t.Fatalf("after the release: %v", err)
					}
					moments = slices.Delete(moments, i, i+1)
				}
			},
			"": func(t *rapid.T) {
				for _, m := range moments {
					m.check(t, 0, math.MaxUint16)
					first := rapid.Uint16().Draw(t, "first")
					m.check(t, first, rapid.Uint16Min(first).Draw(t, "last"))
				}
				if n := c.dirties; n != countDirty(c) {
					t.Fatalf("%d changes are counted, there are %d", n, countDirty(c))
				}
			},
		})
	})
}

func countDirty(c *Cache) (n int) {
	c.table.each(func(_ uint32, r record) {
		if r.flags()&dirty != 0 {
			n++
		}
	})
	return n
}

// The memory of a replaced table goes back with its last reader; the memory of
// removed records is used again then.
func TestChangesHoldMemory(t *testing.T) {
	c := New(&memory{coins: map[string][]byte{}}, 1<<30)
	defer c.Close()
	for n := range 1000 {
		c.Put(hashKey(n), coinAt(1), true)
	}
	changes := c.Changes()
	if changes.Size != 1000*(33+len(coinAt(1))) {
		t.Errorf("the changes add %d bytes", changes.Size)
	}
	at := c.table.at
	for n := range 1000 {
		c.Spend(hashKey(n))
		c.Put(hashKey(n), coinAt(2), true)
	}
	if c.table.at == at {
		t.Error("records that are read were overwritten")
	}
	changes.Release()
	at = c.table.at
	for n := range 1000 {
		c.Spend(hashKey(n))
		c.Put(hashKey(n), coinAt(3), true)
	}
	if c.table.at != at {
		t.Error("memory of removed records is not used again")
	}

	old, changes := c.table, c.Changes()
	c.dirties = 0
	c.keepNewest(3, 1<<20)
	if c.table == old || old.chunks == nil {
		t.Fatal("the table was not replaced, or its memory is gone")
	}
	m := &moment{changes: changes}
	if got, err := m.read(0, math.MaxUint16); err != nil || len(got) != 1000 {
		t.Errorf("%d changes are left, %v", len(got), err)
	}
	changes.Release()
	if old.chunks != nil {
		t.Error("the memory of the old table stays")
	}
}

// Errors of the rows and of the visitor end a merge.
func TestMergeEnds(t *testing.T) {
	c := New(&memory{coins: map[string][]byte{}}, 1<<30)
	defer c.Close()
	for n := range 10 {
		c.Put(hashKey(n), coinAt(1), true)
	}
	changes := c.Changes()
	defer changes.Release()
	none := func(func(key, value []byte) error) error { return nil }
	for left := range 10 {
		n := left
		err := changes.Merge(0, math.MaxUint16, none, func(_, _ []byte) error {
			if n--; n < 0 {
				return errFull
			}
			return nil
		})
		if !errors.Is(err, errFull) || n != -1 {
			t.Errorf("%v after %d rows, want %d", err, left-n, left)
		}
	}
	seen := 0
	err := changes.Merge(0, math.MaxUint16, func(next func(key, value []byte) error) error {
		return errors.Join(next([]byte(strings.Repeat("\x00", 33)), []byte{1}), errFull)
	}, func(_, _ []byte) error { seen++; return nil })
	if !errors.Is(err, errFull) || seen != 1 {
		t.Errorf("%v after %d rows", err, seen)
	}
}

// At rest a cache takes little memory whatever its limit is, and has the newest coins.
func TestRest(t *testing.T) {
	store := &memory{coins: map[string][]byte{}}
	c := New(store, 1<<30)
	defer func() { c.Close() }()
	const n = 400_000
	for i := range n {
		c.Put(hashKey(i), coinAt(i/100), true)
	}
	c.Forget()
	if size, _ := c.Size(); size < 32<<20 {
		t.Fatalf("%d bytes show nothing", size)
	}
	store.fails = true
	if err := c.Rest(&chainhash.Hash{}, n/100); !errors.Is(err, errFull) || c.dirties != n {
		t.Errorf("%v, %d changes are left", err, c.dirties)
	}
	store.fails = false
	if err := c.Rest(&chainhash.Hash{}, n/100); err != nil {
		t.Fatal(err)
	}
	if size, records := c.Size(); size > 2*restSize || records < restSize/200 || len(store.coins) != n {
		t.Errorf("%d bytes for %d coins, %d are stored", size, records, len(store.coins))
	}
	if !c.table.get(hashKey(n-1)).ok() || c.table.get(hashKey(0)).ok() {
		t.Error("the newest is gone, or the oldest stayed")
	}
}
