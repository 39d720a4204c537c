package netrpc

import (
	"context"

	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

func setBan(d *Deps) command.Command {
	cmd := command.Command{
		Name:     "setban",
		Category: command.Network,
		About:    command.State,
		Summary:  "Bans an address or a range of addresses and disconnects its peers, or takes that back.",
		Params: []command.Param{
			{Name: "subnet", Type: command.String, Help: "address, or range as address/bits or address/mask"},
			{Name: "command", Type: command.String, Help: "'add' or 'remove'"},
			{
				Name: "bantime", Type: command.Number, Default: "0",
				Help: "seconds the ban lasts, or its end if absolute is set; 0 for that of -bantime, a day by default",
			},
			{Name: "absolute", Type: command.Bool, Default: "false", Help: "bantime is a time in seconds since 1970"},
		},
		Results:  []command.Result{{Type: command.Null}},
		Examples: []string{`["192.168.0.6", "add", 86400]`, `["192.168.0.0/24", "add"]`},
	}
	cmd.Run = func(ctx context.Context, a *command.Args) (any, error) {
		what, err := a.String(1)
		if err != nil {
			return nil, err
		}
		if what != "add" && what != "remove" {
			return nil, command.Usage(command.MiscError)
		}
		q := messages.SetBan{Remove: what == "remove"}
		if q.Subnet, err = a.String(0); err != nil {
			return nil, err
		}
		if !q.Remove { // which takes any of them
			if q.Time, err = a.Int64Or(2, 0); err != nil {
				return nil, err
			}
			if q.Absolute, err = a.BoolOr(3, false); err != nil {
				return nil, err
			}
		}
		_, err = tell(ctx, d, q)
		return nil, known(err, banErrors)
	}
	return cmd
}

// banErrors are what clients are told of bans.
var banErrors = []command.KnownError{
	{Err: messages.ErrSubnet, As: command.Error{Code: command.InvalidIPOrSubnet, Message: "Error: Invalid IP/Subnet"}},
	{Err: messages.ErrBanned, As: command.Error{
		Code: command.NodeAlreadyAdded, Message: "Error: IP/Subnet already banned",
	}},
	{Err: messages.ErrPast, As: command.Error{
		Code: command.InvalidParameter, Message: "Error: Absolute timestamp is in the past",
	}},
	{Err: messages.ErrNotBanned, As: command.Error{
		Code:    command.InvalidIPOrSubnet,
		Message: "Error: Unban failed. Requested address/subnet was not previously manually banned.",
	}},
}
