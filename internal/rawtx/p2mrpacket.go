package rawtx

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2mr"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
	"github.com/seed61375155/trawl/internal/slhdsa"
)

// p2mrData is how a P2MR output is spent, as a packet tells it.
type p2mrData struct {
	sigs    map[tapPlace][]byte // with their hash types
	valid   map[tapPlace]bool   // of those that have been verified
	tree    tapData             // its leaves, whose versions may be any
	invalid []slhdsa.PublicKey  // keys whose signatures are wrong
}

// read takes what an input says.
func (d *p2mrData) read(in psbt.Map) {
	d.sigs, d.valid = make(map[tapPlace][]byte), make(map[tapPlace]bool)
	for _, e := range in.Of(psbt.P2MRSig) {
		d.sigs[tapPlace{[32]byte(e.Data), [32]byte(e.Data[32:])}] = e.Value
	}
	for _, e := range in.Of(psbt.P2MRLeaf) {
		d.tree.addLeaf(e.Value[:len(e.Value)-1], e.Value[len(e.Value)-1], e.Data)
	}
}

// fill adds what is known to an input.
func (d *p2mrData) fill(in *psbt.Map) {
	add := in.Adding()
	for at, sig := range d.sigs {
		add(psbt.P2MRSig, append(bytes.Clone(at.key[:]), at.leaf[:]...), sig)
	}
	known := make(map[string]bool)
	for _, e := range in.Of(psbt.P2MRLeaf) {
		known[string(e.Value)+string(e.Data)] = true
	}
	for _, leaf := range d.tree.leaves {
		value := append(bytes.Clone(leaf.script), leaf.version)
		for _, control := range leaf.controls {
			if !known[string(value)+string(control)] {
				*in = append(*in, psbt.NewEntry(psbt.P2MRLeaf, control, value))
			}
		}
	}
}

// PlanP2MR adds to wanted how many signatures of each key [PacketSigning.Input] would make of an input. They
// must be counted before they are made.
func (s *PacketSigning) PlanP2MR(i int, role PacketRole, wanted map[slhdsa.PublicKey]uint32) {
	if _, isP2MR := s.spending.p2mrRoot(i); !isP2MR || role.Known == nil {
		return
	}
	before, counted := slices.Clone(s.packet.Inputs[i]), role.Known.P2MR.counted
	role.by, role.Known.P2MR.counted = byCount, wanted
	_, _, _ = s.Input(i, role) // which fails again when it is to be signed
	s.packet.Inputs[i], role.Known.P2MR.counted = before, counted
}

// packetPlan is a way to spend an output, perhaps with signatures missing.
type packetPlan struct {
	threshold  int
	keys       []slhdsa.PublicKey // in the order of the script
	candidates []bool             // which of them have signed or can
	script     []byte
	control    []byte
	leaf       p2mr.Hash

	missing int // signatures that nobody here can make
	fresh   int // signatures to be made
	size    int // of the witness
}

// packetP2MR signs an input of a packet that spends a P2MR output. Where that cannot be completed, the
// signatures of the leaf are made that lacks the fewest: each signature of a key brings it nearer to its last.
func (p *producer) packetP2MR(in *wire.TxIn, root p2mr.Hash) {
	data := &p.data.p2mr
	for _, leaf := range p.with.P2MR.Leaves[root] {
		data.tree.addLeaf(leaf.Script, leaf.Control.Version, leaf.Control.Bytes())
	}
	var complete, partial []*packetPlan
	for i := range data.tree.leaves {
		plan := p.planLeaf(&data.tree.leaves[i], root)
		switch {
		case plan == nil:
		case plan.missing == 0:
			complete = append(complete, plan)
		default:
			partial = append(partial, plan)
		}
	}
	if len(data.invalid) > 0 {
		return
	}
	slices.SortStableFunc(complete, func(a, b *packetPlan) int { return cmp.Compare(a.size, b.size) })
	for _, plan := range complete {
		if signatures, made := p.signPlan(plan); made == plan.threshold {
			witness := append(signatures, plan.script, plan.control)
			in.SignatureScript, in.Witness = nil, witness
			p.data.scriptSig, p.data.witness = nil, witness
			p.data.complete = p.by == byDummy || p.by == byKeys && p.verify(p.index) == nil
			return
		}
	}
	slices.SortStableFunc(partial, func(a, b *packetPlan) int {
		return cmp.Or(cmp.Compare(a.missing, b.missing), cmp.Compare(a.fresh, b.fresh), cmp.Compare(a.size, b.size))
	})
	if len(partial) > 0 {
		p.signPlan(partial[0])
	}
}

// planLeaf returns how a leaf is to be signed, or nil if it cannot be signed. It notes the keys whose signatures
// are missing or invalid.
func (p *producer) planLeaf(leaf *tapLeaf, root p2mr.Hash) *packetPlan {
	plan := &packetPlan{script: leaf.script}
	var ok bool
	if plan.control, plan.leaf, ok = provingControl(leaf, root); !ok || leaf.version != p2mr.ScriptVersion {
		return nil
	}
	plan.threshold, plan.keys, ok = p2mr.MatchKeys(leaf.script)
	if !ok || plan.threshold > p2mr.MaxSignatures {
		return nil
	}
	wrong, able, made := 0, 0, 0
	plan.candidates = make([]bool, len(plan.keys))
	for i, key := range plan.keys {
		sig, valid := p.madeP2MR(key, plan.leaf)
		switch {
		case sig != nil && !valid:
			addKey(&p.data.p2mr.invalid, key)
			wrong++
		case sig != nil:
			made++
			fallthrough
		case p.by == byDummy || p.with.P2MR.Has(key):
			plan.candidates[i] = true
			able++
		}
	}
	if wrong > 0 {
		return nil
	}
	if able < plan.threshold {
		for i, key := range plan.keys {
			if !plan.candidates[i] {
				addKey(&p.data.missing.PQCKeys, key)
			}
		}
		if able == 0 {
			return nil
		}
	}
	plan.missing, plan.fresh = max(0, plan.threshold-able), max(0, min(plan.threshold, able)-made)
	plan.size = p.sizeOf(plan)
	return plan
}

