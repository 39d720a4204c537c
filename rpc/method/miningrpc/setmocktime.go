package miningrpc

import (
	"context"
	"time"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

var errNotMockable = command.Error{
	Code: command.MiscError, Message: "setmocktime is for regression testing (-regtest mode) only",
}

func setMockTime(d *Deps) command.Command {
	return command.Command{
		Name:     "setmocktime",
		Category: command.Hidden,
		About:    command.State,
		Summary:  "Stops the node's clock at a time, for tests. Only networks made for tests allow it.",
		Params: []command.Param{
			{Name: "timestamp", Type: command.Number, Help: "the time in seconds since 1970; 0 starts the clock again"},
		},
		Results:  []command.Result{{Type: command.Null}},
		Examples: []string{`[1700000000]`},
		Run: func(ctx context.Context, a *command.Args) (any, error) {
			if !d.Network.MockableClock {
				return nil, errNotMockable
			}
			seconds, err := a.Int64(0)
			if err != nil {
				return nil, err
			}
			if seconds < 0 || seconds > d.Network.MaxMockTime {
				return nil, command.Errorf(command.InvalidParameter,
					"Mocktime must be in the range [0, %d], not %d.", d.Network.MaxMockTime, seconds)
			}
			var at time.Time
			if seconds != 0 {
				at = time.Unix(seconds, 0)
			}
			if _, err = ask.Ask(ctx, d.Actor, messages.SetMockTime{Time: at}); err == nil && d.ClockHeeded != nil {
				d.ClockHeeded(ctx)
			}
			return nil, err
		},
	}
}

// HeededBy returns a function that waits until the node has done the work that is due by a clock that was
// set. Sync, relay and peers are told the time before these questions, and answer in order.
func HeededBy(part func(name string) *ask.Ref) func(context.Context) {
	return func(ctx context.Context) {
		// A part that is absent or stops has nothing to do.
		_, _ = ask.Ask(ctx, part("sync"), nodemsg.GetPeerSync{})
		_, _ = ask.Ask(ctx, part("relay"), nodemsg.GetPeerRelay{})
		_, _ = ask.Ask(ctx, part("peers"), messages.CountPeers{})
	}
}
