package chainview

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// An index finds what a map finds, with hashes whose first bytes are the same too.
func TestHashIndex(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	x, model := newHashIndex(), map[chainhash.Hash]*Block{}
	hash := func(n int) (h chainhash.Hash) {
		binary.LittleEndian.PutUint64(h[:], uint64(n/3)*0x9e3779b97f4a7c15) // three begin alike
		binary.LittleEndian.PutUint32(h[28:], uint32(n))
		return h
	}
	for n := range 5000 {
		h := hash(r.IntN(8000))
		if got := x.find(&h); got != model[h] {
			t.Fatalf("after %d: found %p, want %p", n, got, model[h])
		}
		if model[h] == nil {
			model[h] = &Block{Hash: h}
			x.add(model[h])
		}
		if x.used != len(model) || 4*x.used > 3*len(x.cells) {
			t.Fatalf("%d of %d cells are used by %d blocks", x.used, len(x.cells), len(model))
		}
	}
	for n := range 8000 {
		h := hash(n)
		if got := x.find(&h); got != model[h] {
			t.Fatalf("hash %d: found %p, want %p", n, got, model[h])
		}
	}
}

// Two indexes put the same hashes into different places.
func TestHashIndexIsKeyed(t *testing.T) {
	x, y := newHashIndex(), newHashIndex()
	same := 0
	for n := range 1000 {
		h := chainhash.HashH([]byte{byte(n), byte(n >> 8)})
		if x.home(&h) == y.home(&h) {
			same++
		}
	}
	if same > 200 {
		t.Errorf("%d of 1000 hashes go to the same of 16 cells", same)
	}
}
