package script

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"
)

func nameOf(err error) string {
	if err == nil {
		return none.Name()
	}
	return err.(Error).Name() //nolint:errorlint // it is that type, and not wrapped
}

// holds checks that fewer rules never refuse what more rules accept.
func holds(t *testing.T, s *Spend, i int, flags Flags, err error, what any) {
	t.Helper()
	for bit := Flags(1); bit <= allFlags; bit <<= 1 {
		if with := trim(flags &^ bit); err == nil {
			if err := s.VerifyInput(i, with); err != nil {
				t.Errorf("%v without %b: %v", what, bit, err)
			}
		} else if with := fill(flags | bit); s.VerifyInput(i, with) == nil {
			t.Errorf("%v with %b: no error", what, bit)
		}
	}
}

// crediting returns a transaction that spends an output with a script, and this
// output.
func crediting(pkScript, sigScript []byte, witness wire.TxWitness, value int64) (*wire.MsgTx, *wire.TxOut) {
	from, to := wire.NewMsgTx(1), wire.NewMsgTx(1)
	from.AddTxIn(wire.NewTxIn(&wire.OutPoint{Index: wire.MaxPrevOutIndex}, []byte{0, 0}, nil))
	out := wire.NewTxOut(value, pkScript)
	from.AddTxOut(out)
	to.AddTxIn(wire.NewTxIn(&wire.OutPoint{Hash: from.TxHash()}, sigScript, witness))
	to.AddTxOut(wire.NewTxOut(value, nil))
	return to, out
}

func TestScripts(t *testing.T) {
	var rows [][]any
	read(t, "script_tests", &rows)
	n := 0
	for _, row := range rows {
		if len(row) == 1 {
			continue
		}
		what, _ := json.Marshal(row)
		var witness wire.TxWitness
		var output []byte
		value := int64(0)
		if items, ok := row[0].([]any); ok {
			witness, output = witnessOf(t, items[:len(items)-1])
			value = int64(items[len(items)-1].(float64)*1e8 + 0.5)
			row = row[1:]
		}
		pkText := row[1].(string)
		pkScript := append([]byte{op1, 32}, output...)
		if pkText != "0x51 0x20 #TAPROOTOUTPUT#" {
			pkScript = assemble(t, pkText)
		}
		tx, out := crediting(pkScript, assemble(t, row[0].(string)), witness, value)
		flags := fill(parseFlags(t, row[2].(string)))
		s := NewSpend(tx, []*wire.TxOut{out})
		err := s.VerifyInput(0, flags)
		if got := nameOf(err); got != row[3] {
			t.Errorf("%s: %s", what, got)
		}
		holds(t, s, 0, flags, err, string(what))
		n++
	}
	if n < 1200 {
		t.Errorf("only %d cases", n)
	}
}

// witnessOf reads a witness. For a "#CONTROLBLOCK#" it makes the control block,
// and returns the output key for this block.
func witnessOf(t *testing.T, items []any) (witness wire.TxWitness, output []byte) {
	t.Helper()
	for _, item := range items {
		text := item.(string)
		switch script, isScript := strings.CutPrefix(text, "#SCRIPT#"); {
		case isScript:
			witness = append(witness, assemble(t, script))
		case text == "#CONTROLBLOCK#":
			_, key := btcec.PrivKeyFromBytes(append(make([]byte, 31), 1))
			tree := txscript.AssembleTaprootScriptTree(txscript.NewBaseTapLeaf(witness[len(witness)-1]))
			root := tree.RootNode.TapHash()
			output = schnorr.SerializePubKey(txscript.ComputeTaprootOutputKey(key, root[:]))
			control := tree.LeafMerkleProofs[0].ToControlBlock(key)
			b, err := control.ToBytes()
			if err != nil {
				t.Fatal(err)
			}
			witness = append(witness, b)
		default:
			witness = append(witness, unhex(t, text))
		}
	}
	return witness, output
}

// vector is a transaction of Core's test data with the outputs that it spends.
type vector struct {
	spend *Spend
	names string
	what  string
	flags Flags
}

func vectors(t *testing.T, name string) (all []vector) {
	t.Helper()
	var rows []json.RawMessage
	read(t, name, &rows)
	for _, row := range rows {
		var parts []any
		if err := json.Unmarshal(row, &parts); err != nil {
			t.Fatal(err)
		}
		if len(parts) != 3 || parts[2] == "BADTX" {
			continue
		}
		known := map[wire.OutPoint]*wire.TxOut{}
		for _, input := range parts[0].([]any) {
			in := input.([]any)
			hash, err := chainhash.NewHashFromStr(in[0].(string))
			if err != nil {
				t.Fatal(err)
			}
			out := &wire.TxOut{PkScript: assemble(t, in[2].(string))}
			if len(in) > 3 {
				out.Value = int64(in[3].(float64))
			}
			known[wire.OutPoint{Hash: *hash, Index: uint32(int64(in[1].(float64)))}] = out
		}
		tx := parseTx(t, parts[1].(string))
		spent := make([]*wire.TxOut, len(tx.TxIn))
		for i, in := range tx.TxIn {
			spent[i] = known[in.PreviousOutPoint]
		}
		all = append(all, vector{NewSpend(tx, spent), parts[2].(string), string(row), parseFlags(t, parts[2].(string))})
	}
	return all
}

