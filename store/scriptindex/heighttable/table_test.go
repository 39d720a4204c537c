package heighttable_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed61375155/trawl/store/scriptindex/heighttable"
)

// model is which heights a key has.
type model map[heighttable.Key]map[uint32]bool

func (m model) add(key heighttable.Key, height uint32) {
	if m[key] == nil {
		m[key] = map[uint32]bool{}
	}
	m[key][height] = true
}

func (m model) heights(key heighttable.Key) []uint32 { return slices.Sorted(maps.Keys(m[key])) }

// elements returns all elements, sorted.
func (m model) elements() (list []heighttable.Element) {
	for key, heights := range m {
		for h := range heights {
			list = append(list, heighttable.Make(key, h))
		}
	}
	slices.Sort(list)
	return list
}

// within returns the elements with keys in [lo, hi).
func within(list []heighttable.Element, lo, hi heighttable.Key) []heighttable.Element {
	from, _ := slices.BinarySearch(list, heighttable.Make(lo, 0))
	to := len(list)
	if hi < 1<<heighttable.KeyBits {
		to, _ = slices.BinarySearch(list, heighttable.Make(hi, 0))
	}
	return list[from:to]
}

var label = heighttable.Label{1, 2, 3, 63: 4}

// write makes a table for claimed elements of sorted elements.
func write(tb testing.TB, claimed uint64, from, to uint32, list []heighttable.Element) []byte {
	tb.Helper()
	n := heighttable.SectionsOf(claimed)
	lo, hi := heighttable.RangeOf(0, n)
	e, err := heighttable.NewEncoder(claimed, from, to, within(list, lo, hi))
	if err != nil {
		tb.Fatal(err)
	}
	if e.Sections() != n {
		tb.Fatalf("%d sections, want %d", e.Sections(), n)
	}
	l := e.NewLayout()
	var body []byte
	for i := range n {
		if from, to := heighttable.RangeOf(i, n); i == 0 && (from != lo || to != hi) {
			tb.Fatal("another range")
		}
		lo, hi := e.Range(i)
		s, err := e.Encode(i, within(list, lo, hi))
		if err != nil {
			tb.Fatal(err)
		}
		if at := l.Place(&s); at != int64(256+len(body)) {
			tb.Fatalf("section %d at %d", i, at)
		}
		body = append(body, s.Bytes...)
	}
	head, tail, at := l.End(label)
	if at != int64(256+len(body)) || len(head) != 256 || l.Elements() != uint64(len(list)) {
		tb.Fatalf("end at %d, head %d, %d elements", at, len(head), l.Elements())
	}
	return slices.Concat(head, body, tail)
}

func open(tb testing.TB, raw []byte) *heighttable.Table {
	tb.Helper()
	x, err := heighttable.Open(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		tb.Fatal(err)
	}
	return x
}

// some returns elements of all kinds: keys of one block and of thousands, neighbours, the first and the last key.
func some(r *rand.Rand, keys int, from, to uint32) model {
	m := model{}
	span := uint64(to-from) + 1
	for n := range keys {
		key := heighttable.Key(r.Uint64N(1 << heighttable.KeyBits))
		switch r.IntN(20) {
		case 0:
			key = 0
		case 1:
			key = 1<<heighttable.KeyBits - 1
		case 2:
			key = heighttable.Key(n) // neighbours
		}
		count := 1 + r.IntN(3)
		switch r.IntN(60) {
		case 0:
			count = 198 + r.IntN(6)
		case 1:
			count = 500
		}
		for range count {
			m.add(key, from+uint32(r.Uint64N(span)))
		}
	}
	return m
}

// A table has what a map has, whatever is asked.
func TestTableIsAMap(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, test := range []struct {
		keys     int
		claimed  uint64 // elements; decides the number of sections
		from, to uint32
	}{
		{1, 1, 5, 5},
		{1, 1, 0, heighttable.MaxHeight},
		{300, 300, 7, 7},
		{500, 1 << 14, 100_000, 102_047},
		{2_000, 1 << 14, 0, 949_999},
		{1_000, 40_000_000, 0, 949_999}, // 32 sections
		{50, 1 << 30, 900_000, 900_143}, // sections without keys
	} {
		m := some(r, test.keys, test.from, test.to)
		list := m.elements()
		x := open(t, write(t, test.claimed, test.from, test.to, list))
		if from, to := x.Heights(); from != test.from || to != test.to || x.Label() != label ||
			x.Elements() != uint64(len(list)) || x.Keys() != uint64(len(m)) {
			t.Errorf("heights %d to %d, %d elements of %d keys", from, to, x.Elements(), x.Keys())
		}
		for key := range m {
			checkKey(t, x, m, key)
			checkKey(t, x, m, key^1)
			checkKey(t, x, m, heighttable.Key(r.Uint64N(1<<heighttable.KeyBits)))
		}
		whole, err := x.Read(0, 1<<heighttable.KeyBits+5, nil)
		if err != nil || !slices.Equal(whole, list) {
			t.Errorf("%d elements, want %d: %v", len(whole), len(list), err)
		}
		for range 100 {
			lo := heighttable.Key(r.Uint64N(1 << heighttable.KeyBits))
			hi := lo + heighttable.Key(r.Uint64N(1<<r.UintN(heighttable.KeyBits)))
			if r.IntN(4) == 0 {
				lo = list[r.IntN(len(list))].Key()
			}
			if r.IntN(4) == 0 {
				hi = list[r.IntN(len(list))].Key() + heighttable.Key(r.IntN(2))
			}
			before := []heighttable.Element{1, 2}
			got, err := x.Read(lo, hi, before)
			var want []heighttable.Element
			if lo < hi {
				want = within(list, lo, hi)
			}
			if err != nil || !slices.Equal(got, slices.Concat(before, want)) {
				t.Fatalf("keys %x to %x: %d elements, want %d: %v", lo, hi, len(got)-2, len(want), err)
			}
		}
	}
}

