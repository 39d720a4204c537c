package wallet

import "github.com/btcsuite/btcd/txscript"

// destination is what an address names: the kind of output in the first byte,
// then the hash, key or witness program. Its order is that in which Core lists
// addresses. It is empty where there is no address.
type destination string

// The kinds of destinations in their order.
const (
	destPubKeyHash        = "\x02"
	destScriptHash        = "\x03"
	destWitnessScriptHash = "\x04"
	destWitnessKeyHash    = "\x05"
	destTaproot           = "\x06"
	destMerkleRoot        = "\x07"
	destAnchor            = "\x08"
	destWitnessUnknown    = "\x09"
)

// destinationOf returns the destination that an output script pays to.
func (w *Wallet) destinationOf(pkScript []byte) destination {
	var kind string
	from, to := 2, len(pkScript)
	switch w.params.Network.ScriptType(pkScript) {
	case "pubkeyhash":
		kind, from, to = destPubKeyHash, 3, 23
	case "scripthash":
		kind, to = destScriptHash, 22
	case "witness_v0_scripthash":
		kind = destWitnessScriptHash
	case "witness_v0_keyhash":
		kind = destWitnessKeyHash
	case "witness_v1_taproot":
		kind = destTaproot
	case "witness_v2_p2mr":
		kind = destMerkleRoot
	case "anchor":
		kind = destAnchor
	case "witness_unknown":
		kind = destWitnessUnknown + string(rune(pkScript[0]-txscript.OP_1+1))
	default:
		return ""
	}
	return destination(kind) + destination(pkScript[from:to])
}

// kind returns the first byte.
func (d destination) kind() string {
	if d == "" {
		return ""
	}
	return string(d[:1])
}
