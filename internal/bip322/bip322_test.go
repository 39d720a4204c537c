package bip322_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/bip322"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
)

// BIP322 has these vectors (testdata, CC0).
type vectors struct {
	Hashes []struct {
		Message, Address string
		MessageHash      string `json:"message_hash"`
		ToSpend          string `json:"to_spend_tx_hash"`
		ToSign           string `json:"to_sign_tx_hash"`
	} `json:"tx_hashes"`
	Simple []vector
	Full   []vector
	Funds  []vector `json:"proof_of_funds"`
	Errors []struct {
		Description, Message, Address, Signature string
	} `json:"error"`
}

type vector struct {
	Message, Address, Type string
	Signatures             []string `json:"bip322_signatures"`
	LockTime               uint32   `json:"lock_time"`
	Sequence               uint32
	Inputs                 [][]struct{ Value int64 } `json:"additional_inputs"`
}

func read(t *testing.T, name string) (v vectors) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	if err == nil {
		err = json.Unmarshal(raw, &v)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

var network = func() *dialect.Network {
	n, err := dialect.Named("bitcoin", "main", dialect.Choices{})
	if err != nil {
		panic(err)
	}
	return n
}()

func scriptOf(t *testing.T, address string) []byte {
	t.Helper()
	script, err := descriptor.ScriptOfAddress(address, network.Descriptors())
	if err != nil {
		t.Fatal(err)
	}
	return script
}

func verify(pkScript []byte, message, signature string) bip322.Result {
	r, err := bip322.Verify(context.Background(), &network.Rules, pkScript, message, signature)
	if err != nil {
		panic(err) // the context does not end
	}
	return r
}

func TestHashes(t *testing.T) {
	list := read(t, "basic.json").Hashes
	if len(list) == 0 {
		t.Fatal("no vectors")
	}
	for _, v := range list {
		hash := bip322.MessageHash(v.Message)
		toSpend := bip322.ToSpend(scriptOf(t, v.Address), v.Message)
		toSign := bip322.ToSign(toSpend)
		got := []string{hex.EncodeToString(hash[:]), toSpend.TxHash().String(), toSign.TxHash().String()}
		for i, want := range []string{v.MessageHash, v.ToSpend, v.ToSign} {
			if got[i] != want {
				t.Errorf("%q: hash %d is %s, want %s", v.Message, i, got[i], want)
			}
		}
	}
}

func TestVectors(t *testing.T) {
	for _, name := range []string{"basic.json", "generated.json"} {
		v := read(t, name)
		for form, list := range map[bip322.Form][]vector{
			bip322.Simple: v.Simple, bip322.Full: v.Full, bip322.ProofOfFunds: v.Funds,
		} {
			for _, one := range list {
				for _, signature := range one.Signatures {
					r := verify(scriptOf(t, one.Address), one.Message, signature)
					if r.State != bip322.Valid || r.Form != form || r.Time != one.LockTime || r.Age != one.Sequence {
						t.Errorf("%s, %s, %q: %+v", name, one.Type, one.Message, r)
					}
					if form == bip322.ProofOfFunds {
						checkFunds(t, r.Funds, slices.Concat(one.Inputs...))
					}
				}
			}
		}
	}
	if v := read(t, "generated.json"); len(v.Simple) == 0 || len(v.Full) == 0 || len(v.Funds) == 0 {
		t.Error("vectors are missing")
	}
}

func checkFunds(t *testing.T, got []bip322.Fund, want []struct{ Value int64 }) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d funds, want %d", len(got), len(want))
		return
	}
	for i := range got {
		if got[i].Output.Value != want[i].Value {
			t.Errorf("fund %d is worth %d, want %d", i, got[i].Output.Value, want[i].Value)
		}
	}
}

func TestWrongSignatures(t *testing.T) {
	list := read(t, "generated.json").Errors
	if len(list) == 0 {
		t.Fatal("no vectors")
	}
	for _, v := range list {
		if r := verify(scriptOf(t, v.Address), v.Message, v.Signature); r.State != bip322.Invalid || r.Reason == "" {
			t.Errorf("%s: %+v", v.Description, r)
		}
	}
}

// A signature without a prefix is of the simple form, as before there were prefixes.
func TestWithoutPrefix(t *testing.T) {
	v := read(t, "basic.json").Simple[0]
	signature := strings.TrimPrefix(v.Signatures[0], "smp")
	if r := verify(scriptOf(t, v.Address), v.Message, signature); r.State != bip322.Valid || r.Form != bip322.Simple {
		t.Errorf("%+v", r)
	}
}