func (v *vector) verify(flags Flags) error {
	for i := range v.spend.tx.TxIn {
		if err := v.spend.VerifyInput(i, flags); err != nil {
			return err
		}
	}
	return nil
}

func TestValid(t *testing.T) {
	all := vectors(t, "tx_valid")
	if len(all) < 100 {
		t.Fatalf("only %d cases", len(all))
	}
	for _, v := range all {
		flags := allFlags &^ v.flags
		if err := v.verify(flags); err != nil {
			t.Errorf("%s: %v", v.what, err)
		}
		for bit := Flags(1); bit <= allFlags; bit <<= 1 {
			if err := v.verify(trim(flags &^ bit)); err != nil {
				t.Errorf("%s without %b: %v", v.what, bit, err)
			}
			if excluded := trim(v.flags &^ bit); v.flags&bit != 0 && v.verify(allFlags&^excluded) == nil {
				t.Errorf("%s with %b: no error", v.what, bit)
			}
		}
	}
}

func TestInvalid(t *testing.T) {
	all := vectors(t, "tx_invalid")
	if len(all) < 70 {
		t.Fatalf("only %d cases", len(all))
	}
	for _, v := range all {
		if v.verify(v.flags) == nil {
			t.Errorf("%s: no error", v.what)
		}
		for bit := Flags(1); bit <= allFlags; bit <<= 1 {
			if v.verify(fill(v.flags|bit)) == nil {
				t.Errorf("%s with %b: no error", v.what, bit)
			}
		}
	}
}

func TestLegacySigHash(t *testing.T) {
	var rows [][]any
	read(t, "sighash", &rows)
	for _, row := range rows[1:] {
		tx, code := parseTx(t, row[0].(string)), unhex(t, row[1].(string))
		hash := NewSpend(tx, nil).LegacySigHash(int(row[2].(float64)), code, uint32(int64(row[3].(float64))))
		slices.Reverse(hash[:])
		if got := hex.EncodeToString(hash[:]); got != row[4] {
			t.Errorf("%v: %s", row, got)
		}
	}
	if len(rows) < 500 {
		t.Errorf("only %d cases", len(rows))
	}
}

func TestTaprootSigHash(t *testing.T) {
	var file struct {
		KeyPathSpending []struct {
			Given struct {
				RawUnsignedTx string
				UtxosSpent    []struct {
					ScriptPubKey string
					AmountSats   int64
				}
			}
			Intermediary  map[string]string
			InputSpending []struct {
				Given struct {
					TxinIndex int
					HashType  byte
				}
				Intermediary struct{ SigHash string }
				Expected     struct{ Witness []string }
			}
		}
	}
	read(t, "bip341_wallet_vectors", &file)
	n := 0
	for _, c := range file.KeyPathSpending {
		tx := parseTx(t, c.Given.RawUnsignedTx)
		var spent []*wire.TxOut
		for _, out := range c.Given.UtxosSpent {
			spent = append(spent, wire.NewTxOut(out.AmountSats, unhex(t, out.ScriptPubKey)))
		}
		s := NewSpend(tx, spent)
		for _, in := range c.InputSpending {
			i := in.Given.TxinIndex
			hash, ok := s.TaprootSigHash(i, in.Given.HashType, &TapPlace{Separator: NoSeparator})
			if got := hex.EncodeToString(hash[:]); !ok || got != in.Intermediary.SigHash {
				t.Errorf("input %d: %s", i, got)
			}
			tx.TxIn[i].Witness = wire.TxWitness{unhex(t, in.Expected.Witness[0])}
			if err := s.VerifyInput(i, Standard); err != nil {
				t.Errorf("input %d: %v", i, err)
			}
			n++
		}
		hashes := map[string][32]byte{
			"hashAmounts": s.amounts, "hashScriptPubkeys": s.scripts, "hashOutputs": s.tx1.outputs,
			"hashPrevouts": s.tx1.prevouts, "hashSequences": s.tx1.sequences,
		}
		for name, hash := range hashes {
			if got := hex.EncodeToString(hash[:]); got != c.Intermediary[name] {
				t.Errorf("%s: %s", name, got)
			}
		}
	}
	if n < 7 {
		t.Errorf("only %d inputs", n)
	}
}

func TestErrorWords(t *testing.T) {
	seen := map[string]bool{}
	for e := ErrUnknown; e <= ErrSigFindAndDelete; e++ {
		if e.Error() == "" || e.Name() == "" || seen[e.Error()] || seen[e.Name()] {
			t.Errorf("%d: %q %q", e, e.Error(), e.Name())
		}
		seen[e.Error()], seen[e.Name()] = true, true
	}
	for fine, coarse := range map[Error]string{
		ErrEmptyPubKey: "Public key is neither compressed or uncompressed",
		ErrNumber:      "unknown error",
		ErrNoCondition: "Invalid OP_IF construction",
		ErrVerify:      ErrVerify.Error(),
	} {
		if fine.Error() == "" || fine.Coarse().Error() != coarse || fine.Name() != fine.Coarse().Name() {
			t.Errorf("%d: %q, %q, %q", fine, fine.Error(), fine.Coarse().Error(), fine.Name())
		}
	}
	var e Error
	if err := error(ErrVerify); !errors.As(err, &e) || e != ErrVerify {
		t.Error(e)
	}
}
