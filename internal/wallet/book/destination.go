package book

import (
	"github.com/btcsuite/btcd/txscript"

	"github.com/seed61375155/trawl/descriptor"
)

// Destination is what an address names: the kind of output in the first byte,
// then the hash, key or witness program. Its order is that in which Core lists
// addresses. It is empty where there is no address.
type Destination string

// The kinds of destinations in their order.
const (
	PubKeyHash        = "\x02"
	ScriptHash        = "\x03"
	WitnessScriptHash = "\x04"
	WitnessKeyHash    = "\x05"
	Taproot           = "\x06"
	MerkleRoot        = "\x07"
	Anchor            = "\x08"
	WitnessUnknown    = "\x09"
)

// DestinationOf returns the destination that an output script pays to.
func DestinationOf(net *descriptor.Network, pkScript []byte) Destination {
	var kind string
	from, to := 2, len(pkScript)
	switch net.ScriptType(pkScript) {
	case "pubkeyhash":
		kind, from, to = PubKeyHash, 3, 23
	case "scripthash":
		kind, to = ScriptHash, 22
	case "witness_v0_scripthash":
		kind = WitnessScriptHash
	case "witness_v0_keyhash":
		kind = WitnessKeyHash
	case "witness_v1_taproot":
		kind = Taproot
	case "witness_v2_p2mr":
		kind = MerkleRoot
	case "anchor":
		kind = Anchor
	case "witness_unknown":
		kind = WitnessUnknown + string(rune(pkScript[0]-txscript.OP_1+1))
	default:
		return ""
	}
	return Destination(kind) + Destination(pkScript[from:to])
}

// Kind returns the first byte, or nothing where there is no address.
func (d Destination) Kind() string {
	if d == "" {
		return ""
	}
	return string(d[:1])
}
