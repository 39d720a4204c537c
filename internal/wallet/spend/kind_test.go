package spend

import (
	"bytes"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/txscript"

	"github.com/seed61375155/trawl/internal/wallet/coinselect"
)

// The kind of a coin's address is told by its script; nested SegWit also by how it is spent.
func TestKindOf(t *testing.T) {
	program := func(version byte, size int) []byte {
		return append([]byte{version, byte(size)}, make([]byte, size)...)
	}
	hash := slices.Concat([]byte{txscript.OP_HASH160, 20}, make([]byte, 20), []byte{txscript.OP_EQUAL})
	key := slices.Concat(
		[]byte{txscript.OP_DUP, txscript.OP_HASH160, 20}, make([]byte, 20),
		[]byte{txscript.OP_EQUALVERIFY, txscript.OP_CHECKSIG},
	)
	for name, c := range map[string]struct {
		script         []byte
		known, witness bool
		want           coinselect.Kind
	}{
		"P2PKH":                   {key, true, false, coinselect.Legacy},
		"P2SH":                    {hash, true, false, coinselect.Legacy},
		"P2SH of SegWit":          {hash, true, true, coinselect.P2SHSegwit},
		"P2SH, not known":         {hash, false, true, coinselect.Legacy},
		"P2WPKH":                  {program(0, 20), true, true, coinselect.Bech32},
		"P2WSH":                   {program(0, 32), true, true, coinselect.Bech32},
		"P2TR":                    {program(txscript.OP_1, 32), true, true, coinselect.Bech32m},
		"another witness program": {program(txscript.OP_2, 32), true, true, coinselect.MerkleRoot},
		"P2PK": {
			slices.Concat([]byte{33}, bytes.Repeat([]byte{2}, 33), []byte{txscript.OP_CHECKSIG}), true, false,
			coinselect.OtherKind,
		},
	} {
		coin := Coin{Known: c.known}
		coin.Script, coin.Size.Witness = c.script, c.witness
		if got := kindOf(&coin); got != c.want {
			t.Errorf("%s: kind %d, want %d", name, got, c.want)
		}
	}
}
