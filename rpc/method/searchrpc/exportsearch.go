package searchrpc

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/history"
)

// maxHistory is how many entries a history has at most: they are in memory together.
const maxHistory = 500_000

var (
	errHistoryTooLong = command.Errorf(command.InvalidParameter,
		"The search has more than %d entries: read them with getsearchentries", maxHistory)
	errNoEntries = command.Error{
		Code: command.InvalidParameter, Message: "The search lists blocks alone: nothing is known of payments",
	}
	errHistoryPartial = command.Error{
		Code:    command.InvalidParameter,
		Message: "The search has not looked at all of its blocks. With \"partial\" there is what was found so far",
	}
)

func exportSearch(d *Deps) command.Command {
	return command.Command{
		Name: "exportsearch", Category: command.Blockchain,
		About: command.Filters, Effect: command.Reads, Own: true,
		Summary: "Returns what a search has found as comma-separated values, the oldest first, with the columns of " +
			"exporthistory:\nlabel is the descriptor, comment the index and the output that was spent. What was in " +
			"blocks that have left\nthe chain is left out.",
		Params: []command.Param{idParam, {
			Name: "partial", Type: command.Bool, Default: "false",
			Help: "also of a search that has not looked at all of its blocks: what was found so far",
		}},
		Results:  []command.Result{{Type: command.String, Help: "the lines, the first with the names of the columns"}},
		Examples: []string{`[` + exampleID + `]`},
		Run: func(ctx context.Context, a *command.Args) (any, error) {
			id, err := a.String(0)
			if err != nil {
				return nil, err
			}
			partial, err := a.BoolOr(1, false)
			if err != nil {
				return nil, err
			}
			entries, err := d.history(ctx, id, partial)
			if err != nil {
				return nil, err
			}
			lines := history.OfSearch(entries, d.Chain.Height(), func(script []byte) string {
				address, _ := descriptor.AddressOf(script, d.Network.Descriptors())
				return address
			})
			return strings.TrimSuffix(string(lines), "\n"), nil // clients add one
		},
	}
}

// history returns the entries of a search that are in the chain, by height, and those of the memory pool after them.
func (d *Deps) history(ctx context.Context, id string, partial bool) ([]messages.SearchEntry, error) {
	st, err := ask.Ask(ctx, d.Searches, messages.GetSearch{ID: id})
	if err != nil {
		return nil, failure(err)
	}
	if st.BlocksOnly {
		return nil, errNoEntries
	}
	var all chainEntries
	q := messages.GetSearchEntries{ID: id, Limit: maxLimit}
	page := messages.SearchPage{More: true}
	for page.More {
		if page, err = ask.Ask(ctx, d.Searches, q); err != nil {
			return nil, failure(err)
		}
		all.add(page.Entries)
		if len(all.list) > maxHistory {
			return nil, errHistoryTooLong
		}
		q.Cursor = page.Cursor
	}
	whole := page.State == messages.SearchDone || page.State == messages.SearchFollowing
	if !partial && (!whole || page.PoolMore || page.PoolCut) {
		return nil, errHistoryPartial
	}
	return append(all.inChain(), page.Unconfirmed...), nil
}

// chainEntries are entries of a list, in its order.
type chainEntries struct {
	list []messages.SearchEntry
	left map[chainhash.Hash]int // of blocks that have left the chain: how many entries were there before
}

func (c *chainEntries) add(page []messages.SearchEntry) {
	for i := range page {
		if e := &page[i]; e.Type != messages.SearchDisconnect {
			c.list = append(c.list, *e)
			continue
		}
		if c.left == nil {
			c.left = map[chainhash.Hash]int{}
		}
		c.left[page[i].Block] = len(c.list)
	}
}

// inChain returns those of blocks that are in the chain, by height.
func (c *chainEntries) inChain() []messages.SearchEntry {
	var in []messages.SearchEntry
	for i := range c.list {
		if i >= c.left[c.list[i].Block] {
			in = append(in, c.list[i])
		}
	}
	slices.SortStableFunc(in, func(a, b messages.SearchEntry) int { return cmp.Compare(a.Height, b.Height) })
	return in
}
