package searchdb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/search"
	"github.com/seed61375155/trawl/store/internal/ledger"
)

// fullStatus returns a status of which each field is at a bound that is allowed, and says something.
func fullStatus() Status {
	s := Status{Mode: modes - 1, Reason: "why", Updated: time.UnixMilli(77), Changes: 300}
	s.State = search.State{
		Start: 3, From: 4,
		Done: search.Block{Height: 9, Hash: [32]byte{1}}, Top: search.Block{Height: 9, Hash: [32]byte{2}},
		Joined: []search.Joined{
			{First: 0, From: 3, Done: 9}, {First: 5, From: 4, Done: -1}, {First: 5, From: 6, Done: 7},
		},
		Epoch: math.MaxUint32, Found: 1 << 40, Blocks: 1 << 20,
	}
	return s
}

// Records are read as they were written, for each allowed value of each field. Bytes that no store writes are
// refused, and so are records that are too short or too long.
func TestFormsOfRecords(t *testing.T) {
	status, definition := fullStatus(), Definition{
		Name: "n", Owner: "o", Number: 1 << 33, Created: time.UnixMilli(5), Start: 0, Stop: -1, StopBlock: [32]byte{7},
		BlocksOnly: true, Mempool: true, Sum: [32]byte{8},
	}
	mode := ModeChange{Mode: modes - 1, Updated: time.UnixMilli(6), Changes: 1 << 40}
	entry := search.Entry{
		Kind: search.Spend, Height: 0, Block: [32]byte{1}, Time: math.MaxUint32, Amount: -5, TxID: [32]byte{2},
		N: math.MaxUint32, Script: 9, Prev: wire.OutPoint{Hash: [32]byte{3}, Index: math.MaxUint32},
	}
	used := Used{0: 0, 7: math.MaxInt32}
	type form struct {
		name   string
		raw    []byte
		decode func([]byte) (any, error)
		want   any
	}
	forms := []form{
		{"status", status.encode(), func(b []byte) (any, error) {
			var s Status
			err := s.decode(b)
			return s, err
		}, status},
		{"definition", definition.encode(), func(b []byte) (any, error) {
			var d Definition
			err := d.decode(b)
			return d, err
		}, definition},
		{"mode", mode.encode(), func(b []byte) (any, error) {
			var m ModeChange
			err := m.decode(b)
			return m, err
		}, mode},
		{"entry", encodeEntry(&entry), func(b []byte) (any, error) { return decodeEntry(b) }, entry},
		{
			"used indices", encodePairs(used), func(b []byte) (any, error) { return decodePairs(b, "x") },
			map[uint32]int32(used),
		},
	}
	for _, f := range forms {
		if got, err := f.decode(f.raw); err != nil || !reflect.DeepEqual(got, f.want) {
			t.Errorf("%s: %+v, %v; want %+v", f.name, got, err, f.want)
		}
		if _, err := f.decode(append(bytes.Clone(f.raw), 0)); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s with a byte more: %v", f.name, err)
		}
		earlier := 0 // lengths that are forms of their own
		for n := range f.raw {
			if _, err := f.decode(f.raw[:n]); err == nil {
				earlier++
			} else if !errors.Is(err, ErrDamaged) {
				t.Errorf("%s of %d bytes: %v", f.name, n, err)
			}
		}
		if want := map[string]int{"status": 1}[f.name]; earlier != want { // without changes
			t.Errorf("%s: %d beginnings are taken, want %d", f.name, earlier, want)
		}
	}
}

