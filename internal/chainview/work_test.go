package chainview

import (
	"math/big"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
	"pgregory.net/rapid"
)

// Works add and compare as numbers do.
func TestWork(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := func(name string) *big.Int { // so that carries go over words, and words are equal
			bytes := rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 0x7f, 0x80, 0xff}), 0, 31).Draw(t, name)
			return new(big.Int).SetBytes(bytes)
		}
		a, b := number("a"), number("b")
		root := NewBlock(nil, &wire.BlockHeader{}, a)
		next := NewBlock(root, &wire.BlockHeader{}, b)
		if want := new(big.Int).Add(a, b); next.Work().Cmp(want) != 0 || root.Work().Cmp(a) != 0 {
			t.Fatalf("%x on top of %x is %x", b, root.Work(), next.Work())
		}
		other := NewBlock(nil, &wire.BlockHeader{}, b)
		if got, want := root.CompareWork(other), a.Cmp(b); got != want {
			t.Fatalf("%x beside %x: got %d, want %d", a, b, got, want)
		}
	})
}

// A block gives back the header that it was made of.
func TestHeader(t *testing.T) {
	genesis := wire.BlockHeader{Version: 1, Timestamp: time.Unix(1, 0), Bits: 2, Nonce: 3}
	root := NewBlock(nil, &genesis, big.NewInt(1))
	for _, header := range []wire.BlockHeader{
		{Version: -1, PrevBlock: root.Hash, MerkleRoot: chainhash.Hash{1, 31: 2}, Bits: 0xffffffff, Nonce: 0xfffffffe},
		{Version: 0x20000000, PrevBlock: root.Hash, Timestamp: time.Unix(0xffffffff, 0), Bits: 1},
	} {
		if header.Timestamp.IsZero() {
			header.Timestamp = time.Unix(0, 0)
		}
		b := NewBlock(root, &header, new(big.Int))
		if got := b.Header(); got != header {
			t.Errorf("got %+v, want %+v", got, header)
		}
		if b.Hash != header.BlockHash() || b.Height != 1 || !b.Time().Equal(header.Timestamp) ||
			b.Bits() != header.Bits || b.Version() != header.Version || b.Payload() != nil {
			t.Errorf("%+v of %+v", b, header)
		}
	}
	if root.Header() != genesis {
		t.Errorf("got %+v, want %+v", root.Header(), genesis)
	}
}
