package netrpc

import (
	"context"
	"slices"
	"strings"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

// connectionTypes are those that a test may choose.
var connectionTypes = []string{"outbound-full-relay", "block-relay-only", "addr-fetch", "feeler"}

func addConnection(d *Deps) command.Command {
	cmd := command.Command{
		Name:     "addconnection",
		Category: command.Hidden,
		About:    command.State,
		Summary:  "Makes a connection of a type to a node, for tests.",
		Params: []command.Param{
			{Name: "address", Type: command.String, Help: "address and port of the node"},
			{
				Name: "connection_type", Type: command.String,
				Help: "outbound-full-relay, block-relay-only, addr-fetch or feeler",
			},
			{Name: "v2transport", Type: command.Bool, Help: "speak the encrypted transport (BIP324)"},
		},
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.String, Key: "address", Help: "address of the connection"},
			{Type: command.String, Key: "connection_type", Help: "its type"},
		}}},
		Examples: []string{`["192.168.0.6:8333", "outbound-full-relay", true]`},
	}
	cmd.Run = func(ctx context.Context, a *command.Args) (any, error) {
		if !d.AddConnection {
			return nil, command.Error{
				Code: command.MiscError, Message: "addconnection is for regression testing (-regtest mode) only.",
			}
		}
		address, err := a.String(0)
		if err != nil {
			return nil, err
		}
		typ, err := a.String(1)
		if err != nil {
			return nil, err
		}
		typ = strings.TrimSpace(typ)
		if !slices.Contains(connectionTypes, typ) {
			return nil, command.Usage(command.InvalidParameter)
		}
		v2, err := d.wantsV2(ctx, a, 2, errConnectionV2)
		if err != nil {
			return nil, err
		}
		_, err = tell(ctx, d, messages.ConnectPeer{Node: address, Type: typ, V2: v2})
		if err != nil {
			return nil, known(err, []command.KnownError{{Err: messages.ErrNoSlot, As: command.Error{
				Code: command.NodeCapacityReached, Message: "Error: Already at capacity for specified connection type.",
			}}})
		}
		return jsontree.Members{{Key: "address", Value: address}, {Key: "connection_type", Value: typ}}, nil
	}
	return cmd
}

var errConnectionV2 = command.Error{
	Code:    command.InvalidParameter,
	Message: "Error: Adding v2transport connections requires -v2transport init flag to be set.",
}
