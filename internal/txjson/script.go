package txjson

import (
	"encoding/hex"

	"github.com/seed61375155/trawl/descriptor"
)

// A ScriptSig is the script of an input as shown.
type ScriptSig struct {
	Asm string `json:"asm"`
	Hex string `json:"hex"`
}

// NewScriptSig prints the script of an input. The last byte of a signature is
// shown by its name.
func NewScriptSig(script []byte) ScriptSig {
	return ScriptSig{asm(script, true), hex.EncodeToString(script)}
}

// A ScriptPubKey is an output script as shown. Members that are not shown are
// zero: a method that shows fewer than all clears them.
type ScriptPubKey struct {
	Asm     string  `json:"asm"`
	Desc    string  `json:"desc,omitempty"`
	Hex     *string `json:"hex,omitempty"`
	Address string  `json:"address,omitempty"`
	Type    string  `json:"type"`
}

// ScriptPubKey prints an output script with all members. Scripts that have no
// address are shown without one.
func (p *Printer) ScriptPubKey(script []byte) ScriptPubKey {
	address, _ := descriptor.AddressOf(script, p.Net)
	if !p.Net.Allows(script) {
		address = ""
	}
	return ScriptPubKey{
		Asm:     Asm(script),
		Desc:    descriptor.Infer(script, p.Net),
		Hex:     new(hex.EncodeToString(script)),
		Address: address,
		Type:    p.Net.ScriptType(script),
	}
}
