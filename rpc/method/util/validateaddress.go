package util

import (
	"context"
	"encoding/hex"

	"github.com/btcsuite/btcd/txscript"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/rpc/command"
)

type validAddress struct {
	IsValid bool   `json:"isvalid"`
	Address string `json:"address"`
	Script  string `json:"scriptPubKey"`
	addressDetail
}

// addressDetail is what an address tells of its script.
type addressDetail struct {
	IsScript  *bool  `json:"isscript,omitempty"` // nil: nobody knows
	IsWitness bool   `json:"iswitness"`
	Version   *int   `json:"witness_version,omitempty"`
	Program   string `json:"witness_program,omitempty"`
}

type invalidAddress struct {
	IsValid   bool   `json:"isvalid"`
	Locations []int  `json:"error_locations"`
	Error     string `json:"error"`
}

func validateAddress(d Deps) command.Command {
	return command.Command{
		Name:     "validateaddress",
		Category: command.Util,
		Summary:  "Says whether a text is an address of this network, and of what kind.",
		Params: []command.Param{
			{Name: "address", Type: command.String, Help: "The address"},
		},
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.Bool, Key: "isvalid", Help: "Whether it is an address"},
			{Type: command.String, Key: "address", Optional: true, Help: "The address in its usual form"},
			{Type: command.Hex, Key: "scriptPubKey", Optional: true, Help: "The output script"},
			{Type: command.Bool, Key: "isscript", Optional: true, Help: "Whether it stands for a script, not a key"},
			{Type: command.Bool, Key: "iswitness", Optional: true, Help: "Whether it stands for a witness program"},
			{Type: command.Number, Key: "witness_version", Optional: true, Help: "The version of the witness program"},
			{Type: command.Hex, Key: "witness_program", Optional: true, Help: "The witness program"},
			{
				Type: command.Array, Key: "error_locations", Optional: true,
				Help:  "Where a mistyped bech32 address is probably wrong",
				Inner: []command.Result{{Type: command.Number, Help: "An index into the text"}},
			},
			{Type: command.String, Key: "error", Optional: true, Help: "Why it is no address"},
		}}},
		Examples: []string{`["bc1q09vm5lfy0j5reeulh4x5752q25uqqvz34hufdl"]`},
		Run: func(_ context.Context, a *command.Args) (any, error) {
			text, err := a.String(0)
			if err != nil {
				return nil, err
			}
			return describeAddress(text, d.Net), nil
		},
	}
}

// describeAddress returns a validAddress or an invalidAddress.
func describeAddress(text string, net *descriptor.Network) any {
	script, err := descriptor.ScriptOfAddress(text, net)
	if err != nil {
		f := faultOf(text, net)
		return invalidAddress{Locations: f.locations, Error: f.text}
	}
	address, _ := descriptor.AddressOf(script, net)
	return validAddress{true, address, hex.EncodeToString(script), detailOf(script)}
}

// detailOf tells of a script that has an address.
func detailOf(script []byte) addressDetail {
	switch descriptor.ScriptType(script) {
	case "pubkeyhash":
		return addressDetail{IsScript: new(false)}
	case "scripthash":
		return addressDetail{IsScript: new(true)}
	case "anchor":
		return addressDetail{IsScript: new(true), IsWitness: true}
	case "witness_v0_keyhash":
		return witnessDetail(script, new(false))
	case "witness_v0_scripthash", "witness_v1_taproot":
		return witnessDetail(script, new(true))
	default:
		return witnessDetail(script, nil)
	}
}

// witnessDetail tells of a script that is a version and a push of the program.
func witnessDetail(script []byte, isScript *bool) addressDetail {
	version := 0
	if script[0] != txscript.OP_0 {
		version = int(script[0]-txscript.OP_1) + 1
	}
	return addressDetail{isScript, true, &version, hex.EncodeToString(script[2:])}
}
