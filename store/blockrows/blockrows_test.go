package blockrows_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/syndtr/goleveldb/leveldb"

	"github.com/seed61375155/trawl/internal/vfs/faultfs"
	"github.com/seed61375155/trawl/store/blockrows"
)

func TestStore(t *testing.T) {
	dir := t.TempDir()
	o := options(dir)
	s, best, err := blockrows.Open(o)
	if err != nil || best != nil {
		t.Fatal(best, err)
	}
	a, b := chainhash.Hash{1}, chainhash.Hash{2}
	for _, put := range []struct {
		best blockrows.Best
		row  []byte
	}{
		{blockrows.Best{Block: a, Height: 0, State: []byte("one")}, []byte("row a")},
		{blockrows.Best{Block: b, Height: 1, State: []byte("two")}, []byte("row b")},
		{blockrows.Best{Block: a, Height: 0, State: []byte("one")}, nil},
	} {
		if err := s.Put(&put.best, put.row); err != nil {
			t.Fatal(err)
		}
	}
	for hash, want := range map[chainhash.Hash]string{a: "row a", b: "row b"} {
		if row, err := s.Row(&hash); err != nil || string(row) != want {
			t.Errorf("row %q, %v", row, err)
		}
	}
	if _, err := s.Row(&chainhash.Hash{9}); !errors.Is(err, blockrows.ErrNotFound) {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s, best, err = blockrows.Open(o)
	if err != nil || best == nil || best.Block != a || best.Height != 0 || string(best.State) != "one" {
		t.Fatalf("%+v, %v", best, err)
	}
	if err := errors.Join(s.Wipe(), s.Close()); err != nil {
		t.Fatal(err)
	}
	if s, best, err = blockrows.Open(o); err != nil || best != nil {
		t.Fatalf("%+v, %v", best, err)
	}
	if err := errors.Join(
		s.Close(), os.WriteFile(filepath.Join(dir, "CURRENT"), []byte("nonsense"), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	if s, best, err = blockrows.Open(o); err != nil || best != nil {
		t.Fatalf("damaged: %+v, %v", best, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func options(dir string) blockrows.Options {
	return blockrows.Options{Dir: dir, Name: "test", Network: [4]byte{1, 2, 3, 4}}
}

func block(n int32) chainhash.Hash { return chainhash.Hash{byte(n), byte(n >> 8), 1} }

func put(t *testing.T, s *blockrows.Store, n int32) {
	t.Helper()
	best := &blockrows.Best{Block: block(n), Height: n, State: bytes.Repeat([]byte{byte(n)}, 700)}
	if err := s.Put(best, []byte{byte(n), byte(n >> 8)}); err != nil {
		t.Fatal(err)
	}
}

// check asserts that there is a row for each block up to the best one.
func check(t *testing.T, s *blockrows.Store, best *blockrows.Best) {
	t.Helper()
	if best == nil {
		return
	}
	if want := bytes.Repeat([]byte{byte(best.Height)}, 700); !bytes.Equal(best.State, want) {
		t.Errorf("state of another block at %d", best.Height)
	}
	for n := range best.Height + 1 {
		hash := block(n)
		if row, err := s.Row(&hash); err != nil || !bytes.Equal(row, []byte{byte(n), byte(n >> 8)}) {
			t.Fatalf("best is %d: row %d is %x, %v", best.Height, n, row, err)
		}
	}
}

// However the power is lost, the best block is the one of the last Sync or a later
// one, and all blocks up to it have their rows.
func TestPowerLoss(t *testing.T) {
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 9))
		o := options(t.TempDir())
		fs := faultfs.New()
		o.FS = fs
		s, _, err := blockrows.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		synced, last := int32(-1), int32(20+r.IntN(200))
		for n := range last + 1 {
			put(t, s, n)
			if r.IntN(40) == 0 {
				if err := s.Sync(); err != nil {
					t.Fatal(err)
				}
				synced = n
			}
		}
		if err := fs.PowerLoss(r); err != nil {
			t.Fatal(err)
		}
		_ = s.Close()
		o.FS = nil
		s, best, err := blockrows.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		if best == nil && synced >= 0 || best != nil && (best.Height < synced || best.Height > last) {
			t.Errorf("seed %d: %+v, synced at %d", seed, best, synced)
		}
		check(t, s, best)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A folder of version 1 is taken over as it is; one with holes is emptied.
func TestVersion1(t *testing.T) {
	for _, missing := range []int32{-1, 7, 29} {
		o := options(t.TempDir())
		db, err := leveldb.OpenFile(o.Dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		for n := range int32(30) {
			hash := block(n)
			if n != missing {
				err = errors.Join(err, db.Put(append([]byte{'s'}, hash[:]...), []byte{byte(n), 0}, nil))
			}
			best := binary.LittleEndian.AppendUint32(append([]byte(nil), hash[:]...), uint32(n))
			err = errors.Join(err, db.Put([]byte{'B'}, append(best, bytes.Repeat([]byte{byte(n)}, 700)...), nil))
		}
		if err := errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			s, best, err := blockrows.Open(o)
			if err != nil {
				t.Fatal(err)
			}
			if whole := missing < 0; whole != (best != nil) || whole && best.Height != 29 {
				t.Errorf("row %d missing: %+v", missing, best)
			}
			check(t, s, best)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// An index that knows more than the chain goes back to where both agree.
func TestRewind(t *testing.T) {
	s, _, err := blockrows.Open(options(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	for n := range int32(60) {
		put(t, s, n)
		if n%10 == 9 {
			if err := s.Sync(); err != nil {
				t.Fatal(err)
			}
		}
	}
	best, err := s.Rewind(func(b *chainhash.Hash) bool { return *b == block(39) })
	if err != nil || best == nil || best.Height != 39 {
		t.Fatalf("%+v, %v", best, err)
	}
	check(t, s, best)
	if best, err := s.Rewind(func(*chainhash.Hash) bool { return false }); err != nil || best != nil {
		t.Errorf("%+v, %v", best, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
