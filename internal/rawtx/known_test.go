package rawtx_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/p2mr"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
	"github.com/seed61375155/trawl/internal/slhdsa"
)

func known(tb testing.TB, text string, private bool) *rawtx.Signing {
	tb.Helper()
	parsed, err := descriptor.Parse(text, net, descriptor.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	s := newSigning(new(wire.MsgTx), nil)
	if err := s.AddDescriptor(parsed[0], 3, private); err != nil {
		tb.Fatal(err)
	}
	return s
}

// A descriptor adds its scripts, public keys and origins, and private keys
// only on request. Merging adds the same.
func TestKnown(t *testing.T) {
	const text = "sh(wsh(multi(1," + extendedKey + "/0/*," + extendedKey + "/1h)))"
	for _, private := range []bool{false, true} {
		s := known(t, text, private)
		if len(s.Scripts) != 2 || len(s.Public) != 2 || len(s.Origins) != 2 || len(s.Keys) != 2*digit(private) {
			t.Errorf("private %v: %d scripts, %d public keys, %d origins, %d keys", private, len(s.Scripts),
				len(s.Public), len(s.Origins), len(s.Keys))
		}
		for _, key := range s.Public {
			if s.CanSign(key) != private {
				t.Errorf("private %v: can sign %v", private, s.CanSign(key))
			}
		}
		all := newSigning(new(wire.MsgTx), nil)
		all.Merge(s, private)
		all.Merge(known(t, "tr("+extendedKey+"/2,pk(musig("+extendedKey+"/3,"+extendedKey+"/4)))", true), false)
		if len(all.Scripts) != 2 || len(all.Public) != 2+4 || len(all.Origins) != 2+4 || len(all.Trees) != 1 ||
			len(all.Together) != 1 || len(all.Keys) != 2*digit(private) {
			t.Errorf("merged: %d scripts, %d public keys, %d origins, %d trees, %d together, %d keys",
				len(all.Scripts), len(all.Public), len(all.Origins), len(all.Trees), len(all.Together), len(all.Keys))
		}
		s.Zero()
		if len(s.Keys) != 0 {
			t.Errorf("%d keys are left", len(s.Keys))
		}
	}
	parsed, _ := descriptor.Parse("wpkh("+publicOf(t, extendedKey)+"/1h)", net, descriptor.Options{})
	err := newSigning(new(wire.MsgTx), nil).AddDescriptor(parsed[0], 0, true)
	if !errors.Is(err, descriptor.ErrNeedsPrivateKey) {
		t.Errorf("a descriptor without its keys: %v", err)
	}
}

func digit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Which outputs are spent by a witness, as far as scripts are known.
func TestSpendsWitness(t *testing.T) {
	s := newSigning(new(wire.MsgTx), nil)
	nested, plain := rawtx.WitnessKeyHash(make([]byte, 20)), []byte{txscript.OP_TRUE}
	s.Scripts.Add(nested)
	s.Scripts.Add(plain)
	for name, test := range map[string]struct {
		script []byte
		want   bool
	}{
		"P2WPKH": {nested, true}, "taproot": {append([]byte{0x51, 32}, make([]byte, 32)...), true},
		"P2SH of it": {rawtx.ScriptHash(nested), true}, "P2SH of another": {rawtx.ScriptHash(plain), false},
		"P2SH of what is not known": {rawtx.ScriptHash([]byte{1}), false}, "anything": {plain, false},
	} {
		if got := s.SpendsWitness(wire.NewTxOut(1, test.script)); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// No witness is signed for an amount that no output can have, since the
// signature would commit to another amount.
func TestAmountsOfWitnesses(t *testing.T) {
	keyHash := rawtx.WitnessKeyHash(btcutil.Hash160(public(5)))
	legacy := script(
		t, txscript.OP_DUP, txscript.OP_HASH160, btcutil.Hash160(public(5)), txscript.OP_EQUALVERIFY,
		txscript.OP_CHECKSIG,
	)
	for value, signs := range map[int64]bool{0: true, maxMoney - 1: true, maxMoney + 1: false, -1: false, -5: false} {
		for i, pkScript := range [][]byte{keyHash, legacy} {
			tx := wire.NewMsgTx(2)
			tx.AddTxIn(wire.NewTxIn(&wire.OutPoint{}, nil, nil))
			tx.AddTxOut(wire.NewTxOut(1, nil))
			s := newSigning(tx, map[wire.OutPoint]*wire.TxOut{{}: wire.NewTxOut(value, pkScript)})
			s.Keys = keyring(t, 5)
			failed, err := rawtx.Sign(t.Context(), s)
			want := signs || i == 1 // the signature does not commit to the amount
			signed := len(tx.TxIn[0].Witness)+len(tx.TxIn[0].SignatureScript) > 0
			if err != nil || (len(failed) == 0) != want || signed != want {
				t.Errorf("output %d of %d: %v, %v", i, value, failed, err)
			}
		}
	}
}

// Final scripts stay what they are, and count as complete, be they right or not: nobody signs again.
func TestFinalScriptsStay(t *testing.T) {
	spent := outputs(t)[:1] // of a single key
	knows := signing(t, spent)
	knows.Keys = keyring(t, 0)
	for kind, value := range map[uint64][]byte{psbt.FinalScriptSig: {txscript.OP_TRUE}, psbt.FinalWitness: {1, 1, 7}} {
		p := psbt.New(knows.Tx, 0)
		p.Inputs[0].PutOutput(psbt.WitnessUTXO, knows.Coins[knows.Tx.TxIn[0].PreviousOutPoint])
		p.Inputs[0].Put(kind, nil, value)
		s := rawtx.NewPacketSigning(p, newSigning)
		_, _, err := s.Input(0, rawtx.PacketRole{Known: knows, Finalize: true})
		got, _ := p.Inputs[0].One(kind)
		if err != nil || !bytes.Equal(got, value) || len(p.Inputs[0].Of(psbt.PartialSig)) > 0 {
			t.Errorf("field %d: %x, %v", kind, got, err)
		}
	}
}

// A transaction whose scripts fail is told by its first input that does, as Core names it.
func TestVerify(t *testing.T) {
	tx := wire.NewMsgTx(2)
	spent := []*wire.TxOut{wire.NewTxOut(1, []byte{txscript.OP_TRUE}), wire.NewTxOut(1, []byte{txscript.OP_FALSE})}
	for i := range spent {
		tx.AddTxIn(wire.NewTxIn(&wire.OutPoint{Index: uint32(7 + i)}, nil, nil))
	}
	tx.AddTxOut(wire.NewTxOut(1, nil))
	err := rawtx.Verify(tx, spent)
	var failed *rawtx.InputScriptError
	if !errors.As(err, &failed) || failed.Index != 1 || err.Error() != errors.Unwrap(err).Error() {
		t.Fatalf("got %v", err)
	}
	want := "input 1 of " + tx.TxHash().String() + " (wtxid " + tx.WitnessHash().String() + "), spending " +
		strings.Repeat("0", 64) + ":8"
	if got := failed.Input(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if err := rawtx.Verify(tx, slices.Repeat(spent[:1], 2)); err != nil {
		t.Error(err)
	}
}

// The transactions of a list are read one after the other.
func TestNext(t *testing.T) {
	raw := append(unhex(t, witness), unhex(t, noInputs[:8]+"01"+outPoint+"00ffffffff"+"00"+"00000000")...)
	first, rest, ok := rawtx.Next(raw)
	if !ok || len(first.TxIn[0].Witness) != 1 {
		t.Fatalf("the first: %v", ok)
	}
	second, rest, ok := rawtx.Next(rest)
	if !ok || len(rest) != 0 || len(second.TxIn) != 1 {
		t.Errorf("the second: %v, %d bytes are left", ok, len(rest))
	}
	if _, _, ok := rawtx.Next(raw[:20]); ok {
		t.Error("half a transaction is read")
	}
}

// A leaf of an output must be a tapscript that the output commits to.
func TestLeaves(t *testing.T) {
	all := outputs(t)
	out := all[slices.IndexFunc(all, func(o output) bool { return o.name == "tapscript key" })]
	change := func(b []byte, at int) []byte {
		b = bytes.Clone(b)
		b[at] ^= 2
		return b
	}
	for name, test := range map[string]struct {
		pkScript, script, control []byte
		want                      bool
	}{
		"right":            {out.script, out.leaf.Script, out.leaf.ControlBlock, true},
		"no taproot":       {all[0].script, out.leaf.Script, out.leaf.ControlBlock, false},
		"another output":   {all[10].script, out.leaf.Script, out.leaf.ControlBlock, false},
		"another script":   {out.script, change(out.leaf.Script, 3), out.leaf.ControlBlock, false},
		"another version":  {out.script, out.leaf.Script, change(out.leaf.ControlBlock, 0), false},
		"another path":     {out.script, out.leaf.Script, change(out.leaf.ControlBlock, 40), false},
		"no control block": {out.script, out.leaf.Script, nil, false},
		"half of the path": {out.script, out.leaf.Script, out.leaf.ControlBlock[:50], false},
	} {
		leaves := rawtx.Leaves{}
		got := leaves.Add(test.pkScript, rawtx.Leaf{Script: test.script, ControlBlock: test.control})
		if got != test.want || len(leaves) != digit(test.want) {
			t.Errorf("%s: %v, %d leaves", name, got, len(leaves))
		}
	}
}

// Leaves of other versions, or with more signatures than policy takes, are not
// signed, and none of their signatures is counted.
func TestUnspendableLeaves(t *testing.T) {
	k := pqcKeys()
	single := p2mr.KeyScript(k[0].Public())
	const tooMany = p2mr.MaxSignatures + 1
	many := p2mr.MultiScript(tooMany, slices.Repeat([]slhdsa.PublicKey{k[0].Public()}, tooMany))
	for name, test := range map[string]struct {
		version byte
		script  []byte
		counted uint32
	}{
		"right": {p2mr.ScriptVersion, single, 1}, "another version": {0xc2, single, 0},
		"too many": {p2mr.ScriptVersion, many, 0},
	} {
		tree := &pqcTree{
			p2mr.OutputScript(p2mr.LeafHash(test.version, test.script)),
			[]p2mr.Leaf{{Script: test.script, Control: p2mr.ControlBlock{Version: test.version}}},
		}
		s := tree.signing(t, 1, 0)
		if got := count(t, s); got != test.counted {
			t.Errorf("%s: takes %d signatures", name, got)
		}
		failed, err := rawtx.Sign(t.Context(), s)
		if err != nil || (len(failed) == 0) != (test.counted > 0) {
			t.Errorf("%s: %v, %v", name, failed, err)
		}
	}
}

// Of several leaves that can be completed, that with the smallest witness is signed, whatever the order of the scripts.
func TestSmallestLeaf(t *testing.T) {
	k := pqcKeys()
	for one := range 3 {
		var others []slhdsa.PublicKey
		for i := range 3 {
			if i != one {
				others = append(others, k[i].Public())
			}
		}
		small := p2mr.NewLeaf(p2mr.KeyScript(k[one].Public()))
		branch, err := p2mr.NewBranch(p2mr.NewLeaf(p2mr.MultiScript(2, others)), small)
		if err != nil {
			t.Fatal(err)
		}
		tree := &pqcTree{p2mr.OutputScript(branch.Root()), branch.Leaves()}
		p := pqcPacket(tree, 1)
		counted, complete, err := signPacket(t, p, pqcKnown(t, tree, []int{0, 1}, 0, 1, 2), rawtx.PacketRole{})
		if err != nil || counted != 1 || !complete {
			t.Errorf("key %d alone: %d signatures, complete %v, %v", one, counted, complete, err)
		}
	}
}
