package searchrpc_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/searchrpc"
)

// scripts answers with given values, and keeps the last question.
type scripts struct {
	page    messages.ScriptPage
	balance messages.ScriptBalance
	err     error
	asked   string
}

func (s *scripts) History(_ context.Context, q messages.GetScriptHistory) (messages.ScriptPage, error) {
	s.asked = fmt.Sprintf("%x %q %d", q.Script, q.Cursor, q.Limit)
	return s.page, s.err
}

func (s *scripts) Balance(_ context.Context, script []byte) (messages.ScriptBalance, error) {
	s.asked = hex.EncodeToString(script)
	return s.balance, s.err
}

// callScripts calls a method of a node with such an index, nil for none, and returns the reply, or the error.
func callScripts(t *testing.T, x messages.Scripts, method, params string) string {
	t.Helper()
	net, err := dialect.Named("", "regtest", dialect.Choices{})
	if err != nil {
		t.Fatal(err)
	}
	table, err := command.NewTable(searchrpc.Commands(searchrpc.Deps{Network: net, Scripts: x}))
	if err != nil {
		t.Fatal(err)
	}
	reply, err := table.Do(t.Context(), command.Caller{}, method, json.RawMessage(params))
	if err != nil {
		var told command.Error
		if !errors.As(err, &told) {
			return "not told: " + err.Error()
		}
		return fmt.Sprint(told.Code, " ", told.Message)
	}
	return string(reply)
}

func TestScriptReplies(t *testing.T) {
	hash := func(n byte) (h chainhash.Hash) { h[31] = n; return h }
	entry := messages.SearchEntry{
		Type: messages.SearchReceive, Height: 7, Block: hash(7), Time: time.Unix(1_600_000_000, 0), Amount: 150_000_000,
		TxID: hash(1), N: 2, Script: []byte{0x51}, Index: -1,
	}
	spend := entry
	spend.Type, spend.Height, spend.PrevTxID, spend.PrevVout = messages.SearchSpend, 8, hash(1), 2
	x := &scripts{
		page: messages.ScriptPage{
			Entries: []messages.SearchEntry{entry, spend}, Cursor: "c", More: true, Height: 9, Block: hash(9),
		},
		balance: messages.ScriptBalance{
			Balance: 1, Received: 3, Spent: 2, Outputs: 5, Spends: 4, Height: 9, Block: hash(9),
		},
	}
	const zeros = "00000000000000000000000000000000000000000000000000000000000000"
	const script = `{"asm":"1","desc":"raw(51)#8lvh9jxk","hex":"51","type":"nonstandard"}`
	const history = `{"entries":[{"type":"receive","amount":1.50000000,"blockhash":"07` + zeros + `","height":7,"txid":"01` + zeros +
		`","vout":2,"output_spk":` + script + `,"time":1600000000},{"type":"spend","amount":1.50000000,"blockhash":"07` + zeros +
		`","height":8,"spend_txid":"01` + zeros + `","spend_vin":2,"prevout_txid":"01` + zeros + `","prevout_vout":2,"prevout_spk":` +
		script + `,"time":1600000000}],"cursor":"c","more":true,"height":9,"blockhash":"09` + zeros + `"}`
	const balance = `{"balance":0.00000001,"received":0.00000003,"spent":0.00000002,"outputs":5,"spends":4,"height":9,"blockhash":"09` +
		zeros + `"}`
	for _, test := range []struct{ method, params, asked, reply string }{
		{"getscripthistory", `["51"]`, `51 "" 1000`, history},
		{"getscripthistory", `["51","c",10000]`, `51 "c" 10000`, history},
		{"getscripthistory", `{"script":"","limit":1}`, ` "" 1`, history},
		{"getscripthistory", `["51","",0]`, "", "-8 limit must be 1 to 10000"},
		{"getscripthistory", `["51","",10001]`, "", "-8 limit must be 1 to 10000"},
		{"getscriptbalance", `["bcrt1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqdku202"]`, "00140000000000000000000000000000000000000000", balance},
		{"getscriptbalance", `["bc1q09vm5lfy0j5reeulh4x5752q25uqqvz34hufdl"]`, "", "-5 Neither an address nor a script in hex"},
		{"getscriptbalance", `["5"]`, "", "-5 Neither an address nor a script in hex"},
	} {
		x.asked = ""
		if got := callScripts(t, x, test.method, test.params); got != test.reply || x.asked != test.asked {
			t.Errorf("%s %s: asked %q\n%s\nwant %q\n%s", test.method, test.params, x.asked, got, test.asked, test.reply)
		}
	}
	for _, test := range []struct {
		err  error
		want string
	}{
		{messages.ErrBadCursor, "-8 Invalid cursor"},
		{messages.ErrScriptUnspendable, "-8 scripts that begin with OP_RETURN are not indexed"},
		{&messages.HistoryTooLargeError{Blocks: 100_001, Most: 100_000}, "-1 history too large: 100001 blocks, at most 100000 are read"},
		{&messages.ScriptIndexBehindError{Height: -1, Tip: 20}, "-1 the index of scripts is at height -1 of 20"},
		{messages.ErrTipMoved, "-1 the tip has moved"},
		{fmt.Errorf("block: %w", chainview.ErrPruned), "-1 Block not available (pruned data)"},
		{fmt.Errorf("block: %w", chainview.ErrUnreadable), "-1 A block of the history cannot be read"},
	} {
		x.err = test.err
		for _, method := range []string{"getscripthistory", "getscriptbalance"} {
			if got := callScripts(t, x, method, `["51"]`); got != test.want {
				t.Errorf("%s, %v: %s, want %s", method, test.err, got, test.want)
			}
		}
	}
	const missing = "-1 Histories of scripts need the script index (-scriptindex)"
	for _, method := range []string{"getscripthistory", "getscriptbalance"} {
		if got := callScripts(t, nil, method, `["51"]`); got != missing {
			t.Errorf("%s without the index: %s", method, got)
		}
	}
}
