package searchrpc

import (
	"context"
	"time"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

const (
	defaultLimit = 1_000
	maxLimit     = 10_000
)

var pageParams = []command.Param{
	idParam,
	{
		Name: "cursor", Type: command.String, Default: `""`,
		Help: "from where on, as an earlier reply had it; empty: from the beginning",
	},
	{Name: "limit", Type: command.Number, Default: "1000", Help: "how many entries at most, up to 10000"},
}

func getSearchEntries(d *Deps, p *Printer) command.Command {
	return command.Command{
		Name: "getsearchentries", Category: command.Blockchain,
		About: command.Filters, Effect: command.Reads, Own: true,
		Summary: "Returns what a search has found, in order. Whoever adds entries up, and takes back those of a " +
			"block that is " +
			"disconnected,\nhas the truth of \"blockhash\" once \"more\" is false.",
		Params: pageParams, Results: pageResults,
		Examples: []string{`[` + exampleID + `]`, `[` + exampleID + `, "", 100]`},
		Run: func(ctx context.Context, a *command.Args) (any, error) {
			id, cursor, limit, err := pageArgs(a)
			if err != nil {
				return nil, err
			}
			page, err := ask.Ask(ctx, d.Searches, messages.GetSearchEntries{ID: id, Cursor: cursor, Limit: limit})
			if err != nil {
				return nil, failure(err)
			}
			return p.Page(&page), nil
		},
	}
}

func waitForSearch(d *Deps, p *Printer) command.Command {
	return command.Command{
		Name: "waitforsearch", Category: command.Blockchain,
		About: command.Filters, Effect: command.Reads, Own: true,
		Summary: "Waits until a search has something behind a cursor, or its state or height changes, and returns as " +
			"getsearchentries.\nOf a search that has ended it returns at once. Let the client wait that long. The " +
			"wait ends with its connection.",
		Params: []command.Param{
			pageParams[0], pageParams[1],
			{Name: "timeout", Type: command.Number, Default: "0", Help: "milliseconds to wait at most; 0 for ever"},
		},
		Results: pageResults, Examples: []string{`[` + exampleID + `, "", 1000]`},
		Waits: func(*command.Args) bool { return true },
		Run: func(ctx context.Context, a *command.Args) (any, error) {
			q := messages.WaitSearch{Limit: defaultLimit}
			var err error
			if q.ID, err = a.String(0); err != nil {
				return nil, err
			}
			if q.Cursor, err = a.StringOr(1, ""); err != nil {
				return nil, err
			}
			ms, err := a.Int32Or(2, 0)
			if err != nil {
				return nil, err
			}
			if ms < 0 {
				return nil, command.Error{Code: command.MiscError, Message: "Negative timeout"}
			}
			q.Timeout = time.Duration(ms) * time.Millisecond
			page, err := ask.Ask(ctx, d.Searches, q)
			if err != nil {
				return nil, failure(err)
			}
			return p.Page(&page), nil
		},
	}
}

func pageArgs(a *command.Args) (id, cursor string, limit int, err error) {
	if id, err = a.String(0); err != nil {
		return "", "", 0, err
	}
	if cursor, err = a.StringOr(1, ""); err != nil {
		return "", "", 0, err
	}
	limit, err = limitArg(a, 2)
	return id, cursor, limit, err
}

// limitArg reads how many entries a page has at most.
func limitArg(a *command.Args, place int) (int, error) {
	n, err := a.Int32Or(place, defaultLimit)
	if err == nil && (n < 1 || n > maxLimit) {
		err = command.Errorf(command.InvalidParameter, "limit must be 1 to %d", maxLimit)
	}
	return int(n), err
}