func checkKey(t *testing.T, x *heighttable.Table, m model, key heighttable.Key) {
	t.Helper()
	want := m.heights(key)
	heights, n, err := x.Find(key, 1<<24)
	if err != nil || n != len(want) || !slices.Equal(heights, want) {
		t.Fatalf("key %x: %d heights %v, want %v: %v", key, n, heights, want, err)
	}
	if most := len(want) - 1; most >= 0 {
		if heights, n, err := x.Find(key, most); heights != nil || n != len(want) || err != nil {
			t.Fatalf("key %x: at most %d of %d: %v, %v", key, most, n, heights, err)
		}
	}
}

// The format does not change by itself: tables of earlier versions are read.
func TestFormat(t *testing.T) {
	list := some(rand.New(rand.NewPCG(13, 14)), 700, 1000, 99_000).elements()
	sum := sha256.Sum256(write(t, 5_000_000, 1000, 99_000, list))
	if got := hex.EncodeToString(sum[:8]); got != "836c80d9e35cbbe7" {
		t.Errorf("the table is %s", got)
	}
}

// A table of the shape of a real one takes 2.1 to 2.2 bytes an element.
func TestSize(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	m := model{}
	for range 20_000 {
		key := heighttable.Key(r.Uint64N(1 << heighttable.KeyBits >> 15)) // one of some sections of a large table
		height := uint32(r.Uint64N(950_000))
		m.add(key, height)
		for n := r.IntN(100); n > 8 && height < 950_000; n -= r.IntN(100) + 80 {
			m.add(key, height)
			height += uint32(1 + r.ExpFloat64()*3000)
		}
		if height < 950_000 {
			m.add(key, height)
		}
	}
	list := m.elements()
	e, err := heighttable.NewEncoder(1<<36, 0, 949_999, list)
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.Encode(0, list)
	if err != nil {
		t.Fatal(err)
	}
	bits := float64(len(s.Bytes)) * 8
	// 20 bits for the first height, some 11 for the key, 1 or 2 for the count, 10 for each further height.
	if want := 34*float64(len(m)) + 14*float64(len(list)-len(m)); bits > want {
		t.Errorf("%.2f bits a key, %.2f bytes an element, want %.2f", bits/float64(len(m)),
			bits/8/float64(len(list)), want/8/float64(len(list)))
	}
}

// Heights out of order, and too high ones, are refused.
func TestTooLarge(t *testing.T) {
	for _, heights := range [][2]uint32{{5, 4}, {0, heighttable.MaxHeight + 1}} {
		if _, err := heighttable.NewEncoder(1, heights[0], heights[1], nil); !errors.Is(err, heighttable.ErrTooLarge) {
			t.Errorf("heights %v: %v", heights, err)
		}
	}
}

// Each changed byte is noticed when it is read, and nothing wrong is returned.
func TestDamage(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	m := some(r, 30, 1000, 3000)
	for h := range uint32(201) {
		m.add(1<<39, 1000+2*h) // a long list
	}
	list := m.elements()
	good := write(t, 10_000_000, 1000, 3000, list)
	for at := range good {
		raw := bytes.Clone(good)
		raw[at] ^= 1 << r.IntN(8)
		x, err := heighttable.Open(bytes.NewReader(raw), int64(len(raw)))
		if err == nil {
			if at < 256 || at >= len(raw)-24*8 {
				t.Fatalf("byte %d: damage of the header is not noticed", at)
			}
			_, err = x.Read(0, 1<<heighttable.KeyBits, nil)
		}
		if !errors.Is(err, heighttable.ErrDamaged) {
			t.Fatalf("byte %d: %v", at, err)
		}
		for range 5 {
			if x == nil {
				break
			}
			key := list[r.IntN(len(list))].Key()
			heights, _, err := x.Find(key, 1<<24)
			wrong := err == nil && !slices.Equal(heights, m.heights(key))
			if wrong || err != nil && !errors.Is(err, heighttable.ErrDamaged) {
				t.Fatalf("byte %d, key %x: %v, want %v: %v", at, key, heights, m.heights(key), err)
			}
		}
	}
	for n := range good {
		if n%97 == 0 || n < 300 || n > len(good)-200 {
			_, err := heighttable.Open(bytes.NewReader(good[:n]), int64(n))
			if !errors.Is(err, heighttable.ErrDamaged) {
				t.Fatalf("%d bytes of %d: %v", n, len(good), err)
			}
		}
	}
}

