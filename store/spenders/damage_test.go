package spenders_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/wire"
	"github.com/syndtr/goleveldb/leveldb"

	"github.com/seed61375155/trawl/store/spenders"
)

// A bad sector in a table is told at each look-up that meets it; an index that was wiped then is as good
// as new.
func TestDamagedTable(t *testing.T) {
	o := options(t.TempDir())
	s := open(t, o)
	many := func(n uint32) (list []spenders.Spend) {
		for i := range uint32(400) {
			list = append(list, spenders.Spend{Out: wire.OutPoint{Hash: hash('m', n), Index: i}})
		}
		return list
	}
	for n := range uint32(60) {
		if err := s.Add(block(n), int32(n), many(n)); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // goleveldb makes tables of its journal when it is opened
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = open(t, o)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	tables, _ := filepath.Glob(filepath.Join(o.Dir, "*.ldb"))
	for _, path := range tables {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i := len(raw) / 4; i < len(raw)/4+64; i++ {
			raw[i] ^= 0xff
		}
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s = open(t, o)
	damaged := 0
	for n := range uint32(60) {
		for _, spend := range many(n) {
			switch found, err := s.Find(&spend.Out); {
			case errors.Is(err, spenders.ErrDamaged):
				damaged++
			case err != nil || len(found) == 0:
				t.Fatalf("a spend of the index is denied: %v", err)
			}
		}
	}
	if damaged == 0 {
		t.Fatal("no damage was found")
	}
	if err := s.Wipe(); err != nil {
		t.Fatal(err)
	}
	if _, _, ok := s.Best(); ok {
		t.Error("a wiped index has a best block")
	}
	for n := range uint32(100) {
		add(t, s, n)
	}
	for n := range uint32(100) {
		check(t, s, n)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// Rows of a wrong form, and rows whose block is gone, are damage, and no panic.
func TestDamagedRows(t *testing.T) {
	first := []byte("n\x00\x00\x00\x00") // the key of a block
	for name, harm := range map[string]func(db *leveldb.DB, key []byte) error{
		"a block's hash is gone":  func(db *leveldb.DB, _ []byte) error { return db.Delete(first, nil) },
		"a block's hash is short": func(db *leveldb.DB, _ []byte) error { return db.Put(first, []byte{1}, nil) },
		"a checksum is short":     func(db *leveldb.DB, key []byte) error { return db.Put(key, []byte{1}, nil) },
		"a key is long": func(db *leveldb.DB, key []byte) error {
			return db.Put(append(key, 0), make([]byte, 4), nil)
		},
		"the position is short": func(db *leveldb.DB, _ []byte) error { return db.Put([]byte("P"), []byte{1}, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t.TempDir())
			s := open(t, o)
			if err := errors.Join(s.Add(block(0), 0, spends(1)), s.Close()); err != nil {
				t.Fatal(err)
			}
			db, err := leveldb.OpenFile(o.Dir, nil)
			if err != nil {
				t.Fatal(err)
			}
			it := db.NewIterator(nil, nil)
			it.Seek([]byte("s"))
			key := slices.Clone(it.Key())
			it.Release()
			if err := errors.Join(harm(db, key), db.Close()); err != nil {
				t.Fatal(err)
			}
			s, err = spenders.Open(o)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = s.Close() }()
			_, _, whole := s.Best()
			if found, err := s.Find(&spends(1)[0].Out); whole && !errors.Is(err, spenders.ErrDamaged) {
				t.Errorf("found %v, %v", found, err)
			}
		})
	}
}
