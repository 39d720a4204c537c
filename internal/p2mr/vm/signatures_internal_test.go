package vm

import (
	"testing"

	"github.com/seed61375155/trawl/internal/p2mr"
	"github.com/seed61375155/trawl/internal/slhdsa"
)

// As many signatures are remembered as were asked for, the last ones, and never more than twice as many.
func TestSignaturesAreBounded(t *testing.T) {
	s := NewSignatures()
	s.most = 10
	id := func(n int) signatureID { return signatureID{byte(n), byte(n >> 8)} }
	for n := range 1000 {
		s.add(id(n))
		if s.Len() > 20 {
			t.Fatalf("%d signatures after %d", s.Len(), n)
		}
		for before := range min(n+1, 10) {
			if !s.find(id(n - before)) {
				t.Fatalf("after %d, %d is forgotten", n, n-before)
			}
		}
	}
	if s.find(id(900)) {
		t.Error("an old one is remembered")
	}
}

// A signature is remembered for its key and its message, under a name that differs from node to node. A wrong one is
// not, and where nothing is to be remembered none is.
func TestSignatureIsKnown(t *testing.T) {
	s, other := NewSignatures(), NewSignatures()
	key, message, sig := slhdsa.PublicKey{1}, p2mr.Hash{2}, make([]byte, slhdsa.SignatureSize)
	for _, remember := range []bool{true, false} {
		if s.verify(key, message, sig, remember) || s.Len() != 0 {
			t.Error("a wrong signature is remembered")
		}
	}
	id := s.idOf(&key, &message, sig)
	if id == other.idOf(&key, &message, sig) {
		t.Error("two nodes have one name of it")
	}
	s.add(id)
	changed := append([]byte{1}, sig[1:]...)
	if !s.verify(key, message, sig, false) || s.Saved() != 1 || s.verify(slhdsa.PublicKey{}, message, sig, true) ||
		s.verify(key, p2mr.Hash{}, sig, true) || s.verify(key, message, changed, true) ||
		s.Len() != 1 || s.Saved() != 1 {
		t.Errorf("%d remembered, %d saved", s.Len(), s.Saved())
	}
	var none *Signatures
	if none.verify(key, message, sig, true) {
		t.Error("a wrong signature is right")
	}
}
