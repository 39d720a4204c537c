package netrpc

import (
	"context"
	"errors"

	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

func disconnectNode(d *Deps) command.Command {
	return command.Command{
		Name:     "disconnectnode",
		Category: command.Network,
		About:    command.State,
		Summary: "Ends the connection to a peer at once, named by address or by id.\n" +
			"To name it by id, leave the address empty or use the named argument.",
		Params: []command.Param{
			{
				Name: "address", Type: command.String, Default: "fallback to nodeid",
				Help: "address and port of the peer, as getpeerinfo shows it",
			},
			{Name: "nodeid", Type: command.Number, Default: "fallback to address", Help: "id of the peer"},
		},
		Results:  []command.Result{{Type: command.Null}},
		Examples: []string{`["192.168.0.6:8333"]`, `["", 1]`},
		Run: func(ctx context.Context, a *command.Args) (any, error) {
			address, err := a.StringOr(0, "")
			if err != nil {
				return nil, err
			}
			byAddress := a.Has(0) && !a.Has(1)
			byID := a.Has(1) && address == ""
			if !byAddress && !byID {
				return nil, command.Error{
					Code: command.InvalidParams, Message: "Only one of address and nodeid should be provided.",
				}
			}
			q := messages.DisconnectPeer{Addr: address}
			if byID {
				id, err := a.Int64(1)
				if err != nil {
					return nil, err
				}
				q.ID = &id
			}
			if d.Peers.IsAbsent() {
				return nil, errNoSuchPeer
			}
			_, err = tell(ctx, d, q)
			if errors.Is(err, messages.ErrPeerNotFound) {
				err = errNoSuchPeer
			}
			return nil, err
		},
		Control: func(*command.Args) bool { return true },
	}
}

// errNoSuchPeer answers a call that names no peer.
var errNoSuchPeer = command.Error{
	Code: command.NodeNotConnected, Message: "Node not found in connected nodes",
}
