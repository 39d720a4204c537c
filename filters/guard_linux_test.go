package filters_test

import (
	"runtime"
	"runtime/debug"
	"slices"
	"syscall"
	"testing"

	"github.com/seed61375155/trawl/filters"
)

// guardedPage returns memory whose second half may not be read.
func guardedPage(t *testing.T) (mem []byte, size int) {
	t.Helper()
	size = 1 << 16
	mem, err := syscall.Mmap(-1, 0, 2*size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { syscall.Munmap(mem) })
	if err := syscall.Mprotect(mem[size:], syscall.PROT_NONE); err != nil {
		t.Skip(err)
	}
	return mem, size
}

// TestMatchReadsNoFurther puts filters right before a page that may not be
// read, where one byte too many ends the process.
func TestMatchReadsNoFurther(t *testing.T) { eachKernel(t, testMatchReadsNoFurther) }

func testMatchReadsNoFurther(t *testing.T) {
	t.Helper()
	mem, size := guardedPage(t)
	rng := newRand(7)
	m := newMatcher(filters.NewQuery(randomScripts(rng, 3, usualKinds)))
	var builder filters.Builder
	hash := randomHash(rng)
	complete := [][]byte{heavyFilter(100)}
	for run := uint64(17); run < 24; run++ { // two elements in 8 bytes, more than one window holds
		complete = append(complete, filters.Encode([]uint64{1 << filters.P, (1 + run) << filters.P}))
	}
	for _, n := range []int{0, 1, 2, 3, 4, 5, 10, 100, 1_000} {
		complete = append(complete, builder.Build(&hash, randomScripts(rng, n, usualKinds)))
	}
	for _, data := range complete {
		for cut := range min(len(data), 500) {
			end := mem[size-len(data)+cut : size : size]
			copy(end, data)
			// As many as decoding side by side takes.
			batch := slices.Repeat([]filters.Filter{{Block: hash, Data: end}}, 5)
			for _, search := range []bool{true, false} {
				m.ForceMode(search)
				err := m.Match(batch, make([]bool, len(batch)))
				if _, ok := slowDecode(end); (err == nil) != ok {
					t.Errorf("%d bytes of %d: got %v", len(end), len(data), err)
				}
			}
		}
	}
}

// TestProbeReadsNoFurther does so with filters and their lines, whole and with a
// bit flipped.
func TestProbeReadsNoFurther(t *testing.T) { eachKernel(t, testProbeReadsNoFurther) }

func testProbeReadsNoFurther(t *testing.T) {
	t.Helper()
	useLayout(t, filters.LayoutProbe)
	memData, size := guardedPage(t)
	memLines, _ := guardedPage(t)
	rng := newRand(10)
	for _, k := range []int{3, 40} {
		scripts := randomScripts(rng, k, usualKinds)
		m := newMatcher(filters.NewQuery(scripts))
		for _, n := range []int{1_000, 100, 80, 40, 20, 10, 5, 4, 3, 2, 1} { // a matcher's memory has had more
			for range 30 {
				values := randomValues(rng, n)
				f := filters.Filter{Block: randomHash(rng)}
				plant(rng, &f.Block, values, scripts)
				f.Data = filters.Encode(values)
				withLines(t, &f)
				if rng.IntN(3) == 0 {
					f.Data = flipped(f.Data, rng.IntN(8*len(f.Data)))
				}
				if rng.IntN(3) == 0 {
					f.Lines = flipped(f.Lines, rng.IntN(8*len(f.Lines)))
				}
				data, lines := memData[size-len(f.Data):size:size], memLines[size-len(f.Lines):size:size]
				copy(data, f.Data)
				copy(lines, f.Lines)
				f.Data, f.Lines = data, lines
				m.Match(slices.Repeat([]filters.Filter{f}, 1+rng.IntN(40)), make([]bool, 40))
			}
		}
	}
}

// TestMatchFault: a fault in the memory of a filter, as of a mapped file that
// fails, is a panic. The program can recover from the panic if it has called
// SetPanicOnFault.
func TestMatchFault(t *testing.T) { eachKernel(t, testMatchFault) }

func testMatchFault(t *testing.T) {
	t.Helper()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	mem, size := guardedPage(t)
	rng := newRand(9)
	m := newMatcher(filters.NewQuery(randomScripts(rng, 3, usualKinds)))
	var builder filters.Builder
	hash := randomHash(rng)
	good := builder.Build(&hash, randomScripts(rng, 2_000, usualKinds))
	torn := mem[size-len(good)/2:][:len(good)]
	copy(torn[:len(good)/2], good)
	batch := slices.Repeat([]filters.Filter{{Block: hash, Data: good}}, 40)
	for _, search := range []bool{true, false} {
		m.ForceMode(search)
		for _, i := range []int{0, 7, 39} {
			batch[i].Data = torn
			if !faults(func() { m.Match(batch, make([]bool, len(batch))) }) {
				t.Errorf("filter %d is torn: no panic", i)
			}
			batch[i].Data = good
			if err := m.Match(batch, make([]bool, len(batch))); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestProbeFault: so is one in the memory of probe lines, or of the code that they
// point to.
func TestProbeFault(t *testing.T) { eachKernel(t, testProbeFault) }

func testProbeFault(t *testing.T) {
	t.Helper()
	useLayout(t, filters.LayoutProbe)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	mem, size := guardedPage(t)
	rng := newRand(11)
	for _, k := range []int{20, 100} {
		scripts := randomScripts(rng, k, usualKinds)
		m := newMatcher(filters.NewQuery(scripts))
		good := filters.Filter{Block: randomHash(rng), Data: filters.Encode(randomValues(rng, 2_000))}
		withLines(t, &good)
		for _, part := range []func(f *filters.Filter) *[]byte{
			func(f *filters.Filter) *[]byte { return &f.Lines },
			func(f *filters.Filter) *[]byte { return &f.Data },
		} {
			bad := good
			b := part(&bad)
			torn := mem[size-5:][:len(*b)]
			copy(torn[:5], *b)
			*b = torn
			batch := slices.Repeat([]filters.Filter{good}, 40)
			batch[33] = bad
			if !faults(func() { m.Match(batch, make([]bool, len(batch))) }) {
				t.Errorf("%d scripts: no panic", k)
			}
			batch[33] = good
			if err := m.Match(batch, make([]bool, len(batch))); err != nil || len(m.StaleLines()) > 0 {
				t.Errorf("%d scripts: got %v, stale %v", k, err, m.StaleLines())
			}
		}
	}
}

// faults reports whether f panics because of memory that cannot be read.
func faults(f func()) (fault bool) {
	defer func() {
		_, fault = recover().(runtime.Error)
	}()
	f()
	return false
}

// heavyFilter returns a filter of n elements with the longest quotients that
// fit a window. Its values are out of range.
func heavyFilter(n int) []byte {
	values := make([]uint64, n)
	for i := range values {
		values[i] = uint64(i+1) * (37<<filters.P | 0x2aaaa)
	}
	return filters.Encode(values)
}
