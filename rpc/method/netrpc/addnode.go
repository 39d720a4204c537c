package netrpc

import (
	"context"
	"errors"

	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

func addNode(d *Deps) command.Command {
	cmd := command.Command{
		Name:     "addnode",
		Category: command.Network,
		About:    command.State,
		Summary: "Adds a node to the list of those that the node stays connected to, or takes it out, or connects to " +
			"a node once.\n" +
			"Nodes of the list are not disconnected for what they do and need not offer blocks.",
		Params: []command.Param{
			{Name: "node", Type: command.String, Help: "address of the node, with or without a port"},
			{Name: "command", Type: command.String, Help: "'add', 'remove', or 'onetry' to connect once"},
			{
				Name: "v2transport", Type: command.Bool, Default: "set by -v2transport",
				Help: "speak the encrypted transport (BIP324); not for 'remove'",
			},
		},
		Results:  []command.Result{{Type: command.Null}},
		Examples: []string{`["192.168.0.6:8333", "onetry", true]`},
	}
	cmd.Run = func(ctx context.Context, a *command.Args) (any, error) {
		what, err := a.String(1)
		if err != nil {
			return nil, err
		}
		if what != "onetry" && what != "add" && what != "remove" {
			return nil, command.Usage(command.MiscError)
		}
		node, err := a.String(0)
		if err != nil {
			return nil, err
		}
		v2, err := d.wantsV2(ctx, a, 2, errNoV2)
		if err != nil {
			return nil, err
		}
		switch what {
		case "onetry":
			_, err = tell(ctx, d, messages.ConnectPeer{Node: node, V2: v2})
		case "add":
			_, err = tell(ctx, d, messages.AddNode{Node: node, V2: v2})
		default:
			_, err = tell(ctx, d, messages.RemoveNode{Node: node})
		}
		return nil, known(err, nodeErrors)
	}
	return cmd
}

// errNoV2 refuses the encrypted transport where the node does not speak it.
var errNoV2 = command.Error{
	Code: command.InvalidParameter, Message: "Error: v2transport requested but not enabled (see -v2transport)",
}

// nodeErrors are what clients are told of added nodes.
var nodeErrors = []command.KnownError{
	{Err: messages.ErrNodeAdded, As: command.Error{
		Code: command.NodeAlreadyAdded, Message: "Error: Node already added",
	}},
	{Err: messages.ErrNodeNotAdded, As: command.Error{
		Code: command.NodeNotAdded, Message: "Error: Node could not be removed. It has not been added previously.",
	}},
}

// known returns what a client is told of an error.
func known(err error, list []command.KnownError) error {
	for _, k := range list {
		if errors.Is(err, k.Err) {
			return k.As
		}
	}
	return err
}

// wantsV2 reads whether argument i asks for the encrypted transport, nil when it
// does not say.
func (d *Deps) wantsV2(ctx context.Context, a *command.Args, i int, refusal error) (*bool, error) {
	if !a.Has(i) {
		return nil, nil
	}
	v2, err := a.Bool(i)
	if err != nil || !v2 {
		return &v2, err
	}
	state, err := tell(ctx, d, messages.GetNetwork{})
	if err == nil && !state.V2 {
		err = refusal
	}
	return &v2, err
}
