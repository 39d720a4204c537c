package walletrpc

import (
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

// block is the last block that a wallet has processed.
type block struct {
	Hash   chainhash.Hash `json:"hash"`
	Height int32          `json:"height"`
}

// lastBlockResult declares a [block].
var lastBlockResult = command.Result{
	Type: command.Object, Key: "lastprocessedblock", Help: "the block up to which this is true",
	Inner: []command.Result{
		{Type: command.Hex, Key: "hash", Help: "its hash"},
		{Type: command.Number, Key: "height", Help: "its height"},
	},
}

// Parameters that several methods have.
var (
	onStartupParam = command.Param{
		Name: "load_on_startup", Type: command.Bool, Optional: true,
		Help: "whether the wallet is loaded when the node starts; null leaves that as it is",
	}
	noWatchOnlyParam = command.Param{
		Name: "include_watchonly", Type: command.Bool, Default: "false", Help: "(DEPRECATED) has no effect",
	}
	minConfParam = command.Param{
		Name: "minconf", Type: command.Number, Default: "1",
		Help: "least number of confirmations of payments that count",
	}
	immatureParam = command.Param{
		Name: "include_immature_coinbase", Type: command.Bool, Default: "false",
		Help: "whether coinbase outputs count that are too young to be spent",
	}
)

// addressTypes is what help texts say of a type of addresses.
const addressTypes = `"legacy", "p2sh-segwit", "bech32" or "bech32m"`

// onStartup reads what is to become of a wallet when the node starts.
func onStartup(a *command.Args, i int) (messages.OnStartup, error) {
	if !a.Has(i) {
		return messages.LeaveOnStartup, nil
	}
	load, err := a.Bool(i)
	if load {
		return messages.LoadOnStartup, err
	}
	return messages.DontLoadOnStartup, err
}

// loaded is the result of methods that load a wallet.
type loaded struct {
	Name     string   `json:"name"`
	Warnings []string `json:"warnings,omitempty"`
}

// loadedResults declares a [loaded].
var loadedResults = []command.Result{{Type: command.Object, Inner: []command.Result{
	{Type: command.String, Key: "name", Help: "name of the wallet"},
	{
		Type: command.Array, Key: "warnings", Optional: true, Help: "what a person should know",
		Inner: []command.Result{{Type: command.String, Help: "a warning"}},
	},
}}}

// label reads a label. The name that stands for all labels is none.
func label(v *jsontree.Value) (string, error) {
	if v.IsNull() {
		return "", nil
	}
	text, err := v.AsString()
	if err == nil && text == "*" {
		err = command.Error{Code: command.WalletInvalidLabelName, Message: "Invalid label name"}
	}
	return text, err
}

// noResult declares methods that return nothing.
var noResult = []command.Result{{Type: command.Null}}
