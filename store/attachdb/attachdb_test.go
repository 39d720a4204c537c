package attachdb

import (
	"encoding/binary"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/internal/vfs/faultfs"
	"github.com/seed61375155/trawl/store/internal/dbfiles"
)

// block returns block n, of which there is one for each n and salt.
func block(n uint32, salt byte) Block {
	b := Block{Txs: n + 1, Size: 100 * n, Place: Place{File: int32(n) % 3, Offset: n, UndoOffset: 7 * n, UndoSize: n}}
	if n%3 == 0 {
		b.File = Remote
	}
	binary.LittleEndian.PutUint32(b.Header[:], n)
	b.Header[HeaderSize-1] = salt
	return b
}

func tip(n uint32) *Tip { return &Tip{n, chainhash.HashH(binary.LittleEndian.AppendUint32(nil, n))} }

func open(t *testing.T, fs vfs.FS, dir string) *Store {
	t.Helper()
	s, err := Open(Options{FS: fs, Dir: dir, Network: [4]byte{1, 2, 3, 4}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// load returns all blocks, whose numbers have to be 1, 2, 3, …
func load(t *testing.T, s *Store) (all []Block) {
	t.Helper()
	if err := s.Load(func(n uint32, b *Block) bool {
		if all = append(all, *b); int(n) != len(all) {
			t.Fatalf("number %d after %d blocks", n, len(all)-1)
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if int(s.Count()) != len(all) {
		t.Fatalf("%d blocks, count %d", len(all), s.Count())
	}
	return all
}

// A model is what a Store should hold.
type model struct {
	blocks  []Block
	filters map[uint32]Filter
	tip     Tip
}

func (m *model) apply(c *Change) {
	for n, b := range c.Set {
		m.blocks[n-1] = b
	}
	m.blocks = append(m.blocks, c.Add...)
	for n, f := range c.Filters {
		if m.filters[n] = f; f.Source == Built {
			delete(m.filters, n)
		}
	}
	if c.Tip != nil {
		m.tip = *c.Tip
	}
}

func (m *model) check(t *testing.T, s *Store) {
	t.Helper()
	if got := load(t, s); len(got)+len(m.blocks) > 0 && !reflect.DeepEqual(got, m.blocks) {
		t.Fatalf("%d blocks, want %d", len(got), len(m.blocks))
	}
	if s.Tip() != m.tip {
		t.Fatalf("tip %v, want %v", s.Tip(), m.tip)
	}
	filters := map[uint32]Filter{}
	if err := s.Imported(func(n uint32, f Filter) bool { filters[n] = f; return true }); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(filters, m.filters) {
		t.Fatalf("filters %v, want %v", filters, m.filters)
	}
	for n := range uint32(len(m.blocks) + 3) {
		f, err := s.Filter(n)
		if err != nil || f != m.filters[n] {
			t.Fatalf("filter %d: %v, %v, want %v", n, f, err, m.filters[n])
		}
		switch b, err := s.Block(n); {
		case n == 0 || int(n) > len(m.blocks):
			if !errors.Is(err, ErrNotFound) {
				t.Fatalf("block %d of %d: %v", n, len(m.blocks), err)
			}
		case err != nil || b != m.blocks[n-1]:
			t.Fatalf("block %d: %v, %v", n, b, err)
		}
	}
}

// change returns a change by chance that a Store with a number of blocks can make.
func change(r *rand.Rand, count uint32) *Change {
	c := &Change{}
	for range r.IntN(6) {
		count++
		c.Add = append(c.Add, block(count, byte(r.Uint32())))
	}
	if n := count - uint32(len(c.Add)); n > 0 && r.IntN(2) == 0 {
		at := 1 + r.Uint32N(n)
		c.Set = map[uint32]Block{at: block(at, byte(r.Uint32()))}
	}
	if count > 0 && r.IntN(2) == 0 {
		c.Filters = map[uint32]Filter{1 + r.Uint32N(count): {Source(r.IntN(int(sources))), r.IntN(2) == 0}}
	}
	if count > 0 && r.IntN(2) == 0 {
		c.Tip = tip(1 + r.Uint32N(count))
	}
	return c
}

// A store holds what it was told, also after it was opened again; where a block is
// refused it and what comes after it is gone, numbers and filters included.
func TestModel(t *testing.T) {
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 3))
		dir := filepath.Join(t.TempDir(), "attach")
		s, m := open(t, nil, dir), &model{filters: map[uint32]Filter{}}
		for range 40 {
			switch n := uint32(len(m.blocks)); {
			case r.IntN(10) == 0 && n > 0:
				keep := r.Uint32N(n)
				if err := s.Load(func(n uint32, _ *Block) bool { return n <= keep }); err != nil {
					t.Fatal(err)
				}
				m.blocks = m.blocks[:keep]
				for n := range m.filters {
					if n > keep {
						delete(m.filters, n)
					}
				}
				if m.tip.Number > keep {
					m.tip = Tip{}
				}
			case r.IntN(8) == 0:
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				s = open(t, nil, dir)
			default:
				c := change(r, n)
				if err := s.Commit(c); err != nil {
					t.Fatal(err)
				}
				m.apply(c)
			}
			m.check(t, s)
		}
	}
}

// A change that names what is not there is refused as a whole.
func TestRefusedChanges(t *testing.T) {
	s := open(t, nil, filepath.Join(t.TempDir(), "attach"))
	if err := s.Commit(&Change{Add: []Block{block(1, 0), block(2, 0)}, Tip: tip(2)}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []*Change{
		{Add: []Block{block(3, 0)}, Tip: tip(4)},
		{Add: []Block{block(3, 0)}, Set: map[uint32]Block{3: block(3, 1)}},
		{Add: []Block{block(3, 0)}, Set: map[uint32]Block{0: block(0, 1)}},
		{Add: []Block{block(3, 0)}, Filters: map[uint32]Filter{4: {Source: CoreRPC}}},
	} {
		if err := s.Commit(c); !errors.Is(err, ErrNotFound) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if got := load(t, s); len(got) != 2 || s.Tip() != *tip(2) {
		t.Errorf("%d blocks, tip %v", len(got), s.Tip())
	}
}

// After a loss of power all synced commits are there, and an unbroken run of
// the commits after them, maybe none, each as a whole.
func TestPowerLoss(t *testing.T) {
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 5))
		fs, dir := faultfs.New(), filepath.Join(t.TempDir(), "attach")
		s := open(t, fs, dir)
		states := []model{{filters: map[uint32]Filter{}}} // after each commit
		synced := 0
		for range 5 + r.IntN(20) {
			var next model
			old := &states[len(states)-1]
			next.blocks, next.tip, next.filters = append(next.blocks, old.blocks...), old.tip, map[uint32]Filter{}
			maps.Copy(next.filters, old.filters)
			c := change(r, uint32(len(next.blocks)))
			c.Set = nil // of rows that are left by a lost commit nothing is promised but that they were written
			if err := s.Commit(c); err != nil {
				t.Fatal(err)
			}
			next.apply(c)
			states = append(states, next)
			if r.IntN(6) == 0 {
				if err := s.Sync(); err != nil {
					t.Fatal(err)
				}
				synced = len(states) - 1
			}
		}
		if err := fs.PowerLoss(r); err != nil {
			t.Fatal(err)
		}
		_ = s.Close()
		s = open(t, nil, dir)
		got := load(t, s)
		found := false
		for _, m := range states[synced:] {
			same := len(got) == len(m.blocks) && (len(got) == 0 || reflect.DeepEqual(got, m.blocks))
			found = found || same && s.Tip() == m.tip
		}
		if !found {
			t.Fatalf("seed %d: %d blocks, tip %v are no state since the last sync", seed, len(got), s.Tip())
		}
		if err := s.Commit(&Change{Add: []Block{block(uint32(len(got))+1, 9)}}); err != nil {
			t.Fatal(err)
		}
		if f, err := s.Filter(uint32(len(got)) + 1); err != nil || f != (Filter{}) {
			t.Fatalf("seed %d: a new block has the filter of a lost one: %v, %v", seed, f, err)
		}
	}
}

var errInjected = errors.New("injected")

// Whichever call of the disk fails: it is told, and nothing that was synced is lost.
func TestFaults(t *testing.T) {
	for n := 0; ; n++ {
		fs, dir := faultfs.New(), filepath.Join(t.TempDir(), "attach")
		fs.Inject(faultfs.Nth(n, errInjected))
		synced, err := use(fs, dir)
		fs.Inject(nil)
		s := open(t, fs, dir)
		if got := load(t, s); uint32(len(got)) < synced {
			t.Fatalf("call %d fails: %d blocks of %d", n, len(got), synced)
		}
		if err == nil {
			if n < 10 {
				t.Fatalf("only %d calls", n)
			}
			return
		}
		if !errors.Is(err, errInjected) {
			t.Fatalf("call %d fails: %v", n, err)
		}
		_ = s.Close()
	}
}

// use writes to a store until something fails.
func use(fs vfs.FS, dir string) (synced uint32, err error) {
	for range 2 {
		s, err := Open(Options{FS: fs, Dir: dir, Network: [4]byte{1, 2, 3, 4}})
		if err != nil {
			return synced, err
		}
		for range 3 {
			n := s.Count()
			if err := s.Commit(&Change{Add: []Block{block(n+1, 0)}, Tip: tip(n + 1)}); err != nil {
				return synced, errors.Join(err, ignore(s.Close()))
			}
			if err := s.Sync(); err != nil {
				return synced, errors.Join(err, ignore(s.Close()))
			}
			synced = n + 1
		}
		if err := s.Close(); err != nil {
			return synced, err
		}
	}
	return synced, nil
}

func ignore(error) error { return nil }

// A directory is open once.
func TestExclusive(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "attach")
	s := open(t, nil, dir)
	if _, err := Open(Options{Dir: dir, Network: [4]byte{1, 2, 3, 4}}); !errors.Is(err, ErrLocked) {
		t.Errorf("opened twice: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Options{Dir: dir, Network: [4]byte{9}}); !errors.Is(err, ErrForeign) {
		t.Errorf("another network's: %v", err)
	}
	if whose, err := Look(dir); err != nil || whose != dbfiles.Own {
		t.Errorf("whose: %v, %v", whose, err)
	}
}

// Bytes that change anywhere in a table are never believed: what is loaded is what was
// written, up to the damage.
func TestDamagedTables(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "attach")
	s := open(t, nil, dir)
	var all []Block
	for n := uint32(1); n <= 500; n++ {
		all = append(all, block(n, 0))
	}
	if err := s.Commit(&Change{Add: all, Tip: tip(500)}); err != nil {
		t.Fatal(err)
	}
	for range 2 { // goleveldb makes tables of its journal when it is opened
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = open(t, nil, dir)
	}
	_ = s.Close()
	tables, _ := filepath.Glob(filepath.Join(dir, "*.ldb"))
	if len(tables) == 0 {
		t.Fatal("no tables")
	}
	raw, err := os.ReadFile(tables[0])
	if err != nil {
		t.Fatal(err)
	}
	for i := len(raw) / 3; i < len(raw)/3+8; i++ {
		raw[i] ^= 0x55
	}
	if err := os.WriteFile(tables[0], raw, 0o600); err != nil {
		t.Fatal(err)
	}
	s = open(t, nil, dir)
	n := 0
	err = s.Load(func(number uint32, b *Block) bool {
		if *b != all[number-1] {
			t.Fatalf("block %d is another", number)
		}
		n++
		return true
	})
	if err == nil && n == len(all) || err != nil && !errors.Is(err, ErrDamaged) {
		t.Errorf("%d of %d blocks were loaded: %v", n, len(all), err)
	}
	if err := s.Wipe(); err != nil {
		t.Fatal(err)
	}
	if got := load(t, s); len(got) != 0 || s.Tip() != (Tip{}) {
		t.Errorf("%d blocks after a wipe", len(got))
	}
}

// Decoded records are encoded to the same bytes, and a change of any byte is noticed.
func FuzzRecords(f *testing.F) {
	k := key(prefixBlock, 5)
	b := block(5, 1)
	f.Add(k, b.encode(k), uint16(3))
	f.Add(key(prefixFilter, 1), Filter{CoreRPC, true}.encode(), uint16(0))
	f.Add([]byte{}, position{3, *tip(2)}.encode(), uint16(7))
	f.Fuzz(func(t *testing.T, key, raw []byte, at uint16) {
		if p, err := decodePosition(raw); err == nil && raw != nil && string(p.encode()) != string(raw) {
			t.Errorf("position %x", raw)
		}
		if filter, err := decodeFilter(key, raw); err == nil && string(filter.encode()) != string(raw) {
			t.Errorf("filter %x", raw)
		}
		b, err := decodeBlock(key, raw)
		if err != nil {
			return
		}
		if string(b.encode(key)) != string(raw) {
			t.Errorf("block %x", raw)
		}
		changed := append([]byte(nil), raw...)
		changed[int(at)%len(raw)] ^= 1 << (at >> 13)
		if _, err := decodeBlock(key, changed); !errors.Is(err, ErrDamaged) {
			t.Errorf("byte %d was changed: %v", int(at)%len(raw), err)
		}
		if _, err := decodeBlock(append([]byte{1}, key...), raw); err == nil {
			t.Error("a block of another key")
		}
	})
}
