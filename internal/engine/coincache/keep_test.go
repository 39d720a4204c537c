package coincache

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/store/blockfile"
)

// counting is a store that counts what it is told to write.
type counting struct {
	memory
	order       bool // whether keys ascended
	puts, drops int
}

func (s *counting) WriteCoins(_ *chainhash.Hash, _ int, changes func(func(key, value []byte) error) error) error {
	var last []byte
	s.order, s.puts, s.drops = true, 0, 0
	return changes(func(key, value []byte) error {
		s.order = s.order && bytes.Compare(last, key) < 0
		last = bytes.Clone(key)
		if value == nil {
			s.drops++
		} else {
			s.puts++
		}
		return nil
	})
}

func hashKey(n int) []byte {
	h := chainhash.HashH(fmt.Append(nil, n))
	return blockfile.AppendOutputIndex(h[:], 0)
}

func coinAt(height int) []byte {
	return blockfile.AppendUnspent(nil, blockfile.Coin{Height: int32(height), Amount: 5, Script: make([]byte, 34)})
}

// A coin that was never stored and is spent leaves nothing to write; a coin that may
// be stored is deleted in the store. Flushed coins are stored.
func TestFreshCoinsLeaveNothing(t *testing.T) {
	store := &counting{}
	c := New(store, 1<<30)
	defer c.Close()
	flush := func(puts, drops int) {
		t.Helper()
		if err := c.Flush(&chainhash.Hash{}, 1); err != nil || !store.order || store.puts != puts ||
			store.drops != drops {
			t.Errorf("%d put, %d deleted, in order: %t, %v; want %d and %d",
				store.puts, store.drops, store.order, err, puts, drops)
		}
	}
	for n := range 50 {
		c.Put(hashKey(n), coinAt(1), n%2 == 0)
	}
	for n := range 50 {
		c.Spend(hashKey(n))
	}
	flush(0, 25)
	flush(0, 0)
	for n := range 50 {
		c.Put(hashKey(n), coinAt(1), true)
		c.Put(hashKey(n), coinAt(2), false) // it is still new
	}
	for n := range 20 {
		c.Spend(hashKey(n))
	}
	flush(30, 0)
	for n := 20; n < 50; n++ {
		c.Spend(hashKey(n))
	}
	flush(0, 30)
}

// Of a full cache the newest blocks' coins stay that fit into the share, whole blocks of
// them, and no more blocks would fit.
func TestKeptBlocks(t *testing.T) {
	for _, perBlock := range []int{1, 10, 1000} {
		c := New(&counting{}, 12<<20)
		var height, n int
		for height = 1; !c.Full(); height++ {
			for range perBlock {
				c.Put(hashKey(n), coinAt(height), true)
				n++
			}
		}
		c.Forget()
		size := c.table.get(hashKey(0)).size() + coinRoom
		height-- // of the last coin
		if err := c.Flush(&chainhash.Hash{}, int32(height)); err != nil {
			t.Fatal(err)
		}
		blocks := int(float64(c.limit)*keepShare) / (size * perBlock)
		blocks = min(blocks, 4096-1)
		if got := c.table.live; got < (blocks-1)*perBlock || got > (blocks+1)*perBlock || got%perBlock != 0 {
			t.Errorf("%d a block: %d coins of %d were kept, want those of some %d blocks", perBlock, got, n, blocks)
		}
		for i := range n {
			if kept := i >= n-c.table.live; c.table.get(hashKey(i)).ok() != kept {
				t.Fatalf("%d a block: coin %d of %d: kept: %t", perBlock, i, n, !kept)
			}
		}
		c.Close()
	}
}
