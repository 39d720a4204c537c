package chainrpc

import (
	"context"
	"errors"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

// How much verifychain checks where nothing is said.
const (
	verifyLevel  = 3
	verifyBlocks = 6
)

func verifyChain(d *Deps) command.Command {
	return command.Command{
		Name:     "verifychain",
		Category: command.Blockchain,
		About:    command.State,
		Summary: "Checks the last blocks of the chain, and what they have done to the unspent outputs.\n" +
			"Nothing is changed; blocks that come meanwhile wait.",
		Params: []command.Param{
			{
				Name: "checklevel", Type: command.Number, Default: "3, range=0-4",
				Help: "how thorough: 0 reads the blocks, 1 checks each by itself, 2 checks undo data, 3 takes the " +
					"blocks back from the unspent outputs in memory, 4 connects them again",
			},
			{Name: "nblocks", Type: command.Number, Default: "6, 0=all", Help: "how many blocks"},
		},
		Results: []command.Result{{
			Type: command.Bool, Help: "whether all was looked at and is right; if not, the log tells why",
		}},
		Examples: []string{`[]`, `[4, 100]`},
		Run: func(ctx context.Context, a *command.Args) (any, error) {
			level, err := a.Int32Or(0, verifyLevel)
			if err != nil {
				return nil, err
			}
			blocks, err := a.Int32Or(1, verifyBlocks)
			if err != nil {
				return nil, err
			}
			_, err = ask.Ask(ctx, d.Actor, messages.VerifyChain{Level: int(level), Blocks: blocks})
			if _, corrupt := errors.AsType[*messages.CorruptError](err); corrupt ||
				errors.Is(err, messages.ErrPartlyVerified) {
				return false, nil
			}
			return err == nil, err
		},
	}
}
