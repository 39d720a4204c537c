package descriptor

import "github.com/btcsuite/btcd/chaincfg"

// Dialect is the set of functions that descriptors of a network can have.
type Dialect int

// Bitcoin is the dialect of Bitcoin Core.
const Bitcoin Dialect = 0

// Network holds what descriptors and addresses of one network look like.
type Network struct {
	PubKeyHashID   byte    // version of P2PKH addresses
	ScriptHashID   byte    // version of P2SH addresses
	PrivateKeyID   byte    // version of private keys in wallet import format
	HDPublicKeyID  [4]byte // version of extended public keys
	HDPrivateKeyID [4]byte // version of extended private keys
	Bech32HRP      string  // human-readable part of segwit addresses, lower case
	Dialect        Dialect // language of the descriptors
}

// NetworkOf takes the network's values from btcd's chain parameters.
func NetworkOf(params *chaincfg.Params) *Network {
	return &Network{
		PubKeyHashID:   params.PubKeyHashAddrID,
		ScriptHashID:   params.ScriptHashAddrID,
		PrivateKeyID:   params.PrivateKeyID,
		HDPublicKeyID:  params.HDPublicKeyID,
		HDPrivateKeyID: params.HDPrivateKeyID,
		Bech32HRP:      params.Bech32HRPSegwit,
	}
}