// A status that contradicts itself is damaged, as is a definition, a mode or an entry with a value that none has.
func TestValuesThatNoneHas(t *testing.T) {
	for name, change := range map[string]func(*Status){
		"mode": func(s *Status) { s.Mode = modes }, "start": func(s *Status) { s.Start = -1 },
		"from": func(s *Status) { s.From = -1 }, "nothing joined": func(s *Status) { s.Joined = nil },
		"first joined later": func(s *Status) { s.Joined = s.Joined[1:] },
		"joined backwards":   func(s *Status) { s.Joined[2].First = 4 },
		"done":               func(s *Status) { s.Done.Height = -2 },
		"top below done":     func(s *Status) { s.Top.Height = s.Done.Height - 1 },
	} {
		s := fullStatus()
		if change(&s); s.decode(s.encode()) == nil {
			t.Errorf("a status with another %s is taken", name)
		}
	}
	low := fullStatus()
	low.Start, low.From, low.Done.Height, low.Top.Height = 0, 0, -1, -1
	if err := low.decode(low.encode()); err != nil {
		t.Errorf("a status of a search that has looked at nothing: %v", err)
	}
	for name, d := range map[string]Definition{"start": {Start: -1}, "stop": {Stop: -2}} {
		if d.decode(d.encode()) == nil {
			t.Errorf("a definition with another %s is taken", name)
		}
	}
	flagged := (&Definition{BlocksOnly: true, Mempool: true}).encode()
	flags := len(flagged) - 33
	for value, ok := range []bool{true, true, true, true, false, false} {
		flagged[flags] = byte(value)
		var d Definition
		err := d.decode(flagged)
		if (err == nil) != ok || ok && (d.BlocksOnly != (value&1 != 0) || d.Mempool != (value&2 != 0)) {
			t.Errorf("flags %d: %+v, %v", value, d, err)
		}
	}
	if m := (ModeChange{Mode: modes}); m.decode(m.encode()) == nil {
		t.Error("a mode is taken that none has")
	}
	for _, e := range []search.Entry{{Kind: search.Hit, Height: -1}, {Kind: 0}, {Kind: 99}} {
		if _, err := decodeEntry(encodeEntry(&e)); err == nil {
			t.Errorf("an entry of kind %d at height %d is taken", e.Kind, e.Height)
		}
	}
	if _, err := decodePairs(encodePairs(Used{1: -1}), "x"); err == nil {
		t.Error("an index below 0 is taken")
	}
	for _, n := range []uint64{math.MaxUint32, math.MaxUint32 + 1} {
		d := decoder{rest: binary.AppendUvarint(nil, n)}
		if d.uint32(); d.bad != (n > math.MaxUint32) {
			t.Errorf("%d as a number of 32 bits: bad %v", n, d.bad)
		}
	}
	for n, bad := range map[int64]bool{
		math.MaxInt32: false, math.MinInt32: false, math.MaxInt32 + 1: true, math.MinInt32 - 1: true,
		0: false, -1: false,
	} {
		d := decoder{rest: binary.AppendVarint(nil, n)}
		if got := d.int32(); d.bad != bad || !bad && int64(got) != n {
			t.Errorf("%d: got %d, bad %v", n, got, d.bad)
		}
	}
}

// A key belongs to the store if it has the length of its kind, and a value room for its checksum.
func TestKeysOfTheStore(t *testing.T) {
	value := make([]byte, 4)
	for prefix, more := range map[byte]int{'d': 0, 't': 0, 'u': 0, 'g': 0, 'x': 0, 'o': 4, 's': 4, 'e': PlaceSize} {
		k := append([]byte{prefix}, make([]byte, 8+more)...)
		if !owns(k, value) || !owns(k, nil) || owns(k, value[:3]) || owns(k[:len(k)-1], value) ||
			owns(append(k, 0), value) {
			t.Errorf("keys of %c", prefix)
		}
	}
	k := key(modePrefix, 7)
	if owns(k, value) || !ownsMode(k, value) || !ownsMode(k, nil) || ownsMode(k, value[:3]) ||
		ownsMode(k[:8], value) || ownsMode(append(k, 0), value) || ownsMode(key(usedPrefix, 7), value) {
		t.Error("keys of modes")
	}
	if id, ok := idOf(k); !ok || id != 7 {
		t.Errorf("%v, %v", id, ok)
	}
	p := Place{Epoch: 1, Block: true, Height: 2, Sequence: 3}
	e := (Entry{ID: 7, Place: p}).key()
	if got, ok := placeOf(e); !ok || got != p {
		t.Errorf("%v, %v", got, ok)
	}
	_, short := placeOf(e[:len(e)-1])
	_, long := placeOf(append(e, 0))
	_, id := idOf(k[:8])
	_, flag := ParsePlace(append(binary.BigEndian.AppendUint32(nil, 1), 2, 0, 0, 0, 0, 0, 0, 0, 0))
	if short || long || id || flag {
		t.Errorf("keys of wrong lengths, or a place with a wrong flag, are read: %v, %v, %v, %v", short, long, id, flag)
	}
	for _, pair := range [][2]Place{
		{{Epoch: 1, Block: true, Height: 9}, {Epoch: 2}},
		{{Height: 9}, {Block: true}},
		{{Block: true, Height: 1, Sequence: 9}, {Block: true, Height: 2}},
		{{Sequence: 1}, {Sequence: 2}},
		{{Epoch: 3, Height: 1 << 31}, LastOf(3, -1)},
		{LastOf(3, -1), {Epoch: 3, Block: true}},
		{{Epoch: 3, Block: true, Height: 5, Sequence: 1 << 31}, LastOf(3, 5)},
		{LastOf(3, 5), {Epoch: 3, Block: true, Height: 6}},
	} {
		if !pair[0].Less(pair[1]) || pair[1].Less(pair[0]) || pair[0].Less(pair[0]) {
			t.Errorf("%v is not before %v", pair[0], pair[1])
		}
	}
}

