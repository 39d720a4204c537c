package asmap_test

import (
	"bytes"
	"math/bits"
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/seed61375155/trawl/internal/p2p/asmap"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
)

// A writer writes a program.
type writer struct{ bits []byte }

func (w *writer) number(n, least uint32, widths ...int) {
	n -= least
	for i, width := range widths {
		last := i == len(widths)-1
		if n>>width == 0 || last {
			if !last {
				w.bits = append(w.bits, 0)
			}
			for b := width - 1; b >= 0; b-- {
				w.bits = append(w.bits, byte(n>>b&1))
			}
			return
		}
		w.bits = append(w.bits, 1)
		n -= 1 << width
	}
}

func (w *writer) op(op, operand uint32) {
	w.number(op, 0, 0, 0, 1)
	switch op {
	case 0, 3:
		w.number(operand, 1, from(15, 24)...)
	case 1:
		w.number(operand, 17, from(5, 30)...)
	case 2:
		w.number(operand, 2, from(1, 8)...)
	}
}

func from(first, last int) (list []int) {
	for ; first <= last; first++ {
		list = append(list, first)
	}
	return list
}

func (w *writer) file() []byte {
	file := make([]byte, (len(w.bits)+7)/8)
	for i, b := range w.bits {
		file[i/8] |= b << (i % 8)
	}
	return file
}

// A tree says what the system of an address is: it is the simple form of a program.
type tree struct {
	as       uint32 // of a leaf
	branches *[2]tree
	must     []byte // bits that an address has to have before the rest counts
	other    uint32 // the system where it has not
}

func (t *tree) lookUp(ip [16]byte, at int) uint32 {
	for _, want := range t.must {
		if ip[at/8]>>(7-at%8)&1 != want {
			return t.other
		}
		at++
	}
	if t.branches == nil {
		return t.as
	}
	return t.branches[ip[at/8]>>(7-at%8)&1].lookUp(ip, at+1)
}

func (t *tree) write(w *writer) {
	if len(t.must) > 0 {
		w.op(3, t.other)
	}
	for rest := t.must; len(rest) > 0; rest = rest[min(8, len(rest)):] {
		operand := uint32(1)
		for _, b := range rest[:min(8, len(rest))] {
			operand = operand<<1 | uint32(b)
		}
		w.op(2, operand)
	}
	if t.branches == nil {
		w.op(0, t.as)
		return
	}
	var zero writer
	t.branches[0].write(&zero)
	w.op(1, uint32(len(zero.bits)))
	w.bits = append(w.bits, zero.bits...)
	t.branches[1].write(w)
}

// grow makes a random tree for so many bits.
func grow(r *rand.Rand, left int) tree {
	t := tree{as: 1 + r.Uint32N(1<<25-1<<15)}
	for left > 0 && r.IntN(3) == 0 && len(t.must) < 20 {
		t.must, left = append(t.must, byte(r.IntN(2))), left-1
	}
	t.other = 1 + r.Uint32N(70000)
	if left > 0 && r.IntN(5) > 0 {
		zero, one := grow(r, min(left-1, 12)), grow(r, min(left-1, 12))
		t.branches = &[2]tree{zero, one}
	}
	return t
}

func random(r *rand.Rand) (ip [16]byte) {
	for i := range ip {
		ip[i] = byte(r.Uint32())
	}
	ip[0] = 0x24 // is routed
	return ip
}

// A program says of every address what the tree says that it was made of.
func TestAgainstTree(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		want := grow(r, 128)
		var w writer
		want.write(&w)
		if len(w.bits) < 17 {
			continue
		}
		m, ok := asmap.Parse(w.file())
		if !ok {
			t.Fatalf("refused: %+v", want)
		}
		for range 50 {
			ip := random(r)
			a := netaddr.FromAddrPort(netip.AddrPortFrom(netip.AddrFrom16(ip), 8333))
			if got := m.AS(a); got != want.lookUp(ip, 0) {
				t.Fatalf("%v: %d, want %d", a, got, want.lookUp(ip, 0))
			}
		}
	}
}

// The system counts where there is one, for IPv4 addresses in all their forms, and else the
// address itself.
func TestGroup(t *testing.T) {
	mapped := append(make([]byte, 79), bytes.Repeat([]byte{1}, 16)...) // IPv4 within IPv6, behind one bit
	four := tree{branches: &[2]tree{{must: mapped, other: 6, as: 4}, {as: 7}}}
	var w writer
	four.write(&w)
	m, ok := asmap.Parse(w.file())
	if !ok {
		t.Fatal("refused")
	}
	for text, want := range map[string]uint32{
		"1.2.3.4": 4, "64:ff9b::102:304": 4, "2002:102:304::1": 4, "2400::1": 6,
		"127.0.0.1": 0, "10.0.0.1": 0, "::1": 0,
		"pg6mmjiyjmcrsslvykfwnntlaru7p5svn6y2ymmju6nubxndf4pscryd.onion": 0,
	} {
		a, err := netaddr.Parse(text, 1)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.AS(a); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
		group := a.NetGroup()
		if want > 0 {
			group = []byte{2, byte(want), 0, 0, 0}
		}
		if got := m.Group(a); !bytes.Equal(got, group) {
			t.Errorf("group of %s: %x, want %x", text, got, group)
		}
		var none *asmap.Map
		if none.AS(a) != 0 || !bytes.Equal(none.Group(a), a.NetGroup()) {
			t.Errorf("%s: a map that is not there maps", text)
		}
	}
}

