package mempoolrpc

import (
	"context"
	"errors"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

func saveMempool(d *Deps) command.Command {
	return command.Command{
		Name:     "savemempool",
		Category: command.Blockchain,
		About:    command.State,
		Summary:  "Writes the memory pool to its file. That fails until the file of the last run was read.",
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.String, Key: "filename", Help: "path of the file"},
		}}},
		Examples: []string{`[]`},
		Run: func(ctx context.Context, _ *command.Args) (any, error) {
			path, err := ask.Ask(ctx, d.Pool, messages.SavePool{})
			switch {
			case errors.Is(err, messages.ErrPoolLoading):
				return nil, command.Error{Code: command.MiscError, Message: "The mempool was not loaded yet"}
			case errors.Is(err, messages.ErrPoolFile):
				return nil, command.Error{Code: command.MiscError, Message: "Unable to dump mempool to disk"}
			case err != nil:
				return nil, err
			}
			return struct {
				Path string `json:"filename"`
			}{path}, nil
		},
	}
}

func importMempool(d *Deps) command.Command {
	flag := func(name, def, help string) command.Param {
		return command.Param{Name: name, Type: command.Bool, Default: def, Help: help}
	}
	return command.Command{
		Name:     "importmempool",
		Category: command.Blockchain,
		About:    command.State,
		Summary: "Adds the transactions of a mempool.dat file to the memory pool. What else the file says should " +
			"not be taken over from strangers.",
		Params: []command.Param{
			{Name: "filepath", Type: command.String, Help: "the file"},
			{
				Name: "options", Type: command.NamedOptions, Optional: true, Help: "what to take over from the file",
				Inner: []command.Param{
					flag("use_current_time", "true", "transactions count as coming now, not when the file says"),
					flag("apply_fee_delta_priority", "false", "take over what prioritisetransaction did"),
					flag("apply_unbroadcast_set", "false", "take over which transactions no peer has asked for"),
				},
			},
		},
		Results:  []command.Result{{Type: command.Object}},
		Examples: []string{`["/path/to/mempool.dat"]`},
		Run: func(ctx context.Context, a *command.Args) (any, error) {
			path, err := a.String(0)
			if err != nil {
				return nil, err
			}
			q := messages.LoadPool{Path: path}
			now := true
			for _, option := range []struct {
				name string
				to   *bool
			}{
				{"use_current_time", &now},
				{"apply_fee_delta_priority", &q.Deltas},
				{"apply_unbroadcast_set", &q.Unbroadcast},
			} {
				if v := a.Value(1).Get(option.name); !v.IsNull() {
					if *option.to, err = v.AsBool(); err != nil {
						return nil, err
					}
				}
			}
			q.KeepTimes = !now
			if _, err := ask.Ask(ctx, d.Pool, q); err != nil {
				if errors.Is(err, messages.ErrPoolFile) {
					return nil, command.Error{
						Code: command.MiscError, Message: "Unable to import mempool file, see debug.log for details.",
					}
				}
				return nil, err
			}
			return jsontree.Members{}, nil
		},
	}
}
