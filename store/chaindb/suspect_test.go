package chaindb

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tables harms the tables of a closed database, in places where a read only
// meets it by chance.
func tables(t *testing.T, o Options) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(o.Dir, "*.ldb"))
	if err != nil || len(paths) == 0 {
		t.Fatal("there are no tables: ", err)
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, percent := range []int64{40, 60, 70, 80, 85} {
			corrupt(t, path, info.Size()*percent/100, 0xde, 0xad, 0xbe, 0xef)
		}
	}
}

// settled returns the options of a closed database with tables.
func settled(t *testing.T) Options {
	t.Helper()
	db, _ := loaded(t, 100)
	o := db.o
	for range 2 { // goleveldb makes tables of its journal when it is opened
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		db = open(t, o)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return o
}

// readAll reads every row, as the node may do in the course of time.
func readAll(t *testing.T, db *DB) (err error) {
	t.Helper()
	blocks := readBlocks(t, "chain.blk.gz")
	defer func() {
		if p := recover(); p != nil {
			err = p.(error)
		}
	}()
	coins, err := db.Coins(FirstCoins)
	if err != nil {
		return err
	}
	defer coins.Release()
	for _, block := range blocks {
		hash := block.BlockHash()
		if _, err := db.Block(&hash); err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
		if _, err := db.Undo(&hash); err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
	}
	return coins.Visit(t.Context(), 0, 0xffff, func(key, value []byte) error {
		var coin Coin
		return coin.Parse(key, value)
	})
}

// A table that turns out to be damaged while the node runs is noted: the next start
// checks everything, and says what a rebuild mends. Without damage it goes on.
func TestDamageFoundLater(t *testing.T) {
	o := settled(t)
	tables(t, o)
	db, err := Open(o)
	if errors.Is(err, ErrDamaged) {
		t.Fatal("found at once: the test shows nothing")
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := readAll(t, db); !errors.Is(err, ErrCorrupt) {
		t.Fatalf("everything can be read: %v", err)
	}
	_ = db.Close()
	if _, err := Open(o); !errors.Is(err, ErrDamaged) {
		t.Fatalf("the next start: %v", err)
	}
	if err := Rebuild(o); err != nil {
		t.Fatal(err)
	}
	db = open(t, o)
	if !db.Reloading() {
		t.Error("nothing is to be fed again")
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestSuspicionWithoutDamage(t *testing.T) {
	o := settled(t)
	note := filepath.Join(o.Dir, suspectFile)
	if err := os.WriteFile(note, []byte("why\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	db := open(t, o)
	if err := errors.Join(readAll(t, db), db.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(note); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the note is still there: %v", err)
	}
}

// With another key than the files were written with nothing can be read, and the
// error says what may have happened. Nothing is rebuilt.
func TestOtherKey(t *testing.T) {
	o := settled(t)
	path := filepath.Join(o.BlocksDir, "xor.dat")
	key, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range key {
		key[i] ^= 0x55
	}
	if err := os.WriteFile(path, key, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(o); !errors.Is(err, ErrKey) || errors.Is(err, ErrDamaged) ||
		!strings.Contains(err.Error(), "xor.dat") {
		t.Errorf("got %v", err)
	}
	for i := range key {
		key[i] ^= 0x55
	}
	if err := os.WriteFile(path, key, 0o600); err != nil {
		t.Fatal(err)
	}
	db := open(t, o)
	if err := errors.Join(readAll(t, db), db.Close()); err != nil {
		t.Fatal(err)
	}
}