// Bytes that are no whole program are refused.
func TestRefused(t *testing.T) {
	type op struct{ op, operand uint32 }
	made := func(ops ...op) []byte {
		var w writer
		for _, o := range ops {
			w.op(o.op, o.operand)
		}
		return w.file()
	}
	// returnBits is how many bits RETURN 1 has.
	const returnBits = 17
	var many, deep []op
	for range 17 {
		many = append(many, op{2, 1 << 8})
	}
	for n := uint32(128); n > 0; n-- {
		deep = append(deep, op{2, 2})
	}
	jump := func(over int) op { return op{1, uint32(over)} }
	for name, test := range map[string]struct {
		file []byte
		ok   bool
	}{
		"nothing":                   {nil, false},
		"one system":                {made(op{0, 1}), true},
		"the largest":               {made(op{0, 1<<25 - 1<<15}), true},
		"a byte too many":           {append(made(op{0, 1}), 0), false},
		"ones at the end":           {append(made(op{0, 1})[:2], 0x80), false},
		"a branch":                  {made(jump(returnBits), op{0, 1}, op{0, 2}), true},
		"a branch of 1 only":        {made(jump(returnBits), op{0, 1}), false},
		"a jump into it":            {made(jump(returnBits+1), op{0, 1}, op{0, 2}), false},
		"a part out of reach":       {made(op{0, 1}, op{0, 2}), false},
		"a jump beyond the end":     {made(jump(1000), op{0, 1}, op{0, 2}), false},
		"no end":                    {made(op{3, 1}), false},
		"a default twice":           {made(op{3, 1}, op{3, 2}, op{2, 2}, op{0, 1}), false},
		"a default for an end":      {made(op{3, 1}, op{0, 1}), false},
		"a default for a match":     {made(op{3, 1}, op{2, 2}, op{0, 1}), true},
		"all bits matched":          {made(append(append([]op(nil), many[:16]...), op{0, 1})...), true},
		"more bits than there are":  {made(append(append([]op(nil), many...), op{0, 1})...), false},
		"short matches":             {made(append(deep, op{0, 1})...), false},
		"a short match first":       {made(op{2, 2}, op{2, 1 << 8}, op{0, 1}), true},
		"a short match last":        {made(op{2, 1 << 8}, op{2, 2}, op{0, 1}), true},
		"in the middle of a number": {made(op{0, 1})[:2], false},
	} {
		if _, ok := asmap.Parse(test.file); ok != test.ok {
			t.Errorf("%s: %t", name, ok)
		}
	}
}

// The version of a map is that of all its bits.
func TestVersion(t *testing.T) {
	seen := map[string]bool{(*asmap.Map)(nil).Version().String(): true}
	for as := uint32(1); as < 300; as++ {
		var w writer
		w.op(0, as)
		m, ok := asmap.Parse(w.file())
		if !ok || seen[m.Version().String()] {
			t.Fatalf("AS %d: %t, version %v", as, ok, m.Version())
		}
		seen[m.Version().String()] = true
	}
	// As Bitcoin Core 30.2 says on starting with these three bytes.
	m, _ := asmap.Parse([]byte{0, 0, 0})
	if got := m.Version().String(); got != "5efeebc08d93b1b2b015c9d84bddd34aec1c86ac32d8617b4535678f8742af58" {
		t.Errorf("version %s", got)
	}
}

// FuzzParse runs whatever is taken for a program: it ends with each address, at a system.
func FuzzParse(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		g := grow(r, 20)
		var w writer
		g.write(&w)
		f.Add(w.file(), []byte{0x24, 1, 2, 3})
	}
	f.Fuzz(func(t *testing.T, file, host []byte) {
		m, ok := asmap.Parse(file)
		if !ok {
			return
		}
		var ip [16]byte
		copy(ip[:], host)
		a := netaddr.FromAddrPort(netip.AddrPortFrom(netip.AddrFrom16(ip), 1))
		if as := m.AS(a); bits.Len32(as) > 25 {
			t.Errorf("AS %d", as)
		}
	})
}

// Later releases know a map by the hash of its bytes.
func TestVersionOfBytes(t *testing.T) {
	m, ok := asmap.Parse([]byte{0, 0, 0})
	if !ok {
		t.Fatal("no map")
	}
	const want = "27736f6456ba3805750faebf98bff6a5d0919230ede9bb70c29f0127f637e478"
	if got := m.KnownByBytes(); got.Version() == m.Version() || got.Version().String() != want {
		t.Errorf("version %v", got.Version())
	}
}
