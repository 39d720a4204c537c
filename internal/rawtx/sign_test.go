package rawtx_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/btcutil/base58"
	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"
	"pgregory.net/rapid"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/rawtx"
)

var net = descriptor.NetworkOf(&chaincfg.RegressionNetParams)

const unknownAmount = 1 << 60

// keys are private keys, made of their numbers.
var keys = func() (all []*btcec.PrivateKey) {
	for i := range byte(20) {
		key, _ := btcec.PrivKeyFromBytes(bytes.Repeat([]byte{i + 1}, 32))
		all = append(all, key)
	}
	return all
}()

func public(i int) []byte { return keys[i].PubKey().SerializeCompressed() }

func keyring(tb testing.TB, numbers ...int) rawtx.Keys {
	tb.Helper()
	ring := rawtx.Keys{}
	for _, n := range numbers {
		wif := base58.CheckEncode(append(keys[n].Serialize(), 1), net.PrivateKeyID)
		if !ring.AddWIF(wif, net) {
			tb.Fatalf("%s is no key", wif)
		}
	}
	return ring
}

func script(tb testing.TB, parts ...any) []byte {
	tb.Helper()
	b := txscript.NewScriptBuilder()
	for _, part := range parts {
		switch p := part.(type) {
		case int:
			b.AddOp(byte(p))
		case []byte:
			b.AddData(p)
		}
	}
	made, err := b.Script()
	if err != nil {
		tb.Fatal(err)
	}
	return made
}

// output is an output script, the scripts that stand behind it, and the keys
// that can spend it together.
type output struct {
	name    string
	script  []byte
	inner   [][]byte
	leaf    *rawtx.Leaf
	signers []int
}

// outputs has every kind of output that can be signed.
func outputs(tb testing.TB) []output {
	tb.Helper()
	pubKey := script(tb, public(0), txscript.OP_CHECKSIG)
	pubKeyHash := script(
		tb, txscript.OP_DUP, txscript.OP_HASH160, btcutil.Hash160(public(1)), txscript.OP_EQUALVERIFY,
		txscript.OP_CHECKSIG,
	)
	multisig := script(tb, txscript.OP_2, public(2), public(3), public(4), txscript.OP_3, txscript.OP_CHECKMULTISIG)
	keyHash := rawtx.WitnessKeyHash(btcutil.Hash160(public(5)))
	scriptHash := rawtx.WitnessScriptHash(multisig)
	x := func(i int) []byte { return schnorr.SerializePubKey(keys[i].PubKey()) }
	all := []output{
		{"P2PK", pubKey, nil, nil, []int{0}},
		{"P2PKH", pubKeyHash, nil, nil, []int{1}},
		{"multisig", multisig, nil, nil, []int{2, 4}},
		{"P2SH multisig", rawtx.ScriptHash(multisig), [][]byte{multisig}, nil, []int{3, 4}},
		{"P2SH P2PKH", rawtx.ScriptHash(pubKeyHash), [][]byte{pubKeyHash}, nil, []int{1}},
		{"P2WPKH", keyHash, nil, nil, []int{5}},
		{"P2SH P2WPKH", rawtx.ScriptHash(keyHash), [][]byte{keyHash}, nil, []int{5}},
		{"P2WSH multisig", scriptHash, [][]byte{multisig}, nil, []int{2, 3}},
		{"P2WSH P2PK", rawtx.WitnessScriptHash(pubKey), [][]byte{pubKey}, nil, []int{0}},
		{"P2SH P2WSH multisig", rawtx.ScriptHash(scriptHash), [][]byte{multisig, scriptHash}, nil, []int{2, 4}},
		{"taproot output key", script(tb, txscript.OP_1, x(6)), nil, nil, []int{6}},
		{"taproot internal key", script(tb, txscript.OP_1,
			schnorr.SerializePubKey(txscript.ComputeTaprootKeyNoScript(keys[7].PubKey()))), nil, nil, []int{7}},
		tapOutput(tb, "tapscript key", script(tb, x(8), txscript.OP_CHECKSIG), 8),
		tapOutput(tb, "tapscript multi_a",
			script(
				tb, x(8), txscript.OP_CHECKSIG, x(9), txscript.OP_CHECKSIGADD, x(10), txscript.OP_CHECKSIGADD,
				txscript.OP_2, txscript.OP_NUMEQUAL,
			), 8, 10),
	}
	return all
}

