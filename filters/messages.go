package filters

import (
	"encoding/binary"

	"github.com/seed61375155/trawl/internal/siphash"
)

// tileWidth is how many messages a tile holds: four AVX-512 vectors of them.
const tileWidth = 32

// messages are the SipHash messages of scripts with the same number of message
// words, in tiles: first the first words of tileWidth scripts side by side, then
// their second words, and so on. The last tile is filled up with zeros.
type messages struct {
	words int // of each message: len(script)/8 + 1
	count int
	tiles []uint64
}

// add adds the message of a script.
func (m *messages) add(script []byte) {
	if m.count%tileWidth == 0 {
		m.tiles = append(m.tiles, make([]uint64, tileWidth*m.words)...)
	}
	at := tileAt(m.count, m.words)
	for rest := script; len(rest) >= 8; rest = rest[8:] {
		m.tiles[at] = binary.LittleEndian.Uint64(rest)
		at += tileWidth
	}
	m.tiles[at] = siphash.LastWord(script)
	m.count++
}

// tileAt returns where the first word of a message is in its tiles. The others
// follow in steps of tileWidth.
func tileAt(message, words int) int {
	return message/tileWidth*tileWidth*words + message%tileWidth
}

// tileCeil rounds up to whole tiles.
func tileCeil(n int) int { return (n + tileWidth - 1) / tileWidth * tileWidth }

// tileCount returns how many tiles are needed to hash messages into dst. It
// panics if dst or the tiles are too short to work on whole tiles.
func tileCount(dst, tiles []uint64, words int) int {
	n := tileCeil(len(dst))
	_, _ = dst[:n], tiles[:n*words]
	return n / tileWidth
}

// eachHash calls f with the hashes of the query's scripts under a key, reduced to
// below limit, chunk by chunk, until f returns true; it returns whether it did. f
// may overwrite the hashes.
func (q *Query) eachHash(by hasher, key sipKey, limit uint64, s *scratch, f func(hashes []uint64) bool) bool {
	for i := range q.groups {
		m := &q.groups[i]
		for at := 0; at < m.count; at += chunk {
			hashes := s.hashes[:min(chunk, m.count-at)]
			by.hash(hashes, m.tiles[tileAt(at, m.words):], m.words, key, limit)
			if f(hashes) {
				return true
			}
		}
	}
	return false
}
