package txindex_test

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/vfs/faultfs"
	"github.com/seed61375155/trawl/store/txindex"
)

func options(dir string) txindex.Options {
	return txindex.Options{Dir: dir, Network: [4]byte{1, 2, 3, 4}}
}

func open(t *testing.T, o txindex.Options) *txindex.Store {
	t.Helper()
	s, err := txindex.Open(o)
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

// txs are the transactions of a block.
func txs(n uint32) (ids []chainhash.Hash) {
	for i := range 1 + n%60 {
		ids = append(ids, hash('t', n<<8|i))
	}
	return ids
}

// places are where they are.
func places(n uint32) (list []txindex.Place) {
	for i := range txs(n) {
		list = append(list, place(n, i))
	}
	return list
}

func place(n uint32, i int) txindex.Place {
	return txindex.Place{Index: i, Offset: 81 + 100*i, Sum: n * 0x01020304}
}

func add(t *testing.T, s *txindex.Store, n uint32) {
	t.Helper()
	if err := s.Add(block(n), int32(n), txs(n), places(n)); err != nil {
		t.Fatal(err)
	}
}

// check asserts that a block's transactions are found, or some of them otherwise.
func check(t *testing.T, s *txindex.Store, upTo int32) {
	t.Helper()
	for n := range uint32(upTo + 1) {
		for i, id := range txs(n) {
			got, at, err := s.Find(&id)
			if err != nil || got != *block(n) || at != place(n, i) && at != (txindex.Place{Index: i}) {
				t.Fatalf("best is %d: transaction %d of block %d: in %v at %d, %v", upTo, i, n, got, at, err)
			}
		}
	}
}

func TestStore(t *testing.T) {
	o := options(t.TempDir())
	s := open(t, o)
	if _, _, ok := s.Best(); ok {
		t.Error("a new index has a best block")
	}
	tx := func(n uint32) chainhash.Hash { return hash('x', n) }
	for _, step := range []func() error{
		func() error { return s.Add(block(1), 0, []chainhash.Hash{tx(1)}, nil) },
		func() error { return s.Add(block(2), 1, []chainhash.Hash{tx(2), tx(3), tx(4)}, places(2)) },
		func() error { return s.Back(block(1), 0) },
		func() error { return s.Add(block(5), 1, []chainhash.Hash{tx(5), tx(4)}, places(5)) },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if got, height, ok := s.Best(); got != *block(5) || height != 1 || !ok {
			t.Errorf("best block %v at %d", got, height)
		}
		for n, want := range map[uint32]struct{ block, index uint32 }{
			1: {1, 0}, 2: {2, 0}, 3: {2, 1}, 4: {5, 1}, 5: {5, 0},
		} {
			id := tx(n)
			at := place(want.block, int(want.index))
			if want.block == 1 {
				at = txindex.Place{Index: int(want.index)} // its offset was not known
			}
			if got, found, err := s.Find(&id); err != nil || got != *block(want.block) || found != at {
				t.Errorf("transaction %d: block %v at %v, %v", n, got, found, err)
			}
		}
		if _, _, err := s.Find(&chainhash.Hash{9}); !errors.Is(err, txindex.ErrNotFound) {
			t.Error(err)
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
	add(t, s, 0)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// A part of the journal that never reached the disk takes transactions with it: the
// index is back at a block up to which all are there.
func TestTornJournal(t *testing.T) {
	o := options(t.TempDir())
	s := open(t, o)
	for n := range uint32(400) {
		add(t, s, n)
		if n == 50 {
			if err := s.Sync(); err != nil {
				t.Fatal(err)
			}
		}
	}
	torn := tear(t, s, o)
	s = open(t, torn)
	_, height, _ := s.Best()
	if height != 50 {
		t.Errorf("best block is at %d", height)
	}
	check(t, s, height)
	// Another chain follows. Rows left of lost blocks are never attributed to
	// blocks of the other chain.
	for n := range uint32(100) {
		if err := s.Add(block(1000+n), int32(51+n), txs(1000+n), nil); err != nil {
			t.Fatal(err)
		}
	}
	for n := range uint32(400) {
		for i, id := range txs(n) {
			got, at, err := s.Find(&id)
			if !errors.Is(err, txindex.ErrNotFound) && (err != nil || got != *block(n) || at.Index != i) {
				t.Fatalf("transaction %d of block %d: in %v at %d, %v", i, n, got, at, err)
			}
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// tear closes an index and returns a copy of it from before, which a loss of power
// took a part of the journal from.
func tear(t *testing.T, s *txindex.Store, o txindex.Options) txindex.Options {
	t.Helper()
	torn := options(t.TempDir())
	if err := os.CopyFS(torn.Dir, os.DirFS(o.Dir)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	journals, _ := filepath.Glob(filepath.Join(torn.Dir, "*.log"))
	if len(journals) != 1 {
		t.Fatal(journals)
	}
	raw, err := os.ReadFile(journals[0])
	if err != nil || len(raw) < 6*32768 {
		t.Fatal(len(raw), err)
	}
	clear(raw[4*32768 : 5*32768])
	if err := os.WriteFile(journals[0], raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return torn
}

// Transactions that came again in another block are not said to be there when the
// index is back at the block that they were in before.
func TestTornJournalAfterReorganisation(t *testing.T) {
	o := options(t.TempDir())
	s := open(t, o)
	for n := range uint32(51) {
		add(t, s, n)
	}
	if err := errors.Join(s.Sync(), s.Back(block(49), 49), s.Add(block(1050), 50, txs(50), nil)); err != nil {
		t.Fatal(err)
	}
	for n := uint32(51); n < 400; n++ {
		add(t, s, n)
	}
	s = open(t, tear(t, s, o))
	best, height, _ := s.Best()
	if height < 49 || best != *block(uint32(height)) {
		t.Errorf("best block %v at %d", best, height)
	}
	check(t, s, height)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// However the power is lost, also after blocks were taken back, the best block is one
// up to which all transactions are found, at or after the one of the last Sync.
func TestPowerLoss(t *testing.T) {
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 4))
		o := options(t.TempDir())
		fs := faultfs.New()
		o.FS = fs
		s := open(t, o)
		chain := []uint32{0}
		add(t, s, 0)
		id := uint32(0)
		for range 10 + r.IntN(80) {
			if r.IntN(12) == 0 && len(chain) > 4 { // a reorganisation, with the same transactions in other blocks
				for range 1 + r.IntN(3) {
					chain = chain[:len(chain)-1]
					if err := s.Back(block(chain[len(chain)-1]), int32(len(chain)-1)); err != nil {
						t.Fatal(err)
					}
				}
			}
			id++
			if err := s.Add(
				block(id), int32(len(chain)), []chainhash.Hash{hash('x', uint32(len(chain))), hash('y', id)}, nil,
			); err != nil {
				t.Fatal(err)
			}
			chain = append(chain, id)
			if r.IntN(15) == 0 {
				if err := s.Sync(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := fs.PowerLoss(r); err != nil {
			t.Fatal(err)
		}
		_ = s.Close()
		o.FS = nil
		s = open(t, o)
		best, height, _ := s.Best()
		if height > 0 && int(height) < len(chain) && best == *block(chain[height]) {
			for h := int32(1); h <= height; h++ {
				for _, tx := range []chainhash.Hash{hash('x', uint32(h)), hash('y', chain[h])} {
					if got, _, err := s.Find(&tx); err != nil || got != *block(chain[h]) {
						t.Fatalf("seed %d, best at %d: transaction of block %d: %v, %v", seed, height, h, got, err)
					}
				}
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
