package chainrpc

import (
	"context"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

// filterIndexName is what getindexinfo calls the index of basic filters.
const filterIndexName = "basic block filter index"

func getIndexInfo(d *Deps) command.Command {
	return command.Command{
		Name:     "getindexinfo",
		Category: command.Util,
		About:    command.Filters, Effect: command.Reads,
		Summary: "Returns how far the node's indexes have come.",
		Params: []command.Param{
			{Name: "index_name", Type: command.String, Optional: true, Help: "show only the index of this name"},
		},
		Results: []command.Result{{Type: command.UserKeys, Inner: []command.Result{
			{Type: command.Object, Key: "name", Help: "name of an index", Inner: []command.Result{
				{Type: command.Bool, Key: "synced", Help: "whether it has once reached the tip"},
				{Type: command.Number, Key: "best_block_height", Help: "height of the last block indexed"},
			}},
		}}},
		Examples: []string{`[]`, `["` + filterIndexName + `"]`},
		Run:      d.indexInfo,
	}
}

// indexInfo is one entry of getindexinfo.
type indexInfo struct {
	Synced bool  `json:"synced"`
	Height int32 `json:"best_block_height"`
}

func (d *Deps) indexInfo(ctx context.Context, a *command.Args) (any, error) {
	name, err := a.StringOr(0, "")
	if err != nil {
		return nil, err
	}
	shown := jsontree.Members{}
	for _, index := range d.indexes() {
		if name != "" && name != index.Name {
			continue
		}
		status, err := ask.Ask(ctx, index.Actor, messages.GetIndexStatus{})
		if err != nil {
			return nil, err
		}
		shown = append(shown, jsontree.Member{Key: index.Name, Value: indexInfo{status.Synced, max(0, status.Height)}})
	}
	return shown, nil
}

// NamedIndexes are indexes that have the names of their actors, which ref returns.
func NamedIndexes(ref func(name string) *ask.Ref, names ...string) []NamedIndex {
	list := make([]NamedIndex, len(names))
	for i, name := range names {
		list[i] = NamedIndex{Name: name, Actor: ref(name)}
	}
	return list
}

// indexes are the node's indexes, in Core's order.
func (d *Deps) indexes() []NamedIndex {
	var all []NamedIndex
	for _, x := range d.Others {
		if !x.Actor.IsAbsent() {
			all = append(all, x)
		}
	}
	if d.Index != nil {
		all = append(all, NamedIndex{filterIndexName, d.Index.Indexer})
	}
	return all
}
