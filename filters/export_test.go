package filters

import (
	"encoding/binary"
	"hash/crc32"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// HashScript returns the value of a script in a filter of n elements.
func HashScript(block *chainhash.Hash, script []byte, n int) uint64 {
	return reduce(sipHash(keyOf(block), script), uint64(n)*M)
}

// KernelDecode decodes filters side by side, as a matcher has its kernel do.
func KernelDecode(by Method, all ...[]byte) (values [][]uint64, errs []error) {
	m := by.NewMatcher(NewQuery(nil))
	batch := make([]Filter, len(all))
	values, errs = make([][]uint64, len(all)), make([]error, len(all))
	var order []uint64
	for i, filter := range all {
		n, _, err := split(filter)
		if errs[i] = err; err == nil {
			batch[i].Data = filter
			order = append(order, n<<32|uint64(i))
		}
	}
	for group := range slices.Chunk(order, len(m.lanes)) {
		lanes := m.load(batch, group)
		m.kernel.decode(lanes)
		for i := range lanes {
			l := &lanes[i]
			values[l.index], errs[l.index] = slices.Clone(l.values), l.err
		}
	}
	return values, errs
}

// Searches reports whether a kernel looks each of k scripts up, in groups of so many
// filters of n elements, and makes no bitmap of the elements.
func Searches(kernel string, group, n, k int) bool {
	for _, known := range kernels {
		if known.name == kernel {
			return known.searches(min(group, known.lanes), n, k)
		}
	}
	return false
}

// ForceMode makes a matcher search for scripts, or not, whatever their number.
func (m *Matcher) ForceMode(search bool) {
	forced := *m.kernel
	forced.searches = func(int, int, int) bool { return search }
	m.kernel = &forced
}

// SignLines gives the lines of a filter the checksums of lines, whatever they say.
func SignLines(f *Filter) {
	for i := range len(f.Lines) / lineSize {
		line := (*[lineSize]byte)(f.Lines[i*lineSize:])
		binary.LittleEndian.PutUint32(line[lineSumAt:], lineSum(line, keyOf(&f.Block).seed(f.N), i))
	}
	f.LinesSum = crc32.ChecksumIEEE(f.Lines)
}
