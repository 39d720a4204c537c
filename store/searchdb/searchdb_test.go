package searchdb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/search"
	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/internal/vfs/faultfs"
	"github.com/seed61375155/trawl/store/internal/ledger"
)

func open(t *testing.T, fs vfs.FS, dir string) *Store {
	t.Helper()
	s, err := Open(Options{FS: fs, Dir: dir, Network: [4]byte{1, 2, 3, 4}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func numbered(r *rand.Rand) chainhash.Hash {
	return chainhash.HashH(binary.LittleEndian.AppendUint64(nil, r.Uint64()))
}

// newSearch returns a search by chance.
func newSearch(r *rand.Rand, id ID) *Search {
	n := &Search{ID: id, Definition: Definition{
		Name: fmt.Sprint("name ", r.IntN(100)), Owner: "me", Number: uint64(id),
		Created: time.UnixMilli(r.Int64N(1e12)),
		Start:   r.Int32N(100), Stop: r.Int32N(100) - 1, StopBlock: numbered(r), BlocksOnly: r.IntN(2) == 0,
		Mempool: r.IntN(2) == 0, Sum: numbered(r),
	}}
	for range 1 + r.IntN(3) {
		n.Objects = append(n.Objects, Object(fmt.Sprint("object ", r.IntN(1000))))
	}
	count, rest := 1+r.IntN(5), 0
	if r.IntN(5) == 0 {
		count, rest = 15, partBytes/10 // more than one record
	}
	for range count {
		script := binary.BigEndian.AppendUint64([]byte{0, 20}, r.Uint64())
		n.Scripts = append(n.Scripts, Script{
			Script: append(script, make([]byte, rest)...), Object: uint32(r.IntN(len(n.Objects))),
			Index: r.Int32N(20) - 1,
		})
	}
	n.Status = status(r)
	n.Ranges = RangesOf(n.Scripts)
	return n
}

func status(r *rand.Rand) Status {
	s := Status{
		State: search.NewState(search.Block{Height: r.Int32N(100) - 1, Hash: numbered(r)}), Mode: Mode(
			r.IntN(int(modes)),
		),
		Updated: time.UnixMilli(r.Int64N(1e12)),
	}
	s.Top.Height += r.Int32N(9)
	s.Found, s.Blocks, s.Epoch = r.Uint64N(1e9), r.Uint64N(1e6), r.Uint32N(9)
	s.Changes = r.Uint64N(1000)
	if s.Mode == Failed {
		s.Reason = "why"
	}
	return s
}

func entry(r *rand.Rand, id ID, sequence uint32) Entry {
	e := Entry{
		ID: id, Place: Place{Epoch: r.Uint32N(3), Block: r.IntN(3) > 0, Height: r.Uint32N(50), Sequence: sequence},
	}
	e.Kind, e.Entry.Height, e.Entry.Block, e.Time = search.Kind(1+r.IntN(4)), r.Int32N(99), numbered(r), r.Uint32()
	if e.Kind == search.Receive || e.Kind == search.Spend {
		e.Amount, e.TxID, e.N, e.Script = r.Int64(), numbered(r), r.Uint32(), r.Uint32()
	}
	if e.Kind == search.Spend {
		e.Prev = wire.OutPoint{Hash: numbered(r), Index: r.Uint32()}
	}
	return e
}

// The store returns what was committed, also after a reopening, and removed searches leave
// nothing.
func TestModel(t *testing.T) {
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 7))
		dir := filepath.Join(t.TempDir(), "searches")
		s, m := open(t, nil, dir), newModel()
		for id := range ID(25) {
			c := m.change(r, id+1)
			if err := write(s, r, c, m.modes(r)); err != nil {
				t.Fatal(err)
			}
			if r.IntN(4) == 0 {
				if err := s.Reopen(); err != nil {
					t.Fatal(err)
				}
			}
			if err := m.differs(s); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
		for id := range m.searches {
			if err := s.Commit(&Change{Remove: []ID{id}}); err != nil {
				t.Fatal(err)
			}
		}
		for more := true; more; {
			var err error
			if more, err = s.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for _, prefix := range [][]byte{
			definitionPrefix, objectPrefix, scriptPrefix, statusPrefix, entryPrefix, removedPrefix,
		} {
			for pair := range s.ledger.Load().Range(prefix) {
				t.Fatalf("seed %d: %x is left", seed, pair.Key)
			}
		}
		for pair := range s.modes.Load().Range(modePrefix) {
			t.Fatalf("seed %d: mode %x is left", seed, pair.Key)
		}
	}
}

// Acknowledged changes survive a loss of power, and each change is there whole or not at all.
func TestPowerLoss(t *testing.T) {
	for seed := range uint64(14) {
		r := rand.New(rand.NewPCG(seed, 9))
		fs, dir := faultfs.New(), filepath.Join(t.TempDir(), "searches")
		s, m := open(t, fs, dir), newModel()
		for id := range ID(1 + r.IntN(10)) {
			c := m.change(r, id+1)
			if err := write(s, r, c, m.modes(r)); err != nil {
				t.Fatal(err)
			}
		}
		// One more, of which the last sync fails.
		after := m.clone()
		last := func() error { return s.SetModes(after.modes(r)) }
		if r.IntN(2) == 0 {
			last = func() error { return s.Commit(after.change(r, 99)) }
		}
		fs.Inject(faultfs.Nth(r.IntN(3), errInjected))
		err := last()
		fs.Inject(nil)
		if err := fs.PowerLoss(r); err != nil {
			t.Fatal(err)
		}
		_ = s.Close()
		s = open(t, nil, dir)
		before, then := m.differs(s), after.differs(s)
		if then != nil && (before != nil || err == nil) {
			t.Fatalf("seed %d: commit %v: is neither %v nor %v", seed, err, before, then)
		}
	}
}

var errInjected = errors.New("injected")

// Whichever call of the disk fails: it is told, nothing that was acknowledged is lost, and the store
// can be opened again.
func TestFaults(t *testing.T) {
	for n := 0; ; n++ {
		r := rand.New(rand.NewPCG(1, 11))
		fs, dir := faultfs.New(), filepath.Join(t.TempDir(), "searches")
		m, before := newModel(), newModel()
		again := func(s *Store) error { return s.Commit(&Change{Remove: []ID{1}}) }
		fs.Inject(faultfs.Nth(n, errInjected))
		s, err := Open(Options{FS: fs, Dir: dir, Network: [4]byte{1, 2, 3, 4}})
		for id := ID(1); err == nil && id < 5; id++ {
			before = m.clone()
			if err = s.Commit(m.change(r, id)); err == nil {
				before = m.clone()
				if err = s.SetModes(m.modes(r)); err != nil {
					again = func(s *Store) error { return s.SetModes(map[ID]ModeChange{1: {}}) }
				}
			}
		}
		fs.Inject(nil)
		if err == nil {
			_ = s.Close()
			if n < 10 {
				t.Fatalf("only %d calls", n)
			}
			return
		}
		if !errors.Is(err, errInjected) {
			t.Fatalf("call %d fails: %v", n, err)
		}
		if s == nil {
			s = open(t, fs, dir)
		} else if err := again(s); err == nil {
			t.Fatalf("call %d: a commit after one that failed", n)
		} else if err := s.Reopen(); err != nil {
			t.Fatalf("call %d: %v", n, err)
		}
		if one, other := before.differs(s), m.differs(s); one != nil && other != nil {
			t.Fatalf("call %d: neither %v nor %v", n, one, other)
		}
		_ = s.Close()
	}
}

// A search that is damaged is dropped, and others stay; a damaged entry is told.
func TestDamage(t *testing.T) {
	for _, prefix := range [][]byte{definitionPrefix, statusPrefix, objectPrefix, scriptPrefix, entryPrefix} {
		r := rand.New(rand.NewPCG(5, uint64(prefix[0])))
		s := open(t, nil, filepath.Join(t.TempDir(), "searches"))
		c := Change{
			Create: []*Search{newSearch(r, 1), newSearch(r, 2)}, Entries: []Entry{entry(r, 1, 0), entry(r, 2, 0)},
		}
		if err := s.Commit(&c); err != nil {
			t.Fatal(err)
		}
		b := new(ledger.Batch)
		for pair := range s.ledger.Load().Range(key(prefix, 1)) {
			value := slices.Clone(pair.Value)
			value[r.IntN(len(value))] ^= 4
			b.Put(slices.Clone(pair.Key), value)
			break
		}
		if err := s.commit(b); err != nil {
			t.Fatal(err)
		}
		list, err := s.Load()
		if err != nil {
			t.Fatal(err)
		}
		want := 1
		if prefix[0] == 'e' {
			want = 2
		}
		if len(list) != want || !slices.ContainsFunc(list, func(n *Search) bool { return n.ID == 2 }) {
			t.Errorf("%s: %d searches", prefix, len(list))
		}
		all := func(Place, *search.Entry) bool { return true }
		err = s.Entries(1, Place{}, LastOf(9, 99), all)
		if want == 2 && !errors.Is(err, ErrDamaged) {
			t.Errorf("a damaged entry: %v", err)
		}
		if err := s.Entries(2, Place{}, LastOf(9, 99), all); err != nil {
			t.Error(err)
		}
	}
}

// Decoded records are encoded to the same bytes, and a change of any byte is noticed.
func FuzzRecords(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 1))
	n := newSearch(r, 1)
	f.Add(n.encode(), uint16(3))
	f.Add(n.Status.encode(), uint16(9))
	mode := ModeChange{Mode: Aborted, Updated: time.UnixMilli(7), Changes: 300}
	f.Add(mode.encode(), uint16(2))
	for range 4 {
		e := entry(r, 1, 2)
		f.Add(encodeEntry(&e.Entry), uint16(30))
	}
	f.Fuzz(func(t *testing.T, raw []byte, at uint16) {
		var d Definition
		if d.decode(raw) == nil {
			var again Definition
			if err := again.decode(d.encode()); err != nil || again != d {
				t.Errorf("definition %x: %v", raw, err)
			}
		}
		var st Status
		if st.decode(raw) == nil {
			var again Status
			if err := again.decode(st.encode()); err != nil || !reflect.DeepEqual(again, st) {
				t.Errorf("status %x: %v", raw, err)
			}
		}
		var mode ModeChange
		if mode.decode(raw) == nil {
			var again ModeChange
			if err := again.decode(mode.encode()); err != nil || again != mode {
				t.Errorf("mode %x: %v", raw, err)
			}
		}
		if e, err := decodeEntry(raw); err == nil {
			if again, err := decodeEntry(encodeEntry(&e)); err != nil || again != e {
				t.Errorf("entry %x: %v", raw, err)
			}
		}
		var parts Search
		_ = parts.addObjects(0, raw)
		_ = parts.addScripts(0, raw)

		k := key(entryPrefix, 7)
		record := binary.LittleEndian.AppendUint32(slices.Clone(raw), checksum(k, raw))
		if got, err := checked(k, record); err != nil || string(got) != string(raw) {
			t.Errorf("record %x: %v", record, err)
		}
		record[int(at)%len(record)] ^= 1 << (at >> 13)
		if _, err := checked(k, record); !errors.Is(err, ErrDamaged) {
			t.Errorf("byte %d was changed: %v", int(at)%len(record), err)
		}
	})
}