// The older form is of P2PKH addresses alone, though other addresses may be of the same key.
func TestLegacy(t *testing.T) {
	const message = "This is just a test message"
	key, ok := descriptor.ParseWIF(
		"cUeKHd5orzT3mz8P9pxyREHfsWtVfgsfDjiZZBcjUBAaGk1BTj7N", descriptor.NetworkOf(&chaincfg.RegressionNetParams),
	)
	keys := rawtx.Keys{}
	if !ok || !keys.AddScalar(&key.Scalar, key.Compressed) {
		t.Fatal("no key")
	}
	hash := btcutil.Hash160(key.PublicKey())
	raw, ok := keys.SignMessage([20]byte(hash), message)
	if !ok {
		t.Fatal("not signed")
	}
	signature := base64.StdEncoding.EncodeToString(raw)
	pkScript := slices.Concat(
		[]byte{txscript.OP_DUP, txscript.OP_HASH160, txscript.OP_DATA_20}, hash,
		[]byte{txscript.OP_EQUALVERIFY, txscript.OP_CHECKSIG},
	)
	if r := verify(pkScript, message, signature); r.State != bip322.Valid || r.Form != bip322.Legacy {
		t.Errorf("%+v", r)
	}
	if r := verify(pkScript, message+".", signature); r.State != bip322.Invalid || r.Form != bip322.Legacy {
		t.Errorf("another message: %+v", r)
	}
	segwit := append([]byte{txscript.OP_0, txscript.OP_DATA_20}, hash...)
	if r := verify(segwit, message, signature); r.State != bip322.Invalid || r.Form != bip322.Simple {
		t.Errorf("P2WPKH: %+v", r)
	}
}

// witnessScript returns the output script of a witness script.
func witnessScript(script ...byte) []byte {
	hash := chainhash.HashB(script)
	return append([]byte{txscript.OP_0, txscript.OP_DATA_32}, hash...)
}

// full returns the signature by a transaction that edit has changed.
func full(pkScript []byte, message string, edit func(tx *wire.MsgTx)) string {
	tx := bip322.ToSign(bip322.ToSpend(pkScript, message))
	edit(tx)
	return "ful" + base64.StdEncoding.EncodeToString(psbt.Serialize(tx, true))
}

// Scripts that need no key show each rule by itself.
func TestRules(t *testing.T) {
	const message = "a message"
	open := []byte{txscript.OP_TRUE}
	of := func(script ...byte) func(tx *wire.MsgTx) {
		return func(tx *wire.MsgTx) { tx.TxIn[0].Witness = wire.TxWitness{script} }
	}
	and := func(edits ...func(tx *wire.MsgTx)) func(tx *wire.MsgTx) {
		return func(tx *wire.MsgTx) {
			for _, edit := range edits {
				edit(tx)
			}
		}
	}
	opened := of(open...)
	separated := []byte{txscript.OP_CODESEPARATOR, txscript.OP_TRUE}
	nop := []byte{txscript.OP_NOP4, txscript.OP_TRUE}
	late := []byte{txscript.OP_8, txscript.OP_CHECKLOCKTIMEVERIFY}
	future := append([]byte{txscript.OP_3, txscript.OP_DATA_32}, bytes.Repeat([]byte{1}, 32)...)
	for name, c := range map[string]struct {
		pkScript []byte
		edit     func(tx *wire.MsgTx)
		state    bip322.State
		reason   string
	}{
		"right":      {witnessScript(open...), opened, bip322.Valid, ""},
		"no witness": {witnessScript(open...), and(), bip322.Invalid, "Witness program was passed an empty witness"},
		"code separator": {
			witnessScript(separated...), of(separated...), bip322.Invalid, "Using OP_CODESEPARATOR in non-witness script",
		},
		"reserved NOP":      {witnessScript(nop...), of(nop...), bip322.Inconclusive, "NOPx reserved for soft-fork upgrades"},
		"witness version 3": {future, and(), bip322.Inconclusive, "Witness version reserved for soft-fork upgrades"},
		"version 2":         {witnessScript(open...), and(opened, func(tx *wire.MsgTx) { tx.Version = 2 }), bip322.Valid, ""},
		"version 1": {
			witnessScript(open...), and(opened, func(tx *wire.MsgTx) { tx.Version = 1 }), bip322.Inconclusive,
			"the transaction is of an unknown version",
		},
		"too early": {witnessScript(late...), of(late...), bip322.Invalid, "Locktime requirement not satisfied"},
		"late enough": {
			witnessScript(late...), and(of(late...), func(tx *wire.MsgTx) { tx.LockTime = 8 }), bip322.Valid, "",
		},
		"another input": {
			witnessScript(open...), and(opened, func(tx *wire.MsgTx) { tx.TxIn[0].PreviousOutPoint.Index = 1 }),
			bip322.Invalid, "the first input does not spend the output that commits to the message",
		},
		"two inputs": {
			witnessScript(open...), and(opened, func(tx *wire.MsgTx) { tx.AddTxIn(&wire.TxIn{}) }), bip322.Invalid,
			"only a proof of funds has more than one input",
		},
		"two outputs": {
			witnessScript(open...), and(opened, func(tx *wire.MsgTx) { tx.AddTxOut(tx.TxOut[0]) }), bip322.Invalid,
			"the transaction has other outputs than one of OP_RETURN",
		},
		"an amount": {
			witnessScript(open...), and(opened, func(tx *wire.MsgTx) { tx.TxOut[0].Value = 1 }), bip322.Invalid,
			"the transaction has other outputs than one of OP_RETURN",
		},
		"another output": {
			witnessScript(open...), and(opened, func(tx *wire.MsgTx) { tx.TxOut[0].PkScript = open }), bip322.Invalid,
			"the transaction has other outputs than one of OP_RETURN",
		},
	} {
		r := verify(c.pkScript, message, full(c.pkScript, message, c.edit))
		if r.State != c.state || r.Reason != c.reason {
			t.Errorf("%s: %+v, want %s: %s", name, r, c.state, c.reason)
		}
	}
}

