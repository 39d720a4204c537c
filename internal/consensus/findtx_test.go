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

// A place outside of the bytes has no transactions, and an id none at another place.
func TestNoTxThere(t *testing.T) {
	txs := []*wire.MsgTx{someTx(rand.New(rand.NewPCG(1, 6))), someTx(rand.New(rand.NewPCG(1, 7)))}
	raw, id := serialized(t, txs...), txs[0].TxHash()
	for _, at := range []int{-1, len(raw), len(raw) + 1} {
		if _, _, err := FindTx(raw, at, &id, 0); !errors.Is(err, ErrMalformed) {
			t.Errorf("at %d: %v", at, err)
		}
		if _, _, err := ListTxs(raw, at); !errors.Is(err, ErrMalformed) {
			t.Errorf("at %d: %v", at, err)
		}
	}
	_, offsets, err := ListTxs(raw, 0)
	if err != nil || len(offsets) != 3 {
		t.Fatal(offsets, err)
	}
	for n := range raw {
		whole := n >= offsets[0] && n < offsets[1]
		if tx, size := ReadTx(raw[n:], &id); tx != nil && (n != offsets[0] || size != offsets[1]-offsets[0]) {
			t.Errorf("read at %d", n)
		}
		if tx, _ := ReadTx(raw[offsets[0]:max(offsets[0], n)], &id); tx != nil && whole {
			t.Errorf("read of %d bytes", n-offsets[0])
		}
		if _, _, err := ListTxs(raw[:n], 0); !errors.Is(err, ErrMalformed) {
			t.Errorf("%d of %d bytes listed: %v", n, len(raw), err)
		}
	}
}

// The outputs that transactions spend are listed as they were written; a list that is cut short is none.
func TestListSpendings(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 8))
	for range 20 {
		var txs []*wire.MsgTx
		for range random.IntN(6) {
			txs = append(txs, someTx(random))
		}
		at := random.IntN(100)
		raw := slices.Concat(make([]byte, at), serialized(t, txs...), []byte{1, 2, 3})
		list, err := ListSpendings(raw, at)
		if err != nil || len(list) != len(txs) {
			t.Fatalf("%d of %d transactions, %v", len(list), len(txs), err)
		}
		for i, tx := range txs {
			var want []wire.OutPoint
			for _, in := range tx.TxIn {
				want = append(want, in.PreviousOutPoint)
			}
			if !slices.Equal(list[i].Outs, want) {
				t.Errorf("transaction %d spends %v, listed are %v", i, want, list[i].Outs)
			}
			got, size := ReadTx(raw[list[i].Start:], nil)
			if got == nil || got.WitnessHash() != tx.WitnessHash() || size != list[i].End-list[i].Start {
				t.Errorf("transaction %d does not stand at %d", i, list[i].Start)
			}
		}
		for n := range len(raw) - 3 {
			if _, err := ListSpendings(raw[:n], at); !errors.Is(err, ErrMalformed) {
				t.Errorf("%d of %d bytes listed: %v", n, len(raw), err)
			}
		}
	}
	if _, err := ListSpendings(nil, -1); !errors.Is(err, ErrMalformed) {
		t.Error(err)
	}
}

// A found transaction does not change with the bytes in which it was found.
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

// FuzzFindTx: in bytes that can be read, each transaction is found in its place, also
// behind a transaction that cannot be hashed. Other bytes give no transaction or an
// error.
func FuzzFindTx(f *testing.F) {
	random := rand.New(rand.NewPCG(1, 5))
	for range 3 {
		f.Add(serialized(f, someTx(random), someTx(random)), 1)
	}
	f.Add([]byte{1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 0)
	f.Add([]byte{1, 2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0}, -1)
	f.Add([]byte{0xfd, 1, 0}, 7)
	f.Fuzz(func(t *testing.T, raw []byte, guess int) {
		txs, end, err := ReadTxs(raw, 0)
		ids, offsets, listErr := ListTxs(raw, 0)
		same, inputs, last, inputsErr := ListInputs(raw, 0)
		if !errors.Is(inputsErr, listErr) || !slices.Equal(same, ids) ||
			listErr == nil && len(ids) > 0 && last != offsets[len(ids)] {
			t.Fatalf("%d transactions with inputs to %d, %d without: %v", len(same), last, len(ids), inputsErr)
		}
		outlined, base, outlineEnd, outlineErr := Outline(raw, 0)
		if !errors.Is(outlineErr, listErr) || !slices.Equal(outlined, ids) || outlineEnd != last {
			t.Fatalf("%d transactions outlined to %d, %d without: %v", len(outlined), outlineEnd, len(ids), outlineErr)
		}
		spending, spendingErr := ListSpendings(raw, 0)
		if !errors.Is(spendingErr, listErr) || len(spending) != len(ids) {
			t.Fatalf("%d transactions with what they spend, %d without: %v", len(spending), len(ids), spendingErr)
		}
		for i, s := range spending {
			if s.Start != offsets[i] || s.End != offsets[i+1] || len(s.Outs) != int(inputs[i]) {
				t.Fatalf("transaction %d at %d..%d spends %d outputs", i, s.Start, s.End, len(s.Outs))
			}
		}
		if listErr != nil && (err == nil || !errors.Is(listErr, ErrMalformed)) {
			t.Fatalf("not listed: %v", listErr)
		}
		if err != nil {
			tx, _, err := FindTx(raw, 0, &chainhash.Hash{}, guess)
			if tx != nil || err != nil && !errors.Is(err, ErrMalformed) {
				t.Fatalf("found %v, %v", tx, err)
			}
			return
		}
		if !slices.Equal(ids, txs.IDs) || len(ids) > 0 && offsets[len(ids)] != end {
			t.Fatalf("%d of %d transactions at %d to %d", len(ids), len(txs.IDs), offsets, end)
		}
		want := wire.VarIntSerializeSize(uint64(len(txs.List)))
		for _, tx := range txs.List {
			want += tx.SerializeSizeStripped()
		}
		if base != want {
			t.Fatalf("%d bytes without witnesses, not %d", base, want)
		}
		for i, id := range txs.IDs {
			if int(inputs[i]) != len(txs.List[i].TxIn) {
				t.Fatalf("transaction %d has %d inputs, not %d", i, len(txs.List[i].TxIn), inputs[i])
			}
			if tx, size := ReadTx(raw[offsets[i]:], &id); tx == nil || size != offsets[i+1]-offsets[i] {
				t.Fatalf("transaction %d is not read: %d bytes", i, size)
			}
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
