package coincache

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"pgregory.net/rapid"

	"github.com/seed61375155/trawl/store/blockfile"
)

// memory is a store in memory.
type memory struct {
	coins map[string][]byte
	fails bool
}

func (m *memory) Coin(key []byte) ([]byte, error) { return m.coins[string(key)], nil }

var errFull = errors.New("no room")

func (m *memory) WriteCoins(_ *chainhash.Hash, _ int, changes func(func(key, value []byte) error) error) error {
	next := maps.Clone(m.coins)
	err := changes(func(key, value []byte) error {
		if value == nil {
			delete(next, string(key))
		} else {
			next[string(key)] = bytes.Clone(value)
		}
		return nil
	})
	if err != nil || m.fails {
		return errors.Join(err, errFull)
	}
	m.coins = next
	return nil
}

// keyOf makes keys of which some begin alike.
func keyOf(n int) []byte {
	key := make([]byte, 32, 37)
	key[0], key[31] = byte(n%3), byte(n/7)
	return blockfile.AppendOutputIndex(key, uint32(n%7*100))
}

// A cache over a store is what a map is, whatever is put, spent, taken back and
// flushed.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		store := &memory{coins: map[string][]byte{}}
		limit := rapid.SampledFrom([]int64{1, 1 << 30}).Draw(t, "limit")
		c := New(store, limit)
		defer func() { c.Close() }()
		model := map[string][]byte{}
		type saved struct {
			mark  Mark
			model map[string][]byte
		}
		var marks []saved
		height := int32(0)
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				key := keyOf(rapid.IntRange(0, 200).Draw(t, "key"))
				height++
				script := bytes.Repeat([]byte{0x51}, rapid.IntRange(0, 300).Draw(t, "size"))
				value := blockfile.AppendUnspent(nil, blockfile.Coin{Height: height, Amount: 5, Script: script})
				_, stored := store.coins[string(key)]
				c.Put(key, value, !stored && rapid.Bool().Draw(t, "new"))
				model[string(key)] = value
			},
			"spend": func(t *rapid.T) {
				key := keyOf(rapid.IntRange(0, 200).Draw(t, "key"))
				if model[string(key)] != nil {
					c.Spend(key)
					delete(model, string(key))
				}
			},
			"fetch": func(t *rapid.T) {
				var keys [][]byte
				for range rapid.IntRange(0, 100).Draw(t, "keys") {
					keys = append(keys, keyOf(rapid.IntRange(0, 200).Draw(t, "key")))
				}
				if err := c.Fetch(keys); err != nil {
					t.Fatal(err)
				}
			},
			"mark": func(*rapid.T) { marks = append(marks, saved{c.Mark(), maps.Clone(model)}) },
			"rollback": func(*rapid.T) {
				if n := len(marks); n > 0 {
					c.Rollback(marks[n-1].mark)
					model, marks = marks[n-1].model, marks[:n-1]
				}
			},
			"flush": func(t *rapid.T) {
				c.Forget()
				marks = nil
				store.fails = rapid.Bool().Draw(t, "fails")
				if err := c.Flush(&chainhash.Hash{}, height); (err != nil) != store.fails {
					t.Fatal(err)
				}
				if store.fails {
					return
				}
				if got, want := fmt.Sprint(store.coins), fmt.Sprint(model); got != want {
					t.Fatalf("stored %v, want %v", got, want)
				}
				if c.Pending() != 0 {
					t.Fatalf("%d bytes are pending after a flush", c.Pending())
				}
			},
			"": func(t *rapid.T) {
				for n := range 200 {
					key := keyOf(n)
					if got, err := c.Get(key); err != nil || !bytes.Equal(got, model[string(key)]) {
						t.Fatalf("key %d: %x, %v; want %x", n, got, err, model[string(key)])
					}
				}
			},
		})
	})
}

// Memory goes back with a flush that finds the cache full, and the newest coins stay.
func TestFlushKeepsTheNewest(t *testing.T) {
	store := &memory{coins: map[string][]byte{}}
	c := New(store, 12<<20)
	defer func() { c.Close() }()
	n := 0
	key := func(n int) []byte {
		h := chainhash.HashH(fmt.Append(nil, n))
		return blockfile.AppendOutputIndex(h[:], 0)
	}
	for ; !c.Full(); n++ {
		value := blockfile.AppendUnspent(nil, blockfile.Coin{
			Height: int32(n / 100), Amount: 5, Script: make([]byte, 34),
		})
		c.Put(key(n), value, true)
	}
	c.Forget()
	if err := c.Flush(&chainhash.Hash{}, int32(n/100)); err != nil {
		t.Fatal(err)
	}
	if c.Full() {
		t.Error("it is as full as before")
	}
	if !c.table.get(key(n-1)).ok() || c.table.get(key(0)).ok() {
		t.Error("the newest is gone, or the oldest stayed")
	}
	if len(store.coins) != n {
		t.Errorf("%d coins are stored, of %d", len(store.coins), n)
	}
}

// Keys whose hashes are equal are told apart.
func TestEqualHashes(t *testing.T) {
	c := newTable(4)
	defer c.close()
	c.k0, c.k1 = 0, 1
	for n := range 3000 {
		c.put(keyOf(n), dirty, []byte{byte(n)})
		if n%3 == 0 {
			c.remove(c.get(keyOf(n)))
		}
	}
	for n := range 3000 {
		if r := c.get(keyOf(n)); r.ok() != (n%3 != 0) || r.ok() && r.value()[0] != byte(n) {
			t.Fatalf("key %d", n)
		}
	}
}