// A signature covers the whole transaction.
func TestHashTypes(t *testing.T) {
	v := read(t, "generated.json").Simple
	for _, one := range v[:2] { // by ECDSA, by Schnorr
		raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(one.Signatures[0], "smp"))
		if err != nil {
			t.Fatal(err)
		}
		size := raw[1]
		sig := bytes.Clone(raw[2 : 2+size])
		want := "Signature hash type missing or not understood"
		if size == 64 {
			sig, want = append(sig, 3), "Invalid Schnorr signature hash type"
		} else {
			sig[size-1] = 3
		}
		changed := append([]byte{raw[0], byte(len(sig))}, append(sig, raw[2+size:]...)...)
		r := verify(scriptOf(t, one.Address), one.Message, "smp"+base64.StdEncoding.EncodeToString(changed))
		if r.State != bip322.Invalid || r.Reason != want {
			t.Errorf("%s: %+v", one.Type, r)
		}
	}
}

func TestTextsThatAreNoSignature(t *testing.T) {
	pkScript := witnessScript(txscript.OP_TRUE)
	for text, want := range map[string]string{
		"":          "signature is no witness",
		"smp":       "signature is no witness",
		"smp!":      "signature is no base64",
		"smpAAAA":   "signature is no witness", // something follows
		"smp/w==":   "signature is no witness",
		"smpAv8=":   "signature is no witness",
		"smpAQH/AA": "signature is no base64",
		"smpAQA=":   "Witness program hash mismatch", // of one empty item
		"smpAA==\n": "signature is no base64",
		"ful":       "signature is no transaction",
		"fulAAAA":   "signature is no transaction",
		"pof":       "signature is no PSBT",
		"pofAAAA":   "signature is no PSBT",
	} {
		if r := verify(pkScript, "", text); r.State != bip322.Invalid || r.Reason != want {
			t.Errorf("%q: %+v, want %q", text, r, want)
		}
	}
}

func FuzzVerify(f *testing.F) {
	raw, err := os.ReadFile(filepath.Join("testdata", "generated.json"))
	if err != nil {
		f.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(raw, &v); err != nil {
		f.Fatal(err)
	}
	for _, list := range [][]vector{v.Simple, v.Full, v.Funds} {
		for _, one := range list {
			script, err := descriptor.ScriptOfAddress(one.Address, network.Descriptors())
			if err != nil {
				f.Fatal(err)
			}
			f.Add(script, one.Message, one.Signatures[0])
		}
	}
	f.Fuzz(func(t *testing.T, script []byte, message, signature string) {
		r := verify(script, message, signature)
		if (r.State == bip322.Valid) != (r.Reason == "") {
			t.Errorf("%+v", r)
		}
		for i := range r.Funds {
			if r.Funds[i].Output.Value < 0 {
				t.Errorf("a fund of %d", r.Funds[i].Output.Value)
			}
		}
	})
}
