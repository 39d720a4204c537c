package wire

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"iter"
	"slices"
)

// MaxScript is the size of a script that can be sent, at most.
const MaxScript = MaxChunk - binary.MaxVarintLen32

// A Set is scripts as they are sent: in chunks, each of whole scripts.
type Set struct {
	Digest [32]byte
	Size   uint64 // bytes of all chunks
	count  int
	chunks [][]byte
}

// NewSet takes scripts, each of which may be overwritten when the next one comes. It reports
// false where one is too long to be sent.
func NewSet(scripts iter.Seq[[]byte]) (*Set, bool) {
	s := &Set{}
	h := sha256.New()
	chunk := make([]byte, 0, MaxChunk)
	flush := func() {
		if len(chunk) > 0 {
			h.Write(chunk)
			s.Size += uint64(len(chunk))
			s.chunks = append(s.chunks, slices.Clone(chunk))
			chunk = chunk[:0]
		}
	}
	var length [binary.MaxVarintLen64]byte
	for script := range scripts {
		if len(script) > MaxScript {
			return nil, false
		}
		n := binary.PutUvarint(length[:], uint64(len(script)))
		if len(chunk)+n+len(script) > MaxChunk {
			flush()
		}
		chunk = append(append(chunk, length[:n]...), script...)
		s.count++
	}
	flush()
	h.Sum(s.Digest[:0])
	return s, true
}

// Scripts returns how many scripts are in the set.
func (s *Set) Scripts() int { return s.count }

// Chunks returns how many chunks there are.
func (s *Set) Chunks() int { return len(s.chunks) }

// Chunk returns the bytes of a chunk, which are the set's own.
func (s *Set) Chunk(i int) []byte { return s.chunks[i] }

// ErrScripts reports chunks that are not those of the digest.
var ErrScripts = errors.New("the scripts are not those that were announced")

// Scripts checks all chunks of a set, and returns what yields its scripts, which lie in their memory.
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
