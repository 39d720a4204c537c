package consensus

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
)

// someTx is a transaction with a few inputs, outputs and witnesses of any size.
func someTx(random *rand.Rand) *wire.MsgTx {
	some := func(n int) []byte {
		b := make([]byte, random.IntN(n))
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		return b
	}
	tx := &wire.MsgTx{Version: int32(random.Uint32()), LockTime: random.Uint32()}
	for range 1 + random.IntN(4) {
		in := &wire.TxIn{SignatureScript: some(300), Sequence: random.Uint32()}
		in.PreviousOutPoint.Index = random.Uint32()
		for i := range in.PreviousOutPoint.Hash {
			in.PreviousOutPoint.Hash[i] = byte(random.Uint32())
		}
		tx.AddTxIn(in)
	}
	for range random.IntN(4) {
		tx.AddTxOut(wire.NewTxOut(int64(random.Uint64()), some(300)))
	}
	if random.IntN(2) == 0 {
		for range 1 + random.IntN(20) {
			in := tx.TxIn[random.IntN(len(tx.TxIn))]
			in.Witness = append(in.Witness, some(100))
		}
	}
	return tx
}

// serialized is a list of transactions as blocks have them.
func serialized(tb testing.TB, txs ...*wire.MsgTx) []byte {
	tb.Helper()
	var b bytes.Buffer
	_ = wire.WriteVarInt(&b, 0, uint64(len(txs)))
	for _, tx := range txs {
		if err := tx.Serialize(&b); err != nil {
			tb.Fatal(err)
		}
	}
	return bytes.Clone(b.Bytes())
}

// A written list is read from any place in raw, with the ids, sizes and counts that
// btcd computes. A part of a list is not read, even where the rest lies behind it
// in memory.
func TestReadTxs(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 12 {
		var txs []*wire.MsgTx
		for range random.IntN(5) {
			txs = append(txs, someTx(random))
		}
		list := serialized(t, txs...)
		at := random.IntN(100)
		raw := slices.Concat(make([]byte, at), list, []byte{1, 2, 3})
		got, end, err := ReadTxs(raw, at)
		if err != nil || end != at+len(list) || len(got.List) != len(txs) {
			t.Fatalf("%d transactions at %d: they end at %d, want %d: %v", len(txs), at, end, at+len(list), err)
		}
		inputs, stripped, witness := 0, wire.VarIntSerializeSize(uint64(len(txs))), false
		for i, tx := range txs {
			if got.IDs[i] != tx.TxHash() || got.WitnessIDs[i] != tx.WitnessHash() {
				t.Fatalf("transaction %d has other ids", i)
			}
			inputs += len(tx.TxIn)
			stripped += tx.SerializeSizeStripped()
			witness = witness || tx.HasWitness()
		}
		if got.Inputs != inputs || got.Stripped != stripped || got.HasWitness != witness {
			t.Fatalf("%d inputs, %d bytes, witness: %t; want %d, %d, %t",
				got.Inputs, got.Stripped, got.HasWitness, inputs, stripped, witness)
		}
		if !bytes.Equal(serialized(t, got.List...), list) {
			t.Fatal("other transactions")
		}
		for _, tx := range got.List { // what one appends to changes no other
			tx.TxIn = append(tx.TxIn, &wire.TxIn{})
			tx.TxOut = append(tx.TxOut, &wire.TxOut{})
			for _, in := range tx.TxIn {
				in.SignatureScript = append(in.SignatureScript, 0xee)
			}
		}
		if again, _, err := ReadTxs(raw, at); err != nil || !bytes.Equal(serialized(t, again.List...), list) {
			t.Fatal("what was appended to a transaction was written over another")
		}
		for n := range list {
			if _, _, err := ReadTxs(raw[:at+n], at); !errors.Is(err, ErrMalformed) {
				t.Fatalf("%d bytes of %d are read: %v", n, len(list), err)
			}
		}
	}
}

// A length is read in its shortest form alone.
func TestSizes(t *testing.T) {
	forms := func(n int) (list [][]byte) {
		return append(list, []byte{byte(n)}, binary.LittleEndian.AppendUint16([]byte{0xfd}, uint16(n)),
			binary.LittleEndian.AppendUint32([]byte{0xfe}, uint32(n)),
			binary.LittleEndian.AppendUint64([]byte{0xff}, uint64(n)))
	}
	for _, test := range []struct{ size, form int }{
		{0, 0},
		{1, 0},
		{0xfc, 0},
		{0xfd, 1},
		{0xfe, 1},
		{0xff, 1},
		{0x100, 1},
		{0xfffe, 1},
		{0xffff, 1},
		{0x10000, 2},
		{0x10001, 2},
	} {
		for i, form := range forms(test.size) {
			if i < test.form {
				continue // too short for the number
			}
			tx := paying(1)
			tx.TxOut[0].PkScript = make([]byte, test.size)
			raw := serialized(t, tx)
			rest := raw[len(raw)-4-test.size:]
			front := raw[:len(raw)-len(rest)-wire.VarIntSerializeSize(uint64(test.size))]
			_, _, err := ReadTxs(slices.Concat(front, form, rest), 0)
			if (err == nil) != (i == test.form) {
				t.Errorf("%d in %d bytes: %v", test.size, len(form), err)
			}
		}
	}
	for _, form := range [][]byte{
		forms(1 << 32)[3], forms(1<<32 - 1)[3], forms(math.MaxInt64)[3], forms(-1)[3], forms(0xffffffff)[2],
	} {
		if _, _, err := ReadTxs(append(bytes.Clone(form), make([]byte, 100)...), 0); !errors.Is(err, ErrMalformed) {
			t.Errorf("%x transactions: %v", form, err)
		}
	}
}

