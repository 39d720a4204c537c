package psbt_test

import (
	"bytes"
	"encoding/base64"
	"testing"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/rawtx/psbt"
)

// Signatures are written in the order of the hashes of their keys, derivations in that of the keys.
func TestOrderOfSignatures(t *testing.T) {
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(wire.NewTxIn(&wire.OutPoint{Index: 1}, nil, nil))
	p := psbt.New(tx, 0)
	var keys [][]byte
	for n := byte(9); n > 0; n-- {
		key := append([]byte{2}, bytes.Repeat([]byte{n}, 32)...)
		keys = append(keys, key)
		p.Inputs[0].Put(psbt.PartialSig, key, []byte{0x30, n})
		p.Inputs[0].Put(psbt.Derivation, key, []byte{0, 0, 0, n})
	}
	raw, err := base64.StdEncoding.DecodeString(p.Encode())
	if err != nil {
		t.Fatal(err)
	}
	placeOf := func(kind byte, key []byte) int { return bytes.Index(raw, append([]byte{kind}, key...)) }
	for _, a := range keys {
		for _, b := range keys {
			before := bytes.Compare(btcutil.Hash160(a), btcutil.Hash160(b)) < 0
			if got := placeOf(2, a) < placeOf(2, b); got != before {
				t.Errorf("the signature of %x comes before that of %x: %v", a[:2], b[:2], got)
			}
			if got := placeOf(6, a) < placeOf(6, b); got != (bytes.Compare(a, b) < 0) {
				t.Errorf("the derivation of %x comes before that of %x: %v", a[:2], b[:2], got)
			}
		}
	}
}
