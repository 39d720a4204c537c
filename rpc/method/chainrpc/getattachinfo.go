package chainrpc

import (
	"context"
	"errors"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

func getAttachInfo(d *Deps) command.Command {
	number := func(key, help string) command.Result {
		return command.Result{Type: command.Number, Key: key, Help: help}
	}
	text := func(key, help string) command.Result {
		return command.Result{Type: command.String, Key: key, Help: help}
	}
	truth := func(key, help string) command.Result {
		return command.Result{Type: command.Bool, Key: key, Help: help}
	}
	without := func(r command.Result) command.Result {
		r.Optional = true
		return r
	}
	source := []command.Result{{Type: command.Object, Key: "source", Help: "files, rest, rpc", Inner: []command.Result{
		number("blocks", "blocks read"),
		number("undo", "spent outputs of so many blocks read"),
		number("filters", "filters read"),
	}}}
	return command.Command{
		Name:     "getattachinfo",
		Category: command.Blockchain,
		About:    command.Program, Effect: command.Reads, At: command.Tip, Own: true,
		Summary: "Returns how it stands with the Bitcoin Core that the node is attached to (-attach).",
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			text("state", "starting, headers, following, holding, away or other"),
			number("since", "when that state began, in seconds since 1970"),
			without(text("reason", "why it does not follow")),
			number("height", "height of this node's tip"),
			{Type: command.Hex, Key: "bestblockhash", Help: "hash of this node's tip"},
			number("behind", "how many blocks Bitcoin Core's tip is ahead, as far as that is known"),
			{Type: command.Object, Key: "node", Help: "Bitcoin Core, when it answered last", Inner: []command.Result{
				text("address", "URL of its RPC server"),
				without(number("version", "as getnetworkinfo has it")),
				without(text("subversion", "as getnetworkinfo has it")),
				text("chain", "as getblockchaininfo has it"),
				number("blocks", "height of its tip"),
				number("headers", "height of its best header"),
				{Type: command.Hex, Key: "bestblockhash", Help: "hash of its tip"},
				truth("initialblockdownload", "whether it is on its first way to the network's tip"),
				without(number("pruneheight", "first block that it has not pruned")),
				truth("rest", "whether it serves REST"),
				truth("blockfilterindex", "whether it keeps block filters"),
			}},
			{Type: command.Object, Key: "mempool", Help: "the copy of its memory pool", Inner: []command.Result{
				number("size", "transactions that are here"),
				number("bytes", "their size as serialized"),
				number("missing", "transactions for which there is no room here"),
				without(number("updated", "when it was last the same as there, in seconds since 1970")),
				without(text("reason", "why it is not kept up to date")),
			}},
			truth("files", "whether its block files are read"),
			{Type: command.UserKeys, Key: "sources", Help: "what came from where since the start", Inner: source},
			number("verified", "height up to which all block filters were built here, or compared with what is "+
				"built here (-attachverify), as far as was looked since the start"),
			truth("refused", "whether one was wrong: none is taken any more"),
		}}},
		Examples: []string{`[]`},
		Control:  always,
		Run:      d.attachInfo,
	}
}

// attachInfo is the result of getattachinfo.
type attachInfo struct {
	State   string                  `json:"state"`
	Since   int64                   `json:"since"`
	Reason  string                  `json:"reason,omitempty"`
	Height  int32                   `json:"height"`
	Best    string                  `json:"bestblockhash"`
	Behind  int32                   `json:"behind"`
	Node    attachedNode            `json:"node"`
	Mempool copiedPool              `json:"mempool"`
	Files   bool                    `json:"files"`
	Sources map[string]attachSource `json:"sources"`

	Verified int32 `json:"verified"`
	Refused  bool  `json:"refused"`
}

type attachedNode struct {
	Address     string `json:"address"`
	Version     int    `json:"version,omitempty"`
	Subversion  string `json:"subversion,omitempty"`
	Chain       string `json:"chain"`
	Blocks      int32  `json:"blocks"`
	Headers     int32  `json:"headers"`
	Best        string `json:"bestblockhash"`
	Initial     bool   `json:"initialblockdownload"`
	PruneHeight *int32 `json:"pruneheight,omitempty"`
	REST        bool   `json:"rest"`
	FilterIndex bool   `json:"blockfilterindex"`
}

type copiedPool struct {
	Size    int    `json:"size"`
	Bytes   int64  `json:"bytes"`
	Missing int    `json:"missing"`
	Updated int64  `json:"updated,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

type attachSource struct {
	Blocks  int64 `json:"blocks"`
	Undo    int64 `json:"undo"`
	Filters int64 `json:"filters"`
}

func (d *Deps) attachInfo(ctx context.Context, _ *command.Args) (any, error) {
	s, err := ask.Ask(ctx, d.Actor, messages.GetAttachState{})
	if errors.Is(err, messages.ErrNotAttached) {
		return nil, command.Error{
			Code: command.MiscError, Message: "The node is attached to no Bitcoin Core (see -attach)",
		}
	}
	if err != nil {
		return nil, err
	}
	info := attachInfo{
		State: string(s.Phase), Since: s.Since.Unix(), Reason: s.Reason,
		Height: s.Tip.Height, Best: s.Tip.Hash.String(),
		Behind: s.Lag, Files: s.Files, Sources: make(map[string]attachSource, len(s.Sources)),
		Verified: s.Verified, Refused: s.Refused,
		Node: attachedNode{
			Address: s.Node.Address, Version: s.Node.Version, Subversion: s.Node.Subversion,
			Chain:  s.Node.Chain,
			Blocks: s.Node.Blocks, Headers: s.Node.Headers, Best: s.Node.Tip.String(), Initial: s.Node.InitialDownload,
			PruneHeight: s.Node.PruneHeight, REST: s.Node.REST, FilterIndex: s.Node.FilterIndex,
		},
	}
	pool, err := ask.Ask(ctx, d.Pool, messages.GetCopiedPool{})
	if err != nil {
		return nil, err
	}
	info.Mempool = copiedPool{Size: pool.Txs, Bytes: pool.Bytes, Missing: pool.Missing, Reason: pool.Reason}
	if !pool.Updated.IsZero() {
		info.Mempool.Updated = pool.Updated.Unix()
	}
	for _, from := range s.Sources {
		info.Sources[from.Name] = attachSource{from.Blocks, from.Undo, from.Filters}
	}
	return info, nil
}
