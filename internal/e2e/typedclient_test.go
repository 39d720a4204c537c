package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/e2e"
	"github.com/seed61375155/trawl/internal/e2e/jsonrpc"
)

// A typed is how a typed client reads replies: members by type. They are those of the crate corepc-types for version
// 31, which are generated from Core's own description. Members that version 32 shows no more are left out, and its new
// ones were added.
//
// A type is s, b, i or n for a text, a truth, a whole number or a number, and * for anything. [T is a list, and {T a
// map. Any other is the name of an object. A reply that is no object has = before its type. Members with ? may be
// missing.
type typed map[string]string

func readTyped(t *testing.T) typed {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "typed32.txt"))
	if err != nil {
		t.Fatal(err)
	}
	types := typed{}
	for line := range strings.Lines(string(text)) {
		name, members, _ := strings.Cut(strings.TrimSpace(line), " ")
		types[name] = members
	}
	return types
}

// check returns what such a client does not read: unknown members, missing ones, and other kinds of values.
func (t typed) check(at, kind string, v any) (faults []string) {
	wrong := func(is bool) []string {
		if is {
			return nil
		}
		return []string{fmt.Sprintf("%s is %v, want %s", at, v, kind)}
	}
	switch {
	case kind == "*":
		return nil
	case kind == "s":
		_, is := v.(string)
		return wrong(is)
	case kind == "b":
		_, is := v.(bool)
		return wrong(is)
	case kind == "n", kind == "i":
		n, is := v.(json.Number)
		if _, err := n.Int64(); kind == "i" && err != nil {
			is = false
		}
		return wrong(is)
	case kind[0] == '[':
		list, is := v.([]any)
		for i, v := range list {
			faults = append(faults, t.check(fmt.Sprintf("%s[%d]", at, i), kind[1:], v)...)
		}
		return append(faults, wrong(is)...)
	case kind[0] == '{':
		object, is := v.(map[string]any)
		for key, v := range object {
			faults = append(faults, t.check(at+"."+key, kind[1:], v)...)
		}
		return append(faults, wrong(is)...)
	}
	if other, ok := strings.CutPrefix(t[kind], "="); ok {
		return t.check(at, other, v)
	}
	return t.checkObject(at, kind, v)
}

func (t typed) checkObject(at, kind string, v any) (faults []string) {
	object, is := v.(map[string]any)
	if !is {
		return []string{fmt.Sprintf("%s is no object: %v", at, v)}
	}
	known := map[string]bool{}
	for member := range strings.FieldsSeq(t[kind]) {
		name, of, _ := strings.Cut(member, ":")
		name, optional := strings.CutSuffix(name, "?")
		known[name] = true
		if v, has := object[name]; has {
			faults = append(faults, t.check(at+"."+name, of, v)...)
		} else if !optional {
			faults = append(faults, at+"."+name+" is missing")
		}
	}
	for name := range object {
		if !known[name] {
			faults = append(faults, at+"."+name+" is unknown")
		}
	}
	return faults
}

