package walletrpc

import (
	"context"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

// importResult is what became of one descriptor.
type importResult struct {
	Success  bool           `json:"success"`
	Error    *command.Error `json:"error,omitempty"`
	Warnings []string       `json:"warnings,omitempty"`
}

func (m *methods) importDescriptors() command.Command {
	return command.Command{
		Name:     "importdescriptors",
		Category: command.Wallet,
		About:    command.Funds,
		Summary: "Adds descriptors to the wallet and scans the chain for them, from the earliest of their times on.\n" +
			"Of a multipath descriptor with two paths the second one is for change.\n" +
			"From an early time on this may take long; with the block filter index it is much faster.\n" +
			"Make a new backup afterwards.",
		Params: []command.Param{{
			Name: "requests", Type: command.Array, Usage: "requests", Help: "the descriptors",
			Inner: []command.Param{{Type: command.Object, Optional: true, Inner: []command.Param{
				{Name: "desc", Type: command.String, Help: "the descriptor, with checksum", Secret: true},
				{
					Name: "active", Type: command.Bool, Default: "false",
					Help: "whether new addresses of its type are to be taken from it",
				},
				{
					Name: "range", Type: command.Range, Optional: true,
					Help: "for a ranged descriptor: the last index to watch, or the first and the last. By default\n" +
						"as many as are derived ahead, or the gap limit that it is annotated with (gl, BIP393) if\n" +
						"that is more",
				},
				{Name: "next_index", Type: command.Number, Optional: true, Help: "index of the first new address"},
				{
					Name: "timestamp", Type: command.Number, TypeText: "integer / string",
					Help: "time, in seconds since 1970, before which nobody paid to it: from two hours before it on\n" +
						"the chain is scanned. \"now\" is the time of the tip: nothing is scanned. 0 is the whole " +
						"chain.\nIt may be absent if the descriptor is annotated with its birth height (bh, BIP393).",
				},
				{
					Name: "internal", Type: command.Bool, Default: "false",
					Help: "whether it is for change, so that what comes there is no payment",
				},
				{
					Name: "label", Type: command.String, Default: `""`,
					Help: "label of its address, for descriptors without range that are not internal",
				},
			}}},
		}},
		Results: []command.Result{{
			Type: command.Array, Help: "one element for each descriptor, in order",
			Inner: []command.Result{
				{Type: command.Object, Inner: []command.Result{
					{Type: command.Bool, Key: "success", Help: "whether it was added"},
					{
						Type: command.Array, Key: "warnings", Optional: true, Help: "what a person should know",
						Inner: []command.Result{{Type: command.String, Help: "a warning"}},
					},
					{
						Type: command.Object, Key: "error", Optional: true, Help: "why it was not added",
						Inner: []command.Result{
							{Type: command.Number, Key: "code", Help: "code of the error"},
							{Type: command.String, Key: "message", Help: "text of the error"},
						},
					},
				}},
			},
		}},
		Examples: []string{
			`[[{"desc": "<my descriptor>", "timestamp": 1455191478, "internal": true}, ` +
				`{"desc": "<my descriptor 2>", "label": "example 2", "timestamp": 1455191480}]]`,
			`[[{"desc": "<my descriptor>", "timestamp": 1455191478, "active": true, "range": [0, 100]}]]`,
		},
		Run: m.on(m.importAll),
	}
}

func (m *methods) importAll(ctx context.Context, w chosen, a *command.Args) (any, error) {
	s, err := w.state(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.needIdle(); err != nil {
		return nil, err
	}
	items, err := m.readImports(a.Value(0))
	if err != nil {
		return nil, err
	}
	got, err := ask.Ask(ctx, w.ref, messages.ImportDescriptors{Items: items})
	if err != nil {
		return nil, err
	}
	results := make([]importResult, len(got))
	for i, r := range got {
		results[i] = importResult{Success: r.Err == nil, Warnings: r.Warnings}
		if r.Err != nil {
			results[i].Error = &command.Error{Code: command.Code(r.Err.Code), Message: r.Err.Text}
		}
	}
	return results, nil
}

// readImports reads all descriptors before any is imported. An error ends the
// whole call.
func (m *methods) readImports(list *jsontree.Value) ([]messages.ImportItem, error) {
	if _, err := list.AsArray(); err != nil {
		return nil, err
	}
	items := make([]messages.ImportItem, list.Len())
	for i, v := range list.Elements() {
		var err error
		if items[i], err = m.readImport(v); err != nil {
			return nil, err
		}
	}
	return items, nil
}
