package miningrpc

import (
	"context"
	"errors"
	"time"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

// maxAdvance is how far timers may be set forward at once, in seconds.
const maxAdvance = 3600

func mockScheduler(d *Deps) command.Command {
	return command.Command{
		Name:     "mockscheduler",
		Category: command.Hidden,
		About:    command.State,
		Summary: "Does now what timers would do within some seconds: announces transactions again that no peer has " +
			"asked for, has wallets look whether to send theirs again, writes the fee estimates. The clock stays. " +
			"Only networks made for tests allow it.",
		Params: []command.Param{
			{Name: "delta_time", Type: command.Number, Help: "the seconds, 1 to 3600"},
		},
		Results:  []command.Result{{Type: command.Null}},
		Examples: []string{`[60]`},
		Run: func(ctx context.Context, a *command.Args) (any, error) {
			if !d.Network.MockableClock {
				return nil, command.Error{
					Code:    command.MiscError,
					Message: "mockscheduler is for regression testing (-regtest mode) only",
				}
			}
			seconds, err := a.Int64(0)
			if err != nil {
				return nil, err
			}
			if seconds <= 0 || seconds > maxAdvance {
				return nil, command.Error{
					Code: command.MiscError, Message: "delta_time must be between 1 and 3600 seconds (1 hr)",
				}
			}
			return nil, d.advanceTimers(ctx, time.Duration(seconds)*time.Second)
		},
	}
}

func (d *Deps) advanceTimers(ctx context.Context, by time.Duration) error {
	for _, ref := range []*ask.Ref{d.Pool, d.Relay, d.Peers, d.Wallets} {
		_, err := ask.Ask(ctx, ref, messages.AdvanceTimers{By: by})
		if err != nil && !errors.Is(err, ask.ErrAbsent) {
			return err
		}
	}
	return nil
}
