package netrpc

import (
	"context"

	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

func getAddedNodeInfo(d *Deps) command.Command {
	return command.Command{
		Name:     "getaddednodeinfo",
		Category: command.Network,
		About:    command.State, Effect: command.Reads,
		Summary: "Returns the nodes that were added with addnode, or one of them.\nNodes that were tried once are " +
			"not among them.",
		Params: []command.Param{
			{Name: "node", Type: command.String, Default: "all nodes", Help: "show only this node"},
		},
		Results: []command.Result{{Type: command.Array, Inner: []command.Result{
			{Type: command.Object, Inner: []command.Result{
				{Type: command.String, Key: "addednode", Help: "the node as it was added"},
				{Type: command.Bool, Key: "connected", Help: "whether it is connected"},
				{
					Type: command.Array, Key: "addresses", Help: "only when connected",
					Inner: []command.Result{{Type: command.Object, Inner: []command.Result{
						{Type: command.String, Key: "address", Help: "address and port of the connection"},
						{Type: command.String, Key: "connected", Help: "inbound or outbound"},
					}}},
				},
			}},
		}}},
		Examples: []string{`["192.168.0.201"]`},
		Run:      d.addedNodeInfo,
	}
}

type addedNodeInfo struct {
	Node      string         `json:"addednode"`
	Connected bool           `json:"connected"`
	Addresses []addedAddress `json:"addresses"`
}

type addedAddress struct {
	Address   string `json:"address"`
	Connected string `json:"connected"`
}

func (d *Deps) addedNodeInfo(ctx context.Context, a *command.Args) (any, error) {
	node, err := a.StringOr(0, "")
	if err != nil {
		return nil, err
	}
	list, err := tell(ctx, d, messages.GetAddedNodes{})
	if err != nil {
		return nil, err
	}
	infos := []addedNodeInfo{}
	for _, n := range list {
		if a.Has(0) && n.Node != node {
			continue
		}
		info := addedNodeInfo{Node: n.Node, Connected: n.Addr != ""}
		if info.Connected {
			direction := "outbound"
			if n.Inbound {
				direction = "inbound"
			}
			info.Addresses = []addedAddress{{n.Addr, direction}}
		}
		infos = append(infos, info)
	}
	if a.Has(0) && len(infos) == 0 {
		return nil, command.Error{Code: command.NodeNotAdded, Message: "Error: Node has not been added."}
	}
	return infos, nil
}
