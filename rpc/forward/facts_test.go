package forward

import (
	"context"
	"testing"

	"github.com/seed61375155/trawl/rpc/command"
)

// facts are those of methods of the node that tests call.
var facts = []command.Command{
	{Name: "scanblocks", About: command.Filters, Effect: command.Reads, At: command.Tip | command.Block},
	{Name: "getblockfilter", About: command.Filters, Effect: command.Reads, At: command.Block},
	{Name: "getindexinfo", About: command.Filters, Effect: command.Reads},
	{Name: "createsearch", About: command.Filters, Own: true},
	{Name: "getblockcount", About: command.Blocks, Effect: command.Reads, At: command.Tip},
	{Name: "getbestblockhash", About: command.Blocks, Effect: command.Reads, At: command.Tip},
	{Name: "waitfornewblock", About: command.Blocks, Effect: command.Reads, At: command.Tip},
	{Name: "getblockhash", About: command.Blocks, Effect: command.Reads, At: command.Block},
	{Name: "getblock", About: command.Blocks, Effect: command.Reads, At: command.Block | command.BlockOrCore},
	{Name: "getblockheader", About: command.Blocks, Effect: command.Reads, At: command.Block | command.BlockOrCore},
	{Name: "getblockstats", About: command.Blocks, Effect: command.Reads, At: command.Block | command.BlockOrCore},
	{Name: "getdescriptoractivity", About: command.Blocks, Effect: command.Reads, At: command.Block, Params: secret},
	{Name: "getmempoolinfo", About: command.State, Effect: command.Reads},
	{Name: "getrawmempool", About: command.State, Effect: command.Reads},
	{Name: "sendrawtransaction", About: command.State, Effect: command.MovesPool | command.SendsTx},
	{Name: "submitpackage", About: command.State, Effect: command.MovesPool},
	{Name: "generate", About: command.State, Effect: command.MovesTip},
	{Name: "generatetoaddress", About: command.State, Effect: command.MovesTip},
	{Name: "deriveaddresses", About: command.Pure, Effect: command.Reads, Params: secret},
	{Name: "signmessagewithprivkey", About: command.Pure, Params: secret},
	{Name: "decodescript", About: command.Pure, Effect: command.Reads},
	{Name: "validateaddress", About: command.Pure, Effect: command.Reads},
	{Name: "stop", About: command.Program, Effect: command.Ends},
	{Name: "help", About: command.Program, Effect: command.Reads},
	{Name: "uptime", About: command.Program, Effect: command.Reads},
	{Name: "getattachinfo", About: command.Program, Effect: command.Reads, At: command.Tip, Own: true},
	{Name: "getclusterinfo", About: command.Program, Effect: command.Reads, Own: true},
	{Name: "getbalance", About: command.Funds, Effect: command.Reads},
	{Name: "listwallets", About: command.Registry, Effect: command.Reads},
	{Name: "unloadwallet", About: command.Registry},
	{Name: "previewrestore", About: command.Registry, Effect: command.Reads, At: command.Tip, Own: true},
	{Name: "createwallet", About: command.Registry, Params: coming("wallet_name")},
	{Name: "loadwallet", About: command.Registry, Params: coming("filename")},
	{Name: "restorewallet", About: command.Registry, At: command.Tip, Params: coming("wallet_name")},
}

// secret is a parameter that may hold a key.
var secret = []command.Param{{Name: "descriptor", Type: command.String, Secret: true}}

func coming(name string) []command.Param {
	return []command.Param{{Name: name, Type: command.String, Kind: command.WalletName}}
}

// Facts returns a method of the node that tests call.
func Facts(name string) command.Command {
	for _, c := range facts {
		if c.Name == name {
			return c
		}
	}
	panic("no facts about " + name)
}

// Table returns a table of those methods that are wanted; nil: of all.
func Table(tb testing.TB, wanted func(*command.Command) bool) *command.Table {
	tb.Helper()
	var list []command.Command
	for _, c := range facts {
		c.Run = func(context.Context, *command.Args) (any, error) { return nil, nil } //nolint:nilnil // null
		if wanted == nil || wanted(&c) {
			list = append(list, c)
		}
	}
	t, err := command.NewTable(list)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}
