package filters_test

import (
	"errors"
	"hash/crc32"
	"slices"
	"testing"

	"github.com/seed61375155/trawl/filters"
)

// useLayout makes the tests' matchers use a layout until the test ends.
func useLayout(tb testing.TB, layout filters.Layout) {
	tb.Helper()
	useMethod(tb, method.Kernel(), string(layout))
}

// withLines gives a filter its lines and checksums, as a store does. A damaged
// filter has none.
func withLines(tb testing.TB, f *filters.Filter) {
	tb.Helper()
	lines, n, err := filters.AppendLines(nil, &f.Block, f.Data)
	if _, ok := slowDecode(f.Data); (err == nil) != ok {
		tb.Fatalf("lines of a filter that decodes (%v): %v", ok, err)
	}
	f.Lines, f.N, f.LinesSum = lines, n, crc32.ChecksumIEEE(lines)
	f.Unsure, f.Sum = true, crc32.ChecksumIEEE(f.Data)
}

// TestLinesOfNothing: filters without elements and such that lines cannot
// describe have none, damaged ones are refused.
func TestLinesOfNothing(t *testing.T) {
	crowd := make([]uint64, 4_000) // 21 times as many in a line as there should be
	for i := range crowd {
		crowd[i] = uint64(i)
	}
	hash := randomHash(newRand(1))
	for _, c := range []struct {
		name  string
		data  []byte
		n     uint32
		lines int
		bad   bool
	}{
		{"nothing", nil, 0, 0, true},
		{"no elements", []byte{0}, 0, 0, false},
		{"one", filters.Encode([]uint64{5}), 1, 1, false},
		{"the greatest", filters.Encode([]uint64{5, 2*filters.M - 1}), 2, 1, false},
		{"out of range", filters.Encode([]uint64{5, 2 * filters.M}), 0, 0, true},
		{"far out of range", filters.Encode([]uint64{5, 1 << 40}), 0, 0, true},
		{"a byte left over", append(filters.Encode([]uint64{5}), 0), 0, 0, true},
		{"a crowd", filters.Encode(crowd), 4_000, 0, false},
	} {
		lines, n, err := filters.AppendLines([]byte("before"), &hash, c.data)
		if n != c.n || len(lines) != len("before")+64*c.lines || errors.Is(err, filters.ErrBadFilter) != c.bad {
			t.Errorf("%s: got %d bytes, %d elements and %v", c.name, len(lines), n, err)
		}
		if c.lines > 0 && len(lines) != len("before")+filters.LinesSize(n) {
			t.Errorf("%s: LinesSize is %d", c.name, filters.LinesSize(n))
		}
	}
}

// TestProbe looks scripts up in filters of all sizes, by their lines and by
// decoding, and holds the answers against the oracle.
func TestProbe(t *testing.T) { eachKernel(t, testProbe) }

func testProbe(t *testing.T) {
	t.Helper()
	useLayout(t, filters.LayoutProbe)
	rng := newRand(31)
	var builder filters.Builder
	for _, k := range []int{1, 2, 16, 17, 60, 400} {
		scripts := randomScripts(rng, k, scriptKinds)
		var batch []filters.Filter
		for i := range 70 {
			n := []int{0, 1, 2, 30, 85, 86, 300, 3_000}[rng.IntN(8)]
			hash := randomHash(rng)
			elements := randomScripts(rng, n, usualKinds)
			if i%3 == 0 {
				elements = append(elements, scripts[rng.IntN(k)])
			}
			batch = append(batch, filters.Filter{Block: hash, Data: builder.Build(&hash, elements)})
			withLines(t, &batch[i])
		}
		checkMatch(t, batch, scripts)
	}
}

