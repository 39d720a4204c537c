package trawl_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/seed61375155/trawl"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc"
	"github.com/seed61375155/trawl/rpc/command"
)

// serve has a server answer for the node, and returns what calls it.
func serve(t *testing.T, node *trawl.Node) func(wallet, method, params string) (result, failure string) {
	t.Helper()
	server, err := rpc.NewServer(rpc.Config{User: "u", Password: "p"})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve() }()
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		if err := errors.Join(server.Shutdown(context.Background()), <-served); err != nil {
			t.Error(err)
		}
	})
	table, err := node.Methods(trawl.Host{})
	if err != nil {
		t.Fatal(err)
	}
	server.Ready(table)
	url := "http://" + server.Addrs()[0].String() + "/"
	return func(wallet, method, params string) (string, string) {
		t.Helper()
		body := `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+wallet, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.SetBasicAuth("u", "p")
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		var reply struct {
			Result json.RawMessage
			Error  json.RawMessage
		}
		if err := json.NewDecoder(answer.Body).Decode(&reply); err != nil {
			t.Fatal(err)
		}
		return string(reply.Result), string(reply.Error)
	}
}

// Methods answer in the process as over HTTP: results, errors, checks of arguments,
// wallets.
func TestCallIsRPC(t *testing.T) {
	cfg := follower(t)
	cfg.BlockFilterIndex, cfg.Wallets = true, &trawl.WalletConfig{KeyPool: 1}
	node := open(t, cfg)
	overHTTP := serve(t, node)
	generate(t, node, []byte{0x51}, 3)
	if _, err := trawl.Ask(
		t.Context(), node.Indexer(), messages.WaitIndexed{Block: node.Blocks().Tip().Hash},
	); err != nil {
		t.Fatal(err)
	}
	if _, err := node.Call(t.Context(), "createwallet", map[string]any{"wallet_name": "one"}); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ wallet, method, params string }{
		{"", "getblockcount", `[]`},
		{"", "getblockcount", `null`},
		{"", "getblockhash", `[2]`},
		{"", "getblockhash", `{"height":2}`},
		{"", "getblockhash", `[99]`},
		{"", "getblockhash", `["x"]`},
		{"", "getblockhash", `[]`},
		{"", "getblockhash", `{"hight":2}`},
		{"", "getblock", `["` + node.Blocks().Tip().Hash.String() + `",2]`},
		{"", "getblock", `["` + strings.Repeat("0", 64) + `"]`},
		{"", "nonsense", `[]`},
		{"", "getblockcount", `"x"`},
		{"", "getdescriptorinfo", `["raw(51)"]`},
		{"", "scanblocks", `["start",["raw(51)"]]`},
		{"", "scanblocks", `["status"]`},
		{"", "scanblocks", `["abort"]`},
		{"", "scanblocks", `["start",["raw(5)"]]`},
		{"", "createrawtransaction", `[[],[]]`},
		{"", "getwalletinfo", `[]`},
		{"wallet/one", "getbalances", `[]`},
		{"wallet/one", "listdescriptors", `[true]`},
		{"wallet/two", "getbalances", `[]`},
		{"", "stop", `[]`},
	} {
		var opts []trawl.CallOption
		if name, ok := strings.CutPrefix(test.wallet, "wallet/"); ok {
			opts = append(opts, trawl.ForWallet(name))
		}
		result, failure := overHTTP(test.wallet, test.method, test.params)
		got, err := node.Call(t.Context(), test.method, json.RawMessage(test.params), opts...)
		if failure == "" {
			if err != nil || string(got) != result {
				t.Errorf("%s %s: %s, %v; over HTTP %s", test.method, test.params, got, err, result)
			}
			continue
		}
		told, ok := errors.AsType[trawl.CallError](err)
		var text bytes.Buffer
		encoder := json.NewEncoder(&text)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(told); err != nil {
			t.Fatal(err)
		}
		if !ok || strings.TrimSpace(text.String()) != failure {
			t.Errorf("%s %s: %s, %v; over HTTP %s", test.method, test.params, got, err, failure)
		}
	}
}

// A scan that is started in the process is seen, and aborted, by others.
func TestCallScan(t *testing.T) {
	cfg := follower(t)
	cfg.BlockFilterIndex = true
	node := open(t, cfg)
	slot, err := trawl.Ask(t.Context(), node.Scanner(), messages.ReserveScan{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = node.Call(t.Context(), "scanblocks", []any{"start", []string{"raw(51)"}})
	if told, ok := errors.AsType[trawl.CallError](err); !ok || told.Code != -8 || !errors.Is(err, told) {
		t.Error(err)
	}
	var value trawl.CallError
	var pointer *trawl.CallError
	if !errors.As(err, &value) || !errors.As(err, &pointer) || *pointer != value || value.Code != -8 {
		t.Errorf("%v, %v of %v", value, pointer, err)
	}
	if got, err := node.Call(t.Context(), "scanblocks", []any{"abort"}); err != nil || string(got) != "true" {
		t.Error(string(got), err)
	}
	// Aborted before it began, it ends at once.
	found, err := trawl.Ask(t.Context(), node.Scanner(), messages.RunScan{
		Slot: slot.ID, Scripts: [][]byte{{0x51}}, Stop: node.Blocks().Tip().Hash,
	})
	if err != nil || found.Completed {
		t.Error(found, err)
	}
}

// A call ends with its context, and after Close with what clients are told.
func TestCallEnds(t *testing.T) {
	node := open(t, follower(t))
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("gone")
	ended := make(chan error, 1)
	go func() {
		_, err := node.Call(ctx, "waitforblockheight", []any{5})
		ended <- err
	}()
	cancel(gone)
	if err := <-ended; !errors.Is(err, gone) {
		t.Error(err)
	}
	if _, err := node.Call(t.Context(), "getblockcount", func() {}); err == nil {
		t.Error("a function is no argument")
	}
	shut(t, node)
	_, err := node.Call(t.Context(), "getmempoolinfo", nil)
	if told, ok := errors.AsType[trawl.CallError](err); !ok || told.Code != -9 || !errors.Is(err, trawl.ErrStopped) {
		t.Error(err)
	}
}

// After Close nobody is told that there are no wallets, or that a block or a transaction
// is damaged or missing: its files are only not read any more.
func TestCallsAfterClose(t *testing.T) {
	cfg := follower(t)
	cfg.TxIndex, cfg.Wallets = true, new(trawl.WalletConfig)
	node := open(t, cfg)
	var mined []string
	if err := unmarshal(t, node, &mined, "generatetodescriptor", 2, "raw(51)"); err != nil {
		t.Fatal(err)
	}
	var block struct{ Tx []string }
	if err := unmarshal(t, node, &block, "getblock", mined[0]); err != nil {
		t.Fatal(err)
	}
	table, err := node.Methods(trawl.Host{})
	if err != nil {
		t.Fatal(err)
	}
	shut(t, node)
	for _, call := range []struct {
		method string
		params []any
	}{
		{"listwallets", nil},
		{"getblock", []any{mined[0], 0}},
		{"getblock", []any{mined[0], 2}},
		{"getblockstats", []any{1}},
		{"getdescriptoractivity", []any{mined, []string{"raw(51)"}, false}},
		{"getrawtransaction", []any{block.Tx[0], 0, mined[0]}},
		{"getrawtransaction", []any{block.Tx[0]}},
	} {
		_, err := node.Call(t.Context(), call.method, call.params)
		told, ok := errors.AsType[trawl.CallError](err)
		if !ok || told.Code != -9 || told.Message != "Shutting down" || !errors.Is(err, trawl.ErrClosed) {
			t.Errorf("%s %v: %v", call.method, call.params, err)
		}
		if call.method == "listwallets" {
			continue
		}
		// A server may outlive the chain, which is opened again after a failure.
		params, err := json.Marshal(call.params)
		if err != nil {
			t.Fatal(err)
		}
		_, err = table.Do(t.Context(), command.Caller{}, call.method, params)
		if told, ok := errors.AsType[trawl.CallError](err); !ok || told.Code != -28 && told.Code != -9 {
			t.Errorf("%s %v: %v", call.method, call.params, err)
		}
	}
}

// unmarshal calls a method and reads its result.
func unmarshal(t *testing.T, node *trawl.Node, result any, method string, params ...any) error {
	t.Helper()
	answer, err := node.Call(t.Context(), method, params)
	if err != nil {
		return err
	}
	return json.Unmarshal(answer, result)
}

// callText calls a method whose result is a text.
func callText(t *testing.T, node *trawl.Node, method string, params ...any) (text string) {
	t.Helper()
	if err := unmarshal(t, node, &text, method, params...); err != nil {
		t.Fatal(err)
	}
	return text
}