// typedCalls are calls of a node with a wallet, in this order. Words that begin with $ stand for results that came
// before.
var typedCalls = []struct{ method, params, reads string }{
	{"createwallet", `["typed"]`, "CreateWallet"},
	{"getnewaddress", `["a"]`, "s"},
	{"generatetoaddress", `[104, "$getnewaddress"]`, "[s"},
	{"getbestblockhash", `[]`, "s"},
	{"getaddressinfo", `["$getnewaddress"]`, "GetAddressInfo"},
	{"validateaddress", `["$getnewaddress"]`, "ValidateAddress"},
	{"sendtoaddress", `["$getnewaddress", 1.5, "comment", "to", false, true, null, null, null, 5]`, "s"},
	{"getmempoolinfo", `[]`, "GetMempoolInfo"},
	{"getmempoolentry", `["$sendtoaddress"]`, "GetMempoolEntry"},
	{"getrawmempool", `[true]`, "{GetMempoolEntry"},
	{"getmempoolcluster", `["$sendtoaddress"]`, "GetMempoolCluster"},
	{"getmininginfo", `[]`, "GetMiningInfo"},
	{"getblocktemplate", `[{"rules":["segwit"]}]`, "GetBlockTemplateVariant2"},
	{"gettransaction", `["$sendtoaddress", true, true]`, "GetTransaction"},
	{"getrawtransaction", `["$sendtoaddress", 0]`, "s"},
	{"testmempoolaccept", `[["$getrawtransaction"]]`, "TestMempoolAccept"},
	{"decoderawtransaction", `["$getrawtransaction"]`, "DecodeRawTransaction"},
	{"getrawtransaction", `["$sendtoaddress", 2]`, "GetRawTransactionVerbose2"},
	{"getbalances", `[]`, "GetBalances"},
	{"generatetoaddress", `[1, "$getnewaddress"]`, "[s"},
	{"getbestblockhash", `[]`, "s"},
	{"getblockchaininfo", `[]`, "GetBlockchainInfo"},
	{"getblockheader", `["$getbestblockhash"]`, "GetBlockHeaderVerbose1"},
	{"getblock", `["$getbestblockhash"]`, "GetBlockVerbose1"},
	{"getblock", `["$getbestblockhash", 2]`, "GetBlockVerbose2"},
	{"getblock", `["$getbestblockhash", 3]`, "GetBlockVerbose3"},
	{"getblockstats", `["$getbestblockhash"]`, "GetBlockStats"},
	{"getchainstates", `[]`, "GetChainStates"},
	{"getchaintips", `[]`, "GetChainTips"},
	{"getchaintxstats", `[]`, "GetChainTxStats"},
	{"getdeploymentinfo", `[]`, "GetDeploymentInfo"},
	{"gettxout", `["$sendtoaddress", 0]`, "GetTxOutVariant1"},
	{"gettxoutsetinfo", `["muhash"]`, "GetTxOutSetInfo"},
	{"gettxspendingprevout", `[[{"txid":"$sendtoaddress","vout":0}]]`, "GetTxSpendingPrevout"},
	{"getnetworkinfo", `[]`, "GetNetworkInfo"},
	{"getpeerinfo", `[]`, "GetPeerInfo"},
	{"getnettotals", `[]`, "GetNetTotals"},
	{"getrawtransaction", `["$sendtoaddress", 1, "$getbestblockhash"]`, "GetRawTransactionVerbose1"},
	{"getwalletinfo", `[]`, "GetWalletInfo"},
	{"gettransaction", `["$sendtoaddress", true, true]`, "GetTransaction"},
	{"listtransactions", `[]`, "ListTransactions"},
	{"listsinceblock", `[]`, "ListSinceBlock"},
	{"listunspent", `[]`, "ListUnspent"},
	{"listdescriptors", `[true]`, "ListDescriptors"},
	{"gethdkeys", `[{"private":true}]`, "GetHdKeys"},
	{"estimatesmartfee", `[6]`, "EstimateSmartFee"},
	{"scantxoutset", `["start", ["addr($getnewaddress)"]]`, "ScanTxOutSetVariant0"},
	{"scanblocks", `["start", ["addr($getnewaddress)"]]`, "ScanBlocksVariant1"},
	{"getdescriptoractivity", `[["$getbestblockhash"], ["addr($getnewaddress)"]]`, "GetDescriptorActivity"},
	{"getdescriptorinfo", `["addr($getnewaddress)"]`, "GetDescriptorInfo"},
}

// A client that has a type for each reply of Core 32, and refuses members that it does not know, reads every reply. It
// does not read those of Core 30.
func TestTypedClient(t *testing.T) {
	t.Parallel()
	types := readTyped(t)
	unread := func(args ...string) (faults []string) {
		d := startRegtest(t, append([]string{"-blockfilterindex=1"}, args...)...)
		defer d.Stop()
		results := map[string]string{}
		for _, call := range typedCalls {
			result := typedCall(t, d, call.method, call.params, results)
			for _, fault := range types.check(call.method, call.reads, result) {
				faults = append(faults, call.method+" "+call.params+": "+fault)
			}
			if text, is := result.(string); is {
				results["$"+call.method] = text
			}
		}
		return faults
	}
	for _, fault := range unread("-core=32") {
		t.Error(fault)
	}
	old := strings.Join(unread("-core=30"), "\n")
	for _, want := range []string{
		"is no object: no such method", "coinbase_tx is missing", "bip125-replaceable is unknown",
		"fullrbf is unknown", "limitclustercount is missing",
		"script_flags is missing", "chunkweight is missing", "nonmempool is missing", "paytxfee is unknown",
	} {
		if !strings.Contains(old, want) {
			t.Errorf("as Core 30: nothing says %q:\n%s", want, old)
		}
	}
}

// typedCall makes a call with the results that came before.
func typedCall(t *testing.T, d *e2e.Daemon, method, params string, results map[string]string) any {
	t.Helper()
	names := make([]string, 0, len(results))
	for name := range results {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range slices.Backward(names) { // longer ones first
		params = strings.ReplaceAll(params, name, results[name])
	}
	var list []any
	if err := json.Unmarshal([]byte(params), &list); err != nil {
		t.Fatal(err)
	}
	var raw json.RawMessage
	err := d.Call(t.Context(), &raw, method, list...)
	if jsonrpc.IsError(err, -32601) {
		return "no such method"
	}
	if err != nil {
		t.Fatalf("%s %s: %v", method, params, err)
	}
	var result any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&result); err != nil {
		t.Fatal(err)
	}
	return result
}
