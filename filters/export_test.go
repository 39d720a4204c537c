package filters

import "github.com/btcsuite/btcd/chaincfg/chainhash"

// EncodeValues returns the filter that holds exactly the given ascending
// values, which need not be hashes of anything.
func EncodeValues(values []uint64) []byte {
	var w bitWriter
	w.reset(appendCompactSize(nil, uint32(len(values))))
	var last uint64
	for _, v := range values {
		w.golomb(v - last)
		last = v
	}
	return w.finish()
}

// HashScript returns the value of a script in a filter of n elements.
func HashScript(block *chainhash.Hash, script []byte, n int) uint64 {
	return reduce(sipHash(keyOf(block), script), uint64(n)*M)
}

// KernelDecode decodes two filters side by side, as a matcher has its kernel
// do. Both must be long enough for their number of elements.
func KernelDecode(a, b []byte) (values [2][]uint64, errs [2]error) {
	m := NewMatcher(NewQuery(nil))
	var group [2]uint64
	for i, filter := range [][]byte{a, b} {
		n, _, err := split(filter)
		if err != nil {
			panic(err)
		}
		group[i] = n<<32 | uint64(i)
	}
	for i, l := range m.decode([]Filter{{Data: a}, {Data: b}}, group[:]) {
		values[i], errs[i] = l.values, l.err
	}
	return values, errs
}
