package rawtx

import (
	"bytes"
	"slices"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
)

// preimageKinds are the types of preimages by their hash functions.
var preimageKinds = map[string]uint64{
	"ripemd160": psbt.Ripemd160, "sha256": psbt.Sha256, "hash160": psbt.Hash160, "hash256": psbt.Hash256,
}

// inputSignatures returns what an input of a packet says of how it is signed.
func inputSignatures(in psbt.Map) *signatures {
	d := &signatures{byKey: make(map[[20]byte]keySig), keys: make(map[[20]byte]knownKey)}
	sig, hasSig := in.One(psbt.FinalScriptSig)
	raw, hasWitness := in.One(psbt.FinalWitness)
	if hasSig || hasWitness {
		d.complete, d.scriptSig = true, sig
		if hasWitness {
			d.witness = psbt.NewValue(raw).Witness()
		}
		return d
	}
	for _, e := range in.Of(psbt.PartialSig) {
		d.byKey[hash160(e.Data)] = keySig{e.Data, e.Value}
	}
	d.addScripts(in, psbt.RedeemScript, psbt.WitnessScript)
	d.addDerivations(in, psbt.Derivation, psbt.TapDerivation)
	d.preimages = make(map[string][]byte)
	for function, kind := range preimageKinds {
		for _, e := range in.Of(kind) {
			d.preimages[function+string(e.Data)] = append([]byte{}, e.Value...)
		}
	}
	d.tap.keySig, _ = in.One(psbt.TapKeySig)
	d.tap.sigs = make(map[tapPlace][]byte)
	for _, e := range in.Of(psbt.TapScriptSig) {
		d.tap.sigs[tapPlace{[32]byte(e.Data), [32]byte(e.Data[32:])}] = e.Value
	}
	d.tap.internal, _ = in.One(psbt.TapInternalKey)
	d.tap.root, _ = in.One(psbt.TapMerkleRoot)
	for _, e := range in.Of(psbt.TapLeaf) {
		d.tap.addLeaf(e.Value[:len(e.Value)-1], e.Value[len(e.Value)-1], e.Data)
	}
	d.tap.musig = newMusigData()
	d.tap.musig.read(in)
	d.p2mr.read(in)
	return d
}

// outputSignatures returns what an output of a packet says of how it will be spent.
func outputSignatures(out psbt.Map) *signatures {
	d := &signatures{byKey: make(map[[20]byte]keySig), keys: make(map[[20]byte]knownKey)}
	d.addScripts(out, psbt.OutRedeemScript, psbt.OutWitnessScript)
	d.addDerivations(out, psbt.OutDerivation, psbt.OutTapDerivation)
	d.tap.musig = newMusigData()
	d.tap.musig.readParticipants(out, psbt.OutMusigParticipants)
	internal, _ := out.One(psbt.OutTapInternalKey)
	if tree, ok := out.One(psbt.OutTapTree); ok && isXOnly(internal) {
		d.tap.internal = internal
		for r := psbt.NewValue(tree); len(r.Rest) > 0; {
			r.Byte() // its depth
			version := r.Byte()
			d.tap.addLeaf(r.VarBytes(), version, nil)
		}
	}
	return d
}

// isXOnly reports whether there is a public key with an x coordinate.
func isXOnly(x []byte) bool {
	_, err := btcec.ParsePubKey(append([]byte{2}, x...))
	return err == nil
}

func (d *signatures) addScripts(m psbt.Map, redeem, witness uint64) {
	d.redeem, _ = m.One(redeem)
	d.witnessScript, _ = m.One(witness)
}

func (d *signatures) addDerivations(m psbt.Map, kind, tapKind uint64) {
	for _, e := range m.Of(kind) {
		d.keys[hash160(e.Data)] = knownKey{e.Data, e.Value}
	}
	d.tapByHash = make(map[[20]byte][]byte)
	for _, e := range m.Of(tapKind) {
		from := psbt.NewTapOrigin(e.Value)
		d.tap.noteOrigin(e.Data, from.Origin, nil)
		for i := range from.Leaves {
			d.tap.noteOrigin(e.Data, from.Origin, &from.Leaves[i])
		}
		d.tapByHash[hash160(e.Data)] = e.Data
	}
}

