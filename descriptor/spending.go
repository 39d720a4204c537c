package descriptor

import (
	"bytes"
	"slices"

	"github.com/seed61375155/trawl/descriptor/internal/hdkey"
)

// Spending is what is known of how the scripts of one index of a descriptor are spent.
type Spending struct {
	Scripts [][]byte     // the output scripts, as [Descriptor.Expand] returns them
	Inner   [][]byte     // scripts that they pay to by a hash, however deep
	Keys    []DerivedKey // of all key expressions, in their order
	Taproot *TapTree     // of tr(); nil: the descriptor is another
	Leaves  []Leaf       // of mr(), from left to right

	Aggregates []Aggregate // of all musig(), each once
}

// Aggregate is a key that several sign for: that of the participants of a musig(), before any derivation.
type Aggregate struct {
	PublicKey    []byte   // compressed, as those of the participants
	Participants [][]byte // in the order in which they are aggregated
}

// MusigChainCode is the chain code of the extended key that stands for an [Aggregate] (BIP328).
func MusigChainCode() [32]byte { return musigChainCode }

// SpendingAt returns how the scripts of an index are spent.
//
// Errors: [ErrNeedsPrivateKey], [ErrNotDerivable].
func (d *Descriptor) SpendingAt(index uint32) (*Spending, error) {
	if m, ok := d.root.(*merkle); ok {
		return d.spendingP2MR(m, index)
	}
	scripts, err := d.Expand(index)
	if err != nil {
		return nil, err
	}
	spending := &Spending{Scripts: scripts}
	if !d.IsSolvable() {
		return spending, nil
	}
	s, err := d.solver(index)
	if err != nil {
		return nil, err
	}
	spending.Keys = s.derived
	if spending.Aggregates, err = s.aggregates(); err != nil {
		return nil, err
	}
	var solution Solution
	if err := s.explain(d.root, &solution); err != nil {
		return nil, err
	}
	spending.Taproot = solution.Taproot
	for _, inner := range [][]byte{solution.Redeem, solution.Witness} {
		if inner != nil {
			spending.Inner = append(spending.Inner, inner)
		}
	}
	const witnessOfCombo = 2
	if combo, ok := d.root.(*keyScript); ok && combo.name == "combo" && len(scripts) > witnessOfCombo {
		spending.Inner = append(spending.Inner, scripts[witnessOfCombo])
	}
	return spending, nil
}

// aggregates returns the aggregates of an index.
func (s *solver) aggregates() ([]Aggregate, error) {
	var all []Aggregate
	for _, k := range s.keys {
		m, ok := k.keySource.(*musigKey)
		if !ok {
			continue
		}
		a := Aggregate{Participants: make([][]byte, len(m.participants))}
		for i, participant := range m.participants {
			a.Participants[i] = s.at(participant.expression).PublicKey
		}
		sortKeys(a.Participants)
		var err error
		if a.PublicKey, err = aggregateKeys(a.Participants); err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(all, func(b Aggregate) bool { return bytes.Equal(a.PublicKey, b.PublicKey) }) {
			all = append(all, a)
		}
	}
	return all, nil
}

// PrivateKeysAt returns the private keys of an index that the descriptor knows, for the caller to
// overwrite. There are none of P2MR.
func (d *Descriptor) PrivateKeysAt(index uint32) []PrivateKey {
	var keys []PrivateKey
	for k := range d.expressions {
		if key, ok := k.privateAt(d.branch, index); ok {
			keys = append(keys, key)
		}
	}
	return keys
}

// privateAt returns the private key of an index.
func (k *key) privateAt(branch int, index uint32) (PrivateKey, bool) {
	source, extended := k.keySource.(*extendedKey)
	switch {
	case !extended:
		return k.privateKey()
	case !source.root.Private() || source.pqc:
		return PrivateKey{}, false
	}
	end, err := source.end(branch)
	if err != nil {
		return PrivateKey{}, false
	}
	defer end.Wipe()
	secret := end.Secret()
	defer secret.Zero()
	if source.last != noWildcard {
		if source.last == hardenedWildcard {
			index |= hdkey.Hardened
		}
		if secret, err = end.ChildSecret(index); err != nil {
			return PrivateKey{}, false
		}
	}
	return PrivateKey{Scalar: secret.Bytes(), Compressed: true}, true
}