// The forms of the mark that a transaction has witnesses.
func TestWitnessMark(t *testing.T) {
	in := slices.Concat([]byte{1}, make([]byte, 36), []byte{0, 9, 9, 9, 9})
	out := append([]byte{1}, make([]byte, 9)...)
	lock := []byte{7, 0, 0, 0}
	for _, test := range []struct {
		name            string
		body            [][]byte
		ok              bool
		inputs, outputs int
		witness         bool
	}{
		{"none", [][]byte{in, out}, true, 1, 1, false},
		{"neither inputs nor outputs", [][]byte{{0, 0}}, true, 0, 0, false},
		{"no inputs and an output", [][]byte{{0}, out}, false, 0, 0, false},
		{"one item", [][]byte{{0, 1}, in, out, {1, 1, 5}}, true, 1, 1, true},
		{"an empty item", [][]byte{{0, 1}, in, out, {1, 0}}, true, 1, 1, true},
		{"no outputs", [][]byte{{0, 1}, in, {0}, {1, 0}}, true, 1, 0, true},
		{"none, and yet the mark", [][]byte{{0, 1}, in, out, {0}}, false, 0, 0, false},
		{"the mark, and no inputs", [][]byte{{0, 1, 0, 0}}, false, 0, 0, false},
		{"flag 2", [][]byte{{0, 2}, in, out}, false, 0, 0, false},
		{"flag 3", [][]byte{{0, 3}, in, out, {1, 0}}, false, 0, 0, false},
	} {
		raw := slices.Concat([]byte{1, 2, 0, 0, 0}, slices.Concat(test.body...), lock)
		got, end, err := ReadTxs(raw, 0)
		if (err == nil) != test.ok || test.ok && end != len(raw) {
			t.Errorf("%s: it ends at %d of %d, %v", test.name, end, len(raw), err)
			continue
		}
		if !test.ok {
			continue
		}
		tx := got.List[0]
		if len(tx.TxIn) != test.inputs || len(tx.TxOut) != test.outputs || got.HasWitness != test.witness ||
			tx.LockTime != 7 || tx.Version != 2 {
			t.Errorf("%s: %+v, witness: %t", test.name, tx, got.HasWitness)
		}
	}
}

// A count of more transactions than the bytes behind it can hold takes no memory.
func TestCountWithoutTransactions(t *testing.T) {
	const at, room = 80, 1000
	raw := append(make([]byte, at), 0xfd, 0, 0)
	raw = append(raw, make([]byte, room*minTxSize)...) // transactions of nothing
	allocations := func(n uint16) float64 {
		binary.LittleEndian.PutUint16(raw[at+1:], n)
		return testing.AllocsPerRun(3, func() {
			if got, _, err := ReadTxs(raw, at); (err == nil) != (n <= room) || err == nil && len(got.List) != int(n) {
				t.Errorf("%d transactions: %v", n, err)
			}
		})
	}
	if got := allocations(room); got < 5 {
		t.Errorf("%.0f allocations for all that fit: the measure is wrong", got)
	}
	if got := allocations(room + 1); got > 2 {
		t.Errorf("%.0f allocations for one more than fits", got)
	}
}

// Only an outpoint with both marks of a coinbase spends nothing.
func TestIsNull(t *testing.T) {
	for _, test := range []struct {
		out  wire.OutPoint
		want bool
	}{
		{wire.OutPoint{Index: math.MaxUint32}, true},
		{wire.OutPoint{Index: math.MaxUint32 - 1}, false},
		{wire.OutPoint{}, false},
		{wire.OutPoint{Hash: chainhash.Hash{31: 1}, Index: math.MaxUint32}, false},
	} {
		tx := paying(1)
		tx.TxIn[0].PreviousOutPoint = test.out
		if IsNull(&test.out) != test.want || IsCoinbase(tx) != test.want {
			t.Errorf("%v: null %t, coinbase %t", test.out, IsNull(&test.out), IsCoinbase(tx))
		}
		tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Index: 1}})
		if IsCoinbase(tx) {
			t.Errorf("%v and another: a coinbase", test.out)
		}
	}
}
