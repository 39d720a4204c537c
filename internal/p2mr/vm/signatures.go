package vm

import (
	"crypto/rand"
	"crypto/sha256"
	"sync"

	"github.com/seed61375155/trawl/internal/p2mr"
	"github.com/seed61375155/trawl/internal/slhdsa"
)

// keptSignatures is how many signatures are remembered at least before the oldest are forgotten: as many as blocks of
// hours have. There are twice as many at most, which take some 10 MB.
const keptSignatures = 1 << 16

// Signatures is a cache of right signatures: a block does not verify again what was verified for the memory pool.
// Its memory is bounded. It is safe for concurrent use.
type Signatures struct {
	salt [sha256.Size]byte // nobody can foresee under what a signature is remembered
	most int

	mu         sync.RWMutex
	young, old map[signatureID]struct{}
	saved      uint64
}

// signatureID stands for a signature by a key of a message.
type signatureID [sha256.Size]byte

// NewSignatures returns a Signatures that remembers nothing yet.
func NewSignatures() *Signatures {
	s := &Signatures{most: keptSignatures}
	_, _ = rand.Read(s.salt[:]) // never fails
	return s
}

// Saved returns how many signatures did not have to be verified.
func (s *Signatures) Saved() uint64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.saved
}

// Len returns how many signatures are remembered.
func (s *Signatures) Len() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.young) + len(s.old)
}

func (s *Signatures) idOf(key *slhdsa.PublicKey, message *p2mr.Hash, sig []byte) signatureID {
	h := sha256.New()
	h.Write(s.salt[:])
	h.Write(message[:])
	h.Write(key[:])
	h.Write(sig)
	return signatureID(h.Sum(nil))
}

// verify reports whether a signature is right. With remember, a right signature is remembered.
func (s *Signatures) verify(key slhdsa.PublicKey, message p2mr.Hash, sig []byte, remember bool) bool {
	if s == nil || !remember && s.Len() == 0 {
		return key.Verify(message[:], sig)
	}
	id := s.idOf(&key, &message, sig)
	if s.find(id) {
		return true
	}
	if !key.Verify(message[:], sig) {
		return false
	}
	if remember {
		s.add(id)
	}
	return true
}

func (s *Signatures) find(id signatureID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, found := s.young[id]
	if !found {
		_, found = s.old[id]
	}
	if found {
		s.saved++
	}
	return found
}

func (s *Signatures) add(id signatureID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.young == nil || len(s.young) >= s.most {
		s.young, s.old = make(map[signatureID]struct{}), s.young
	}
	s.young[id] = struct{}{}
}
