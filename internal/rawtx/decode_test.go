package rawtx_test

import (
	"bytes"
	"encoding/hex"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/wire"
	"pgregory.net/rapid"

	"github.com/seed61375155/trawl/internal/rawtx"
)

func unhex(tb testing.TB, text string) []byte {
	tb.Helper()
	raw, err := hex.DecodeString(text)
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

const (
	noInputs    = "02000000" + "00" + "01" + "0000000000000000" + "016a" + "00000000"
	nothing     = "02000000000000000000"
	superfluous = "02000000" + "0001" + "01" + outPoint + "00" + "ffffffff" + "00" + "00" + "00000000"
	outPoint    = "1111111111111111111111111111111111111111111111111111111111111111" + "00000000"
	witness     = "02000000" + "0001" + "01" + outPoint + "00" + "ffffffff" + "00" + "01" + "02abcd" + "00000000"
	// A script that is no script in the one form, and no input in the other.
	hugeCount = "02000000" + "feffffff01"
)

func TestForms(t *testing.T) {
	tests := []struct {
		name, raw string
		form      rawtx.Form
		inputs    int // -1: no transaction
		outputs   int
	}{
		{"no inputs, any form", noInputs, rawtx.AnyForm, 0, 1},
		{"no inputs, without witness", noInputs, rawtx.LegacyForm, 0, 1},
		{"no inputs, with witness", noInputs, rawtx.WitnessForm, -1, 0},
		{"nothing", nothing, rawtx.AnyForm, 0, 0},
		{"witness", witness, rawtx.AnyForm, 1, 0},
		{"witness that must not be", witness, rawtx.LegacyForm, -1, 0},
		{"empty witnesses", superfluous, rawtx.WitnessForm, -1, 0},
		{"more than a transaction", nothing + "00", rawtx.AnyForm, -1, 0},
		{"less than one", nothing[2:], rawtx.AnyForm, -1, 0},
		{"count without inputs", hugeCount, rawtx.AnyForm, -1, 0},
		{"empty", "", rawtx.AnyForm, -1, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			tx, ok := rawtx.Decode(unhex(t, test.raw), test.form)
			if ok != (test.inputs >= 0) {
				t.Fatalf("decoded: %v", ok)
			}
			if ok && (len(tx.TxIn) != test.inputs || len(tx.TxOut) != test.outputs) {
				t.Errorf("%d inputs, %d outputs", len(tx.TxIn), len(tx.TxOut))
			}
		})
	}
}

// genTx makes transactions of all shapes.
func genTx(t *rapid.T) *wire.MsgTx {
	script := rapid.SliceOfN(rapid.Byte(), 0, 40)
	tx := wire.NewMsgTx(rapid.Int32().Draw(t, "version"))
	tx.LockTime = rapid.Uint32().Draw(t, "lock time")
	for range rapid.IntRange(0, 4).Draw(t, "inputs") {
		in := &wire.TxIn{Sequence: rapid.Uint32().Draw(t, "sequence"), SignatureScript: script.Draw(t, "script")}
		copy(in.PreviousOutPoint.Hash[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "txid"))
		in.PreviousOutPoint.Index = rapid.Uint32().Draw(t, "index")
		in.Witness = rapid.SliceOfN(script, 0, 3).Draw(t, "witness")
		tx.TxIn = append(tx.TxIn, in)
	}
	for range rapid.IntRange(0, 4).Draw(t, "outputs") {
		tx.TxOut = append(tx.TxOut, wire.NewTxOut(rapid.Int64().Draw(t, "value"), script.Draw(t, "script")))
	}
	return tx
}

// A serialized transaction reads back the same in its own form.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tx := genTx(t)
		form := rawtx.LegacyForm
		var raw bytes.Buffer
		if rapid.Bool().Draw(t, "witness") {
			form = rawtx.WitnessForm
			if len(tx.TxIn) == 0 {
				return // looks like a witness
			}
			_ = tx.Serialize(&raw)
		} else {
			_ = tx.SerializeNoWitness(&raw)
		}
		got, ok := rawtx.Decode(raw.Bytes(), form)
		if !ok {
			t.Fatalf("%x is not read", raw.Bytes())
		}
		var again bytes.Buffer
		if form == rawtx.LegacyForm {
			_ = got.SerializeNoWitness(&again)
		} else {
			_ = got.Serialize(&again)
		}
		if !bytes.Equal(again.Bytes(), raw.Bytes()) {
			t.Errorf("got  %x\nwant %x", again.Bytes(), raw.Bytes())
		}
	})
}

// FuzzDecode compares with btcd's decoder, for transactions with inputs and
// within the limits that btcd has.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{noInputs, nothing, superfluous, witness, hugeCount, "", "0200000000fd0000"} {
		f.Add(unhex(f, seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, form := range []rawtx.Form{rawtx.AnyForm, rawtx.WitnessForm, rawtx.LegacyForm} {
			rawtx.Decode(slices.Clone(raw), form)
		}
		if len(raw) > 10_000 {
			return
		}
		got, ok := rawtx.Decode(raw, rawtx.WitnessForm)
		var want wire.MsgTx
		rest := bytes.NewReader(raw)
		wanted := want.Deserialize(rest) == nil && rest.Len() == 0
		if ok && len(got.TxIn) == 0 && !wanted {
			return // the one form that only Core reads: no inputs and no outputs
		}
		if ok != wanted {
			t.Fatalf("%x: decoded %v, btcd: %v", raw, ok, wanted)
		}
		if ok && got.WitnessHash() != want.WitnessHash() {
			t.Errorf("%x: other than btcd's", raw)
		}
	})
}
