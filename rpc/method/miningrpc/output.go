package miningrpc

import (
	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/rpc/command"
)

var (
	errMultipath = command.Error{
		Code: command.InvalidParameter, Message: "Multipath descriptor not accepted",
	}
	errRanged = command.Error{
		Code:    command.InvalidParameter,
		Message: "Ranged descriptor not accepted. Maybe pass through deriveaddresses first?",
	}
	errNoScript = command.Error{
		Code: command.InvalidAddressOrKey, Message: "Descriptor has no script to pay to",
	}
	errNeedsPrivateKey = command.Error{
		Code: command.InvalidAddressOrKey, Message: "Cannot derive script without private keys",
	}
)

// addressScript returns the script of an address; message tells the client
// that it is none.
func (d *Deps) addressScript(address, message string) ([]byte, error) {
	script, err := descriptor.ScriptOfAddress(address, d.Network.Descriptors())
	if err != nil {
		return nil, command.Error{Code: command.InvalidAddressOrKey, Message: message}
	}
	return script, nil
}

// parse reads a descriptor of one path. The error is what the client is told,
// or a *descriptor.ParseError.
func (d *Deps) parse(text string) (*descriptor.Descriptor, error) {
	branches, err := descriptor.Parse(text, d.Network.Descriptors(), descriptor.Options{})
	switch {
	case err != nil:
		return nil, err
	case len(branches) > 1:
		return nil, errMultipath
	case branches[0].IsRanged():
		return nil, errRanged
	}
	return branches[0], nil
}

// scriptOf returns the script that coins mined for a descriptor are paid to.
// Of combo() it is that of the most recent kind of address that is not nested.
func scriptOf(desc *descriptor.Descriptor) ([]byte, error) {
	scripts, err := desc.Expand(0)
	if err != nil {
		return nil, errNeedsPrivateKey
	}
	switch len(scripts) {
	case 0: // unused()
		return nil, errNoScript
	case 4: // P2PK, P2PKH, P2WPKH, P2SH-P2WPKH
		return scripts[2], nil
	case 2: // P2PK, P2PKH
		return scripts[1], nil
	default:
		return scripts[0], nil
	}
}

// mayEarn refuses a script that no coinbase of the next block may pay to, where the network allows only some.
// The script of an address must be of the network's own form.
func (d *Deps) mayEarn(script []byte, isAddress bool) error {
	may := d.Network.Rules.MayPayTo
	if may == nil {
		return nil
	}
	if isAddress {
		if !d.Network.Standard.Native(script) {
			return command.Error{Code: command.InvalidAddressOrKey, Message: "Coinbase payout address must be P2MR"}
		}
		return nil
	}
	active, err := d.active()
	if err != nil {
		return err
	}
	if !may(script, active.Height()+1) {
		return command.Error{
			Code:    command.InvalidAddressOrKey,
			Message: "Coinbase output must be P2MR or an allowed restricted-output exemption",
		}
	}
	return nil
}
