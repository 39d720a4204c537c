package filters

// neon has the parts of the kernel for 64-bit processors of ARM, all of which have its
// vectors of two numbers: it hashes in them. It decodes as plain Go does, which the
// compiler makes one instruction a step of: no vector instruction counts the leading
// bits of a number of 64 bits.
type neon struct{ portable }

func neonKernel() *kernel {
	var k neon
	return &kernel{
		name: "neon", decoder: k, hasher: k, lineReader: k, codeReader: k,
		tuning: portableKernel().tuning,
	}
}

// hash leaves up to three messages, for which eight lanes do not pay, to plain Go.
func (k neon) hash(dst, tiles []uint64, words int, key sipKey, limit uint64) {
	tileCount(dst, tiles, words)
	for at := 0; at < len(dst); at += tileWidth {
		part, tile := dst[at:min(at+tileWidth, len(dst))], tiles[at*words:]
		if len(part) <= 3 {
			k.portable.hash(part, tile, words, key, limit)
			return
		}
		hashTileNEON(&part[0], &tile[0], (len(part)+7)/8, words, key.k0, key.k1, limit)
	}
}

func (k neon) hashAndTest(dst, tiles []uint64, words int, key sipKey, limit uint64, now, _ *elements) int {
	k.hash(dst, tiles, words, key, limit)
	return now.sift(dst)
}

func (neon) hashAcross(dst *row, message []uint64, words int, keys *laneKeys, n int) {
	_ = message[(words-1)*tileWidth]
	eights := (n + 7) / 8
	hashLanesNEON(&dst[0], &message[0], words, keys, eights)
	clear(dst[8*eights:]) // what was there is of other filters, and lines are looked at for all
}

func (k neon) search(group []lane, q *Query, s *scratch) { searchValues(k, k, group, q, s) }

//go:noescape
func hashTileNEON(dst, tile *uint64, eights, words int, k0, k1, limit uint64)

//go:noescape
func hashLanesNEON(dst, message *uint64, words int, keys *laneKeys, eights int)
