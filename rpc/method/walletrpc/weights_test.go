package walletrpc

import (
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
)

// A weight belongs to the input that it names, and makes one where there is none; the last of an input
// counts.
func TestWeights(t *testing.T) {
	at := func(n byte) wire.OutPoint { return wire.OutPoint{Hash: chainhash.Hash{31: n}, Index: uint32(n)} }
	weight := func(n byte, weight string) string {
		return `{"txid":"` + at(n).Hash.String() + `","vout":` + string('0'+rune(n)) + `,"weight":` + weight + `}`
	}
	list, err := jsontree.Parse([]byte("[" + strings.Join([]string{
		weight(2, "300"), weight(3, "400"), weight(3, "500"),
	}, ",") + "]"))
	if err != nil {
		t.Fatal(err)
	}
	q := &messages.Spend{Inputs: []messages.SpendInput{{At: at(1)}, {At: at(2)}}}
	if err := readWeights(list, 4, q); err != nil {
		t.Fatal(err)
	}
	for scale, want := range map[int64]string{
		4: "weight cannot be less than 165 (41 bytes (size of outpoint + sequence + empty scriptSig) * 4 (witness scaling " +
			"factor)) + 1 (empty witness)",
		1: "weight cannot be less than 42 (41 bytes (size of outpoint + sequence + empty scriptSig) * 1 (witness scaling " +
			"factor)) + 1 (empty witness)",
	} {
		light, err := jsontree.Parse([]byte("[" + weight(1, "41") + "]"))
		if err != nil {
			t.Fatal(err)
		}
		if err := readWeights(light, scale, q); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("scale %d: %v", scale, err)
		}
	}
	want := []messages.SpendInput{{At: at(1)}, {At: at(2), Weight: 300}, {At: at(3), Weight: 500}}
	if len(q.Inputs) != len(want) {
		t.Fatalf("%+v", q.Inputs)
	}
	for i, in := range q.Inputs {
		if in.At != want[i].At || in.Weight != want[i].Weight {
			t.Errorf("input %d: %+v, want %+v", i, in, want[i])
		}
	}
}
