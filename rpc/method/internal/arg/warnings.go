package arg

import (
	"context"

	"github.com/seed61375155/trawl/rpc/command"
)

// Warnings tells the operator of list, which may be nil, in one of two shapes: a list of
// texts, or with lastOnly (-deprecatedrpc=warnings) the latest text alone, empty if none.
func Warnings(ctx context.Context, list func(context.Context) ([]string, error), lastOnly bool) (any, error) {
	var all []string
	if list != nil {
		var err error
		if all, err = list(ctx); err != nil {
			return nil, err
		}
	}
	switch {
	case !lastOnly:
		return all, nil
	case len(all) == 0:
		return "", nil
	default:
		return all[len(all)-1], nil
	}
}

// WarningsResult describes the result of [Warnings].
func WarningsResult(lastOnly bool) command.Result {
	const key, help = "warnings", "what the operator should know"
	if lastOnly {
		return command.Result{Type: command.String, Key: key, Help: help + ": the latest warning"}
	}
	return command.Result{
		Type: command.Array, Key: key, Help: help, Inner: []command.Result{{Type: command.String, Help: "a warning"}},
	}
}