// A file that cannot be read is told from a damaged one.
func TestUnreadable(t *testing.T) {
	m := some(rand.New(rand.NewPCG(7, 8)), 400, 1000, 3000)
	list := m.elements()
	raw := write(t, 1000, 1000, 3000, list)
	broken := errors.New("broken disk")
	reads, failing := 0, -1
	r := readerFunc(func(b []byte, at int64) (int, error) {
		if reads++; reads == failing {
			return 0, broken
		}
		return bytes.NewReader(raw).ReadAt(b, at)
	})
	for failing = 1; failing <= 2; failing++ {
		if reads = 0; true {
			if _, err := heighttable.Open(r, int64(len(raw))); !errors.Is(err, broken) {
				t.Errorf("read %d: %v", failing, err)
			}
		}
	}
	failing = -1
	x, err := heighttable.Open(r, int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	for failing = 1; failing <= 2; failing++ {
		reads = 0
		if _, _, err := x.Find(list[0].Key(), 1000); !errors.Is(err, broken) || errors.Is(err, heighttable.ErrDamaged) {
			t.Errorf("read %d: %v", failing, err)
		}
		reads = 0
		if _, err := x.Read(0, 1<<40, nil); !errors.Is(err, broken) {
			t.Errorf("read %d: %v", failing, err)
		}
	}
}

type readerFunc func([]byte, int64) (int, error)

func (f readerFunc) ReadAt(b []byte, at int64) (int, error) { return f(b, at) }

var _ io.ReaderAt = readerFunc(nil)

// Elements are sorted whether heights of a key came in order or not, and each is there once.
func TestSort(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, n := range []int{0, 1, 2, 511, 512, 5000} {
		for _, sections := range []int{1, 2, 1024} {
			for _, ordered := range []bool{true, false} {
				span := heighttable.SpanOf(sections)
				lo, hi := heighttable.RangeOf(sections-1, sections)
				if hi-lo != 1<<span {
					t.Fatalf("%d sections: span %d", sections, span)
				}
				want := map[heighttable.Element]bool{}
				var list []heighttable.Element
				for i := range n {
					key := lo + heighttable.Key(r.Uint64N(uint64(hi-lo)))
					if r.IntN(3) == 0 {
						key = lo + 7
					}
					height := uint32(i)
					if !ordered {
						height = uint32(r.IntN(n))
					}
					want[heighttable.Make(key, height)] = true
					list = append(list, heighttable.Make(key, height))
					if r.IntN(10) == 0 {
						list = append(list, list[len(list)-1])
					}
				}
				got := heighttable.Sort(list, nil, span)
				if !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
					t.Errorf("%d of %d sections, ordered %v: %d elements, want %d", n, sections, ordered, len(got), len(want))
				}
			}
		}
	}
}

// Any bytes are opened and read without a panic, and without more memory than they are worth.
func FuzzTable(f *testing.F) {
	r := rand.New(rand.NewPCG(11, 12))
	for _, n := range []int{1, 40, 300} {
		list := some(r, n, 10, 2000).elements()
		f.Add(write(f, uint64(n)<<16, 10, 2000, list), uint64(list[0].Key()), true)
	}
	f.Fuzz(func(t *testing.T, raw []byte, key uint64, mend bool) {
		if mend {
			raw = heighttable.Mend(raw)
		}
		x, err := heighttable.Open(bytes.NewReader(raw), int64(len(raw)))
		if err != nil {
			if !errors.Is(err, heighttable.ErrDamaged) {
				t.Fatal(err)
			}
			return
		}
		all, err := x.Read(0, 1<<heighttable.KeyBits, nil)
		if len(all) > 16*len(raw)*8 {
			t.Fatalf("%d elements of %d bytes", len(all), len(raw))
		}
		heights, _, findErr := x.Find(heighttable.Key(key), 1<<20)
		if err == nil && findErr == nil {
			var want []uint32
			for _, e := range within(all, heighttable.Key(key&(1<<40-1)), heighttable.Key(key&(1<<40-1))+1) {
				want = append(want, e.Height())
			}
			if !slices.Equal(heights, want) {
				t.Fatalf("key %x: found %v, read %v", key, heights, want)
			}
		}
	})
}
