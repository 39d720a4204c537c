package script

import (
	"errors"
	"testing"

	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"
)

// parts cuts data into items, each with its length before it.
func parts(data []byte) (items wire.TxWitness) {
	for len(data) > 0 {
		n := min(int(data[0]), len(data)-1)
		items = append(items, data[1:1+n])
		data = data[1+n:]
	}
	return items
}

// FuzzVerify spends any output by any script and witness. The answer is one of
// the known ones, the same each time; fewer rules refuse no more; and where they
// claim the same rules, txscript agrees.
func FuzzVerify(f *testing.F) {
	f.Add([]byte{op1}, []byte{}, []byte{}, uint32(Standard))
	f.Add([]byte{opHash160, 20, 0, opEqual}, []byte{1, op1}, []byte{}, uint32(Mandatory))
	for _, kind := range []string{"p2pkh", "p2wpkh", "p2tr"} {
		tx, spent, _ := benchSpend(f, kind, 1)
		var witness []byte
		for _, item := range tx.TxIn[0].Witness {
			witness = append(append(witness, byte(len(item))), item...)
		}
		f.Add(spent[0].PkScript, tx.TxIn[0].SignatureScript, witness, uint32(Standard))
	}
	onIf := []byte{opIf, op1, opElse, 0x74, opEndIf, 0xba, 0x7a, 0xb1, 0xb2, 0xae}
	tapped, control := leaf(f, onIf)
	witness := append(append([]byte{1, 1, byte(len(onIf))}, onIf...), byte(len(control)))
	f.Add(tapped, []byte{}, append(witness, control...), uint32(Mandatory))
	f.Fuzz(func(t *testing.T, pkScript, sigScript, witness []byte, flags uint32) {
		tx, out := crediting(pkScript, sigScript, parts(witness), 1000)
		s := NewSpend(tx, []*wire.TxOut{out})
		with := fill(Flags(flags) & allFlags)
		err := s.VerifyInput(0, with)
		var e Error
		if err != nil && (!errors.As(err, &e) || e.Error() == "" || e == none) {
			t.Fatalf("unknown error %v", err)
		}
		if again := NewSpend(tx, []*wire.TxOut{out}).VerifyInput(0, with); !errors.Is(again, err) {
			t.Fatalf("%v, then %v", err, again)
		}
		if fewer := s.VerifyInput(0, trim(with&(with-1))); err == nil && fewer != nil {
			t.Fatalf("%v without the rule %b", fewer, with&-with)
		}
		SigOpCost(tx, []*wire.TxOut{out}, with)
		for _, rules := range []Flags{Mandatory, Standard} {
			beside(t, s, out, rules)
		}
	})
}

// txscriptFlags are txscript's names for the rules.
var txscriptFlags = map[Flags]txscript.ScriptFlags{
	Mandatory: txscript.ScriptBip16 | txscript.ScriptVerifyDERSignatures | txscript.ScriptStrictMultiSig |
		txscript.ScriptVerifyCheckLockTimeVerify | txscript.ScriptVerifyCheckSequenceVerify |
		txscript.ScriptVerifyWitness | txscript.ScriptVerifyTaproot,
	Standard: txscript.StandardVerifyFlags,
}

// beside compares a verdict with txscript's. It does not see that a nested program
// needs a witness, and knows no anchors.
func beside(t *testing.T, s *Spend, out *wire.TxOut, rules Flags) {
	t.Helper()
	in := s.tx.TxIn[0]
	redeem, _ := lastPush(in.SignatureScript)
	_, _, nested := WitnessProgram(redeem)
	if IsPayToScriptHash(out.PkScript) && nested || string(out.PkScript) == "\x51\x02\x4e\x73" {
		return
	}
	fetcher := txscript.NewCannedPrevOutputFetcher(out.PkScript, out.Value)
	hashes := txscript.NewTxSigHashes(s.tx, fetcher)
	engine, err := txscript.NewEngine(out.PkScript, s.tx, 0, txscriptFlags[rules], nil, hashes, out.Value, fetcher)
	if err == nil {
		err = engine.Execute()
	}
	if own := s.VerifyInput(0, rules); (own == nil) != (err == nil) {
		t.Errorf("%v, but txscript %v: %x by %x and %x, rules %b", own, err, out.PkScript, in.SignatureScript, in.Witness, rules)
	}
}
