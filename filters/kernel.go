package filters

// kernel is one implementation of the loops that take a scan's time. Its parts hold no
// state; all kernels give the same answers. For another processor the decoder and the
// hasher are what to write first: the rest may be that of plain Go.
type kernel struct {
	name string // among KernelNames
	tuning
	decoder
	hasher
	lineReader
	codeReader
}

// tuning is what a kernel is good at.
type tuning struct {
	// lanes is how many filters the kernel likes to decode side by side.
	lanes int

	// sumsParts says that it is faster to check the parts of code that are needed
	// than all of it, where most are.
	sumsParts bool

	// probeLimit is up to how many scripts looking them up by the probe lines of a
	// filter of n elements is faster than decoding it.
	probeLimit func(n int) int

	// searches reports whether search is faster than a bitmap of the elements for a
	// group of filters of n elements and k scripts.
	searches func(group, n, k int) bool
}

// decoder decodes filters.
type decoder interface {
	// decode decodes the filters of a group from their start, at most lanes
	// of them, best of nearly equal N. Every lane ends with all its values,
	// or with err set.
	decode(group []lane)

	// search decodes the filters of a group as decode does, but may leave out
	// the values. It sets hit of the lanes that have no err and hold one of the
	// query's scripts. It is meant for few scripts.
	search(group []lane, q *Query, s *scratch)
}

// hasher hashes scripts, and looks their hashes up among the elements of a filter.
type hasher interface {
	// hash sets dst[i] to the hash, reduced to below limit, of message i of
	// the tiles; see messages. It may overwrite dst up to the next multiple
	// of tileWidth, for which there must be capacity.
	hash(dst, tiles []uint64, words int, key sipKey, limit uint64)

	// hashAcross sets dst[i] to the hash of one message, whose words are tileWidth
	// apart, with each of the first n keys. The rest of dst is below the limit of
	// its key too, or zero, because the kernel looks up lines by these hashes.
	hashAcross(dst *row, message []uint64, words int, keys *laneKeys, n int)

	// mark marks the values of elements that are left.
	mark(e *elements)

	// hashAndTest hashes messages as hash does, and moves those hashes to the front
	// whose bit is set in now, in any order; it returns how many they are.
	// Meanwhile it may mark some of the values of ahead, of which there may be
	// none left.
	hashAndTest(dst, tiles []uint64, words int, key sipKey, limit uint64, now, ahead *elements) int
}

// lineReader looks hashes up in probe lines: an index of a filter's elements by their
// hash, in which each look-up is one cache line.
type lineReader interface {
	// fetchLines asks the memory for the lines of a row of hashes.
	fetchLines(hashes *row, g *probeGroup)

	// checkAcross returns for which hashes of a row the line is not as it was
	// written for its filter. Bit i stands for hash i.
	checkAcross(hashes *row, g *probeGroup) (bad uint32)

	// lookAcross returns for which hashes of a row the bit is set in the lines of
	// their filter.
	lookAcross(hashes *row, g *probeGroup) (found uint32)

	// intactLines reports whether all lines of a filter are as they were written.
	intactLines(lines []byte, seed uint32) bool
}

// codeReader reads the code of a filter where a line says that a hash may be.
type codeReader interface {
	// fetch asks the memory for some bytes.
	fetch(b []byte)

	// placesAcross sets dst to the places of those hashes of a row whose bit is set
	// in found, and may ask the memory for their parts of the code.
	placesAcross(dst []place, hashes *row, g *probeGroup, found uint32, all []probe)

	// sumParts sets sums[i] to the CRC-32C of the part of code of places[which[i]].
	// Each part is there, and of minSummed bytes or more. They are at most
	// vectorLanes; there must be capacity to make sums a multiple of four.
	sumParts(sums []uint32, places []place, which []uint32, all []probe)

	// walk looks at the places whose indices are in which, in ascending order of
	// before. It sets hit of the filters whose code has the wanted number. From
	// walkAhead bits after the end of each place, 8 bytes must be readable.
	walk(places []place, which []uint32, all []probe)
}

// kernels are those that this processor can run, the fastest first.
var kernels = runnable()

// scratch is the memory of one worker that kernels share between filters.
type scratch struct {
	hashes [chunk]uint64
	rows   []uint64    // of hashes, one number of each for every lane
	order  [][2]uint32 // a sorting network for sorted rows
	sorted int
}

// KernelNames returns the names of all kernels that this processor can run, the
// fastest first. The kernel "portable" is plain Go, "avx2" and "avx512" need the
// instructions of their name, and "neon" is for 64-bit ARM.
func KernelNames() []string {
	var names []string
	for _, k := range kernels {
		names = append(names, k.name)
	}
	return names
}

// ProbeLimit returns up to how many scripts a kernel looks them up by the probe
// lines of a filter of n elements; 0 for no kernel of this processor.
func ProbeLimit(kernel string, n int) int {
	for _, k := range kernels {
		if k.name == kernel {
			return k.probeLimit(n)
		}
	}
	return 0
}
