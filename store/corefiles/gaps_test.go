package corefiles

import (
	"bytes"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/store/blockfile"
)

// A few places that look like records and are none are passed over; a file full of them
// is not read to its end.
func TestFalseMagics(t *testing.T) {
	t.Parallel()
	for gaps, want := range map[int]bool{1: true, 100: true, maxGaps: true, maxGaps + 1: false, 50 * maxGaps: false} {
		c := newCore(t)
		f := child(chainhash.Hash{}, 2, 1)
		record := append(append([]byte{}, magic[:]...), 0xff, 0xff, 0xff, 0xff)
		garbage := bytes.Repeat(record, gaps)
		c.key.XOR(garbage, 0)
		c.put(blockfile.Blocks, garbage)
		c.block(f)
		c.undo(f)
		c.finish()
		check(t, c.open(), f, want, want)
	}
}
