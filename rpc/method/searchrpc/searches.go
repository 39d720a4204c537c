// Package searchrpc holds the JSON-RPC methods of searches that are kept, and of histories of scripts, which Bitcoin
// Core has none of.
package searchrpc

import (
	"context"
	"errors"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/receipt"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

// Deps is what the methods work with.
type Deps struct {
	Network  *dialect.Network
	Searches *ask.Ref
	Chain    Chain
	Scripts  messages.Scripts // nil: there is no index of scripts
}

// Chain is what searches have in common with scans of the chain.
type Chain interface {
	// Expand visits the scripts of scan objects, with the errors of scanblocks.
	Expand(ctx context.Context, objects *jsontree.Value,
		visit func(object int, branch *descriptor.Descriptor, index uint32, scripts [][]byte)) error

	// Complete sets in a receipt what the chain says of its last block.
	Complete(ctx context.Context, r *receipt.Receipt, last *chainhash.Hash) error

	// Height returns the height of the chain, -1 where there is none yet.
	Height() int32
}

// Commands returns the methods.
func Commands(d Deps) []command.Command {
	p := NewPrinter(d.Network)
	return []command.Command{
		createSearch(&d), extendSearch(&d), getSearch(&d), listSearches(&d), getSearchEntries(&d, p),
		waitForSearch(&d, p), exportSearch(&d), getScriptHistory(&d, p), getScriptBalance(&d),
		steer(&d, "pausesearch", "Pauses a search until resumesearch.",
			func(id string) messages.PauseSearch { return messages.PauseSearch{ID: id} }),
		steer(&d, "resumesearch", "Goes on with a search that was paused.",
			func(id string) messages.ResumeSearch { return messages.ResumeSearch{ID: id} }),
		steer(&d, "abortsearch", "Ends a search. What it has found stays.",
			func(id string) messages.AbortSearch { return messages.AbortSearch{ID: id} }),
		steer(&d, "removesearch", "Forgets a search and all that it has found.",
			func(id string) messages.RemoveSearch { return messages.RemoveSearch{ID: id} }),
	}
}

// Readers returns what reads the searches of an actor; nil where there is none.
func Readers(ref *ask.Ref) (
	search func(context.Context, messages.GetSearch) (messages.SearchStatus, error),
	entries func(context.Context, messages.GetSearchEntries) (messages.SearchPage, error),
) {
	if ref.IsAbsent() {
		return nil, nil
	}
	search = func(ctx context.Context, q messages.GetSearch) (messages.SearchStatus, error) {
		return ask.Ask(ctx, ref, q)
	}
	entries = func(ctx context.Context, q messages.GetSearchEntries) (messages.SearchPage, error) {
		return ask.Ask(ctx, ref, q)
	}
	return search, entries
}

const exampleID = `"00c3a1f7d4e2b590"`

var idParam = command.Param{
	Name: "id", Type: command.String, Help: "of the search, as createsearch returned it, or its name",
}

// steer returns a method that changes what a search does.
func steer[Q messages.Request[bool]](d *Deps, name, summary string, request func(id string) Q) command.Command {
	return command.Command{
		Name: name, Category: command.Blockchain,
		About: command.Filters, Own: true, Summary: summary, Params: []command.Param{idParam},
		Results:  []command.Result{{Type: command.Bool, Help: "whether that changed anything"}},
		Examples: []string{`[` + exampleID + `]`},
		Control:  func(*command.Args) bool { return true },
		Run: func(ctx context.Context, a *command.Args) (any, error) {
			id, err := a.String(0)
			if err != nil {
				return nil, err
			}
			changed, err := ask.Ask(ctx, d.Searches, request(id))
			if err != nil {
				return nil, failure(err)
			}
			return changed, nil
		},
	}
}

func getSearch(d *Deps) command.Command {
	result := fullStatusResult("")
	result.Inner = append(result.Inner, arg.ReceiptResult("with receipt"))
	return command.Command{
		Name: "getsearch", Category: command.Blockchain,
		About: command.Filters, Effect: command.Reads, Own: true, Summary: "Tells how far a search is.",
		Params: []command.Param{idParam, {
			Name: "receipt", Type: command.Bool, Default: "false",
			Help: "return as well on what the result rests, for verifyreceipt on any node: of a search that has " +
				"looked at all of its blocks",
		}},
		Results:  []command.Result{result},
		Examples: []string{`[` + exampleID + `]`, `[` + exampleID + `, true]`},
		Control:  func(a *command.Args) bool { return !a.Has(1) }, // a receipt takes as long as the list is
		Run: func(ctx context.Context, a *command.Args) (any, error) {
			id, err := a.String(0)
			if err != nil {
				return nil, err
			}
			wanted, err := a.BoolOr(1, false)
			if err != nil {
				return nil, err
			}
			st, err := ask.Ask(ctx, d.Searches, messages.GetSearch{ID: id})
			if err != nil {
				return nil, failure(err)
			}
			shown := statusOf(&st)
			if wanted {
				if shown.Receipt, err = d.receipt(ctx, id, st.BlocksOnly); err != nil {
					return nil, err
				}
			}
			return shown, nil
		},
	}
}

func listSearches(d *Deps) command.Command {
	return command.Command{
		Name: "listsearches", Category: command.Blockchain,
		About: command.Filters, Effect: command.Reads, Own: true,
		Summary:  "Lists all searches in the order in which they were made.",
		Results:  []command.Result{{Type: command.Array, Inner: []command.Result{statusResult("")}}},
		Examples: []string{`[]`},
		Control:  func(*command.Args) bool { return true },
		Run: func(ctx context.Context, _ *command.Args) (any, error) {
			list, err := ask.Ask(ctx, d.Searches, messages.ListSearches{})
			if err != nil {
				return nil, failure(err)
			}
			all := make([]any, len(list))
			for i := range list {
				all[i] = Status(&list[i])
			}
			return all, nil
		},
	}
}

// failure puts an error of the searches into words for the client.
func failure(err error) error {
	if errors.Is(err, ask.ErrAbsent) {
		return command.Error{
			Code: command.MiscError, Message: "Searches need the block filter index (-blockfilterindex)",
		}
	}
	if errors.Is(err, messages.ErrSearchStore) {
		return command.Error{
			Code:    command.DatabaseError,
			Message: "The store of searches cannot be read or written (disk full or damaged)",
		}
	}
	if _, ok := errors.AsType[messages.Refusal](err); ok {
		return command.Error{Code: command.InvalidParameter, Message: err.Error()}
	}
	return err
}