// provingControl returns the shortest control block that proves the leaf, and the hash of the leaf.
func provingControl(leaf *tapLeaf, root p2mr.Hash) (control []byte, hash p2mr.Hash, ok bool) {
	for _, control := range leaf.controls {
		block, err := p2mr.ParseControlBlock(control)
		if err != nil || block.Version != leaf.version {
			continue
		}
		if proven, hash := block.Root(leaf.script); proven == root {
			return control, hash, true
		}
	}
	return nil, p2mr.Hash{}, false
}

func addKey(to *[]slhdsa.PublicKey, key slhdsa.PublicKey) {
	if !slices.Contains(*to, key) {
		*to = append(*to, key)
	}
}

// sizeOf returns the size of the witness of a plan.
func (p *producer) sizeOf(plan *packetPlan) int {
	fresh := slhdsa.SignatureSize
	if p.by == byDummy || p.with.HashType != txscript.SigHashDefault {
		fresh++
	}
	items := make(wire.TxWitness, 0, len(plan.keys)+2)
	size, signed := 0, 0
	for i, key := range slices.Backward(plan.keys) {
		if !plan.candidates[i] || signed == plan.threshold {
			items = append(items, nil)
			continue
		}
		signed++
		sig := fresh
		if made, _ := p.madeP2MR(key, plan.leaf); made != nil {
			sig = len(made)
		}
		size += wire.VarIntSerializeSize(uint64(sig)) + sig
	}
	return size + append(items, plan.script, plan.control).SerializeSize()
}

// signPlan makes the signatures of a plan that are not there, and returns all in the order of the witness, empty
// for keys that do not sign.
func (p *producer) signPlan(plan *packetPlan) (signatures [][]byte, made int) {
	for i, key := range slices.Backward(plan.keys) {
		var sig []byte
		if plan.candidates[i] && made < plan.threshold {
			if sig = p.signP2MRLeaf(key, plan.leaf); sig != nil {
				made++
			}
		}
		signatures = append(signatures, sig)
	}
	return signatures, made
}

// signP2MRLeaf returns the signature of a leaf by a key, made before or now; nil where it cannot.
func (p *producer) signP2MRLeaf(key slhdsa.PublicKey, leaf p2mr.Hash) []byte {
	if sig, _ := p.madeP2MR(key, leaf); sig != nil {
		return sig
	}
	sig := p.newP2MRSig(key, leaf)
	if sig == nil {
		addKey(&p.data.missing.PQCKeys, key)
		return nil
	}
	at := tapPlace{key, leaf}
	p.data.p2mr.sigs[at], p.data.p2mr.valid[at] = sig, true
	return sig
}

// newP2MRSig makes a signature, nil where it cannot.
func (p *producer) newP2MRSig(key slhdsa.PublicKey, leaf p2mr.Hash) []byte {
	if p.by == byDummy {
		return append(make([]byte, slhdsa.SignatureSize), byte(txscript.SigHashAll))
	}
	hash, ok := p.p2mrHash(p.with.HashType, leaf)
	if !ok {
		return nil
	}
	var sig []byte
	if p.by == byCount {
		p.with.P2MR.counted[key]++
		sig = make([]byte, slhdsa.SignatureSize)
	} else if private := p.with.P2MR.Keys[key]; private != nil {
		var err error
		if sig, err = private.Sign(p.with.P2MR.Reserved, hash[:]); err != nil {
			return nil
		}
	}
	if sig != nil && p.with.HashType != txscript.SigHashDefault {
		sig = append(sig, byte(p.with.HashType))
	}
	return sig
}

// p2mrHash returns what a signature of a leaf signs; false where that is nothing, or not all coins are known.
func (p *producer) p2mrHash(hashType txscript.SigHashType, leaf p2mr.Hash) (p2mr.Hash, bool) {
	if !p.all {
		return p2mr.Hash{}, false
	}
	hasher, err := p.hasher()
	if err != nil {
		return p2mr.Hash{}, false
	}
	hash, err := hasher.Hash(hashType, &p2mr.Spend{Input: p.index, Leaf: leaf, CodeSeparator: p2mr.NoCodeSeparator})
	return hash, err == nil
}

// madeP2MR returns the signature of a leaf by a key that is there, nil for none, and whether it is right. Where
// not all coins are known, or sizes are computed, it is taken for right.
func (p *producer) madeP2MR(key slhdsa.PublicKey, leaf p2mr.Hash) (sig []byte, valid bool) {
	at := tapPlace{key, leaf}
	if sig = p.data.p2mr.sigs[at]; sig == nil || !p.all || p.by == byDummy {
		return sig, true
	}
	valid, known := p.data.p2mr.valid[at]
	if !known {
		hashType := txscript.SigHashDefault
		if len(sig) > slhdsa.SignatureSize {
			hashType = txscript.SigHashType(sig[slhdsa.SignatureSize])
		}
		hash, ok := p.p2mrHash(hashType, leaf)
		valid = ok && key.Verify(hash[:], sig[:slhdsa.SignatureSize])
		p.data.p2mr.valid[at] = valid
	}
	return sig, valid
}