// tapOutput is a taproot output that commits to a given leaf and a second
// leaf.
func tapOutput(tb testing.TB, name string, leafScript []byte, signers ...int) output {
	tb.Helper()
	internal := keys[19].PubKey()
	tree := txscript.AssembleTaprootScriptTree(
		txscript.NewBaseTapLeaf(leafScript), txscript.NewBaseTapLeaf([]byte{txscript.OP_TRUE}))
	root := tree.RootNode.TapHash()
	key := txscript.ComputeTaprootOutputKey(internal, root[:])
	block := tree.LeafMerkleProofs[0].ToControlBlock(internal)
	control, err := block.ToBytes()
	if err != nil {
		tb.Fatal(err)
	}
	pkScript := script(tb, txscript.OP_1, schnorr.SerializePubKey(key))
	return output{name, pkScript, nil, &rawtx.Leaf{Script: leafScript, ControlBlock: control}, signers}
}

// signing is a transaction that spends the given outputs, two for each.
func signing(tb testing.TB, spent []output) *rawtx.Signing {
	tb.Helper()
	s := &rawtx.Signing{
		Tx: wire.NewMsgTx(2), Coins: map[wire.OutPoint]*wire.TxOut{}, Scripts: rawtx.Scripts{},
		Leaves: rawtx.Leaves{}, Keys: rawtx.Keys{}, UnknownAmount: unknownAmount,
	}
	for i, out := range spent {
		at := wire.OutPoint{Index: uint32(i)}
		s.Tx.AddTxIn(wire.NewTxIn(&at, nil, nil))
		s.Tx.AddTxOut(wire.NewTxOut(1, nil))
		s.Coins[at] = wire.NewTxOut(int64(1000+i), out.script)
		for _, inner := range out.inner {
			s.Scripts.Add(inner)
		}
		if out.leaf != nil && !s.Leaves.Add(out.script, *out.leaf) {
			tb.Fatalf("%s does not commit to its leaf", out.name)
		}
	}
	return s
}

// execute runs btcd's engine over every input.
func execute(s *rawtx.Signing) error {
	fetcher := txscript.NewMultiPrevOutFetcher(s.Coins)
	hashes := txscript.NewTxSigHashes(s.Tx, fetcher)
	for i, in := range s.Tx.TxIn {
		coin := s.Coins[in.PreviousOutPoint]
		engine, err := txscript.NewEngine(
			coin.PkScript, s.Tx, i, txscript.StandardVerifyFlags, nil, hashes, coin.Value, fetcher)
		if err == nil {
			err = engine.Execute()
		}
		if err != nil {
			return fmt.Errorf("input %d: %w", i, err)
		}
	}
	return nil
}

// A transaction of any outputs in any order, signed with any hash type by the
// keys it needs, satisfies btcd's engine.
func TestSignedIsValid(t *testing.T) {
	kinds := outputs(t)
	hashTypes := []txscript.SigHashType{0, 1, 2, 3, 0x81, 0x82, 0x83}
	rapid.Check(t, func(rt *rapid.T) {
		spent := rapid.SliceOfN(rapid.SampledFrom(kinds), 1, 3).Draw(rt, "outputs")
		s := signing(t, spent)
		s.HashType = rapid.SampledFrom(hashTypes).Draw(rt, "hash type")
		var signers []int
		for _, out := range spent {
			signers = append(signers, out.signers...)
		}
		s.Keys = keyring(t, signers...)
		failed, err := rawtx.Sign(t.Context(), s)
		if err != nil || len(failed) > 0 {
			rt.Fatalf("%v, %v", failed, err)
		}
		if err := execute(s); err != nil {
			rt.Fatal(err)
		}
	})
}

