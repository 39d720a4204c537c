package pow

import (
	"encoding/binary"
	"math"

	"github.com/btcsuite/btcd/wire"
)

// HeaderLen returns the length of the header that raw begins with, with its payload
// if it has one; -1 when that is cut short. It believes no length that the bytes do not back.
func HeaderLen(raw []byte) int {
	if len(raw) < wire.MaxBlockHeaderPayload || !auxPoWVersion(binary.LittleEndian.Uint32(raw)) {
		return wire.MaxBlockHeaderPayload
	}
	s := skipper{raw: raw, at: wire.MaxBlockHeaderPayload}
	s.tx()
	s.skip(32 * s.size()) // coinbase branch
	s.skip(4)             // its index
	s.skip(32 * s.size()) // chain branch
	s.skip(4 + wire.MaxBlockHeaderPayload)
	if s.at > len(raw) {
		return -1
	}
	return s.at
}

// A skipper steps over serialized data. Behind the end it stays behind it.
type skipper struct {
	raw []byte
	at  int
}

func (s *skipper) skip(n int) {
	if n < 0 || n > len(s.raw)-s.at || s.at > len(s.raw) {
		s.at = len(s.raw) + 1
		return
	}
	s.at += n
}

// size reads a compact size; a size that the rest cannot hold ends the walk.
func (s *skipper) size() int {
	if s.at >= len(s.raw) {
		s.skip(1)
		return 0
	}
	first := s.raw[s.at]
	s.skip(1)
	var width int
	switch first {
	case 0xfd:
		width = 2
	case 0xfe:
		width = 4
	case 0xff:
		width = 8
	default:
		return int(first)
	}
	from := s.at
	s.skip(width)
	if s.at > len(s.raw) {
		return 0
	}
	var n uint64
	for i := width - 1; i >= 0; i-- {
		n = n<<8 | uint64(s.raw[from+i])
	}
	if n > uint64(len(s.raw)) || !canonical(n, width) {
		s.at = len(s.raw) + 1
		return 0
	}
	return int(n)
}

// canonical reports whether a number needs a width of so many bytes.
func canonical(n uint64, width int) bool {
	switch width {
	case 2:
		return n >= 0xfd
	case 4:
		return n > math.MaxUint16
	default:
		return n > math.MaxUint32
	}
}

// tx skips a transaction without witnesses.
func (s *skipper) tx() {
	s.skip(4)
	for n := s.size(); n > 0 && s.at <= len(s.raw); n-- {
		s.skip(36)
		s.skip(s.size())
		s.skip(4)
	}
	for n := s.size(); n > 0 && s.at <= len(s.raw); n-- {
		s.skip(8)
		s.skip(s.size())
	}
	s.skip(4)
}
