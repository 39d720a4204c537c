package spenders_test

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
	"github.com/syndtr/goleveldb/leveldb"

	"github.com/seed61375155/trawl/internal/vfs/faultfs"
	"github.com/seed61375155/trawl/store/internal/dbfiles"
	"github.com/seed61375155/trawl/store/spenders"
)

func options(dir string) spenders.Options {
	return spenders.Options{Dir: dir, Network: [4]byte{1, 2, 3, 4}}
}

func open(t *testing.T, o spenders.Options) *spenders.Store {
	t.Helper()
	s, err := spenders.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func hash(kind byte, n uint32) (h chainhash.Hash) {
	h[0] = kind
	binary.BigEndian.PutUint32(h[1:], n)
	return chainhash.HashH(h[:])
}

func block(n uint32) *chainhash.Hash { h := hash('b', n); return &h }

// spends are what a block spends.
func spends(n uint32) (list []spenders.Spend) {
	for i := range n % 60 {
		list = append(list, spenders.Spend{
			Out:   wire.OutPoint{Hash: hash('t', n), Index: i},
			Place: spenders.Place{Offset: 81 + 100*i, Sum: n * 0x01020304},
		})
	}
	return list
}

func add(t *testing.T, s *spenders.Store, n uint32) {
	t.Helper()
	if err := s.Add(block(n), int32(n), spends(n)); err != nil {
		t.Fatal(err)
	}
}

// check asserts that what a block spends is found there.
func check(t *testing.T, s *spenders.Store, n uint32) {
	t.Helper()
	for _, spend := range spends(n) {
		found, err := s.Find(&spend.Out)
		if err != nil || !slices.Contains(found, spenders.Candidate{Block: *block(n), Place: spend.Place}) {
			t.Fatalf("%v of block %d: %v, %v", spend.Out, n, found, err)
		}
	}
}

// An output is found in each block that spends it, the last one first; what came in a block that left the
// chain stays.
func TestStore(t *testing.T) {
	o := options(t.TempDir())
	s := open(t, o)
	if _, _, ok := s.Best(); ok {
		t.Error("a new index has a best block")
	}
	if _, ok, err := s.Newest(); ok || err != nil {
		t.Error("a new index has a newest block", err)
	}
	twice := spenders.Spend{Out: wire.OutPoint{Hash: hash('x', 1), Index: 1}}
	twice.Place = spenders.Place{Offset: 1 << 31, Sum: 7}
	again := spenders.Spend{Out: twice.Out, Place: spenders.Place{Offset: 90, Sum: 1<<32 - 1}}
	for _, step := range []func() error{
		func() error { return s.Add(block(0), 0, nil) },
		func() error { return s.Add(block(1), 1, []spenders.Spend{twice, spends(1)[0]}) },
		func() error { return s.Back(block(0), 0) },
		func() error { return s.Add(block(5), 1, []spenders.Spend{again}) },
		func() error { return s.Back(block(0), 0) },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if got, height, ok := s.Best(); got != *block(0) || height != 0 || !ok {
			t.Errorf("best block %v at %d", got, height)
		}
		if got, ok, err := s.Newest(); got != *block(5) || !ok || err != nil {
			t.Errorf("newest block %v, %v", got, err)
		}
		found, err := s.Find(&twice.Out)
		want := []spenders.Candidate{{Block: *block(5), Place: again.Place}, {Block: *block(1), Place: twice.Place}}
		if err != nil || !slices.Equal(found, want) {
			t.Errorf("found %v, %v", found, err)
		}
		check(t, s, 1)
		for _, other := range []wire.OutPoint{{Hash: twice.Out.Hash}, {Hash: hash('x', 2), Index: 1}} {
			if found, err := s.Find(&other); len(found) > 0 || err != nil {
				t.Errorf("%v was not spent: %v, %v", other, found, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = open(t, o)
	}
	if err := errors.Join(
		s.Close(), os.WriteFile(filepath.Join(o.Dir, "CURRENT"), []byte("nonsense"), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	s = open(t, o)
	if _, _, ok := s.Best(); ok {
		t.Error("a damaged index has a best block")
	}
	add(t, s, 7)
	check(t, s, 7)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if whose, err := spenders.Look(o.Dir); whose != dbfiles.Own || err != nil {
		t.Errorf("the folder is %v, %v", whose, err)
	}
}

// Hashes of two stores have nothing in common, nor those before and after a store was emptied.
func TestSecret(t *testing.T) {
	keys := func(dir string) (list []string) {
		db, err := leveldb.OpenFile(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		it := db.NewIterator(nil, nil)
		for it.Next() {
			if it.Key()[0] == 's' {
				list = append(list, string(it.Key()[1:6]))
			}
		}
		it.Release()
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		return list
	}
	var seen []string
	for round := range 3 {
		o := options(t.TempDir())
		s := open(t, o)
		resets := s.Resets()
		add(t, s, 50)
		if round == 2 {
			before := s.Resets()
			if err := s.Wipe(); err != nil {
				t.Fatal(err)
			}
			if s.Resets() == before {
				t.Error("it is not told that the index was emptied")
			}
			if found, err := s.Find(&spends(50)[0].Out); len(found) > 0 || err != nil {
				t.Errorf("found %v, %v in an empty index", found, err)
			}
			add(t, s, 50)
		} else if s.Resets() != resets {
			t.Error("the index says that it was emptied")
		}
		check(t, s, 50)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		here := keys(o.Dir)
		if len(here) != 50 {
			t.Errorf("%d rows", len(here))
		}
		for _, key := range here {
			if slices.Contains(seen, key) {
				t.Errorf("hash %x came before", key)
			}
		}
		seen = append(seen, here...)
	}
}

// An index that knows more than the chain goes back to where both agree; rows that are left are still of
// their blocks.
func TestRewind(t *testing.T) {
	s := open(t, options(t.TempDir()))
	for n := range uint32(60) {
		add(t, s, n)
		if n%10 == 9 {
			if err := s.Sync(); err != nil {
				t.Fatal(err)
			}
		}
	}
	resets := s.Resets()
	if err := s.Rewind(func(b *chainhash.Hash) bool { return *b == *block(39) }); err != nil {
		t.Fatal(err)
	}
	if best, height, ok := s.Best(); best != *block(39) || height != 39 || !ok || s.Resets() == resets {
		t.Errorf("best %v at %d", best, height)
	}
	for n := uint32(40); n < 60; n++ {
		add(t, s, n)
	}
	for n := range uint32(60) {
		check(t, s, n)
	}
	if err := s.Rewind(func(*chainhash.Hash) bool { return false }); err != nil {
		t.Fatal(err)
	}
	if _, _, ok := s.Best(); ok {
		t.Error("nothing is known, and there is a best block")
	}
	add(t, s, 3)
	check(t, s, 3)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// However the power is lost, also after blocks were taken back, all spends up to the best block are found. This block
// is at or after that of the last Sync, and spends of lost blocks are found in these blocks alone.
func TestPowerLoss(t *testing.T) {
	kept := 0
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 4))
		o := options(t.TempDir())
		fs := faultfs.New()
		o.FS = fs
		s := open(t, o)
		chain := []uint32{0}
		add(t, s, 0)
		id, synced := uint32(0), 0
		for range 10 + r.IntN(80) {
			if r.IntN(12) == 0 && len(chain) > synced+4 {
				for range 1 + r.IntN(3) {
					chain = chain[:len(chain)-1]
					if err := s.Back(block(chain[len(chain)-1]), int32(len(chain)-1)); err != nil {
						t.Fatal(err)
					}
				}
			}
			id++
			if err := s.Add(block(id), int32(len(chain)), spends(id)); err != nil {
				t.Fatal(err)
			}
			chain = append(chain, id)
			if r.IntN(15) == 0 {
				if err := s.Sync(); err != nil {
					t.Fatal(err)
				}
				synced = len(chain) - 1
			}
		}
		if err := fs.PowerLoss(r); err != nil {
			t.Fatal(err)
		}
		_ = s.Close()
		o.FS = nil
		s = open(t, o)
		best, height, _ := s.Best()
		if synced > 0 && int(height) < synced {
			t.Errorf("seed %d: best block is at %d, sure were %d", seed, height, synced)
		}
		if height > 0 && int(height) < len(chain) && best == *block(chain[height]) {
			kept++
			for _, n := range chain[:height+1] {
				check(t, s, n)
			}
		}
		add(t, s, id+1) // numbers of lost blocks are not given again
		for n := range id + 2 {
			for _, spend := range spends(n) {
				found, err := s.Find(&spend.Out)
				if want := (spenders.Candidate{Block: *block(n), Place: spend.Place}); err != nil ||
					slices.ContainsFunc(found, func(c spenders.Candidate) bool { return c != want }) {
					t.Fatalf("seed %d: %v of block %d is found at %v, %v", seed, spend.Out, n, found, err)
				}
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if kept == 0 {
		t.Error("nothing was ever kept")
	}
}

// Readers meet a writer that empties the store: each finds what is there or nothing.
func TestReadersBesideAWriter(t *testing.T) {
	s := open(t, options(t.TempDir()))
	var readers sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		readers.Go(func() {
			for n := uint32(0); ; n++ {
				select {
				case <-done:
					return
				default:
				}
				for _, spend := range spends(n % 30) {
					found, err := s.Find(&spend.Out)
					if err != nil && !errors.Is(err, spenders.ErrDamaged) && !errors.Is(err, spenders.ErrClosed) ||
						len(found) > 0 && found[0].Block != *block(n % 30) {
						t.Errorf("%v: %v, %v", spend.Out, found, err)
					}
				}
			}
		})
	}
	for range 5 {
		for n := range uint32(30) {
			add(t, s, n)
		}
		if err := s.Wipe(); err != nil {
			t.Error(err)
		}
	}
	close(done)
	readers.Wait()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
