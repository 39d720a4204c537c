package controlrpc

import (
	"context"
	"errors"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

// clusterInfo is what getclusterinfo returns.
type clusterInfo struct {
	Address string       `json:"address"`
	Local   bool         `json:"local"`
	Lending int          `json:"lending"`
	Members []memberInfo `json:"members"`
	Serves  bool         `json:"serves"`
	Fronts  int          `json:"fronts"`
	Scans   int          `json:"scans"`
	Units   uint64       `json:"units"`
	Scripts int64        `json:"script_bytes"`
	Refused uint64       `json:"refused"`
}

// memberInfo is one of its members.
type memberInfo struct {
	Address  string  `json:"address"`
	State    string  `json:"state"`
	Version  string  `json:"version"`
	Workers  int     `json:"workers"`
	Height   int32   `json:"height"`
	Units    uint64  `json:"units"`
	Redone   uint64  `json:"redone"`
	Twice    uint64  `json:"twice"`
	Audited  uint64  `json:"audited"`
	Seconds  float64 `json:"seconds"`
	Refusals uint64  `json:"refusals"`
	Refusal  string  `json:"refusal"`
}

func getClusterInfo(n Node) command.Command {
	return command.Command{
		Name:     "getclusterinfo",
		Category: command.Control,
		About:    command.Program, Effect: command.Reads, Own: true,
		Summary: "Returns the state of the cluster with which the node scans together.",
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.String, Key: "address", Help: "where other nodes reach this one"},
			{Type: command.Bool, Key: "local", Help: "whether it works on its own scans beside the members"},
			{Type: command.Number, Key: "lending", Help: "searches that are lent from now"},
			{Type: command.Array, Key: "members", Help: "the nodes that work is lent to", Inner: []command.Result{
				{Type: command.Object, Inner: memberResults},
			}},
			{Type: command.Bool, Key: "serves", Help: "whether it works for others"},
			{Type: command.Number, Key: "fronts", Help: "nodes that it may work for now"},
			{Type: command.Number, Key: "scans", Help: "searches of theirs that it takes part in"},
			{Type: command.Number, Key: "units", Help: "ranges of blocks that it has matched for them"},
			{Type: command.Number, Key: "script_bytes", Help: "memory that is kept for their scripts"},
			{Type: command.Number, Key: "refused", Help: "connections and messages that were kept out"},
		}}},
		Examples: []string{`[]`},
		Control:  always,
		Run: func(ctx context.Context, _ *command.Args) (any, error) {
			s, err := ask.Ask(ctx, n.Cluster, messages.GetCluster{})
			if errors.Is(err, ask.ErrAbsent) {
				return nil, command.Errorf(command.MiscError, "The node is in no cluster (-clusterlisten)")
			}
			if err != nil {
				return nil, err
			}
			info := clusterInfo{
				Address: s.Address, Local: s.Local, Lending: s.Lending, Members: make([]memberInfo, len(s.Members)),
				Serves: s.Serves, Fronts: s.Fronts, Scans: s.Scans, Units: s.Units, Scripts: s.Scripts,
				Refused: s.Refused,
			}
			for i, m := range s.Members {
				info.Members[i] = memberInfo{
					Address: m.Address, State: m.State, Version: m.Build, Workers: m.Workers, Height: m.Height,
					Units: m.Units, Redone: m.Redone, Twice: m.Twice, Audited: m.Audited, Seconds: m.Busy.Seconds(),
					Refusals: m.Refusals, Refusal: m.Refusal,
				}
			}
			return info, nil
		},
	}
}

var memberResults = []command.Result{
	{Type: command.String, Key: "address", Help: "by which it is reached"},
	{Type: command.String, Key: "state", Help: "up; down; late: it owes an answer for long; excluded: " +
		"it has given a wrong answer"},
	{Type: command.String, Key: "version", Help: "of its program; empty until it was heard of"},
	{Type: command.Number, Key: "workers", Help: "cores that match"},
	{Type: command.Number, Key: "height", Help: "of its last block when it was asked last, -1 before"},
	{Type: command.Number, Key: "units", Help: "ranges of blocks that it has answered first"},
	{Type: command.Number, Key: "redone", Help: "ranges that were taken from it and given to others"},
	{Type: command.Number, Key: "twice", Help: "ranges that it was given because another was slow"},
	{Type: command.Number, Key: "audited", Help: "answers that were the same as this node's own"},
	{Type: command.Number, Key: "seconds", Help: "that its ranges have taken it"},
	{Type: command.Number, Key: "refusals", Help: "searches and ranges that it would not do"},
	{Type: command.String, Key: "refusal", Help: "why, the last time"},
}
