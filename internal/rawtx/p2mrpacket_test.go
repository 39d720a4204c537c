package rawtx_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2mr"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
	"github.com/seed61375155/trawl/internal/slhdsa"
)

func newP2MRSigning(tx *wire.MsgTx, coins map[wire.OutPoint]*wire.TxOut) *rawtx.Signing {
	return rawtx.NewSigning(tx, coins, maxMoney, true)
}

// pqcKnown has leaves of a tree, by their numbers, and private keys that may make any number of signatures.
func pqcKnown(tb testing.TB, tree *pqcTree, leaves []int, numbers ...int) *rawtx.Signing {
	tb.Helper()
	known := newP2MRSigning(new(wire.MsgTx), nil)
	for _, n := range leaves {
		if leaf := tree.leaves[n]; !known.AddP2MRLeaf(tree.pkScript, leaf.Script, leaf.Control.Bytes()) {
			tb.Fatal("a leaf is none")
		}
	}
	for _, n := range numbers {
		known.AddPQCKey(pqcKeys()[n])
	}
	return known
}

// pqcPacket is a packet that spends outputs of a tree.
func pqcPacket(tree *pqcTree, inputs int) *psbt.Packet {
	tx := wire.NewMsgTx(2)
	for i := range inputs {
		tx.AddTxIn(wire.NewTxIn(&wire.OutPoint{Index: uint32(i)}, nil, nil))
	}
	tx.AddTxOut(wire.NewTxOut(900, tree.pkScript))
	p := psbt.New(tx, 0)
	for i := range p.Inputs {
		p.Inputs[i].PutOutput(psbt.WitnessUTXO, wire.NewTxOut(1000, tree.pkScript))
	}
	return p
}

// signPacket counts the signatures of all inputs, reserves that many, signs,
// and returns the count.
func signPacket(
	tb testing.TB, p *psbt.Packet, known *rawtx.Signing, role rawtx.PacketRole,
) (counted uint32, complete bool, err error) {
	tb.Helper()
	s := rawtx.NewPacketSigning(p, newP2MRSigning)
	role.Known = known
	wanted := make(map[slhdsa.PublicKey]uint32)
	before := p.Encode()
	for i := range p.Inputs {
		s.PlanP2MR(i, role, wanted)
	}
	if after := p.Encode(); after != before {
		tb.Error("counting has changed the packet")
	}
	var uses []slhdsa.Use
	for key, more := range wanted {
		uses = append(uses, slhdsa.Use{Key: key, More: more})
		counted += more
	}
	reserved, failed := slhdsa.Reserve(uses, func([]slhdsa.Use) error { return nil })
	if failed != nil {
		tb.Fatal(failed)
	}
	known.Reserved(reserved)
	complete = true
	for i := range p.Inputs {
		done, _, failed := s.Input(i, role)
		complete, err = complete && done, cmpErr(err, failed)
	}
	return counted, complete, err
}

func cmpErr(first, second error) error {
	if first != nil {
		return first
	}
	return second
}

// reread is a packet as another has it.
func reread(tb testing.TB, p *psbt.Packet) *psbt.Packet {
	tb.Helper()
	again, err := psbt.DecodeP2MR(p.Encode())
	if err != nil {
		tb.Fatal(err)
	}
	return again
}

