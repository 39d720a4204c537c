package controlrpc

import (
	"context"

	"github.com/seed61375155/trawl/rpc/command"
)

// A Publication is a topic that is published at an address.
type Publication struct {
	Topic   string `json:"type"` // after the option: pubhashblock
	Address string `json:"address"`
	HWM     int    `json:"hwm"` // messages that may wait for a subscriber; 0: any number
}

func getZMQNotifications(n Node) command.Command {
	return command.Command{
		Name:     "getzmqnotifications",
		Category: command.ZMQ,
		About:    command.Program, Effect: command.Reads,
		Summary: "Returns what is published by ZeroMQ.",
		Results: []command.Result{
			{Type: command.Array, Inner: []command.Result{
				{Type: command.Object, Inner: []command.Result{
					{Type: command.String, Key: "type", Help: "What is published, as the option names it"},
					{Type: command.String, Key: "address", Help: "Where it is published"},
					{Type: command.Number, Key: "hwm", Help: "How many messages may wait for a subscriber"},
				}},
			}},
		},
		Examples: []string{`[]`},
		Run: func(context.Context, *command.Args) (any, error) {
			return append([]Publication{}, n.Published...), nil
		},
	}
}
