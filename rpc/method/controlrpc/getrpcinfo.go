package controlrpc

import (
	"context"
	"time"

	"github.com/seed61375155/trawl/rpc/command"
)

type rpcInfo struct {
	Active  []activeCall `json:"active_commands"`
	LogPath string       `json:"logpath"`
}

type activeCall struct {
	Method   string `json:"method"`
	Duration int64  `json:"duration"` // microseconds
}

func getRPCInfo(n Node) command.Command {
	return command.Command{
		Name:     "getrpcinfo",
		Category: command.Control,
		About:    command.Program, Effect: command.Reads,
		Summary: "Returns what the RPC server is doing.",
		Results: []command.Result{
			{Type: command.Object, Inner: []command.Result{
				{
					Type: command.Array, Key: "active_commands", Help: "The calls that run, this one included",
					Inner: []command.Result{
						{Type: command.Object, Inner: []command.Result{
							{Type: command.String, Key: "method", Help: "The method's name"},
							{
								Type: command.Number, Key: "duration",
								Help: "How long it has been running, in microseconds",
							},
						}},
					},
				},
				{Type: command.String, Key: "logpath", Help: "The whole path of the log file"},
			}},
		},
		Examples: []string{`[]`},
		Control:  always,
		Run: func(_ context.Context, a *command.Args) (any, error) {
			info := rpcInfo{LogPath: n.LogPath}
			for _, call := range a.Table.Active() {
				info.Active = append(info.Active, activeCall{
					Method:   call.Method,
					Duration: int64(time.Since(call.Began) / time.Microsecond),
				})
			}
			return info, nil
		},
	}
}
