package vm_test

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2mr"
	"github.com/seed61375155/trawl/internal/p2mr/vm"
)

func golden(tb testing.TB, name string, to any) {
	tb.Helper()
	packed, err := os.ReadFile(name)
	if err != nil {
		tb.Fatal(err)
	}
	text, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		tb.Fatal(err)
	}
	if err := json.NewDecoder(text).Decode(to); err != nil {
		tb.Fatal(err)
	}
}

// A vector is a transaction that spends P2MR outputs, with its outcomes.
type vector struct {
	Name, Tx string
	Prevouts []struct {
		Amount       int64
		ScriptPubKey string `json:"scriptPubKey"`
	}
	Mempool, Block, V1, V2 string
}

// spends returns what verifies each input, in order.
func (v *vector) spends(tb testing.TB) []*vm.Spend {
	tb.Helper()
	raw, err := hex.DecodeString(v.Tx)
	if err != nil {
		tb.Fatal(err)
	}
	tx := new(wire.MsgTx)
	if err := tx.Deserialize(bytes.NewReader(raw)); err != nil {
		tb.Fatal(err)
	}
	var prevOuts []*wire.TxOut
	for _, out := range v.Prevouts {
		script, err := hex.DecodeString(out.ScriptPubKey)
		if err != nil {
			tb.Fatal(err)
		}
		prevOuts = append(prevOuts, wire.NewTxOut(out.Amount, script))
	}
	hasher, err := p2mr.NewSigHasher(tx, prevOuts)
	if err != nil {
		tb.Fatal(err)
	}
	var spends []*vm.Spend
	for i := range tx.TxIn {
		root, ok := p2mr.ParseOutputScript(prevOuts[i].PkScript)
		if !ok {
			continue
		}
		spends = append(spends, &vm.Spend{Tx: tx, Input: i, Program: root, Hasher: hasher})
	}
	return spends
}

// verify returns the first error. It is the same where signatures are remembered, were they seen before or not.
func (v *vector) verify(tb testing.TB, rules vm.Rules) string {
	tb.Helper()
	want := v.verifyWith(tb, rules, nil)
	known := vm.NewSignatures()
	for range 2 {
		if got := v.verifyWith(tb, rules, known); got != want {
			tb.Errorf("%q with remembered signatures, want %q", got, want)
		}
	}
	return want
}

func (v *vector) verifyWith(tb testing.TB, rules vm.Rules, known *vm.Signatures) string {
	tb.Helper()
	for _, spend := range v.spends(tb) {
		spend.Rules, spend.Known, spend.Remember = rules, known, true
		if err := spend.Verify(); err != nil {
			return err.Error()
		}
	}
	return ""
}

// reason cuts the text of the script error out of a reject reason.
func reason(text string) string {
	for _, prefix := range []string{"block-script-verify-flag-failed (", "mempool-script-verify-flag-failed ("} {
		if inner, ok := strings.CutPrefix(text, prefix); ok {
			return strings.TrimSuffix(inner, ")")
		}
	}
	return ""
}

func TestSpendVectors(t *testing.T) {
	var set struct{ Vectors []vector }
	golden(t, "../testdata/spends.json.gz", &set)
	if len(set.Vectors) != 110 {
		t.Fatalf("%d vectors", len(set.Vectors))
	}
	for _, v := range set.Vectors {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			if got, want := v.verify(t, vm.Rules{}), reason(v.Block); got != want ||
				(want == "") != (v.Block == "valid") {
				t.Errorf("in a block: %q, want %q", got, v.Block)
			}
			want := reason(v.Mempool)
			if want == "" && v.Mempool != "allowed" {
				return // refused before its scripts
			}
			if got := v.verify(t, vm.Rules{Policy: true}); got != want {
				t.Errorf("in a mempool: %q, want %q", got, v.Mempool)
			}
		})
	}
}

func TestWeightVectors(t *testing.T) {
	var set struct{ Vectors []vector }
	golden(t, "testdata/weight.json.gz", &set)
	if len(set.Vectors) != 7 {
		t.Fatalf("%d vectors", len(set.Vectors))
	}
	for _, v := range set.Vectors {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			if got, want := v.verify(t, vm.Rules{WeightV1: true}), reason(v.V1); got != want ||
				(want == "") != (v.V1 == "valid") {
				t.Errorf("weight v1: %q, want %q", got, v.V1)
			}
			if got, want := v.verify(t, vm.Rules{}), reason(v.V2); got != want || (want == "") != (v.V2 == "valid") {
				t.Errorf("weight v2: %q, want %q", got, v.V2)
			}
		})
	}
}
