package netrpc

import (
	"context"
	"fmt"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

func getRawAddrman(d *Deps) command.Command {
	return command.Command{
		Name:     "getrawaddrman",
		Category: command.Hidden,
		About:    command.State, Effect: command.Reads,
		Summary: "Returns the whole tables of the addresses of nodes, with the place of each.",
		Results: []command.Result{{Type: command.UserKeys, Inner: []command.Result{{
			Type: command.UserKeys, Key: "table", Help: "new for those that were heard of, tried for those reached",
			Inner: []command.Result{{
				Type: command.Object, Key: "bucket/position", Help: "place in the table",
				Inner: []command.Result{
					{Type: command.String, Key: "address", Help: "address of the node"},
					{Type: command.Number, Key: "mapped_as", Optional: true, Help: "autonomous system, with -asmap"},
					{Type: command.Number, Key: "port", Help: "its port"},
					{Type: command.Number, Key: "services", Help: "services that it offers, as bits"},
					{Type: command.Timestamp, Key: "time", Help: "when the node was last heard of"},
					{Type: command.String, Key: "network", Help: "network of the address"},
					{Type: command.String, Key: "source", Help: "address of the node that told of it"},
					{Type: command.String, Key: "source_network", Help: "network of that one"},
					{Type: command.Number, Key: "source_mapped_as", Optional: true, Help: "that of the source"},
				},
			}},
		}}}},
		Examples: []string{`[]`},
		Run: func(ctx context.Context, _ *command.Args) (any, error) {
			tables, err := tell(ctx, d, messages.GetAddressTables{})
			if err != nil {
				return nil, err
			}
			return jsontree.Members{
				{Key: "new", Value: addressTable(tables.New)}, {Key: "tried", Value: addressTable(tables.Tried)},
			}, nil
		},
	}
}

type placedAddress struct {
	Address       string `json:"address"`
	AS            uint32 `json:"mapped_as,omitempty"`
	Port          uint16 `json:"port"`
	Services      uint64 `json:"services"`
	Time          int64  `json:"time"`
	Network       string `json:"network"`
	Source        string `json:"source"`
	SourceNetwork string `json:"source_network"`
	SourceAS      uint32 `json:"source_mapped_as,omitempty"`
}

func addressTable(list []messages.PlacedAddress) jsontree.Members {
	table := make(jsontree.Members, len(list))
	for i, a := range list {
		table[i] = jsontree.Member{Key: fmt.Sprintf("%d/%d", a.Bucket, a.Position), Value: placedAddress{
			a.Host, a.AS, a.Port, a.Services, a.Seen.Unix(), a.Network, a.Source, a.SourceNetwork, a.SourceAS,
		}}
	}
	return table
}
