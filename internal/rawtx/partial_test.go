package rawtx_test

import (
	"testing"

	"github.com/btcsuite/btcd/txscript"

	"github.com/seed61375155/trawl/internal/rawtx"
)

// All signatures of an input that is signed in part are kept, whichever keys they are of: the
// last of three signers finds those of the two before.
func TestPartialSignaturesOfAllKeys(t *testing.T) {
	all := script(t, txscript.OP_3, public(2), public(3), public(4), txscript.OP_3, txscript.OP_CHECKMULTISIG)
	spent := []output{
		{"P2SH", rawtx.ScriptHash(all), [][]byte{all}, nil, nil},
		{"P2WSH", rawtx.WitnessScriptHash(all), [][]byte{all}, nil, nil},
	}
	for _, order := range [][]int{{2, 3, 4}, {4, 3, 2}, {2, 4, 3}, {3, 2, 4}} {
		s := signing(t, spent)
		for _, signer := range order {
			s.Keys = keyring(t, signer)
			if _, err := rawtx.Sign(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
		if err := execute(s); err != nil {
			t.Errorf("signed in the order %v: %v", order, err)
		}
	}
}