// Objects and scripts are in records of about 64 KiB, each with the number of its first, and are read together.
func TestPartsOfSearches(t *testing.T) {
	const size = partBytes / 4
	for _, count := range []int{0, 1, 3, 4, 5, 8, 9} {
		n := &Search{}
		for i := range count {
			script := bytes.Repeat([]byte{byte(i)}, size)
			n.Scripts = append(n.Scripts, Script{Script: script, Object: uint32(i), Index: -1})
			n.Objects = append(n.Objects, Object(strconv.Itoa(i)))
		}
		s := open(t, nil, filepath.Join(t.TempDir(), "searches"))
		b := new(ledger.Batch)
		n.parts(b, 5, 10, 20)
		if err := s.commit(b); err != nil {
			t.Fatal(err)
		}
		var firsts []uint32
		var again Search
		for pair := range s.ledger.Load().Range(key(scriptPrefix, 5)) {
			first := binary.BigEndian.Uint32(pair.Key[9:])
			firsts = append(firsts, first)
			raw, err := checked(pair.Key, pair.Value)
			if err != nil || len(raw) > partBytes+size {
				t.Fatalf("a record of %d bytes: %v", len(raw), err)
			}
			if again.addScripts(first-20+1, raw) == nil || again.addScripts(first-20, raw) != nil {
				t.Errorf("scripts from %d on are not taken, or those behind a gap are", first)
			}
		}
		var want []uint32
		for first := 0; first < count; first += 4 {
			want = append(want, uint32(20+first))
		}
		if !reflect.DeepEqual(firsts, want) || !reflect.DeepEqual(again.Scripts, n.Scripts) {
			t.Errorf("%d scripts: records from %v on, %d scripts are read", count, firsts, len(again.Scripts))
		}
		for i := range again.Scripts {
			if c := again.Scripts[i].Script; cap(c) != len(c) {
				t.Errorf("script %d may grow into the next", i)
			}
		}
	}
	var n Search
	if n.addObjects(1, nil) == nil || n.addObjects(0, []byte{2, 'a'}) == nil || n.addScripts(0, []byte{1, 7}) == nil {
		t.Error("objects behind a gap, or half of some, are taken")
	}
}

// The parts of a loaded search must fit together: each script has its object, and each addition its scripts.
func TestWhatBelongsTogether(t *testing.T) {
	for _, test := range []struct {
		objects, scripts int
		object, joined   uint32
		ok               bool
	}{{1, 1, 0, 1, true}, {1, 1, 1, 1, false}, {2, 1, 1, 1, true}, {1, 1, 0, 2, false}, {1, 2, 0, 2, true}} {
		n := &Search{Objects: make([]Object, test.objects), Scripts: make([]Script, test.scripts)}
		n.Scripts[test.scripts-1].Object = test.object
		n.Status.Joined = []search.Joined{{}, {First: test.joined}}
		if err := n.check(); (err == nil) != test.ok || !test.ok && !errors.Is(err, ErrDamaged) {
			t.Errorf("%+v: %v", test, err)
		}
	}
}

