package descriptor

import "encoding/hex"

// A Description is what an output script is called.
type Description struct {
	Type       string // as [Network.ScriptType] has it
	Address    string // as [AddressOf] has it; empty: it has none, or the network does not pay to it
	Descriptor string // as [Infer] has it
}

// Describe returns what an output script is called. It costs less than to ask for the
// parts.
func Describe(script []byte, net *Network) Description {
	net = net.orMain()
	s := net.solve(script)
	d := Description{Type: s.form}
	address := 0 // where it begins in the descriptor
	if body, ok := new(known).inferSolved(&s, script, inTop, net); ok {
		d.Descriptor = AddChecksum(body)
	} else {
		var room [160]byte
		text := append(room[:0], "addr("...)
		address = len(text)
		if text = appendAddress(text, &s, net); len(text) > address {
			d.Address = string(text[address:])
			d.Descriptor = string(appendChecksum(append(text, ')')))
		} else {
			d.Descriptor = AddChecksum("raw(" + hex.EncodeToString(script) + ")")
		}
	}
	switch {
	case !net.allows(&s):
		d.Address = ""
	case address == 0:
		var room [maxAddress]byte
		d.Address = string(appendAddress(room[:0], &s, net))
	}
	return d
}
