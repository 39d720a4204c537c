package merkleproof

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
)

// blockOf makes the ids of n transactions, and the root by btcd's code.
func blockOf(n int) (ids []chainhash.Hash, root chainhash.Hash) {
	var txs []*btcutil.Tx
	for i := range n {
		tx := wire.NewMsgTx(2)
		tx.LockTime = uint32(i)
		tx.AddTxIn(&wire.TxIn{})
		txs = append(txs, btcutil.NewTx(tx))
		ids = append(ids, tx.TxHash())
	}
	return ids, blockchain.CalcMerkleRoot(txs, false)
}

// Every choice of transactions of blocks of every size is proven, and what is written is
// read.
func TestProof(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for n := 1; n <= 70; n++ {
		ids, root := blockOf(n)
		for round := range 8 {
			wanted := make(map[chainhash.Hash]bool)
			var want []Match
			for i, id := range ids {
				if round == 0 || random.IntN(round) == 0 {
					wanted[id] = true
					want = append(want, Match{id, uint32(i)})
				}
			}
			raw := New(ids, func(id chainhash.Hash) bool { return wanted[id] }).Append(nil)
			p, err := Decode(append(raw, 7))
			if err != nil {
				t.Fatal(err)
			}
			got, found, ok := p.Verify(uint32(n))
			if !ok || got != root || !slices.Equal(found, want) {
				t.Fatalf("%d transactions: root %v, want %v; found %v, want %v", n, got, root, found, want)
			}
			if _, _, ok := p.Verify(uint32(n) - 1); ok {
				t.Errorf("%d transactions pass for fewer", n)
			}
			if !bytes.Equal(p.Append(nil), raw) {
				t.Errorf("%d transactions: written another way", n)
			}
		}
	}
}

// A proof of which a bit was changed proves nothing of that block but what is true.
func TestChangedProof(t *testing.T) {
	ids, root := blockOf(11)
	raw := New(ids, func(id chainhash.Hash) bool { return id == ids[4] }).Append(nil)
	for bit := range 8 * len(raw) {
		changed := bytes.Clone(raw)
		changed[bit/8] ^= 1 << (bit % 8)
		p, err := Decode(changed)
		if err != nil {
			continue
		}
		got, found, ok := p.Verify(20)
		for _, m := range found {
			if ok && got == root && ids[m.Index] != m.ID {
				t.Errorf("bit %d: proves %v", bit, found)
			}
		}
	}
}

// The known trick of a block with a transaction twice does not pass.
func TestRepeatedBranch(t *testing.T) {
	ids, _ := blockOf(2)
	p := &Proof{Txs: 2, Hashes: []chainhash.Hash{ids[0], ids[0]}, Bits: []byte{0b101}}
	if _, _, ok := p.Verify(10); ok {
		t.Error("equal branches pass")
	}
}

func TestRefusedProofs(t *testing.T) {
	ids, _ := blockOf(3)
	good := func() *Proof { return New(ids, func(id chainhash.Hash) bool { return id == ids[1] }) }
	for name, change := range map[string]func(p *Proof){
		"no transaction":  func(p *Proof) { p.Txs = 0 },
		"too many hashes": func(p *Proof) { p.Hashes = append(p.Hashes, ids[0], ids[1]) },
		"a hash more":     func(p *Proof) { p.Txs = 4; p.Hashes = append(p.Hashes, ids[0]) },
		"a hash less":     func(p *Proof) { p.Hashes = p.Hashes[:len(p.Hashes)-1] },
		"a byte more":     func(p *Proof) { p.Bits = append(p.Bits, 0) },
		"no bits":         func(p *Proof) { p.Bits = nil },
	} {
		p := good()
		change(p)
		if _, _, ok := p.Verify(100); ok {
			t.Errorf("%s: passes", name)
		}
	}
}

func TestRefusedBytes(t *testing.T) {
	for name, c := range map[string]struct {
		raw  []byte
		want error
	}{
		"empty":             {nil, ErrShort},
		"no lists":          {[]byte{1, 0, 0, 0}, ErrShort},
		"no hash":           {[]byte{1, 0, 0, 0, 1}, ErrShort},
		"no bits":           {[]byte{1, 0, 0, 0, 0}, ErrShort},
		"size is cut":       {[]byte{1, 0, 0, 0, 0xfd, 0}, ErrShort},
		"size is too long":  {[]byte{1, 0, 0, 0, 0xfd, 1, 0}, ErrNotCanonical},
		"size is too large": {[]byte{1, 0, 0, 0, 0xfe, 1, 0, 0, 2}, ErrTooLarge},
		"huge":              {[]byte{1, 0, 0, 0, 0xff, 0, 0, 0, 0, 1, 0, 0, 0}, ErrTooLarge},
	} {
		if _, err := Decode(c.raw); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// FuzzDecode reads anything: what is a proof is written as it was read.
func FuzzDecode(f *testing.F) {
	ids, _ := blockOf(7)
	f.Add(New(ids, func(id chainhash.Hash) bool { return id == ids[6] }).Append(nil))
	f.Add([]byte{1, 0, 0, 0, 0, 1, 0})
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, err := Decode(raw)
		if err != nil {
			return
		}
		if again := p.Append(nil); !bytes.HasPrefix(raw, again) {
			t.Errorf("read %x, written %x", raw, again)
		}
		p.Verify(16_666)
	})
}
