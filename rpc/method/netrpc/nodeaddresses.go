package netrpc

import (
	"context"
	"errors"
	"strings"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

func getNodeAddresses(d *Deps) command.Command {
	return command.Command{
		Name:     "getnodeaddresses",
		Category: command.Network,
		About:    command.State, Effect: command.Reads,
		Summary: "Returns addresses of nodes that may be there, at random: heard of or reached, and not long ago.",
		Params: []command.Param{
			{Name: "count", Type: command.Number, Default: "1", Help: "how many at most; 0 for all"},
			{
				Name: "network", Type: command.String, Default: "all networks",
				Help: "only of this one: ipv4, ipv6, onion, i2p, cjdns",
			},
		},
		Results: []command.Result{{Type: command.Array, Inner: []command.Result{
			{Type: command.Object, Inner: []command.Result{
				{Type: command.Timestamp, Key: "time", Help: "when the node was last heard of"},
				{Type: command.Number, Key: "services", Help: "services that it offers, as bits"},
				{Type: command.String, Key: "address", Help: "its address"},
				{Type: command.Number, Key: "port", Help: "its port"},
				{Type: command.String, Key: "network", Help: "network of the address"},
			}},
		}}},
		Examples: []string{`[8]`, `[4, "i2p"]`},
		Run:      d.nodeAddresses,
	}
}

type nodeAddress struct {
	Time     int64  `json:"time"`
	Services uint64 `json:"services"`
	Address  string `json:"address"`
	Port     int    `json:"port"`
	Network  string `json:"network"`
}

func (d *Deps) nodeAddresses(ctx context.Context, a *command.Args) (any, error) {
	count, err := a.Int32Or(0, 1)
	if err != nil {
		return nil, err
	}
	if count < 0 {
		return nil, command.Error{Code: command.InvalidParameter, Message: "Address count out of range"}
	}
	network, err := a.StringOr(1, "")
	if err != nil {
		return nil, err
	}
	q := messages.GetNodeAddresses{Count: int(count), Network: strings.ToLower(network)}
	if a.Has(1) && network == "" {
		q.Network = " " // no network
	}
	list, err := tell(ctx, d, q)
	if errors.Is(err, messages.ErrNetworkName) {
		return nil, command.Errorf(command.InvalidParameter, "Network not recognized: %s", network)
	}
	if err != nil {
		return nil, err
	}
	addresses := make([]nodeAddress, len(list))
	for i, n := range list {
		addresses[i] = nodeAddress{n.Seen.Unix(), n.Services, n.Host, int(n.Port), n.Network}
	}
	return addresses, nil
}

func addPeerAddress(d *Deps) command.Command {
	return command.Command{
		Name:     "addpeeraddress",
		Category: command.Hidden,
		About:    command.State,
		Summary:  "Adds the address of a node to those that may be connected to, for tests.",
		Params: []command.Param{
			{Name: "address", Type: command.String, Help: "address of the node"},
			{Name: "port", Type: command.Number, Help: "its port"},
			{Name: "tried", Type: command.Bool, Default: "false", Help: "take it for one that was reached"},
		},
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.String, Key: "error", Optional: true, Help: "why it was not added"},
			{Type: command.Bool, Key: "success", Help: "whether it was added"},
		}}},
		Examples: []string{`["1.2.3.4", 8333, true]`},
		Run: func(ctx context.Context, a *command.Args) (any, error) {
			host, err := a.String(0)
			if err != nil {
				return nil, err
			}
			port, err := a.Int64(1)
			if err != nil {
				return nil, err
			}
			if port < 0 || port > 1<<16-1 {
				return nil, command.Error{Code: command.MiscError, Message: "JSON integer out of range"}
			}
			tried, err := a.BoolOr(2, false)
			if err != nil {
				return nil, err
			}
			got, err := tell(ctx, d, messages.AddPeerAddress{Host: host, Port: uint16(port), Tried: tried})
			if err != nil {
				return nil, err
			}
			if d.AddressesOnly && !got.Added && got.Failed == "" {
				return nil, command.Error{Code: command.InvalidIPOrSubnet, Message: "Invalid IP address"}
			}
			answer := jsontree.Members{}
			if got.Failed != "" {
				answer = append(answer, jsontree.Member{Key: "error", Value: got.Failed})
			}
			return append(answer, jsontree.Member{Key: "success", Value: got.Added}), nil
		},
	}
}

func getAddrmanInfo(d *Deps) command.Command {
	return command.Command{
		Name:     "getaddrmaninfo",
		Category: command.Network,
		About:    command.State, Effect: command.Reads,
		Summary: "Returns how many addresses of nodes are known, of each network and of all.",
		Results: []command.Result{{Type: command.UserKeys, Inner: []command.Result{
			{
				Type: command.Object, Key: "network", Help: "ipv4, ipv6, onion, i2p, cjdns, all_networks",
				Inner: []command.Result{
					{Type: command.Number, Key: "new", Help: "heard of, and not reached yet"},
					{Type: command.Number, Key: "tried", Help: "reached once"},
					{Type: command.Number, Key: "total", Help: "both"},
				},
			},
		}}},
		Examples: []string{`[]`},
		Run: func(ctx context.Context, _ *command.Args) (any, error) {
			list, err := tell(ctx, d, messages.CountAddresses{})
			if err != nil {
				return nil, err
			}
			var counts jsontree.Members
			for _, n := range list {
				counts = append(counts, jsontree.Member{Key: n.Network, Value: jsontree.Members{
					{Key: "new", Value: n.New}, {Key: "tried", Value: n.Tried}, {Key: "total", Value: n.New + n.Tried},
				}})
			}
			return counts, nil
		},
	}
}
