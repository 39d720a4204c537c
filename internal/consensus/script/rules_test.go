package script

import (
	"crypto/sha256"
	"errors"
	"sync"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"
)

var _, testPublic = btcec.PrivKeyFromBytes(append(make([]byte, 31), 7))

func p2sh(script []byte) []byte {
	return append(append([]byte{opHash160, 20}, btcutil.Hash160(script)...), opEqual)
}

func p2wsh(script []byte) []byte {
	hash := sha256.Sum256(script)
	return append([]byte{0, 32}, hash[:]...)
}

// leaf is an output that pays to one leaf, and its control block.
func leaf(tb testing.TB, script []byte) (pkScript, control []byte) {
	tb.Helper()
	tree := txscript.AssembleTaprootScriptTree(txscript.NewBaseTapLeaf(script))
	root := tree.RootNode.TapHash()
	block := tree.LeafMerkleProofs[0].ToControlBlock(testPublic)
	control, err := block.ToBytes()
	if err != nil {
		tb.Fatal(err)
	}
	output := txscript.ComputeTaprootOutputKey(testPublic, root[:])
	return append([]byte{op1, 32}, schnorr.SerializePubKey(output)...), control
}

// Each of these spends is refused with the right error, by the rules of blocks
// and by the rules of relay.
func TestRules(t *testing.T) {
	keyHash := append([]byte{0, 20}, btcutil.Hash160(testPublic.SerializeCompressed())...)
	anyone := []byte{op1}
	outputKey := append([]byte{op1, 32}, schnorr.SerializePubKey(testPublic)...)
	sigOf := func(hashType ...byte) []byte { return append(make([]byte, 64), hashType...) }
	checkSig := append(append([]byte{32}, schnorr.SerializePubKey(testPublic)...), opCheckSig)
	onIf := []byte{opIf, op1, opElse, op1, opEndIf}
	keyLeaf, keyControl := leaf(t, checkSig)
	ifLeaf, ifControl := leaf(t, onIf)
	anchorScript := append([]byte{op1, 2}, anchor...)
	tests := []struct {
		name                string
		pkScript, sig       []byte
		witness             wire.TxWitness
		consensus, standard Error
	}{
		{"nested key hash without a witness", p2sh(keyHash), appendPush(
			nil, keyHash,
		), nil, ErrWitnessProgramMismatch, ErrWitnessProgramMismatch},
		{"nested script hash without a witness", p2sh(p2wsh(anyone)), appendPush(
			nil, p2wsh(anyone),
		), nil, ErrWitnessProgramWitnessEmpty, ErrWitnessProgramWitnessEmpty},
		{"nested script hash", p2sh(p2wsh(anyone)), appendPush(nil, p2wsh(anyone)), wire.TxWitness{anyone}, none, none},
		{"nested taproot", p2sh(outputKey), appendPush(
			nil, outputKey,
		), nil, none, ErrDiscourageUpgradableWitnessProgram},
		{"nested anchor", p2sh(anchorScript), appendPush(
			nil, anchorScript,
		), nil, none, ErrDiscourageUpgradableWitnessProgram},
		{"nested, pushed twice", p2sh(p2wsh(anyone)), append(
			[]byte{op1}, appendPush(nil, p2wsh(anyone))...,
		), wire.TxWitness{anyone}, ErrWitnessMalleatedP2SH, ErrWitnessMalleatedP2SH},
		{"nested, pushed longer", p2sh(p2wsh(anyone)), append(
			[]byte{opPushData1, 34}, p2wsh(anyone)...,
		), wire.TxWitness{anyone}, ErrWitnessMalleatedP2SH, ErrMinimalData},
		{"anchor", anchorScript, nil, nil, none, none},
		{"anchor with a witness", anchorScript, nil, wire.TxWitness{{1}}, none, none},
		{"anchor with a script", anchorScript, []byte{op1}, nil, ErrWitnessMalleated, ErrWitnessMalleated},
		{"version 0 of 2 bytes", []byte{
			0, 2, 1, 1,
		}, nil, nil, ErrWitnessProgramWrongLength, ErrWitnessProgramWrongLength},
		{"version 16", []byte{op16, 2, 1, 1}, nil, wire.TxWitness{{1}}, none, ErrDiscourageUpgradableWitnessProgram},
		{"program of zeros", append([]byte{0, 20}, make([]byte, 20)...), nil, nil, ErrEvalFalse, ErrEvalFalse},
		{"key path, no witness", outputKey, nil, nil, ErrWitnessProgramWitnessEmpty, ErrWitnessProgramWitnessEmpty},
		{"key path, wrong", outputKey, nil, wire.TxWitness{sigOf()}, ErrSchnorrSig, ErrSchnorrSig},
		{"key path, type 0", outputKey, nil, wire.TxWitness{sigOf(0)}, ErrSchnorrSigHashType, ErrSchnorrSigHashType},
		{"key path, type 4", outputKey, nil, wire.TxWitness{sigOf(4)}, ErrSchnorrSigHashType, ErrSchnorrSigHashType},
		{"key path, type 0x80", outputKey, nil, wire.TxWitness{
			sigOf(0x80),
		}, ErrSchnorrSigHashType, ErrSchnorrSigHashType},
		{"key path, 63 bytes", outputKey, nil, wire.TxWitness{sigOf()[:63]}, ErrSchnorrSigSize, ErrSchnorrSigSize},
		{"leaf, wrong", keyLeaf, nil, wire.TxWitness{sigOf(), checkSig, keyControl}, ErrSchnorrSig, ErrSchnorrSig},
		{"leaf, type 0", keyLeaf, nil, wire.TxWitness{
			sigOf(0), checkSig, keyControl,
		}, ErrSchnorrSigHashType, ErrSchnorrSigHashType},
		{"leaf, type 7", keyLeaf, nil, wire.TxWitness{
			sigOf(7), checkSig, keyControl,
		}, ErrSchnorrSigHashType, ErrSchnorrSigHashType},
		{"leaf, no signature", keyLeaf, nil, wire.TxWitness{nil, checkSig, keyControl}, ErrEvalFalse, ErrEvalFalse},
		{"leaf, no input", keyLeaf, nil, wire.TxWitness{
			checkSig, keyControl,
		}, ErrInvalidStackOperation, ErrInvalidStackOperation},
		{"leaf, another script", keyLeaf, nil, wire.TxWitness{
			{op1}, keyControl,
		}, ErrWitnessProgramMismatch, ErrWitnessProgramMismatch},
		{"leaf, short control block", keyLeaf, nil, wire.TxWitness{
			checkSig, keyControl[:32],
		}, ErrTaprootWrongControlSize, ErrTaprootWrongControlSize},
		{"leaf, condition 2", ifLeaf, nil, wire.TxWitness{
			{2}, onIf, ifControl,
		}, ErrTapscriptMinimalIf, ErrTapscriptMinimalIf},
		{"leaf, condition of nothing", ifLeaf, nil, wire.TxWitness{
			onIf, ifControl,
		}, ErrUnbalancedConditional, ErrUnbalancedConditional},
		{"script hash, condition 2", p2wsh(onIf), nil, wire.TxWitness{{2}, onIf}, none, ErrMinimalIf},
		{"script hash, item left", p2wsh(anyone), nil, wire.TxWitness{{1}, anyone}, ErrCleanStack, ErrCleanStack},
		{"item left", anyone, []byte{op1}, nil, none, ErrCleanStack},
		{"two items left, the last false", []byte{0}, []byte{op1}, nil, ErrEvalFalse, ErrEvalFalse},
		{"witness for nothing", anyone, nil, wire.TxWitness{{1}}, ErrWitnessUnexpected, ErrWitnessUnexpected},
		{"NOP4", []byte{0xb3, op1}, nil, nil, none, ErrDiscourageUpgradableNOPs},
		{"number of 5 bytes", []byte{5, 1, 1, 1, 1, 1, 0x8b}, nil, nil, ErrUnknown, ErrUnknown},
		{"unreadable after an error", []byte{0x6a, 5}, nil, nil, ErrReturn, ErrReturn},
		{"unreadable", []byte{op1, 5}, nil, nil, ErrBadOpcode, ErrBadOpcode},
		{"20 of 20 and a dummy missing", append(
			append([]byte{0}, make([]byte, 20)...), 1, 20, opCheckMultiSig,
		), nil, nil, ErrInvalidStackOperation, ErrInvalidStackOperation},
	}
	for _, test := range tests {
		tx, out := crediting(test.pkScript, test.sig, test.witness, 1000)
		s := NewSpend(tx, []*wire.TxOut{out})
		for flags, want := range map[Flags]Error{Mandatory: test.consensus, Standard: test.standard} {
			if err := s.VerifyInput(0, flags); nameOf(err) != want.Name() {
				t.Errorf("%s with %b: %v, want %v", test.name, flags, nameOf(err), want.Name())
			}
		}
	}
}

