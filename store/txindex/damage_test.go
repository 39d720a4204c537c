package txindex_test

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/syndtr/goleveldb/leveldb"

	"github.com/seed61375155/trawl/store/txindex"
)

// A bad sector in a table is told at each look-up that meets it; an index that was
// wiped then is as good as new.
func TestDamagedTable(t *testing.T) {
	o := options(t.TempDir())
	s := open(t, o)
	for n := range uint32(60) {
		var ids []chainhash.Hash
		for i := range uint32(400) {
			ids = append(ids, hash('t', n<<16|i))
		}
		if err := s.Add(block(n), int32(n), ids, nil); err != nil {
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
	found := 0
	for n := range uint32(60) {
		for i := range uint32(400) {
			id := hash('t', n<<16|i)
			_, _, err := s.Find(&id)
			switch {
			case errors.Is(err, txindex.ErrDamaged):
				found++
			case err != nil:
				t.Fatalf("a transaction of the index is denied: %v", err)
			}
		}
	}
	if found == 0 {
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
	check(t, s, 99)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// A folder of version 1 is taken over as it is; one with holes is emptied.
func TestVersion1(t *testing.T) {
	for _, missing := range []int{-1, 7, 29} {
		o := options(t.TempDir())
		db, err := leveldb.OpenFile(o.Dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		for n := range uint32(30) {
			batch := new(leveldb.Batch)
			number := binary.BigEndian.AppendUint32(nil, n)
			for i, id := range txs(n) {
				row := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, n), uint32(i))
				batch.Put(append([]byte{'t'}, id[:]...), row)
			}
			batch.Put(append([]byte{'n'}, number...), block(n)[:])
			if int(n) == missing {
				batch.Reset()
			}
			best := binary.LittleEndian.AppendUint32(append([]byte(nil), block(n)[:]...), n)
			batch.Put([]byte{'B'}, binary.LittleEndian.AppendUint32(best, n+1))
			if err := db.Write(batch, nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			s := open(t, o)
			best, height, ok := s.Best()
			if whole := missing < 0; ok != whole || whole && (height != 29 || best != *block(29)) {
				t.Errorf("block %d missing: best %v at %d", missing, best, height)
			}
			check(t, s, height)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A folder of version 2 is taken over: what is added from then on has offsets too.
func TestVersion2(t *testing.T) {
	o := options(t.TempDir())
	s := open(t, o)
	for n := range uint32(30) {
		if err := s.Add(block(n), int32(n), txs(n), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := leveldb.OpenFile(o.Dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	version := func(change byte) {
		t.Helper()
		format, err := db.Get([]byte("V"), nil)
		if err != nil {
			t.Fatal(err)
		}
		format[0] -= change
		if err := db.Put([]byte("V"), format, nil); err != nil {
			t.Fatal(err)
		}
	}
	version(1)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for n := range int32(3) { // opened again and again
		s := open(t, o)
		if best, height, ok := s.Best(); !ok || height != 29+n || best != *block(29 + uint32(n)) {
			t.Fatalf("best %v at %d", best, height)
		}
		add(t, s, 30+uint32(n))
		check(t, s, 30+n)
		id := txs(30 + uint32(n))[0]
		if _, at, err := s.Find(&id); err != nil || at != place(30+uint32(n), 0) {
			t.Errorf("found at %v, %v", at, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if db, err = leveldb.OpenFile(o.Dir, nil); err != nil {
		t.Fatal(err)
	}
	version(2)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, o)
	if _, _, ok := s.Best(); ok {
		t.Error("one of a version that never had a record of it is not emptied")
	}
}

// An index that knows more than the chain goes back to where both agree.
func TestRewind(t *testing.T) {
	o := options(t.TempDir())
	s := open(t, o)
	for n := range uint32(60) {
		add(t, s, n)
		if n%10 == 9 {
			if err := s.Sync(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := s.Rewind(func(b *chainhash.Hash) bool { return *b == *block(39) }); err != nil {
		t.Fatal(err)
	}
	if best, height, ok := s.Best(); best != *block(39) || height != 39 || !ok {
		t.Errorf("best %v at %d", best, height)
	}
	for n := range uint32(60) {
		if n >= 40 {
			add(t, s, n)
		}
	}
	check(t, s, 59)
	if err := s.Rewind(func(*chainhash.Hash) bool { return false }); err != nil {
		t.Fatal(err)
	}
	if _, _, ok := s.Best(); ok {
		t.Error("nothing is known, and there is a best block")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
