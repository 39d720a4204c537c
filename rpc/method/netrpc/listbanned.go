package netrpc

import (
	"context"

	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

func listBanned(d *Deps) command.Command {
	return command.Command{
		Name:     "listbanned",
		Category: command.Network,
		About:    command.State, Effect: command.Reads,
		Summary: "Lists the addresses and ranges of addresses that are banned.",
		Results: []command.Result{{Type: command.Array, Inner: []command.Result{
			{Type: command.Object, Inner: []command.Result{
				{Type: command.String, Key: "address", Help: "the range"},
				{Type: command.Timestamp, Key: "ban_created", Help: "when it was banned"},
				{Type: command.Timestamp, Key: "banned_until", Help: "when the ban ends"},
				{Type: command.Number, Key: "ban_duration", Help: "seconds between the two"},
				{Type: command.Number, Key: "time_remaining", Help: "seconds until the end"},
			}},
		}}},
		Examples: []string{`[]`},
		Run:      d.banned,
	}
}

type ban struct {
	Address   string `json:"address"`
	Created   int64  `json:"ban_created"`
	Until     int64  `json:"banned_until"`
	Duration  int64  `json:"ban_duration"`
	Remaining int64  `json:"time_remaining"`
}

func (d *Deps) banned(ctx context.Context, _ *command.Args) (any, error) {
	list, err := tell(ctx, d, messages.ListBans{})
	if err != nil {
		return nil, err
	}
	bans := make([]ban, len(list))
	for i, b := range list {
		created, until := b.Created.Unix(), b.Until.Unix()
		bans[i] = ban{b.Subnet, created, until, until - created, until - b.Now.Unix()}
	}
	return bans, nil
}

func clearBanned(d *Deps) command.Command {
	return command.Command{
		Name:     "clearbanned",
		Category: command.Network,
		About:    command.State,
		Summary:  "Takes back all bans.",
		Results:  []command.Result{{Type: command.Null}},
		Examples: []string{`[]`},
		Run: func(ctx context.Context, _ *command.Args) (any, error) {
			_, err := tell(ctx, d, messages.ClearBans{})
			return nil, err
		},
	}
}
