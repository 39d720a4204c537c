package rawtx

import (
	"bytes"
	"encoding/binary"
	"maps"

	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
)

// AddDescriptor adds what an index of a descriptor tells of its scripts: inner scripts, public keys with
// their origins, trees of taproot, and with private the private keys that it knows.
//
// Errors: those of [descriptor.Descriptor.SpendingAt].
func (s *Signing) AddDescriptor(d *descriptor.Descriptor, index uint32, private bool) error {
	spending, err := d.SpendingAt(index)
	if err != nil {
		return err
	}
	for _, inner := range spending.Inner {
		s.Scripts.Add(inner)
	}
	for i := range spending.Keys {
		s.AddOrigin(&spending.Keys[i])
	}
	for i := range spending.Aggregates {
		s.Together.Add(&spending.Aggregates[i])
	}
	if spending.Taproot != nil {
		s.Trees.Add(spending.Scripts[0], spending.Taproot)
	}
	for _, leaf := range spending.Leaves {
		s.AddP2MRLeaf(spending.Scripts[0], leaf.Script, leaf.Control)
	}
	if private {
		s.addPrivateKeys(d.PrivateKeysAt(index))
	}
	return nil
}

// AddRoots adds the private keys in the text of a descriptor, which may be the roots of those that sign.
func (s *Signing) AddRoots(d *descriptor.Descriptor) { s.addPrivateKeys(d.PrivateKeys()) }

func (s *Signing) addPrivateKeys(keys []descriptor.PrivateKey) {
	defer clear(keys)
	for i := range keys {
		s.Keys.AddScalar(&keys[i].Scalar, keys[i].Compressed)
	}
}

// AddOrigin adds a public key, and where it comes from.
func (s *Signing) AddOrigin(key *descriptor.DerivedKey) {
	s.Public.Add(key.PublicKey)
	origin := bytes.Clone(key.Fingerprint[:])
	for _, step := range key.Path {
		origin = binary.LittleEndian.AppendUint32(origin, step)
	}
	s.Origins[hash160(key.PublicKey)] = origin
}

// SpendsWitness reports whether an output is spent by a witness, as far as scripts are known.
func (s *Signing) SpendsWitness(out *wire.TxOut) bool {
	if txscript.IsWitnessProgram(out.PkScript) {
		return true
	}
	f, hash := formOf(out.PkScript)
	return f == payToScriptHash && txscript.IsWitnessProgram(s.Scripts[[20]byte(hash)])
}

// CanSign reports whether the private key of a public key is known.
func (s *Signing) CanSign(public []byte) bool { return s.Keys[hash160(public)] != nil }

// Merge adds what another knows, with private its private keys: then these are shared.
func (s *Signing) Merge(other *Signing, private bool) {
	maps.Copy(s.Scripts, other.Scripts)
	maps.Copy(s.Public, other.Public)
	maps.Copy(s.Origins, other.Origins)
	maps.Copy(s.Trees, other.Trees)
	maps.Copy(s.Together, other.Together)
	if s.P2MR != nil && other.P2MR != nil {
		maps.Copy(s.P2MR.Leaves, other.P2MR.Leaves)
	}
	if private {
		maps.Copy(s.Keys, other.Keys)
	}
}
