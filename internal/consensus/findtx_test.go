package consensus

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
)

// A transaction is found by its id, whatever is guessed of its place.
func TestFindTx(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 3))
	for range 20 {
		var txs []*wire.MsgTx
		for range 1 + random.IntN(6) {
			txs = append(txs, someTx(random))
		}
		at := random.IntN(100)
		raw := slices.Concat(make([]byte, at), serialized(t, txs...), []byte{1, 2, 3})
		for place, tx := range txs {
			id := tx.TxHash()
			for guess := -1; guess <= len(txs); guess++ {
				got, found, err := FindTx(raw, at, &id, guess)
				if err != nil || found != place || got == nil || got.WitnessHash() != tx.WitnessHash() {
					t.Fatalf("transaction %d of %d, guessed at %d: %v at %d, %v", place, len(txs), guess, got, found, err)
				}
			}
		}
		for guess := range txs {
			if got, _, err := FindTx(raw, at, &chainhash.Hash{1}, guess); got != nil || err != nil {
				t.Fatalf("a transaction that is not there: %v, %v", got, err)
			}
		}
	}
}

// What is found does not change with the bytes that it was found in.
func TestFoundTxIsApart(t *testing.T) {
	tx := someTx(rand.New(rand.NewPCG(1, 4)))
	id, whole := tx.TxHash(), tx.WitnessHash()
	raw := serialized(t, tx)
	got, _, err := FindTx(raw, 0, &id, 0)
	if err != nil {
		t.Fatal(err)
	}
	clear(raw)
	if got.WitnessHash() != whole {
		t.Error("it has changed")
	}
}

// FuzzFindTx: in what can be read, each transaction is found where it is, also beyond one
// that cannot be hashed; what cannot be read has none, or an error.
func FuzzFindTx(f *testing.F) {
	random := rand.New(rand.NewPCG(1, 5))
	for range 3 {
		f.Add(serialized(f, someTx(random), someTx(random)), 1)
	}
	f.Add([]byte{1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 0)
	f.Add([]byte{1, 2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0}, -1)
	f.Add([]byte{0xfd, 1, 0}, 7)
	f.Fuzz(func(t *testing.T, raw []byte, guess int) {
		txs, _, err := ReadTxs(raw, 0)
		if err != nil {
			tx, _, err := FindTx(raw, 0, &chainhash.Hash{}, guess)
			if tx != nil || err != nil && !errors.Is(err, ErrMalformed) {
				t.Fatalf("found %v, %v", tx, err)
			}
			return
		}
		for i, id := range txs.IDs {
			tx, place, err := FindTx(raw, 0, &id, guess)
			if err != nil || tx == nil || txs.IDs[place] != id || place != slices.Index(txs.IDs, id) && place != guess {
				t.Fatalf("transaction %d: %v at %d, %v", i, tx, place, err)
			}
			if one := serialized(t, tx); !slices.Equal(one, serialized(t, txs.List[place])) {
				t.Fatalf("transaction %d is another: %x", i, one)
			}
		}
	})
}
