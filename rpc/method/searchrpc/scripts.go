package searchrpc

import (
	"context"
	"encoding/hex"
	"errors"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

const exampleAddress = `"bc1q09vm5lfy0j5reeulh4x5752q25uqqvz34hufdl"`

var scriptParam = command.Param{
	Name: "script", Type: command.String, Help: "an output script in hex, or an address",
}

// script reads a script. A text that is both hex and an address is an address.
func (d *Deps) script(a *command.Args) ([]byte, error) {
	text, err := a.String(0)
	if err != nil {
		return nil, err
	}
	script, err := descriptor.ScriptOfAddress(text, d.Network.Descriptors())
	if err == nil {
		return script, nil
	}
	if script, err = hex.DecodeString(text); err != nil {
		return nil, command.Errorf(command.InvalidAddressOrKey, "Neither an address nor a script in hex")
	}
	return script, nil
}

type scriptPage struct {
	Entries []any          `json:"entries"`
	Cursor  string         `json:"cursor"`
	More    bool           `json:"more"`
	Height  int32          `json:"height"`
	Hash    chainhash.Hash `json:"blockhash"`
}

func getScriptHistory(d *Deps, p *Printer) command.Command {
	return command.Command{
		Name: "getscripthistory", Category: command.Blockchain,
		About: command.Filters, Effect: command.Reads, At: command.Tip, Own: true,
		Summary: "Returns what was paid to a script and spent from it, in the order of the chain. It needs " +
			"-scriptindex.\nThe index says in which blocks the script may be, and these blocks are read: the list is " +
			"exact as of \"blockhash\".\nUnconfirmed transactions and the output of the genesis block are left out. " +
			"A script that is in more than 100,000 blocks is refused.",
		Params: []command.Param{
			scriptParam, {
				Name: "cursor", Type: command.String, Default: `""`,
				Help: "from where on, as an earlier reply had it; empty: from the beginning. Where the cursor's " +
					"block has left the chain, begin anew",
			},
			{Name: "limit", Type: command.Number, Default: "1000", Help: "how many entries at most, up to 10000"},
		},
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.Array, Key: "entries", Help: "in their order", Inner: historyResults()},
			{Type: command.String, Key: "cursor", Help: "behind the last entry"},
			{Type: command.Bool, Key: "more", Help: "whether there are more"},
			{Type: command.Number, Key: "height", Help: "of the last block of the chain that was looked at"},
			{Type: command.Hex, Key: "blockhash", Help: "its hash"},
		}}},
		Examples: []string{`[` + exampleAddress + `]`, `[` + exampleAddress + `, "", 100]`},
		Run: func(ctx context.Context, a *command.Args) (any, error) {
			script, err := d.script(a)
			if err != nil {
				return nil, err
			}
			q := messages.GetScriptHistory{Script: script}
			if q.Cursor, err = a.StringOr(1, ""); err != nil {
				return nil, err
			}
			if q.Limit, err = limitArg(a, 2); err != nil {
				return nil, err
			}
			page, err := d.scripts().History(ctx, q)
			if err != nil {
				return nil, scriptFailure(err)
			}
			shown := scriptPage{make([]any, len(page.Entries)), page.Cursor, page.More, page.Height, page.Block}
			for i := range page.Entries {
				shown.Entries[i] = p.historyEntry(&page.Entries[i])
			}
			return shown, nil
		},
	}
}

// historyResults are the results of a search's entries, without the scan object.
func historyResults() []command.Result {
	list := make([]command.Result, len(txResults))
	for i, r := range txResults {
		list[i] = r
		list[i].Inner = nil
		for _, inner := range r.Inner {
			if inner.Key != "desc" && inner.Key != "index" {
				inner.Optional = false
				list[i].Inner = append(list[i].Inner, inner)
			}
		}
	}
	return list
}

type scriptBalance struct {
	Balance  jsontree.Amount `json:"balance"`
	Received jsontree.Amount `json:"received"`
	Spent    jsontree.Amount `json:"spent"`
	Outputs  int             `json:"outputs"`
	Spends   int             `json:"spends"`
	Height   int32           `json:"height"`
	Hash     chainhash.Hash  `json:"blockhash"`
}

func getScriptBalance(d *Deps) command.Command {
	return command.Command{
		Name: "getscriptbalance", Category: command.Blockchain,
		About: command.Filters, Effect: command.Reads, At: command.Tip, Own: true,
		Summary: "Returns what is paid to a script and unspent, without unconfirmed transactions. It needs " +
			"-scriptindex, and reads all blocks\nthat the script is in: the numbers are exact as of \"blockhash\". A " +
			"script that is in more than 100,000 blocks is refused.",
		Params: []command.Param{scriptParam},
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.Amount, Key: "balance", Help: "of the unspent outputs"},
			{Type: command.Amount, Key: "received", Help: "of all outputs that have paid to it"},
			{Type: command.Amount, Key: "spent", Help: "of those that were spent"},
			{Type: command.Number, Key: "outputs", Help: "how many outputs have paid to it"},
			{Type: command.Number, Key: "spends", Help: "how many of them were spent"},
			{Type: command.Number, Key: "height", Help: "of the last block of the chain that was looked at"},
			{Type: command.Hex, Key: "blockhash", Help: "its hash"},
		}}},
		Examples: []string{`[` + exampleAddress + `]`},
		Run: func(ctx context.Context, a *command.Args) (any, error) {
			script, err := d.script(a)
			if err != nil {
				return nil, err
			}
			b, err := d.scripts().Balance(ctx, script)
			if err != nil {
				return nil, scriptFailure(err)
			}
			return scriptBalance{
				jsontree.Amount(b.Balance), jsontree.Amount(b.Received), jsontree.Amount(b.Spent), b.Outputs, b.Spends,
				b.Height, b.Block,
			}, nil
		},
	}
}

// noScripts is where there is no index.
type noScripts struct{}

func (noScripts) History(context.Context, messages.GetScriptHistory) (messages.ScriptPage, error) {
	return messages.ScriptPage{}, messages.ErrNoScriptIndex
}

func (noScripts) Balance(context.Context, []byte) (messages.ScriptBalance, error) {
	return messages.ScriptBalance{}, messages.ErrNoScriptIndex
}

func (d *Deps) scripts() messages.Scripts {
	if d.Scripts == nil {
		return noScripts{}
	}
	return d.Scripts
}

// scriptFailure puts an error into words for the client.
func scriptFailure(err error) error {
	var behind *messages.ScriptIndexBehindError
	var large *messages.HistoryTooLargeError
	switch {
	case errors.Is(err, messages.ErrNoScriptIndex):
		return command.Error{
			Code: command.MiscError, Message: "Histories of scripts need the script index (-scriptindex)",
		}
	case errors.As(err, &behind), errors.As(err, &large), errors.Is(err, messages.ErrTipMoved):
		return command.Error{Code: command.MiscError, Message: err.Error()}
	case errors.Is(err, chainview.ErrPruned):
		return command.Error{Code: command.MiscError, Message: "Block not available (pruned data)"}
	case errors.Is(err, chainview.ErrUnreadable), errors.Is(err, chainview.ErrNotFound):
		return command.Error{Code: command.MiscError, Message: "A block of the history cannot be read"}
	}
	if _, ok := errors.AsType[messages.Refusal](err); ok {
		return command.Error{Code: command.InvalidParameter, Message: err.Error()}
	}
	return err
}