// One signer after the other completes what each alone cannot, and a
// transaction that each signed for himself is complete once combined.
func TestPartialSignatures(t *testing.T) {
	var multisigs []output
	for _, out := range outputs(t) {
		if len(out.signers) > 1 && out.leaf == nil {
			multisigs = append(multisigs, out)
		}
	}
	s := signing(t, multisigs)
	var copies []*wire.MsgTx
	for _, signer := range []int{2, 3, 4} {
		one := signing(t, multisigs)
		one.Keys = keyring(t, signer)
		failed, err := rawtx.Sign(t.Context(), one)
		if err != nil || len(failed) == 0 {
			t.Fatalf("%v, %v", failed, err)
		}
		copies = append(copies, one.Tx.Copy())

		s.Keys = keyring(t, signer)
		if _, err := rawtx.Sign(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	if err := execute(s); err != nil {
		t.Errorf("one after the other: %v", err)
	}
	if err := s.Combine(t.Context(), copies); err != nil {
		t.Fatal(err)
	}
	s.Tx = copies[0]
	if err := execute(s); err != nil {
		t.Errorf("combined: %v", err)
	}
}

// Combining keeps every kind of complete signature, whichever copy has it.
func TestCombineKeepsComplete(t *testing.T) {
	kinds := outputs(t)
	var copies []*wire.MsgTx
	s := signing(t, kinds)
	for _, out := range kinds {
		one := signing(t, kinds)
		one.Keys = keyring(t, out.signers...)
		if _, err := rawtx.Sign(t.Context(), one); err != nil {
			t.Fatal(err)
		}
		copies = append(copies, one.Tx)
	}
	if err := s.Combine(t.Context(), copies); err != nil {
		t.Fatal(err)
	}
	s.Tx = copies[0]
	if err := execute(s); err != nil {
		t.Error(err)
	}
}

func TestInputErrors(t *testing.T) {
	kinds := outputs(t)
	keyHash := kinds[slices.IndexFunc(kinds, func(o output) bool { return o.name == "P2WPKH" })]
	taproot := kinds[slices.IndexFunc(kinds, func(o output) bool { return o.name == "taproot output key" })]
	at := wire.OutPoint{}
	tests := []struct {
		name   string
		spent  []output
		change func(*rawtx.Signing)
		want   error // of the first input; nil: it is signed
	}{
		{"signed", []output{keyHash}, func(*rawtx.Signing) {}, nil},
		{"no coin", []output{keyHash}, func(s *rawtx.Signing) { delete(s.Coins, at) }, rawtx.ErrNoCoin},
		{"no amount", []output{
			keyHash,
		}, func(s *rawtx.Signing) { s.Coins[at].Value = unknownAmount }, rawtx.ErrNoAmount},
		{
			"no key",
			[]output{keyHash},
			func(s *rawtx.Signing) { clear(s.Keys) },
			rawtx.ScriptError("Witness program hash mismatch"),
		},
		{
			"another coin is not known, so taproot cannot be signed",
			[]output{taproot, keyHash},
			func(s *rawtx.Signing) { delete(s.Coins, wire.OutPoint{Index: 1}) },
			rawtx.ScriptError("Witness program was passed an empty witness"),
		},
		{
			"nor verified",
			[]output{taproot, keyHash},
			func(s *rawtx.Signing) {
				delete(s.Coins, wire.OutPoint{Index: 1})
				s.Tx.TxIn[0].Witness = wire.TxWitness{make([]byte, 64)}
			},
			rawtx.ScriptError("Invalid Schnorr signature hash type"),
		},
		{
			"no output beside the input",
			[]output{keyHash},
			func(s *rawtx.Signing) { s.HashType, s.Tx.TxOut = txscript.SigHashSingle, nil },
			rawtx.ScriptError("Witness program hash mismatch"),
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := signing(t, test.spent)
			s.Keys = keyring(t, 5, 6)
			test.change(s)
			failed, err := rawtx.Sign(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			var got error
			if len(failed) > 0 && failed[0].Index == 0 {
				got = failed[0].Err
			}
			if !errors.Is(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func TestContextEndsSigning(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := signing(t, outputs(t))
	if _, err := rawtx.Sign(ctx, s); !errors.Is(err, context.Canceled) {
		t.Errorf("Sign: got %v", err)
	}
	if err := s.Combine(ctx, []*wire.MsgTx{s.Tx}); !errors.Is(err, context.Canceled) {
		t.Errorf("Combine: got %v", err)
	}
}

// Nothing is combined that spends what is not known.
func TestCombineUnknown(t *testing.T) {
	s := signing(t, outputs(t)[:3])
	delete(s.Coins, wire.OutPoint{Index: 2})
	err := s.Combine(t.Context(), []*wire.MsgTx{s.Tx, s.Tx})
	if !errors.Is(err, rawtx.ErrNoCoin) {
		t.Errorf("got %v", err)
	}
}

func TestWIF(t *testing.T) {
	secret := bytes.Repeat([]byte{7}, 32)
	order := unhex(t, "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141")
	tests := []struct {
		name    string
		payload []byte
		version byte
		want    bool
	}{
		{"uncompressed", secret, net.PrivateKeyID, true},
		{"compressed", append(slices.Clone(secret), 1), net.PrivateKeyID, true},
		{"unknown flag", append(slices.Clone(secret), 2), net.PrivateKeyID, false},
		{"too long", append(slices.Clone(secret), 1, 1), net.PrivateKeyID, false},
		{"too short", secret[1:], net.PrivateKeyID, false},
		{"another network", secret, net.PrivateKeyID + 1, false},
		{"zero", make([]byte, 32), net.PrivateKeyID, false},
		{"order of the curve", order, net.PrivateKeyID, false},
		{"empty", nil, net.PrivateKeyID, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := (rawtx.Keys{}).AddWIF(base58.CheckEncode(test.payload, test.version), net); got != test.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

// BenchmarkSign signs a transaction with one input of every kind.
func BenchmarkSign(b *testing.B) {
	kinds := outputs(b)
	for b.Loop() {
		s := signing(b, kinds)
		s.Keys = keyring(b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
		if failed, err := rawtx.Sign(b.Context(), s); err != nil || len(failed) > 0 {
			b.Fatal(failed, err)
		}
	}
}
