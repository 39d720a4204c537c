package rangefilter

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
)

// MaxHashes is how many different hashes a filter may be built of: twice as many as
// the scripts of 2,048 blocks that are full of payments. It bounds the memory.
const MaxHashes = 1 << 25

// ErrTooMany reports more than MaxHashes different hashes.
var ErrTooMany = errors.New("too many scripts for a range filter")

// maxAttempts is how many seeds are tried. For many hashes a seed in a thousand
// fails, for some dozens a seed in a few.
const maxAttempts = 1024

// Build returns the filter of the hashes that collect adds, which may repeat. Where
// these hashes and a seed do not go together, collect is called again and has to add
// the same ones: keeping them would take twice as much memory.
//
// It needs some 20 bytes of memory for each different hash, with MaxHashes 0.7 GB:
// measured 402 MB for 20.5 million (TestBuildMemory with TRAWL_SOAK set).
// Errors: those of collect, [ErrTooMany].
func Build(collect func(add func(hash uint64)) error) ([]byte, error) {
	state := uint64(1)
	for attempt := range maxAttempts {
		c := collection{seed: nextSeed(&state)}
		if err := collect(c.add); err != nil {
			return nil, err
		}
		count, ok := c.count()
		if !ok {
			return nil, ErrTooMany
		}
		g := newGraph(layoutOf(count, attempt))
		fits := g.insertAll(&c)
		if count > collectAfter {
			runtime.GC() // of the hashes, whose memory what follows can use
		}
		if fits && g.peel() == count {
			return g.fingerprints(c.seed), nil
		}
	}
	return nil, fmt.Errorf("build range filter: no seed of %d suits", maxAttempts)
}

// collectAfter is after how many hashes the garbage is worth being collected at once.
const collectAfter = 1 << 20

// nextSeed returns the next number of SplitMix64.
func nextSeed(state *uint64) uint64 {
	*state += 0x9e3779b97f4a7c15
	z := *state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// mix spreads a hash with a seed: the finalizer of MurmurHash3, which makes different
// ones of different hashes.
func mix(hash, seed uint64) uint64 {
	h := hash + seed
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// fingerprints returns the filter, in the form that Parse reads, of the graph that
// was peeled. Each hash sets the place that it was alone at, after those that were
// taken off later.
func (g *graph) fingerprints(seed uint64) []byte {
	b := make([]byte, headSize, headSize+g.capacity())
	binary.LittleEndian.PutUint64(b, seed)
	binary.LittleEndian.PutUint32(b[8:], g.length)
	binary.LittleEndian.PutUint32(b[12:], g.segments)
	b = b[:headSize+g.capacity()]
	print := b[headSize:]
	for i := len(g.peeled) - 1; i >= 0; i-- {
		at := g.peeled[i]
		next, last := g.others(at)
		print[at] = uint8(g.low[at]) ^ g.high[at] ^ print[next] ^ print[last]
	}
	return b
}
