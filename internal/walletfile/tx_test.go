package walletfile_test

import (
	"math"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
	"pgregory.net/rapid"

	"github.com/seed61375155/trawl/internal/walletfile"
)

func TestTxStates(t *testing.T) {
	block := chainhash.Hash{5}
	tests := []struct {
		name  string
		state walletfile.TxState
		want  walletfile.TxStateKind
	}{
		{"zero", walletfile.TxState{}, walletfile.Inactive},
		{"no block but a place", walletfile.TxState{Index: 1}, walletfile.Unrecognized},
		{"no block, conflicted", walletfile.TxState{Index: -1}, walletfile.Unrecognized},
		{"abandoned", walletfile.AbandonedState(), walletfile.Abandoned},
		{"half abandoned", walletfile.TxState{Block: chainhash.Hash{1}}, walletfile.Unrecognized},
		{"coinbase", walletfile.ConfirmedState(block, 0), walletfile.Confirmed},
		{"confirmed", walletfile.ConfirmedState(block, 7), walletfile.Confirmed},
		{"conflicted", walletfile.ConflictedState(block), walletfile.Conflicted},
		{"negative place", walletfile.TxState{Block: block, Index: -2}, walletfile.Unrecognized},
	}
	for _, test := range tests {
		if got := test.state.Kind(); got != test.want {
			t.Errorf("%s: got %d, want %d", test.name, got, test.want)
		}
	}
}

// paying is a transaction with one output.
func paying(amount int64) *wire.MsgTx {
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(wire.NewTxIn(&wire.OutPoint{Hash: chainhash.Hash{9}}, nil, [][]byte{{1, 2}, {}}))
	tx.AddTxOut(wire.NewTxOut(amount, []byte{0x51}))
	return tx
}

// TestTxValues reads what stands among the values of a transaction as Core does.
func TestTxValues(t *testing.T) {
	tests := []struct {
		name, orderPos, timeSmart string
		wantPos                   int64
		wantTime                  uint32
	}{
		{"plain", "3", "1795155421", 3, 1795155421},
		{"spaces and rubbish around", " +3x", "\t7 8", 3, 7},
		{"no number", "x", "", 0, 0},
		{"unknown place", "-1", "0", walletfile.NoOrderPos, 0},
		{"two signs", "+-1", "--1", 0, 0},
		{"out of range", "99999999999999999999", "4294967297", math.MaxInt64, 1},
		{"out of range below", "-99999999999999999999", "-1", math.MinInt64, math.MaxUint32},
	}
	for _, test := range tests {
		tx := &walletfile.Tx{Tx: paying(1), OrderPos: walletfile.NoOrderPos, Values: map[string]string{
			"n": test.orderPos, "timesmart": test.timeSmart, "spent": "1", "comment": "c",
		}}
		got := reread(t, tx)
		if got.OrderPos != test.wantPos || got.TimeSmart != test.wantTime {
			t.Errorf("%s: got %d, %d", test.name, got.OrderPos, got.TimeSmart)
		}
		if len(got.Values) != 1 || got.Values["comment"] != "c" {
			t.Errorf("%s: values %q", test.name, got.Values)
		}
	}
}

func reread(t interface {
	Helper()
	Fatal(...any)
}, tx *walletfile.Tx,
) *walletfile.Tx {
	t.Helper()
	entry, err := walletfile.Parse(walletfile.RecordOf(tx))
	if err != nil {
		t.Fatal(err)
	}
	got, ok := entry.(*walletfile.Tx)
	if !ok {
		t.Fatal("not a transaction")
	}
	return got
}

// TestTxRoundTrip writes random transactions and reads them again.
func TestTxRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringN(0, 300, 300)
		want := &walletfile.Tx{
			ID: chainhash.Hash{rapid.Byte().Draw(rt, "id")},
			Tx: paying(rapid.Int64().Draw(rt, "amount")),
			State: walletfile.TxState{
				Block: chainhash.Hash{rapid.Byte().Draw(rt, "block")}, Index: rapid.Int32().Draw(rt, "index"),
			},
			OrderPos:     rapid.Int64().Draw(rt, "pos"),
			TimeSmart:    rapid.Uint32().Draw(rt, "smart"),
			TimeReceived: rapid.Uint32().Draw(rt, "received"),
			Values:       map[string]string{"comment": text.Draw(rt, "comment"), "to": text.Draw(rt, "to")},
			OrderForm:    []walletfile.Pair{{Name: text.Draw(rt, "name"), Text: text.Draw(rt, "text")}},
		}
		got := reread(rt, want)
		if string(got.Value()) != string(want.Value()) || got.ID != want.ID || got.State != want.State ||
			got.OrderPos != want.OrderPos || got.TimeSmart != want.TimeSmart || got.TimeReceived != want.TimeReceived ||
			got.Values["comment"] != want.Values["comment"] || got.OrderForm[0] != want.OrderForm[0] {
			rt.Fatalf("got %+v, want %+v", got, want)
		}
	})
}