// TestPacketP2MR signs packets with the leaf that takes the least, in every way of hashing.
func TestPacketP2MR(t *testing.T) {
	all := []int{0, 1, 2}
	hash := func(kind txscript.SigHashType) *int32 { return new(int32(kind)) }
	tree := newPQCTree(t)
	for name, test := range map[string]struct {
		leaves, keys []int
		hashType     *int32
		inputs       int
		counted      uint32
		sigs         int // in the last input
		complete     bool
		items        int
	}{
		"one key":          {all, []int{0}, nil, 1, 1, 1, true, 3},
		"all keys":         {all, []int{0, 1, 2, 3}, nil, 1, 1, 1, true, 3},
		"two of three":     {all, []int{1, 3}, hash(txscript.SigHashAll), 1, 2, 2, true, 5},
		"three of three":   {[]int{1}, []int{1, 2, 3}, nil, 2, 4, 2, true, 5},
		"one of three":     {all, []int{2}, nil, 1, 1, 1, false, 0},
		"no key":           {all, nil, nil, 1, 0, 0, false, 0},
		"no leaf":          {nil, []int{0}, nil, 1, 0, 0, false, 0},
		"no form":          {[]int{2}, []int{0}, nil, 1, 0, 0, false, 0},
		"no output for it": {all, []int{0}, hash(txscript.SigHashSingle), 2, 1, 0, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := pqcPacket(tree, test.inputs)
			role := rawtx.PacketRole{HashType: test.hashType}
			counted, complete, err := signPacket(t, p, pqcKnown(t, tree, test.leaves, test.keys...), role)
			if err != nil || counted != test.counted || complete != test.complete {
				t.Errorf("%d signatures, complete %v, %v; want %d, %v", counted, complete, err, test.counted, test.complete)
			}
			p = reread(t, p)
			last := test.inputs - 1
			if got := len(p.Inputs[last].Of(psbt.P2MRSig)); got != test.sigs {
				t.Errorf("%d signatures are in the packet, want %d", got, test.sigs)
			}
			if got := len(p.Inputs[last].Of(psbt.P2MRLeaf)); got != len(test.leaves) {
				t.Errorf("%d leaves are in the packet, want %d", got, len(test.leaves))
			}
			if root, _ := p.Inputs[last].One(psbt.P2MRRoot); !bytes.Equal(root, tree.pkScript[2:]) {
				t.Errorf("root %x", root)
			}
			s := rawtx.NewPacketSigning(p, newP2MRSigning)
			if got := s.Finalize(); got != test.complete {
				t.Errorf("final: %v, want %v", got, test.complete)
			}
			if got := len(p.Extract().TxIn[last].Witness); got != test.items {
				t.Errorf("%d items, want %d", got, test.items)
			}
			if test.complete && !s.Verified(last) {
				t.Error("the witness is wrong")
			}
		})
	}
}

// Two signers each add a signature; what one has signed takes no other signature of its key.
func TestPacketP2MRByTwo(t *testing.T) {
	tree := newPQCTree(t)
	first := pqcPacket(tree, 1)
	for _, want := range []uint32{1, 0} {
		got, _, err := signPacket(t, first, pqcKnown(t, tree, []int{1}, 3), rawtx.PacketRole{})
		if err != nil || got != want {
			t.Errorf("%d signatures, want %d; %v", got, want, err)
		}
	}
	second := reread(t, pqcPacket(tree, 1))
	if _, _, err := signPacket(t, second, pqcKnown(t, tree, []int{1}, 1), rawtx.PacketRole{}); err != nil {
		t.Fatal(err)
	}
	if !first.Combine(second) || len(first.Inputs[0].Of(psbt.P2MRSig)) != 2 {
		t.Fatal("not combined")
	}
	if !rawtx.NewPacketSigning(first, newP2MRSigning).Finalize() {
		t.Error("not final")
	}
}

// Where nothing can be completed, one leaf is signed: that which lacks the fewest.
func TestPacketP2MRPartly(t *testing.T) {
	k := pqcKeys()
	public := func(n int) slhdsa.PublicKey { return k[n].Public() }
	far := p2mr.NewLeaf(p2mr.MultiScript(3, []slhdsa.PublicKey{public(0), public(1), public(2)}))
	near := p2mr.NewLeaf(p2mr.MultiScript(2, []slhdsa.PublicKey{public(0), public(1)}))
	branch, err := p2mr.NewBranch(far, near)
	if err != nil {
		t.Fatal(err)
	}
	tree := &pqcTree{p2mr.OutputScript(branch.Root()), branch.Leaves()}
	p := pqcPacket(tree, 1)
	counted, _, err := signPacket(t, p, pqcKnown(t, tree, []int{0, 1}, 0), rawtx.PacketRole{})
	sigs := p.Inputs[0].Of(psbt.P2MRSig)
	if err != nil || counted != 1 || len(sigs) != 1 {
		t.Fatalf("%d signatures, %d there, %v", counted, len(sigs), err)
	}
	if leaf := near.Root(); !bytes.Equal(sigs[0].Data[32:], leaf[:]) {
		t.Errorf("leaf %x is signed, want %v", sigs[0].Data[32:], leaf)
	}
}

