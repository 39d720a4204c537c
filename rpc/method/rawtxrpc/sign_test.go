package rawtxrpc_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/btcsuite/btcd/btcutil/base58"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/method/rawtxrpc"
)

const txid = "00000000000000000000000000000000000000000000000000000000000000aa"

// spend is a transaction that spends output 0 of txid.
func spend(tb testing.TB) string {
	tb.Helper()
	result, fault := call(tb, rig(tb, "regtest", true), "createrawtransaction",
		parse(tb, fmt.Sprintf(`[[{"txid":%q,"vout":0}],[{"data":"00"}]]`, txid)))
	if fault != "null" {
		tb.Fatal(fault)
	}
	return strings.Trim(result, `"`)
}

// taproot is an output with one leaf, a key's, and what spends it by the leaf.
func taproot(tb testing.TB) (pkScript, leafScript, control, wif string) {
	tb.Helper()
	key, public := btcec.PrivKeyFromBytes([]byte{5})
	leaf := append(append([]byte{32}, schnorr.SerializePubKey(public)...), txscript.OP_CHECKSIG)
	_, internal := btcec.PrivKeyFromBytes([]byte{9})
	tree := txscript.AssembleTaprootScriptTree(txscript.NewBaseTapLeaf(leaf))
	root := tree.RootNode.TapHash()
	output := schnorr.SerializePubKey(txscript.ComputeTaprootOutputKey(internal, root[:]))
	block := tree.LeafMerkleProofs[0].ToControlBlock(internal)
	raw, err := block.ToBytes()
	if err != nil {
		tb.Fatal(err)
	}
	wif = base58.CheckEncode(append(key.Serialize(), 1), 239)
	return "5120" + hex.EncodeToString(output), hex.EncodeToString(leaf), hex.EncodeToString(raw), wif
}

// TestTaprootLeaf spends by a leaf that the client names, which Core cannot.
func TestTaprootLeaf(t *testing.T) {
	table := rig(t, "regtest", true)
	pkScript, leaf, control, wif := taproot(t)
	const mismatch = `{"code":-8,"message":"leafScript/controlBlock does not match scriptPubKey"}`
	tests := []struct{ name, script, leaf, control, want string }{
		{"signed", pkScript, leaf, control, `"complete":true`},
		{"another leaf", pkScript, "51", control, mismatch},
		{"broken proof", pkScript, leaf, "c0", mismatch},
		{"another leaf version", pkScript, leaf, "c2" + control[2:], mismatch},
		{"no taproot", "51", leaf, control, mismatch},
		{"no hex", pkScript, "x", control, `{"code":-8,"message":"leafScript must be hexadecimal string (not 'x')"}`},
		{"no proof", pkScript, leaf, "", `{"code":-8,"message":"controlBlock must be hexadecimal string (not '')"}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			result, fault := call(t, table, "signrawtransactionwithkey", parse(t, fmt.Sprintf(
				`[%q,[%q],[{"txid":%q,"vout":0,"scriptPubKey":%q,"amount":1,"leafScript":%q,"controlBlock":%q}]]`,
				spend(t), wif, txid, test.script, test.leaf, test.control)))
			if text := result + fault; !strings.Contains(text, test.want) {
				t.Errorf("got  %s\nwant %s", text, test.want)
			}
		})
	}
}

// A transaction without inputs is none for whoever signs or combines: its first
// bytes are those of one with witnesses.
func TestNoInputs(t *testing.T) {
	table := rig(t, "regtest", true)
	const noInputs = "0200000000010000000000000000015100000000"
	for method, want := range map[string]string{
		"signrawtransactionwithkey": `{"code":-22,"message":"TX decode failed. Make sure the tx has at least one input."}`,
		"combinerawtransaction":     `{"code":-22,"message":"TX decode failed for tx 0. Make sure the tx has at least one input."}`,
	} {
		args := fmt.Sprintf(`[%q,[]]`, noInputs)
		if method == "combinerawtransaction" {
			args = fmt.Sprintf(`[[%q,"00"]]`, noInputs)
		}
		if result, fault := call(t, table, method, parse(t, args)); fault != want {
			t.Errorf("%s: %s%s, want %s", method, result, fault, want)
		}
	}
}

// An error while coins are looked up is no fault of the client's.
func TestCoinLookupFails(t *testing.T) {
	table := rig(t, "regtest", true, func(d *rawtxrpc.Deps) {
		d.Unspent = func(context.Context, *wire.OutPoint) (*wire.TxOut, error) { return nil, errors.New("disk") }
	})
	for method, params := range map[string]string{
		"signrawtransactionwithkey": `["TX",[]]`, "combinerawtransaction": `[["TX","TX"]]`,
	} {
		_, fault := call(t, table, method, parse(t, strings.ReplaceAll(params, "TX", spend(t))))
		if want := `{"code":-32603,"message":"Internal error"}`; fault != want {
			t.Errorf("%s: got %s", method, fault)
		}
	}
}

// FuzzPrevTxs: whatever outputs a client gives, it gets a result or an error in
// Core's words, never an error that nobody wrote for clients.
func FuzzPrevTxs(f *testing.F) {
	pkScript, leaf, control, wif := taproot(f)
	coin := fmt.Sprintf(`{"txid":%q,"vout":0,"scriptPubKey":`, txid)
	for _, seed := range []string{
		`[]`, `null`, `[{}]`, `[null]`, `{}`,
		`[` + coin + `"51"}]`, `[` + coin + `"51","amount":1}]`, `[` + coin + `"51024e73","amount":"0.1"}]`,
		`[` + coin + `"a914da1745e9b549bd0bfa1a569971c77eba30cd5a4b87","redeemScript":"51"}]`,
		`[` + coin + `"00204ae81572f06e1b88fd5ced7a1a000945432e83e1551e6f721ee9c00b8cc33260","witnessScript":"51","amount":1e-8}]`,
		`[` + coin + `"` + pkScript + `","leafScript":"` + leaf + `","controlBlock":"` + control + `"}]`,
	} {
		f.Add(seed)
	}
	table := rig(f, "regtest", true)
	tx := spend(f)
	f.Fuzz(func(t *testing.T, prevTxs string) {
		value, err := jsontree.Parse([]byte(prevTxs))
		if err != nil {
			return
		}
		keys := jsontree.NewArray(jsontree.NewString(wif))
		params := jsontree.NewArray(jsontree.NewString(tx), keys, value)
		if _, fault := call(t, table, "signrawtransactionwithkey", params); strings.Contains(fault, "-32603") {
			t.Error(fault)
		}
	})
}
