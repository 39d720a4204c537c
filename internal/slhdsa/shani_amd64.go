package slhdsa

// shani says whether the processor has the SHA extensions.
var shani = hasSHANI()

// sumPairs hashes pairs of blocks in assembly, two at a time: one
// SHA256RNDS2 waits for the one before it in its block, so a second block
// hashes in the time that the first waits. It returns false if the processor
// cannot.
//
// It does the same instructions whatever the bytes are.
func sumPairs(dst []node, start *[8]uint32, blocks []block) bool {
	if !shani || start == nil {
		return false
	}
	pairs := min(len(dst), len(blocks)) / 2
	if pairs > 0 {
		compressPairs(&dst[0], start, &blocks[0], pairs)
	}
	return true
}

//go:noescape
func compressPairs(dst *node, start *[8]uint32, blocks *block, pairs int)

func hasSHANI() bool