// Chains that pay to P2MR outputs have no OP_NOP4 outside of tapscripts.
func TestReservedNOP4(t *testing.T) {
	tapped, control := leaf(t, []byte{0xb3, op1})
	for _, test := range []struct {
		pkScript []byte
		witness  wire.TxWitness
		want     Error
	}{
		{[]byte{0xb3, op1}, nil, ErrBadOpcode},
		{[]byte{0, opIf, 0xb3, opEndIf, op1}, nil, none},
		{[]byte{1, 0xb3}, nil, none},
		{p2wsh([]byte{0xb3, op1}), wire.TxWitness{{0xb3, op1}}, ErrBadOpcode},
		{tapped, wire.TxWitness{{0xb3, op1}, control}, none},
	} {
		tx, out := crediting(test.pkScript, nil, test.witness, 1000)
		if err := NewSpend(tx, []*wire.TxOut{out}).VerifyInput(
			0, Mandatory|ReservedNOP4,
		); nameOf(err) != test.want.Name() {
			t.Errorf("%x: %v, want %v", test.pkScript, err, test.want)
		}
	}
}

// Signatures that need what is not known are wrong, and nothing else is.
func TestUnknownOutputs(t *testing.T) {
	for kind, want := range map[string]error{"p2pkh": nil, "p2wpkh": nil, "p2tr": ErrSchnorrSigHashType} {
		tx, spent, _ := benchSpend(t, kind, 2)
		spent[1] = nil
		s := NewSpend(tx, spent)
		if err := s.VerifyInput(0, Standard); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", kind, err, want)
		}
		if err := s.VerifyInput(1, Standard); err == nil {
			t.Errorf("%s: an input that spends nothing known is right", kind)
		}
	}
	tx, spent, _ := benchSpend(t, "p2wpkh", 1)
	spent[0].Value = -1
	if err := NewSpend(tx, spent).VerifyInput(0, Standard); !errors.Is(err, ErrNullFail) {
		t.Errorf("unknown value: %v", err)
	}
}

