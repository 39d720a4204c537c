package rawtx

import (
	"slices"

	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/consensus/script"
	"github.com/seed61375155/trawl/internal/p2mr"
	"github.com/seed61375155/trawl/internal/p2mr/vm"
	"github.com/seed61375155/trawl/internal/slhdsa"
)

// P2MR is what is known of P2MR outputs, on networks that have them.
type P2MR struct {
	// Leaves are scripts that outputs pay to by their root.
	Leaves map[p2mr.Hash][]p2mr.Leaf

	// Has reports whether a key may sign.
	Has func(slhdsa.PublicKey) bool

	// Keys are the private keys that sign, with the right to do so: see
	// [Signing.PlanP2MR].
	Keys     map[slhdsa.PublicKey]*slhdsa.PrivateKey
	Reserved *slhdsa.Reservation

	counted map[slhdsa.PublicKey]uint32 // signatures that would be made; see [PacketSigning.PlanP2MR]
}

// NewP2MR returns nothing known, with no key.
func NewP2MR() *P2MR {
	return &P2MR{
		Leaves: make(map[p2mr.Hash][]p2mr.Leaf),
		Has:    func(slhdsa.PublicKey) bool { return false },
		Keys:   make(map[slhdsa.PublicKey]*slhdsa.PrivateKey),
	}
}

// Add adds a leaf of the output's tree. It reports false if it is none.
func (k *P2MR) Add(pkScript, script, control []byte) bool {
	root, ok := p2mr.ParseOutputScript(pkScript)
	block, err := p2mr.ParseControlBlock(control)
	if !ok || err != nil {
		return false
	}
	if proven, _ := block.Root(script); proven != root {
		return false
	}
	k.Leaves[root] = append(k.Leaves[root], p2mr.Leaf{Script: script, Control: block})
	return true
}

// Zero wipes the private keys.
func (k *P2MR) Zero() {
	for _, key := range k.Keys {
		key.Zero()
	}
}

// HasP2MR reports whether outputs may be P2MR, so that keys of SLH-DSA may sign.
func (s *Signing) HasP2MR() bool { return s.P2MR != nil }

// AddP2MRLeaf adds a leaf of the tree of a P2MR output. It reports false if it is none.
func (s *Signing) AddP2MRLeaf(pkScript, script, control []byte) bool {
	return s.P2MR != nil && s.P2MR.Add(pkScript, script, control)
}

// LeafScripts returns the scripts of leaves that are known of a tree of P2MR.
func (s *Signing) LeafScripts(root p2mr.Hash) [][]byte {
	var scripts [][]byte
	for _, leaf := range s.P2MR.Leaves[root] {
		scripts = append(scripts, leaf.Script)
	}
	return scripts
}

// AddPQCKey adds a private key of SLH-DSA, on networks that have them.
func (s *Signing) AddPQCKey(key *slhdsa.PrivateKey) {
	if s.P2MR != nil {
		s.P2MR.Keys[key.Public()] = key
		s.MaySign(func(public slhdsa.PublicKey) bool { return s.P2MR.Keys[public] != nil })
	}
}

// MaySign says which keys of SLH-DSA are to sign, where they are not there yet.
func (s *Signing) MaySign(has func(slhdsa.PublicKey) bool) {
	if s.P2MR != nil {
		s.P2MR.Has = has
	}
}

// Reserve counts the signatures that the keys of SLH-DSA are going to make, by save,
// before they make them: see [slhdsa.Reserve].
func (s *Signing) Reserve(save func([]slhdsa.Use) error) error {
	if s.P2MR == nil {
		return nil
	}
	var uses []slhdsa.Use
	for public, more := range s.PlanP2MR() {
		uses = append(uses, slhdsa.Use{Key: public, More: more})
	}
	reserved, err := slhdsa.Reserve(uses, save)
	s.Reserved(reserved)
	return err
}

// Reserved gives the keys of SLH-DSA the right to sign.
func (s *Signing) Reserved(r *slhdsa.Reservation) {
	if s.P2MR != nil {
		s.P2MR.Reserved = r
	}
}

