package filters

import (
	"encoding/binary"

	"github.com/seed61375155/trawl/internal/siphash"
)

// tileWidth is how many messages a tile holds: enough for four AVX-512 vectors.
const tileWidth = 32

// slabMessages is how many messages a slab has. It is a multiple of chunk.
const slabMessages = 1 << 14

// messages are the SipHash messages of scripts with the same number of message
// words, in tiles. A tile has the first words of tileWidth scripts side by side,
// then their second words, and so on. The last tile is filled up with zeros. The
// last word has the script's length, so that a message determines its script.
//
// Tiles are in slabs, so that many grow without a copy.
type messages struct {
	words    int // of each message: len(script)/8 + 1
	count    int
	expected int // how many there will be, about
	slabs    [][]uint64
	places   []uint32 // of each in the query
}

// wordsOf returns how many words the message of a script has.
func wordsOf(script []byte) int { return len(script)/8 + 1 }

// reserve makes room for the expected messages, but at most for the first slab.
func (m *messages) reserve() {
	m.places = make([]uint32, 0, m.expected)
	m.slabs = [][]uint64{make([]uint64, 0, tileCeil(min(m.expected, slabMessages))*m.words)}
}

// add adds the message of a script.
func (m *messages) add(script []byte) {
	if m.count/slabMessages == len(m.slabs) {
		size := 0
		if len(m.slabs) > 0 {
			size = slabMessages * m.words
		}
		m.slabs = append(m.slabs, make([]uint64, 0, size))
	}
	if m.count%tileWidth == 0 {
		last := &m.slabs[m.count/slabMessages]
		*last = append(*last, make([]uint64, tileWidth*m.words)...)
	}
	tile, i := m.tile(m.count), 0
	for rest := script; len(rest) >= 8; rest = rest[8:] {
		tile[i] = binary.LittleEndian.Uint64(rest)
		i += tileWidth
	}
	tile[i] = siphash.LastWord(script)
	m.count++
}

// tile returns the words from the first one of a message on, up to the end of its slab.
func (m *messages) tile(message int) []uint64 {
	return m.slabs[message/slabMessages][tileAt(message%slabMessages, m.words):]
}

// is reports whether a message is that of a script, which has as many words.
func (m *messages) is(message int, script []byte) bool {
	tile, i := m.tile(message), 0
	rest := script
	for ; len(rest) >= 8; rest = rest[8:] {
		if tile[i] != binary.LittleEndian.Uint64(rest) {
			return false
		}
		i += tileWidth
	}
	return tile[i] == siphash.LastWord(script)
}

// appendScript appends the script that a message is of.
func (m *messages) appendScript(b []byte, message int) []byte {
	tile, i := m.tile(message), 0
	for range m.words - 1 {
		b = binary.LittleEndian.AppendUint64(b, tile[i])
		i += tileWidth
	}
	for last, n := tile[i], tile[i]>>56%8; n > 0; n-- {
		b = append(b, byte(last))
		last >>= 8
	}
	return b
}

// tileAt returns where the first word of a message is in its slab. The others
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
// below limit, chunk by chunk, until f returns true. It returns whether f
// returned true. Hashes may be overwritten by f.
func (q *Query) eachHash(by hasher, key sipKey, limit uint64, s *scratch, f func(hashes []uint64) bool) bool {
	for i := range q.groups {
		m := &q.groups[i]
		for at := 0; at < m.count; at += chunk {
			hashes := s.hashes[:min(chunk, m.count-at)]
			by.hash(hashes, m.tile(at), m.words, key, limit)
			if f(hashes) {
				return true
			}
		}
	}
	return false
}