// TestProbeHuge looks scripts up in filters that exceed what lines can say, or
// what a probe remembers.
func TestProbeHuge(t *testing.T) {
	useLayout(t, filters.LayoutProbe)
	rng := newRand(32)
	for _, n := range []int{22_000, 810_000} {
		values := make([]uint64, n)
		for i := range values {
			values[i] = rng.Uint64N(uint64(n) * filters.M)
		}
		slices.Sort(values)
		scripts := randomScripts(rng, 12, usualKinds)
		f := filters.Filter{Block: randomHash(rng), Data: filters.Encode(values)}
		withLines(t, &f)
		if got := len(f.Lines) > 0; got != (len(f.Data) < 2<<20) {
			t.Errorf("%d elements in %d bytes: lines %v", n, len(f.Data), got)
		}
		checkMatch(t, []filters.Filter{f}, scripts)
		plant(rng, &f.Block, values, scripts)
		f.Data = filters.Encode(values)
		withLines(t, &f)
		checkMatch(t, []filters.Filter{f}, scripts)
	}
}

// TestProbeDamage flips bits of lines and filters: an answer is right, or there is
// an error for a filter that is not as it was stored.
func TestProbeDamage(t *testing.T) { eachKernel(t, testProbeDamage) }

func testProbeDamage(t *testing.T) {
	t.Helper()
	useLayout(t, filters.LayoutProbe)
	rng := newRand(33)
	var builder filters.Builder
	for _, size := range [][2]int{{1, 0}, {1, 1}, {1, 2}, {2, 3}, {3, 400}, {30, 400}, {1, 2_000}, {20, 2_000}} {
		scripts := randomScripts(rng, size[0], usualKinds)
		m := newMatcher(filters.NewQuery(scripts))
		hash := randomHash(rng)
		elements := randomScripts(rng, size[1], usualKinds)
		for _, elements := range [][][]byte{elements, append(elements, scripts[0])} {
			good := filters.Filter{Block: hash, Data: builder.Build(&hash, elements)}
			withLines(t, &good)
			want := oracleMatch(t, &hash, good.Data, scripts)
			for bit := rng.IntN(11); bit < 8*(len(good.Lines)+len(good.Data)); bit += 1 + rng.IntN(21) {
				f, inLines := good, bit < 8*len(good.Lines)
				if inLines {
					f.Lines = flipped(f.Lines, bit)
				} else {
					f.Data = flipped(f.Data, bit-8*len(good.Lines))
				}
				var hits [1]bool
				err := m.Match([]filters.Filter{f}, hits[:])
				if err == nil && hits[0] != want || err != nil && (inLines || hits[0]) {
					t.Fatalf("bit %d of %d lines flipped: got %v and %v, want %v", bit, len(good.Lines)/64, hits[0], err, want)
				}
				if stale := len(m.StaleLines()) > 0; stale && err == nil && !inLines {
					t.Fatalf("bit %d: lines are called stale for a filter that decodes", bit)
				}
			}
		}
	}
}

func flipped(b []byte, bit int) []byte {
	b = slices.Clone(b)
	b[bit/8] ^= 1 << (bit % 8)
	return b
}

// TestProbeForeignLines: intact lines of another filter, or in the wrong place,
// are noticed.
func TestProbeForeignLines(t *testing.T) {
	useLayout(t, filters.LayoutProbe)
	rng := newRand(34)
	var builder filters.Builder
	hash, other := randomHash(rng), randomHash(rng)
	elements := randomScripts(rng, 300, usualKinds)
	scripts := elements[:10]
	f := filters.Filter{Block: hash, Data: builder.Build(&hash, elements)}
	g := filters.Filter{Block: other, Data: builder.Build(&other, elements)}
	withLines(t, &f)
	withLines(t, &g)
	turned := slices.Concat(f.Lines[64:], f.Lines[:64])
	for name, lines := range map[string][]byte{
		"foreign": g.Lines, "turned": turned, "zero": make([]byte, len(f.Lines)), "short": f.Lines[64:],
	} {
		bad := f
		bad.Lines = lines
		m := newMatcher(filters.NewQuery(scripts))
		var hits [1]bool
		if err := m.Match([]filters.Filter{bad}, hits[:]); err != nil || !hits[0] {
			t.Errorf("%s lines: got %v and %v, want a hit", name, hits[0], err)
		}
	}
}