// PlanP2MR returns how many signatures of each key the inputs take that spend
// P2MR outputs and can be signed. They must be counted before they are made.
func (s *Signing) PlanP2MR() map[slhdsa.PublicKey]uint32 {
	wanted := make(map[slhdsa.PublicKey]uint32)
	if s.P2MR == nil {
		return wanted
	}
	spending := newSpending(s.Tx, s.Coins, true)
	for i, in := range s.Tx.TxIn {
		coin := s.Coins[in.PreviousOutPoint]
		if coin == nil {
			continue
		}
		root, ok := p2mr.ParseOutputScript(coin.PkScript)
		if !ok || !spending.all || !s.signsAt(i) || spending.verify(i) == nil {
			continue
		}
		if plan := s.P2MR.plan(root); plan != nil {
			for _, signer := range plan.signers {
				wanted[plan.keys[signer]]++
			}
		}
	}
	return wanted
}

// signsAt reports whether the hash type has something to sign at an input.
func (s *Signing) signsAt(index int) bool {
	single := s.HashType&^txscript.SigHashAnyOneCanPay == txscript.SigHashSingle
	return !single || index < len(s.Tx.TxOut)
}

// p2mrPlan is a way to spend an output.
type p2mrPlan struct {
	leaf    p2mr.Leaf
	keys    []slhdsa.PublicKey // in the order of the script
	signers []int              // which of them sign
	size    int                // of the witness
}

// plan returns the way with the smallest witness that the keys are enough for;
// nil if there is none.
func (k *P2MR) plan(root p2mr.Hash) *p2mrPlan {
	var best *p2mrPlan
	for _, leaf := range k.Leaves[root] {
		threshold, keys, ok := p2mr.MatchKeys(leaf.Script)
		if !ok || leaf.Control.Version != p2mr.ScriptVersion || threshold > p2mr.MaxSignatures {
			continue
		}
		plan := &p2mrPlan{leaf: leaf, keys: keys}
		for i, key := range slices.Backward(keys) {
			if len(plan.signers) < threshold && k.Has(key) {
				plan.signers = append(plan.signers, i)
			}
		}
		plan.size = wire.TxWitness(plan.witness(make([][]byte, len(keys)))).SerializeSize() +
			len(plan.signers)*slhdsa.SignatureSize
		if len(plan.signers) == threshold && (best == nil || plan.size < best.size) {
			best = plan
		}
	}
	return best
}

// witness returns the witness with signatures in the order of the keys, empty
// for those that do not sign.
func (p *p2mrPlan) witness(signatures [][]byte) [][]byte {
	items := slices.Clone(signatures)
	slices.Reverse(items)
	return append(items, p.leaf.Script, p.leaf.Control.Bytes())
}

// signP2MR returns the witness of an input that spends a P2MR output; nil if it
// cannot be made.
func (s *spending) signP2MR(index int, root p2mr.Hash, with *Signing) wire.TxWitness {
	plan := with.P2MR.plan(root)
	if plan == nil || !s.all {
		return nil
	}
	hasher, err := s.hasher()
	if err != nil {
		return nil
	}
	_, leaf := plan.leaf.Control.Root(plan.leaf.Script)
	hash, err := hasher.Hash(with.HashType, &p2mr.Spend{Input: index, Leaf: leaf, CodeSeparator: p2mr.NoCodeSeparator})
	if err != nil {
		return nil
	}
	signatures := make([][]byte, len(plan.keys))
	for _, i := range plan.signers {
		key := with.P2MR.Keys[plan.keys[i]]
		if key == nil {
			return nil
		}
		signature, err := key.Sign(with.P2MR.Reserved, hash[:])
		if err != nil {
			return nil
		}
		if with.HashType != txscript.SigHashDefault {
			signature = append(signature, byte(with.HashType))
		}
		signatures[i] = signature
	}
	return plan.witness(signatures)
}

// p2mrRoot returns the root that the coin of an input pays to, on networks that
// have P2MR.
func (s *spending) p2mrRoot(index int) (p2mr.Hash, bool) {
	coin := s.spent[index]
	if !s.hasP2MR || coin == nil {
		return p2mr.Hash{}, false
	}
	return p2mr.ParseOutputScript(coin.PkScript)
}

// verifyP2MR runs the script of an input that spends a P2MR output.
func (s *spending) verifyP2MR(index int, root p2mr.Hash) error {
	spend := &vm.Spend{Tx: s.tx, Input: index, Program: root, Rules: vm.Rules{Policy: true}}
	if len(s.tx.TxIn[index].Witness) > 0 {
		if !s.all {
			return ScriptError(vm.ErrSigHashType) // its hash cannot be computed
		}
		var err error
		if spend.Hasher, err = s.hasher(); err != nil {
			return ScriptError(script.ErrUnknown.Error())
		}
	}
	if err := spend.Verify(); err != nil {
		return ScriptError(err.Error())
	}
	return nil
}
