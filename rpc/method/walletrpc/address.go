package walletrpc

import (
	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/rpc/command"
)

// script reads an address. detail is what the error says beyond that it is none.
func (m *methods) script(text, detail string) ([]byte, error) {
	script, err := descriptor.ScriptOfAddress(text, m.net)
	if err != nil {
		return nil, command.Errorf(command.InvalidAddressOrKey, "Invalid %s address%s", m.Currency, detail)
	}
	return script, nil
}

// addressOf returns the usual form of a script's address, empty where it has
// none.
func (m *methods) addressOf(script []byte) string {
	text, _ := descriptor.AddressOf(script, m.net)
	return text
}

// exampleAddress stands for an address in help texts.
const exampleAddress = "bc1q09vm5lfy0j5reeulh4x5752q25uqqvz34hufdl"