func TestSigOps(t *testing.T) {
	multi := assemble(t, "2 0x21 0x"+repeat("02", 33)+" 0x21 0x"+repeat("03", 33)+" 2 CHECKMULTISIG")
	nested := p2sh(p2wsh(multi))
	tests := []struct {
		name          string
		pkScript, sig []byte
		witness       wire.TxWitness
		p2sh, witnes  int
	}{
		{"bare", multi, nil, nil, 0, 0},
		{"P2SH", p2sh(multi), appendPush(nil, multi), nil, 2, 0},
		{"P2SH, not pushed", p2sh(multi), append(appendPush(nil, multi), 0x61), nil, 0, 0},
		{"P2SH, a number last", p2sh(multi), append(appendPush(nil, multi), op1), nil, 0, 0},
		{"P2SH, unreadable", p2sh(multi), append(appendPush(nil, multi), 5), nil, 0, 0},
		{"P2WSH", p2wsh(multi), nil, wire.TxWitness{{}, multi}, 0, 2},
		{"P2WSH, empty", p2wsh(multi), nil, nil, 0, 0},
		{"P2WPKH", append([]byte{0, 20}, make([]byte, 20)...), nil, nil, 0, 1},
		{"nested", nested, appendPush(nil, p2wsh(multi)), wire.TxWitness{{}, multi}, 0, 2},
		{"taproot", append([]byte{op1, 32}, make([]byte, 32)...), nil, wire.TxWitness{{}, multi}, 0, 0},
	}
	for _, test := range tests {
		got, witness := P2SHSigOps(test.sig, test.pkScript), WitnessSigOps(test.sig, test.pkScript, test.witness)
		if got != test.p2sh || witness != test.witnes {
			t.Errorf("%s: %d and %d, want %d and %d", test.name, got, witness, test.p2sh, test.witnes)
		}
	}
	tx, out := crediting(p2sh(multi), appendPush(nil, multi), nil, 1)
	tx.TxOut[0].PkScript = multi
	if got := SigOpCost(tx, []*wire.TxOut{out}, Mandatory); got != 4*(20+2) {
		t.Errorf("cost %d", got)
	}
	if got := SigOpCost(tx, []*wire.TxOut{out}, 0); got != 4*20 {
		t.Errorf("cost %d without P2SH", got)
	}
	if got := SigOps([]byte{opCheckSig, opCheckMultiSig, op16, opCheckMultiSigVerify, 5}, true); got != 1+20+16 {
		t.Errorf("%d", got)
	}
}

// Inputs of one transaction are verified at the same time.
func TestConcurrent(t *testing.T) {
	for _, kind := range []string{"p2pkh", "p2wpkh", "p2tr"} {
		tx, spent, _ := benchSpend(t, kind, 16)
		s := NewSpend(tx, spent)
		var verifiers sync.WaitGroup
		for i := range tx.TxIn {
			verifiers.Go(func() {
				if err := s.VerifyInput(i, Standard); err != nil {
					t.Errorf("%s, input %d: %v", kind, i, err)
				}
			})
		}
		verifiers.Wait()
	}
}