// A signature that is wrong is an error, is not replaced, and takes no other signature.
func TestPacketP2MRWrong(t *testing.T) {
	tree := newPQCTree(t)
	p := pqcPacket(tree, 1)
	if _, _, err := signPacket(t, p, pqcKnown(t, tree, []int{0}, 0), rawtx.PacketRole{}); err != nil {
		t.Fatal(err)
	}
	sig := p.Inputs[0].Of(psbt.P2MRSig)[0]
	p.Inputs[0].Put(psbt.P2MRSig, sig.Data, append([]byte{sig.Value[0] ^ 1}, sig.Value[1:]...))
	before := p.Encode()
	counted, complete, err := signPacket(t, p, pqcKnown(t, tree, []int{0}, 0), rawtx.PacketRole{Finalize: true})
	if !errors.Is(err, rawtx.ErrSignature) || counted != 0 || complete || p.Encode() != before {
		t.Errorf("%d signatures, complete %v, %v", counted, complete, err)
	}
	a := rawtx.Analyze(reread(t, p), newP2MRSigning, analysisRules)
	if a.Error != "PSBT is not valid. Input 0: Invalid cached P2MR script signature in PSBT input" {
		t.Errorf("analysis: %q", a.Error)
	}
	p.Inputs[0].Put(psbt.P2MRSig, sig.Data, append(bytes.Clone(sig.Value), byte(txscript.SigHashAll)))
	_, _, err = signPacket(t, p, pqcKnown(t, tree, []int{0}, 0), rawtx.PacketRole{})
	if !errors.Is(err, rawtx.ErrHashType) {
		t.Errorf("a signature of another type: %v", err)
	}
}

// A leaf in a packet counts only with a proof, and in the version that is
// executed.
func TestPacketP2MRLeaves(t *testing.T) {
	tree := newPQCTree(t)
	leaf := tree.leaves[0]
	for name, test := range map[string]struct {
		control []byte
		version byte
		signs   bool
	}{
		"right":         {leaf.Control.Bytes(), p2mr.ScriptVersion, true},
		"another tree":  {append(leaf.Control.Bytes(), make([]byte, 32)...), p2mr.ScriptVersion, false},
		"odd version":   {leaf.Control.Bytes(), p2mr.ScriptVersion | 1, false},
		"other version": {append([]byte{0xc3}, leaf.Control.Bytes()[1:]...), 0xc2, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := pqcPacket(tree, 1)
			p.Inputs[0].Put(psbt.P2MRLeaf, test.control, append(bytes.Clone(leaf.Script), test.version))
			counted, complete, err := signPacket(t, p, pqcKnown(t, tree, nil, 0), rawtx.PacketRole{})
			if err != nil || complete != test.signs || counted > 0 != test.signs {
				t.Errorf("%d signatures, complete %v, %v", counted, complete, err)
			}
		})
	}
}

// An analysis names the keys whose signatures are missing, and knows how large the transaction will be at most.
func TestAnalyzeP2MR(t *testing.T) {
	tree := newPQCTree(t)
	p := pqcPacket(tree, 1)
	a := rawtx.Analyze(reread(t, p), newP2MRSigning, analysisRules)
	if in := a.Inputs[0]; in.Next != rawtx.Updater || len(in.Missing.PQCKeys) > 0 || a.Size != nil {
		t.Errorf("without leaves: %+v", a)
	}
	if _, _, err := signPacket(t, p, pqcKnown(t, tree, []int{1}), rawtx.PacketRole{}); err != nil {
		t.Fatal(err)
	}
	a = rawtx.Analyze(reread(t, p), newP2MRSigning, analysisRules)
	k := pqcKeys()
	keys := []slhdsa.PublicKey{k[1].Public(), k[2].Public(), k[3].Public()}
	if in := a.Inputs[0]; in.Next != rawtx.Signer || !slices.Equal(in.Missing.PQCKeys, keys) || a.Size == nil {
		t.Fatalf("without signatures: %+v", a)
	}
	if _, _, err := signPacket(t, p, pqcKnown(t, tree, nil, 1, 2), rawtx.PacketRole{
		HashType: new(int32(txscript.SigHashAll)),
	}); err != nil {
		t.Fatal(err)
	}
	rawtx.NewPacketSigning(p, newP2MRSigning).Finalize()
	tx := p.Extract()
	weight := int64(tx.SerializeSizeStripped())*3 + int64(tx.SerializeSize())
	if got := (weight + 3) / 4; got != a.Size.VSize {
		t.Errorf("%d virtual bytes, were to be %d", got, a.Size.VSize)
	}
}
