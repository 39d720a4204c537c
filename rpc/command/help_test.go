package command_test

import (
	"context"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/rpc/command"
)

func TestUsage(t *testing.T) {
	need := func(name string, t command.Type) command.Param { return command.Param{Name: name, Type: t} }
	may := func(name string, t command.Type) command.Param {
		return command.Param{Name: name, Type: t, Optional: true}
	}
	tests := []struct {
		c    command.Command
		want string
	}{
		{scanBlocks, `scanblocks "action" ( [scanobjects,...] start_height stop_height "filtertype" options )`},
		{command.Command{Name: "uptime"}, `uptime`},
		{command.Command{
			Name: "m", Params: []command.Param{may("a", command.Number), need("b", command.Bool)},
		}, `m ( a ) b`},
		{command.Command{
			Name: "m", Params: []command.Param{need("a|b", command.Range), {Name: "c", Hidden: true}},
		}, `m a`},
		{
			command.Command{Name: "createrawtransaction", Params: []command.Param{
				{Name: "inputs", Type: command.Array, Inner: []command.Param{{
					Type: command.Object,
					Inner: []command.Param{
						need("txid", command.Hex), need("vout", command.Number), may("sequence", command.Number),
					},
				}}},
				{Name: "outputs", Type: command.Array, Inner: []command.Param{
					{Type: command.UserKeys, Inner: []command.Param{need("address", command.Amount)}},
					{Type: command.Object, Inner: []command.Param{need("data", command.Hex)}},
				}},
				may("locktime", command.Number), may("replaceable", command.Bool), may("version", command.Number),
			}},
			`createrawtransaction [{"txid":"hex","vout":n,"sequence":n},...] ` +
				`[{"address":amount,...},{"data":"hex"},...] ( locktime replaceable version )`,
		},
	}
	for _, test := range tests {
		if got := test.c.Usage(); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}

func TestHelp(t *testing.T) {
	if got := scanBlocks.Help(); got != scanBlocksHelp {
		t.Errorf("got\n%s\nwant\n%s", got, scanBlocksHelp)
	}
}

const scanBlocksHelp = `scanblocks "action" ( [scanobjects,...] start_height stop_height "filtertype" options )

Finds the blocks whose filter matches.

Arguments:
1. action                        (string, required) what to do
2. scanobjects                   (json array, optional) what to look for
     [
       "descriptor",             (string, optional) a descriptor
       {                         (json object, optional) a descriptor with a range
         "desc": "str",          (string, required) the descriptor
         "range": n or [n,n],    (numeric or array, optional, default=1000) end, or begin and end
       },
       ...
     ]
3. start_height                  (numeric, optional, default=0) first block
4. stop_height                   (numeric, optional, default=the tip) last block
5. filtertype                    (string, optional, default=basic) which filter
6. options                       (json object, optional) more

Named Arguments:
filter_false_positives    (boolean, optional, default=false) look into the blocks

Result (when action=='start'):
{                             (json object)
  "from_height" : n,          (numeric) first height
  "relevant_blocks" : [       (json array) the blocks
    "hex",                    (string) a block hash
    ...
  ],
  "completed" : true|false    (boolean) whether it ended by itself
}

Result (when action=='status' and there is no scan):
null    (json null)

Examples:
> trawl-cli scanblocks "start" '["raw(51)"]' 0
> trawl-cli scanblocks "status"
> curl --user myusername --data-binary '{"jsonrpc": "2.0", "id": "curltest", "method": "scanblocks", "params": ["start", ["raw(51)"], 0]}' -H 'content-type: application/json' http://127.0.0.1:8332/
> curl --user myusername --data-binary '{"jsonrpc": "2.0", "id": "curltest", "method": "scanblocks", "params": ["status"]}' -H 'content-type: application/json' http://127.0.0.1:8332/
`

func TestHelpList(t *testing.T) {
	uptime := command.Command{Name: "uptime", Category: command.Control, Run: answerArgs}
	table := newTable(t, uptime)
	const want = `== Blockchain ==
getblock "blockhash" ( verbosity )
scanblocks "action" ( [scanobjects,...] start_height stop_height "filtertype" options )

== Control ==
uptime`
	if got := table.Help(""); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := table.Help("nosuch"); got != "help: unknown command: nosuch" {
		t.Error(got)
	}
	if got := table.Help("uptime"); got != uptime.Help() {
		t.Error(got)
	}
}

// The words of another network stand in the help text of each method, also where that answers a wrong call.
func TestReword(t *testing.T) {
	table := newTable(t).Reword("trawl-cli", "other-cli", "getblock", "takeblock")
	if text := table.Help("getblock"); !strings.Contains(text, "takeblock") || strings.Contains(text, "getblock") {
		t.Error(text)
	}
	if text := table.Help("scanblocks"); !strings.Contains(text, "> other-cli scanblocks") {
		t.Error(text)
	}
}

// A method that was not used as it should be is told by its help, in the words of the table.
func TestMisuseIsAnsweredByHelp(t *testing.T) {
	table := newTable(t, command.Command{
		Name: "pay", Category: command.Wallet, Summary: "Pays.",
		Run: func(context.Context, *command.Args) (any, error) { return nil, command.Usage(command.InvalidParameter) },
	}).Reword("Pays", "Spends")
	call, err := table.Prepare(command.Caller{}, "pay", nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = call.Run(t.Context())
	shown, known := call.Reveal(err)
	if !known || shown.Code != command.InvalidParameter || shown.Message != table.Help("pay") ||
		!strings.Contains(shown.Message, "Spends.") {
		t.Errorf("revealed %v, %v", shown, known)
	}
}
