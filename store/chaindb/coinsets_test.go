package chaindb

import (
	"errors"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/database"
	"github.com/syndtr/goleveldb/leveldb"
)

// put writes outputs into a set, each with its key as its value.
func putCoins(t *testing.T, s *CoinStore, tip byte, size int, keys ...string) {
	t.Helper()
	err := s.WriteCoins(&chainhash.Hash{tip}, size, func(put func(key, value []byte) error) error {
		for _, key := range keys {
			if err := put([]byte(key), []byte(key)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Two sets lie beside each other, one is erased bit by bit, and the database says that it has had two.
func TestTwoSets(t *testing.T) {
	t.Parallel()
	o := testOptions(t.TempDir())
	db := open(t, o)
	err := db.BTCD().Update(func(tx database.Tx) error {
		for _, set := range []CoinSet{FirstCoins, SecondCoins} {
			bucket, _ := set.Names()
			if _, err := tx.Metadata().CreateBucket([]byte(bucket)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	format := func() byte {
		t.Helper()
		value, err := db.ldb.Get(formatKey, nil)
		if err != nil {
			t.Fatal(err)
		}
		return value[0]
	}
	sets := func() (first, second *CoinStore) {
		t.Helper()
		first, err := db.CoinStore(FirstCoins)
		if err == nil {
			second, err = db.CoinStore(SecondCoins)
		}
		if err != nil {
			t.Fatal(err)
		}
		return first, second
	}
	has := func(s *CoinStore, key string) bool {
		t.Helper()
		value, err := s.Coin([]byte(key))
		if err != nil {
			t.Fatal(err)
		}
		return string(value) == key && value != nil
	}
	first, second := sets()
	putCoins(t, first, 1, 0, "a", "b")
	if got := format(); got != formatVersion {
		t.Errorf("format %d with one set", got)
	}
	putCoins(t, second, 2, 2<<20, "b", "c", "d")
	if got := format(); got != formatTwoSets {
		t.Errorf("format %d with two sets", got)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = open(t, o)
	first, second = sets()
	if !has(first, "a") || !has(first, "b") || has(first, "c") || has(second, "a") || !has(second, "d") {
		t.Error("the sets are mixed up")
	}
	for set, want := range map[CoinSet]byte{FirstCoins: 1, SecondCoins: 2} {
		coins, err := db.Coins(set)
		if err != nil || coins.Tip != (chainhash.Hash{want}) {
			t.Fatalf("set %d: %v", set, err)
		}
		coins.Release()
	}
	more, calls := true, 0
	for ; more; calls++ {
		if more, err = first.Erase(2); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Coins(FirstCoins); !errors.Is(err, ErrNotFound) {
			t.Errorf("a set that is being erased has a block: %v", err)
		}
	}
	if calls < 2 || has(first, "a") || has(first, "b") || !has(second, "b") {
		t.Errorf("after %d calls the first set is there, or the second is not", calls)
	}
	if kept, err := db.ldb.GetProperty("leveldb.alivesnaps"); kept != "0" || err != nil {
		t.Errorf("%s snapshots are kept, %v", kept, err)
	}
	batch := new(leveldb.Batch)
	batch.Put(formatKey, db.format(formatStripped+1))
	if err := errors.Join(db.ldb.Write(batch, nil), db.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(o); !errors.Is(err, ErrNewer) {
		t.Errorf("a later format: %v", err)
	}
}
