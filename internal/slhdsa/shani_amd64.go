package slhdsa

// shani hashes pairs of blocks by the SHA extensions: one SHA256RNDS2 waits for
// the one before it in its block, so a second block hashes in the time that the
// first waits.
type shani struct{}

func (shani) sums(t *tweak, from *midstate, n int) {
	if pairs := (n + 1) / 2; pairs > 0 {
		compressPairs(&t.sums[0], from.registers, &t.blocks[0], pairs)
	}
}

//go:noescape
func compressPairs(dst *node, start *[8]uint32, blocks *block, pairs int)

func hasSHANI() bool
