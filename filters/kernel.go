package filters

// kernel is one implementation of the loops that take a scan's time. Kernels
// hold no state; all give the same answers.
type kernel interface {
	// name is what KernelName returns.
	name() string

	// lanes is how many filters the kernel likes to decode side by side.
	lanes() int

	// decode decodes the filters of a group from their start, at most lanes
	// of them, best of nearly equal N. Every lane ends with all its values,
	// or with err set.
	decode(group []lane)

	// hash sets dst[i] to the hash, reduced to below limit, of the i-th
	// message. A message is a number of words, equal for all.
	hash(dst, messages []uint64, words int, key sipKey, limit uint64)

	// sift moves those hashes whose bit is set in the bitmap to the front,
	// in any order, and returns how many they are. Bit h>>slotShift stands
	// for hash h.
	sift(hashes, bitmap []uint64) int
}

// slotShift makes the bitmap of a filter's elements: one bit stands for
// 2^slotShift numbers, which with M is 48 bits for each element. So the bitmap
// of a full block lies in the first-level cache, and passes one hash in 48.
const slotShift = 14

// chosen is the kernel in use.
var chosen kernel = portable{}

// KernelName returns the name of the kernel in use, for logs and benchmarks:
// "portable" is plain Go.
func KernelName() string { return chosen.name() }
