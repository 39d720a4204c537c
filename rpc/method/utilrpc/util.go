// Package utilrpc holds the JSON-RPC methods that compute without looking at the
// chain: deriveaddresses, getdescriptorinfo, validateaddress and those about signed messages and data.
package utilrpc

import (
	"context"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/p2mr"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

// Deps is what the methods work with.
type Deps struct {
	Net        *descriptor.Network // whose addresses and keys are read
	Expansions *descriptor.Expansions

	// Signers tells which signing devices there are, which may take minutes.
	Signers func(ctx context.Context) ([]messages.Signer, error)
}

// Commands returns the methods.
func Commands(d Deps) []command.Command {
	commands := []command.Command{
		deriveAddresses(d),
		enumerateSigners(d),
		getDescriptorInfo(d),
		signMessageWithPrivKey(d),
		validateAddress(d),
		verifyMessage(d),
	}
	if d.Net.ScriptType(p2mr.OutputScript(p2mr.Hash{})) == "witness_v2_p2mr" { // the network has such outputs
		commands = append(commands, verifyDataPQCHash(d))
	}
	return commands
}
