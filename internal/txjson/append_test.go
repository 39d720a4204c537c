package txjson

import (
	"bytes"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/jsontree"
)

// The same without methods, so that they are written by their fields.
type (
	plainInput  Input
	plainOutput Output
)

// Inputs and outputs write the same JSON themselves as is made from their
// fields.
func FuzzAppend(f *testing.F) {
	script := append([]byte{0, 20}, make([]byte, 20)...)
	f.Add(script, []byte{1}, []byte("witness"), int64(-1), uint32(7), byte(0))
	f.Add([]byte{0x6a, 0xff}, []byte{}, []byte{}, int64(1e15), uint32(0xffffffff), byte(3))
	f.Add([]byte{}, []byte{0x01}, []byte{0}, int64(0), uint32(0), byte(7))
	f.Fuzz(func(t *testing.T, script, scriptSig, witness []byte, value int64, n uint32, kind byte) {
		p := &Printer{Net: descriptor.NetworkOf(&chaincfg.MainNetParams), WitnessScale: 4}
		in := &wire.TxIn{SignatureScript: scriptSig, Sequence: n, PreviousOutPoint: wire.OutPoint{Index: n}}
		in.PreviousOutPoint.Hash[3] = byte(n)
		for range kind & 3 {
			in.Witness = append(in.Witness, witness)
		}
		shown := newInput(in, kind&4 != 0)
		if kind&8 != 0 {
			shown.Prevout = p.prevout(&chainview.Coin{Script: script, Height: int32(n), Coinbase: kind&16 != 0})
		}
		output := Output{jsontree.Amount(value), int(n), p.ScriptPubKey(script), kind&64 != 0}
		if kind&32 != 0 {
			output.Script.Hex = nil
		}
		for _, c := range []struct{ own, plain any }{{shown, plainInput(shown)}, {output, plainOutput(output)}} {
			own, err := jsontree.Append(nil, c.own)
			plain, plainErr := jsontree.Append(nil, c.plain)
			if err != nil || plainErr != nil || !bytes.Equal(own, plain) {
				t.Fatalf("%s\nby its fields\n%s\n%v, %v", own, plain, err, plainErr)
			}
		}
	})
}
