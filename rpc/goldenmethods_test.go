package rpc

import (
	"context"
	"testing"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
)

// genesis is the hash of the only block of the recorded node.
const genesis = "0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206"

// onlyDeclaredCode answers calls of methods that are only declared here.
const onlyDeclaredCode = "-999"

// declared is a method whose arguments are checked and that does nothing.
func declared(name string, params ...command.Param) command.Command {
	return command.Command{Name: name, Params: params, Run: func(context.Context, *command.Args) (any, error) {
		return nil, command.Error{Code: -999, Message: name}
	}}
}

// fixed is a method that always answers the same.
func fixed(name string, result any, params ...command.Param) command.Command {
	return command.Command{Name: name, Params: params, Run: func(context.Context, *command.Args) (any, error) {
		return result, nil
	}}
}

func need(name string, t command.Type) command.Param { return command.Param{Name: name, Type: t} }

func may(name string, t command.Type) command.Param {
	return command.Param{Name: name, Type: t, Optional: true}
}

// goldenTable is what the recorded cases call.
func goldenTable(t *testing.T) *command.Table {
	t.Helper()
	table, err := command.NewTable(goldenChain, goldenOthers)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

var goldenChain = []command.Command{
	fixed("getblockcount", 0),
	fixed("getbestblockhash", genesis),
	fixed("getindexinfo", jsontree.Members{}, may("index_name", command.String)),
	{Name: "getblockhash", Params: []command.Param{need("height", command.Number)}, Run: goldenBlockHash},
	{Name: "scanblocks", Params: []command.Param{
		need("action", command.String),
		{Name: "scanobjects", Type: command.Array, Optional: true, Usage: "[scanobjects,...]"},
		may("start_height", command.Number),
		may("stop_height", command.Number),
		may("filtertype", command.String),
		{
			Name: "options", Type: command.NamedOptions, Optional: true, Usage: "options",
			Inner: []command.Param{may("filter_false_positives", command.Bool)},
		},
	}, Run: goldenScan},
}

func goldenBlockHash(_ context.Context, a *command.Args) (any, error) {
	height, err := a.Int32(0)
	if err != nil {
		return nil, err
	}
	if height != 0 {
		return nil, command.Error{Code: command.InvalidParameter, Message: "Block height out of range"}
	}
	return genesis, nil
}

func goldenScan(_ context.Context, a *command.Args) (any, error) {
	action, err := a.String(0)
	if err != nil || action == "status" {
		return nil, err
	}
	return nil, command.Errorf(command.InvalidParameter, "Invalid action '%s'", action)
}

var goldenOthers = []command.Command{
	declared("getdescriptorinfo", need("descriptor", command.String)),
	declared("deriveaddresses", need("descriptor", command.String), may("range", command.Range)),
	declared("disconnectnode", may("address", command.String), may("nodeid", command.Number)),
	declared("getblockheader", need("blockhash", command.String), may("verbose", command.Bool)),
	declared("getblockfilter", need("blockhash", command.String), may("filtertype", command.String)),
	declared("decoderawtransaction", need("hexstring", command.String), may("iswitness", command.Bool)),
	declared("validateaddress", need("address", command.String)),
	declared("createrawtransaction", goldenTxParams...),
	declared("restorewallet",
		need("wallet_name", command.String), need("backup_file", command.String), may("load_on_startup", command.Bool)),
	declared("loadwallet", need("filename", command.String), may("load_on_startup", command.Bool)),
	declared("unloadwallet", may("wallet_name", command.String), may("load_on_startup", command.Bool)),
	declared("createwallet",
		need("wallet_name", command.String), may("disable_private_keys", command.Bool), may("blank", command.Bool),
		may("passphrase", command.String), may("avoid_reuse", command.Bool), may("descriptors", command.Bool),
		may("load_on_startup", command.Bool), may("external_signer", command.Bool)),
	declared("listlabels", may("purpose", command.String)),
	fixed("listwallets", []string{}),
}

var goldenTxParams = []command.Param{
	{Name: "inputs", Type: command.Array, Inner: []command.Param{
		{Type: command.Object, Inner: []command.Param{
			need("txid", command.Hex), need("vout", command.Number), need("sequence", command.Number),
		}},
	}},
	{Name: "outputs", Type: command.Array, AnyType: true, Inner: []command.Param{
		{Type: command.UserKeys, Inner: []command.Param{need("address", command.Amount)}},
		{Type: command.Object, Inner: []command.Param{need("data", command.Hex)}},
	}},
	may("locktime", command.Number),
	may("replaceable", command.Bool),
	may("version", command.Number),
}
