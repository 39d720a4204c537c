package arg

import (
	"encoding/hex"

	"github.com/btcsuite/btcd/txscript"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/rpc/command"
)

// An AddressDetail is what an address tells of its script.
type AddressDetail struct {
	IsScript  *bool  `json:"isscript,omitempty"` // nil: nobody knows
	IsWitness bool   `json:"iswitness"`
	Version   *int   `json:"witness_version,omitempty"`
	Program   string `json:"witness_program,omitempty"`
}

// AddressDetailResults declares the members of an [AddressDetail].
var AddressDetailResults = []command.Result{
	{Type: command.Bool, Key: "isscript", Optional: true, Help: "Whether it stands for a script, not a key"},
	{Type: command.Bool, Key: "iswitness", Optional: true, Help: "Whether it stands for a witness program"},
	{Type: command.Number, Key: "witness_version", Optional: true, Help: "The version of the witness program"},
	{Type: command.Hex, Key: "witness_program", Optional: true, Help: "The witness program"},
}

// AddressDetailOf tells of a script that has an address.
func AddressDetailOf(script []byte, net *descriptor.Network) AddressDetail {
	switch net.ScriptType(script) {
	case "pubkeyhash":
		return AddressDetail{IsScript: new(false)}
	case "scripthash":
		return AddressDetail{IsScript: new(true)}
	case "anchor":
		return AddressDetail{IsScript: new(true), IsWitness: true}
	case "witness_v0_keyhash":
		return witnessDetail(script, new(false))
	case "witness_v0_scripthash", "witness_v1_taproot", "witness_v2_p2mr":
		return witnessDetail(script, new(true))
	default:
		return witnessDetail(script, nil)
	}
}

// witnessDetail tells of a script that is a version and a push of the program.
func witnessDetail(script []byte, isScript *bool) AddressDetail {
	version := 0
	if script[0] != txscript.OP_0 {
		version = int(script[0]-txscript.OP_1) + 1
	}
	return AddressDetail{isScript, true, &version, hex.EncodeToString(script[2:])}
}
