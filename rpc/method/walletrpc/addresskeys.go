package walletrpc

import (
	"encoding/hex"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

// addressKeys is what a wallet knows of what stands behind an address: a key, or
// a script.
type addressKeys struct {
	*scriptForm
	PubKey       string           `json:"pubkey,omitempty"`
	IsCompressed *bool            `json:"iscompressed,omitempty"` // legacy addresses of keys
	Embedded     *embeddedAddress `json:"embedded,omitempty"`
	*multisig
}

// scriptForm is the script that an address stands for by its hash.
type scriptForm struct {
	Type string `json:"script"`
	Hex  string `json:"hex"`
}

// embeddedAddress is an address that such a script stands for in turn.
type embeddedAddress struct {
	arg.AddressDetail
	addressKeys
	Address string `json:"address"`
	Script  string `json:"scriptPubKey"`
}

// multisig is what a script of several keys asks for.
type multisig struct {
	Required int      `json:"sigsrequired"`
	PubKeys  []string `json:"pubkeys"`
}

var addressKeysResults = []command.Result{
	{
		Type: command.String, Key: "script", Optional: true,
		Help: "form of the script behind the address, where it is known",
	},
	{Type: command.Hex, Key: "hex", Optional: true, Help: "that script"},
	{
		Type: command.Array, Key: "pubkeys", Optional: true, Help: "its keys, if it is multisig",
		Inner: []command.Result{{Type: command.String, Help: "a key"}},
	},
	{Type: command.Number, Key: "sigsrequired", Optional: true, Help: "how many of them must sign"},
	{Type: command.Hex, Key: "pubkey", Optional: true, Help: "key of an address with one key"},
	{
		Type: command.Object, Key: "embedded", Optional: true, Help: "the address behind the address",
		Inner: []command.Result{
			{Type: command.Elision, Help: "members as here, but for those about the wallet and the key's origin"},
		},
	},
	{Type: command.Bool, Key: "iscompressed", Optional: true, Help: "whether the key is compressed"},
}

// keysOf tells what stands behind an address, one script within the other.
func (m *methods) keysOf(script []byte, info *messages.AddressInfo) addressKeys {
	var keys addressKeys
	switch descriptor.ScriptType(script) {
	case "pubkeyhash":
		if len(info.PubKey) > 0 {
			const compressedLen = 33
			keys.PubKey = hex.EncodeToString(info.PubKey)
			keys.IsCompressed = new(len(info.PubKey) == compressedLen)
		}
	case "witness_v0_keyhash":
		keys.PubKey = hex.EncodeToString(info.PubKey)
	case "scripthash", "witness_v0_scripthash":
		inner := *info
		inner.Redeem, inner.Witness = info.Witness, nil
		m.lookInside(&keys, info.Redeem, &inner)
	}
	return keys
}

// lookInside adds the script that an address stands for, if the script is known.
// The parameter inner has the facts about the script's contents.
func (m *methods) lookInside(keys *addressKeys, script []byte, inner *messages.AddressInfo) {
	if script == nil {
		return
	}
	form := descriptor.ScriptType(script)
	keys.scriptForm = &scriptForm{form, hex.EncodeToString(script)}
	if text, ok := descriptor.AddressOf(script, m.net); ok {
		keys.Embedded = &embeddedAddress{
			arg.AddressDetailOf(script, m.net), m.keysOf(script, inner), text, hex.EncodeToString(script),
		}
		keys.PubKey = keys.Embedded.PubKey
		return
	}
	if form == "multisig" {
		keys.multisig = &multisig{Required: inner.SigsNeeded}
		for _, key := range inner.Keys {
			keys.PubKeys = append(keys.PubKeys, hex.EncodeToString(key))
		}
	}
}
