package wire

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"iter"
)

// MaxScript is the size of a script that can be sent, at most.
const MaxScript = MaxChunk - binary.MaxVarintLen32

// A Source yields scripts, from the script with a number on, always the same in the same order. Each
// may be overwritten when the next comes.
type Source func(from int) iter.Seq[[]byte]

// A Set is scripts as they are sent: in chunks, each of whole scripts. It does not keep the scripts,
// but reads its source again for each chunk.
type Set struct {
	Digest [32]byte
	Size   uint64 // bytes of all chunks
	source Source
	count  int
	starts []int // numbers of the first scripts of chunks
}

// NewSet takes scripts. It reports false where one is too long to be sent.
func NewSet(source Source) (*Set, bool) {
	s := &Set{source: source}
	h := sha256.New()
	chunk := make([]byte, 0, MaxChunk)
	end := func() {
		h.Write(chunk)
		s.Size += uint64(len(chunk))
		chunk = chunk[:0]
	}
	for script := range source(0) {
		if len(script) > MaxScript {
			return nil, false
		}
		if len(chunk)+sizeSent(script) > MaxChunk {
			end()
		}
		if len(chunk) == 0 {
			s.starts = append(s.starts, s.count)
		}
		chunk = appendScript(chunk, script)
		s.count++
	}
	end()
	h.Sum(s.Digest[:0])
	return s, true
}

// sizeSent is how many bytes of a chunk a script takes.
func sizeSent(script []byte) int {
	var length [binary.MaxVarintLen64]byte
	return binary.PutUvarint(length[:], uint64(len(script))) + len(script)
}

func appendScript(b, script []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(script))), script...)
}

// Scripts returns how many scripts are in the set.
func (s *Set) Scripts() int { return s.count }

// Chunks returns how many chunks there are.
func (s *Set) Chunks() int { return len(s.starts) }

// AppendChunk appends the bytes of a chunk.
func (s *Set) AppendChunk(b []byte, i int) []byte {
	left := s.count - s.starts[i]
	if i+1 < len(s.starts) {
		left = s.starts[i+1] - s.starts[i]
	}
	for script := range s.source(s.starts[i]) {
		if left == 0 {
			break
		}
		b = appendScript(b, script)
		left--
	}
	return b
}

// ErrScripts reports chunks that are not those of the digest.
var ErrScripts = errors.New("the scripts are not those that were announced")

// Scripts checks all chunks of a set, and returns an iterator over its scripts, which lie in the
// memory of the chunks.
func Scripts(chunks [][]byte, digest [32]byte, count uint32) (iter.Seq[[]byte], error) {
	h := sha256.New()
	for _, b := range chunks {
		h.Write(b)
	}
	if [32]byte(h.Sum(nil)) != digest {
		return nil, ErrScripts
	}
	found := uint64(0)
	for _, b := range chunks {
		for len(b) > 0 {
			_, rest, ok := cutScript(b)
			if !ok {
				return nil, ErrScripts
			}
			b = rest
			found++
		}
	}
	if found != uint64(count) {
		return nil, ErrScripts
	}
	return func(yield func([]byte) bool) {
		for _, b := range chunks {
			for len(b) > 0 {
				script, rest, _ := cutScript(b)
				if b = rest; !yield(script) {
					return
				}
			}
		}
	}, nil
}

// cutScript takes the first script from a chunk.
func cutScript(b []byte) (script, rest []byte, ok bool) {
	n, k := binary.Uvarint(b)
	if k <= 0 || n > uint64(len(b)-k) {
		return nil, nil, false
	}
	return b[k : k+int(n) : k+int(n)], b[k+int(n):], true
}