// A search of which a record is missing is dropped, and is gone from then on.
func TestMissingRecords(t *testing.T) {
	for _, prefix := range [][]byte{statusPrefix, objectPrefix} {
		s := open(t, nil, filepath.Join(t.TempDir(), "searches"))
		r := rand.New(rand.NewPCG(5, 5))
		if err := s.Commit(&Change{Create: []*Search{newSearch(r, 1), newSearch(r, 2)}}); err != nil {
			t.Fatal(err)
		}
		b := new(ledger.Batch)
		for pair := range s.ledger.Load().Range(key(prefix, 1)) {
			b.Delete(bytes.Clone(pair.Key))
		}
		if err := s.commit(b); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if n := one(t, s); n.ID != 2 {
				t.Errorf("%s is missing of search 1: %v is left", prefix, n.ID)
			}
		}
		if removed, err := s.ids(removedPrefix); err != nil || !reflect.DeepEqual(removed, []ID{1}) {
			t.Errorf("removed are %v, %v", removed, err)
		}
	}
}

// Entries are visited behind a place and up to another, this included, of one search, until no more are wanted.
func TestVisitedEntries(t *testing.T) {
	s := open(t, nil, filepath.Join(t.TempDir(), "searches"))
	r := rand.New(rand.NewPCG(5, 6))
	var c Change
	for id := ID(1); id <= 3; id++ {
		c.Entries = append(c.Entries, payments(r, id, 0, 6)...)
	}
	if err := s.Commit(&c); err != nil {
		t.Fatal(err)
	}
	at := func(height uint32) Place { return Place{Block: true, Height: height} }
	for _, test := range []struct {
		after, to Place
		most      int
		want      []uint32
	}{
		{Place{}, LastOf(0, 99), 9, []uint32{0, 1, 2, 3, 4, 5}},
		{at(1), at(4), 9, []uint32{2, 3, 4}},
		{at(1), at(4), 2, []uint32{2, 3}},
		{at(4), at(4), 9, nil},
		{Place{}, LastOf(0, 2), 9, []uint32{0, 1, 2}},
		{Place{}, LastOf(0, -1), 9, nil},
	} {
		var got []uint32
		err := s.Entries(2, test.after, test.to, func(p Place, _ *search.Entry) bool {
			got = append(got, p.Height)
			return len(got) < test.most
		})
		if err != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%+v: %v, %v", test, got, err)
		}
	}
}

// A change is empty when nothing of it is to be done, whatever else is.
func TestEmptyChanges(t *testing.T) {
	for kinds := range 1 << 6 {
		var c Change
		for i, set := range []func(){
			func() { c.Create = []*Search{{}} },
			func() { c.Extend = []Extension{{}} },
			func() { c.Status = map[ID]Status{1: {}} },
			func() { c.Used = map[ID]Used{1: {}} },
			func() { c.Entries = []Entry{{}} },
			func() { c.Remove = []ID{1} },
		} {
			if kinds>>i&1 != 0 {
				set()
			}
		}
		if c.Empty() != (kinds == 0) {
			t.Errorf("a change of the kinds %06b is empty: %v", kinds, c.Empty())
		}
	}
}

// A step of the sweep deletes at most sweepRows rows, and begins where the step before ended. If a search is
// removed again later, the sweep deletes the rows added meanwhile.
func TestStepsOfTheSweep(t *testing.T) {
	s := open(t, nil, filepath.Join(t.TempDir(), "searches"))
	r := rand.New(rand.NewPCG(5, 8))
	entriesOf := func() (n int) {
		for range s.ledger.Load().Range(entryPrefix) {
			n++
		}
		return n
	}
	if more, err := s.Sweep(t.Context()); more || err != nil {
		t.Errorf("of nothing: %v, %v", more, err)
	}
	for range 2 {
		c := Change{Entries: payments(r, 1, 0, sweepRows+sweepRows/2), Remove: []ID{1, 2}}
		c.Entries = append(append(c.Entries, payments(r, 2, 0, sweepRows)...), payments(r, 3, 0, 5)...)
		if err := s.Commit(&c); err != nil {
			t.Fatal(err)
		}
		for _, want := range []int{sweepRows + sweepRows/2 + 5, sweepRows/2 + 5, 5} {
			more, err := s.Sweep(t.Context())
			if left := entriesOf(); !more || err != nil || left != want {
				t.Errorf("%d are left, want %d; more %v, %v", left, want, more, err)
			}
		}
		if more, err := s.Sweep(t.Context()); more || err != nil {
			t.Errorf("at the end: %v, %v", more, err)
		}
		if ids, _ := s.ids(removedPrefix); len(ids) != 0 || entriesOf() != 5 {
			t.Errorf("%v are to be swept, %d entries are left", ids, entriesOf())
		}
	}
}
