package dialect

import (
	"github.com/btcsuite/btcd/chaincfg"

	"github.com/seed61375155/trawl/descriptor"
)

// Descriptors returns what descriptors and addresses of the network look like.
func (n *Network) Descriptors() *descriptor.Network {
	d := descriptor.NetworkOf(n.Params)
	if n.P2MR == nil {
		return d
	}
	d.Dialect, d.Restricted, d.Reserved = descriptor.P2MR, !n.P2MR.AnyOutput, n.P2MR.OuterWitness != Never
	// Keys of Bitcoin's networks are read too.
	foreign := &chaincfg.TestNet3Params
	if n.Name == "main" {
		foreign = &chaincfg.MainNetParams
	}
	d.Foreign = &descriptor.KeyVersions{
		PrivateKeyID: foreign.PrivateKeyID, HDPublicKeyID: foreign.HDPublicKeyID,
		HDPrivateKeyID: foreign.HDPrivateKeyID,
	}
	return d
}