// fillInput puts what is known of how an input is signed into the packet.
func (s *PacketSigning) fillInput(i int, d *signatures) {
	in := &s.packet.Inputs[i]
	if d.complete {
		s.packet.SetFinal(i, d.scriptSig, d.witness)
		return
	}
	add := in.Adding()
	for _, made := range d.byKey {
		add(psbt.PartialSig, made.public, made.sig)
	}
	fillScripts(add, d, psbt.RedeemScript, psbt.WitnessScript)
	fillDerivations(add, d, psbt.Derivation, psbt.TapDerivation)
	if d.tap.keySig != nil {
		in.Put(psbt.TapKeySig, nil, d.tap.keySig)
	}
	for at, sig := range d.tap.sigs {
		add(psbt.TapScriptSig, append(bytes.Clone(at.key[:]), at.leaf[:]...), sig)
	}
	if d.tap.internal != nil {
		in.Put(psbt.TapInternalKey, nil, d.tap.internal)
	}
	if d.tap.root != nil {
		in.Put(psbt.TapMerkleRoot, nil, d.tap.root)
	}
	d.tap.musig.fill(add)
	fillLeaves(in, d.tap.leaves)
	d.p2mr.fill(in)
}

// fillLeaves adds the leaves that are not there.
func fillLeaves(in *psbt.Map, leaves []tapLeaf) {
	old := make(map[string]bool)
	for _, e := range in.Of(psbt.TapLeaf) {
		old[string(e.Value)] = true
	}
	for _, leaf := range leaves {
		value := append(bytes.Clone(leaf.script), leaf.version)
		if old[string(value)] {
			continue
		}
		for _, control := range leaf.controls {
			*in = append(*in, psbt.NewEntry(psbt.TapLeaf, control, value)) // the same proof may be there for another
		}
	}
}

// fillOutput puts what is known of how an output will be spent into a packet.
func fillOutput(out *psbt.Map, d *signatures) {
	add := out.Adding()
	fillScripts(add, d, psbt.OutRedeemScript, psbt.OutWitnessScript)
	fillDerivations(add, d, psbt.OutDerivation, psbt.OutTapDerivation)
	if d.tap.internal != nil {
		out.Put(psbt.OutTapInternalKey, nil, d.tap.internal)
	}
	d.tap.musig.fillParticipants(add, psbt.OutMusigParticipants)
	if len(d.tap.tree) > 0 {
		out.Put(psbt.OutTapTree, nil, treeValue(d.tap.tree))
	}
}

// treeValue writes the leaves of a tree: depth, version and script of each, as in Core from the right to the
// left.
func treeValue(leaves []descriptor.TapLeaf) []byte {
	const base, node = 33, 32 // of control blocks
	var value bytes.Buffer
	for _, leaf := range slices.Backward(leaves) {
		value.WriteByte(byte((len(leaf.ControlBlock) - base) / node))
		value.WriteByte(tapscriptVersion)
		_ = wire.WriteVarBytes(&value, 0, leaf.Script) // a buffer does not fail
	}
	return value.Bytes()
}

// adder adds an entry to a map that has none with its key.
type adder = func(kind uint64, data, value []byte)

func fillScripts(add adder, d *signatures, redeem, witness uint64) {
	if len(d.redeem) > 0 {
		add(redeem, nil, d.redeem)
	}
	if len(d.witnessScript) > 0 {
		add(witness, nil, d.witnessScript)
	}
}

func fillDerivations(add adder, d *signatures, kind, tapKind uint64) {
	for _, key := range d.keys {
		add(kind, key.public, key.origin)
	}
	for x, from := range d.tap.origins {
		origin := psbt.TapOrigin{Leaves: from.hashes(), Origin: from.origin}
		add(tapKind, bytes.Clone(x[:]), origin.Value())
	}
}
