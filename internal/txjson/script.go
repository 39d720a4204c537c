package txjson

import (
	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/jsontree"
)

// A ScriptSig is the script of an input as shown.
type ScriptSig struct {
	Asm string       `json:"asm"`
	Hex jsontree.Hex `json:"hex"`
}

// NewScriptSig prints the script of an input. The last byte of a signature is
// shown by its name.
func NewScriptSig(script []byte) ScriptSig {
	return ScriptSig{asm(script, true), script}
}

// A ScriptPubKey is an output script as shown. Members that are not shown are
// zero: a method that shows fewer than all clears them.
type ScriptPubKey struct {
	Asm     string        `json:"asm"`
	Desc    string        `json:"desc,omitempty"`
	Hex     *jsontree.Hex `json:"hex,omitempty"`
	Address string        `json:"address,omitempty"`
	Type    string        `json:"type"`
}

// ScriptPubKey prints an output script with all members. Scripts that have no
// address are shown without one.
func (p *Printer) ScriptPubKey(script []byte) ScriptPubKey {
	d := descriptor.Describe(script, p.Net)
	return ScriptPubKey{
		Asm:     Asm(script),
		Desc:    d.Descriptor,
		Hex:     new(jsontree.Hex(script)),
		Address: d.Address,
		Type:    d.Type,
	}
}
