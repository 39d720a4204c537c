package descriptor

import "github.com/btcsuite/btcd/chaincfg"

// Dialect is the set of functions that descriptors of a network can have.
type Dialect int

const (
	// Bitcoin is the dialect of Bitcoin Core.
	Bitcoin Dialect = iota

	// P2MR is that of qbit 1.0.0: Bitcoin's, with mr(), rawmr() and pqc().
	P2MR
)

// Network holds what descriptors and addresses of one network look like. Everywhere in this package nil stands for
// Bitcoin's main network.
type Network struct {
	PubKeyHashID   byte    // version of P2PKH addresses
	ScriptHashID   byte    // version of P2SH addresses
	PrivateKeyID   byte    // version of private keys in wallet import format
	HDPublicKeyID  [4]byte // version of extended public keys
	HDPrivateKeyID [4]byte // version of extended private keys
	Bech32HRP      string  // human-readable part of segwit addresses, lower case
	Dialect        Dialect // language of the descriptors

	// Foreign are versions of keys that are read too, and never printed; nil
	// for none.
	Foreign *KeyVersions

	// Restricted is set where outputs can pay to P2MR and to pay-to-anchor
	// only, and to witness programs of the versions 3 to 16 if Reserved is set.
	Restricted bool
	Reserved   bool
}

// KeyVersions are the versions of keys of another network.
type KeyVersions struct {
	PrivateKeyID   byte
	HDPublicKeyID  [4]byte
	HDPrivateKeyID [4]byte
}

// NetworkOf takes the network's values from btcd's chain parameters. It is one
// of Bitcoin's; nil stands for the main network.
func NetworkOf(params *chaincfg.Params) *Network {
	if params == nil {
		params = &chaincfg.MainNetParams
	}
	return &Network{
		PubKeyHashID:   params.PubKeyHashAddrID,
		ScriptHashID:   params.ScriptHashAddrID,
		PrivateKeyID:   params.PrivateKeyID,
		HDPublicKeyID:  params.HDPublicKeyID,
		HDPrivateKeyID: params.HDPrivateKeyID,
		Bech32HRP:      params.Bech32HRPSegwit,
	}
}

// orMain returns the network, or for nil Bitcoin's main network.
func (n *Network) orMain() *Network {
	if n == nil {
		return NetworkOf(nil)
	}
	return n
}

// Allows reports whether outputs of the network can pay to the destination of a
// script: the script has an address, of a kind that the network does not
// exclude.
func (n *Network) Allows(script []byte) bool {
	n = n.orMain()
	s := n.solve(script)
	return n.allows(&s)
}

func (n *Network) allows(s *solved) bool {
	switch s.form {
	case typeWitnessP2MR, typeAnchor:
		return true
	case typeWitnessUnknown:
		return !n.Restricted || n.Reserved && s.version > p2mrVersion
	case typePubKeyHash, typeScriptHash, typeWitnessV0Key, typeWitnessV0Script, typeWitnessTaproot:
		return !n.Restricted
	}
	return false
}

// wif reports whether a version is one of private keys in wallet import format.
func (n *Network) wif(version byte) bool {
	return version == n.PrivateKeyID || n.Foreign != nil && version == n.Foreign.PrivateKeyID
}

// xpub reports whether a version is one of extended public keys.
func (n *Network) xpub(version [4]byte) bool {
	return version == n.HDPublicKeyID || n.Foreign != nil && version == n.Foreign.HDPublicKeyID
}

// xprv reports whether a version is one of extended private keys.
func (n *Network) xprv(version [4]byte) bool {
	return version == n.HDPrivateKeyID || n.Foreign != nil && version == n.Foreign.HDPrivateKeyID
}
