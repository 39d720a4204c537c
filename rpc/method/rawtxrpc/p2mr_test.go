package rawtxrpc_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/method/rawtxrpc"
)

// TestRecordedP2MR plays calls as qbitd 1.0.0 answered them on its regtest, where
// outputs pay to P2MR only. Signatures are those of qbitd, bit by bit.
func TestRecordedP2MR(t *testing.T) {
	network, err := dialect.Named("qbit", "regtest", dialect.Choices{})
	if err != nil {
		t.Fatal(err)
	}
	table := rig(t, "regtest", true, func(d *rawtxrpc.Deps) { on(d, chaintest.NewOn(network), network) })
	calls := p2mrCalls(t)
	if len(calls) != 65 {
		t.Errorf("%d calls", len(calls))
	}
	for _, r := range calls {
		t.Run(r.Name, func(t *testing.T) {
			t.Parallel()
			result, fault := call(t, table, r.Request.Method, parse(t, string(r.Request.Params)))
			if !same(t, result, string(r.Response.Result)) || !same(t, fault, string(r.Response.Error)) {
				t.Errorf("got  %.600s %s\nwant %.600s %s", result, fault, r.Response.Result, r.Response.Error)
			}
		})
	}
}

// on has the methods work on a chain of a network.
func on(d *rawtxrpc.Deps, chain *chaintest.Chain, network *dialect.Network) {
	d.Network, d.Chain = network, new(chainview.Current)
	d.Chain.Set(chain)
}

// Outputs of later witness versions are signed for from the block on that may have them: the tip counts, not
// the block after it.
func TestPrevTxsOfLaterVersions(t *testing.T) {
	network, err := dialect.Named("qbit", "regtest", dialect.Choices{Activation: map[string]int32{"outerwitness": 2}})
	if err != nil {
		t.Fatal(err)
	}
	chain := chaintest.NewOn(network)
	table := rig(t, "regtest", true, func(d *rawtxrpc.Deps) { on(d, chain, network) })
	const (
		txid     = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		tx       = "0200000001" + txid + "00000000" + "00" + "ffffffff" + "01" + "00e1f50500000000" + "0151" + "00000000"
		refusal  = `{"code":-8,"message":"Only restricted-output-mode prevout scriptPubKeys are supported on this chain"}`
		program  = "20" + txid
		reserved = "60" + program
	)
	sign := func(script string) string {
		_, fault := call(t, table, "signrawtransactionwithkey",
			parse(t, `["`+tx+`", [], [{"txid":"`+txid+`","vout":0,"scriptPubKey":"`+script+`","amount":1}]]`))
		return fault
	}
	for height := range 4 {
		for script, first := range map[string]int{
			reserved: 2, "5302aaaa": 2, "51024e73": 0, "51" + program: 9, "6a": 9, "0014" + txid[:40]: 9,
			"53" + "01aa": 9, // no witness program
		} {
			want := refusal
			if height >= first {
				want = "null"
			}
			if got := sign(script); got != want {
				t.Errorf("tip %d, %s: %s", height, script, got)
			}
		}
		chain.MineN(1)
	}
}

// p2mrCall is one of the recorded calls.
type p2mrCall struct {
	Name    string
	Request struct {
		Method string
		Params json.RawMessage
	}
	Response struct{ Result, Error json.RawMessage }
}

func p2mrCalls(tb testing.TB) (calls []p2mrCall) {
	tb.Helper()
	file, err := os.Open("testdata/p2mr.jsonl.gz")
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		tb.Fatal(err)
	}
	lines := bufio.NewScanner(unzipped)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c p2mrCall
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			tb.Fatal(err)
		}
		calls = append(calls, c)
	}
	return calls
}

// same reports whether two JSON texts are equal but for spaces.
func same(tb testing.TB, got, want string) bool {
	tb.Helper()
	return encode(tb, parse(tb, got)) == encode(tb, parse(tb, want))
}

// FuzzP2MRLeaf: whatever a client says of a P2MR output and its key, it gets a
// result or an error in the reference's words.
func FuzzP2MRLeaf(f *testing.F) {
	for _, c := range p2mrCalls(f) {
		params := parse(f, string(c.Request.Params))
		if key := params.At(1).At(0); c.Request.Method == "signrawtransactionwithkey" && params.At(2).Len() > 0 {
			coin := params.At(2).At(0)
			f.Add(
				key.Text(), coin.Get("scriptPubKey").Text(), coin.Get("p2mrScript").Text(),
				coin.Get("p2mrControlBlock").Text(),
			)
		}
	}
	network, err := dialect.Named("qbit", "regtest", dialect.Choices{})
	if err != nil {
		f.Fatal(err)
	}
	table := rig(f, "regtest", true, func(d *rawtxrpc.Deps) { on(d, chaintest.NewOn(network), network) })
	tx := spend(f)
	f.Fuzz(func(t *testing.T, key, script, leaf, control string) {
		coin := jsontree.NewObject()
		coin.Add("vout", jsontree.NewInt(0))
		coin.Add("amount", jsontree.NewInt(1))
		for member, value := range map[string]string{
			"txid": txid, "scriptPubKey": script, "p2mrScript": leaf, "p2mrControlBlock": control,
		} {
			coin.Add(member, jsontree.NewString(value))
		}
		params := jsontree.NewArray(
			jsontree.NewString(tx), jsontree.NewArray(jsontree.NewString(key)), jsontree.NewArray(coin))
		if _, fault := call(t, table, "signrawtransactionwithkey", params); strings.Contains(fault, "-32603") {
			t.Error(fault)
		}
	})
}

// TestPacketsP2MR passes a packet that spends a P2MR output through all roles.
func TestPacketsP2MR(t *testing.T) {
	const desc = "mr(pk(pqc(tprv8ZgxMBicQKsPd7Uf69XL1XwhmjHopUGep8GuEiJDZmbQz6o58LninorQAfcKZWARbtRtfnLcJ5MQ2AtHcQJCCR" +
		"UcMRvmDUjyEmNUWwx8UbK/1/*)))"
	network, err := dialect.Named("qbit", "regtest", dialect.Choices{})
	if err != nil {
		t.Fatal(err)
	}
	branches, err := descriptor.Parse(desc, network.Descriptors(), descriptor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	scripts, err := branches[0].Expand(1)
	if err != nil {
		t.Fatal(err)
	}
	table := rig(t, "regtest", true, func(d *rawtxrpc.Deps) {
		on(d, chaintest.NewOn(network), network)
		d.Unspent = func(context.Context, *wire.OutPoint) (*wire.TxOut, error) {
			return wire.NewTxOut(100_000, scripts[0]), nil
		}
	})
	get := func(method, params string) *jsontree.Value {
		result, fault := call(t, table, method, parse(t, params))
		if fault != "null" {
			t.Fatalf("%s %s: %s", method, params, fault)
		}
		return parse(t, result)
	}
	quoted := func(v *jsontree.Value) string { return strconv.Quote(v.Text()) }
	input := func(packet *jsontree.Value) *jsontree.Value {
		return get("decodepsbt", "["+quoted(packet)+"]").Get("inputs").At(0)
	}
	created := get("createpsbt", fmt.Sprintf(`[[{"txid":%q,"vout":0}],[]]`, txid))
	updated := get("utxoupdatepsbt", fmt.Sprintf(`[%s,[{"desc":%q,"range":1}]]`, quoted(created), desc))
	shown := input(updated)
	if shown.Get("p2mr_scripts").Len() != 1 || shown.Get("p2mr_script_path_sigs") != nil ||
		shown.Get("p2mr_merkle_root").Text() != hex.EncodeToString(scripts[0][2:]) {
		t.Errorf("updated: %s", encode(t, shown))
	}
	lacks := get("analyzepsbt", "["+quoted(updated)+"]").Get("inputs").At(0)
	if lacks.Get("next").Text() != "signer" || lacks.Get("missing").Get("p2mr_signatures").Len() != 1 {
		t.Errorf("analysis: %s", encode(t, lacks))
	}
	signed := get("descriptorprocesspsbt",
		fmt.Sprintf(`[%s,[{"desc":%q,"range":1}],"ALL",true,false]`, quoted(updated), desc))
	shown = input(signed.Get("psbt"))
	if shown.Get("p2mr_script_path_sigs").Len() != 1 || shown.Get("sighash").Text() != "ALL" {
		t.Errorf("signed: %s", encode(t, shown))
	}
	combined := get("combinepsbt", fmt.Sprintf(`[[%s,%s]]`, quoted(updated), quoted(signed.Get("psbt"))))
	final := get("finalizepsbt", "["+quoted(combined)+"]")
	if complete, _ := final.Get("complete").AsBool(); complete { // of another hash type than the first copy says
		t.Errorf("final: %s", encode(t, final))
	}
	final = get("finalizepsbt", "["+quoted(signed.Get("psbt"))+"]")
	if complete, _ := final.Get("complete").AsBool(); !complete || final.Get("hex") == nil {
		t.Errorf("final: %s", encode(t, final))
	}
	refused := func(method, params string, want ...string) {
		began := time.Now()
		for _, want := range want {
			if _, fault := call(t, table, method, parse(t, params)); !strings.Contains(fault, want) {
				t.Errorf("%s %s: %s, want %s", method, params, fault, want)
			}
		}
		if took := time.Since(began); took > time.Minute { // a thousand keys take longer on any machine
			t.Errorf("%s %s: refused after %v", method, params, took)
		}
	}
	refused("descriptorprocesspsbt", fmt.Sprintf(`["00",[%q]]`, desc), "TX decode failed")
	refused("utxoupdatepsbt", fmt.Sprintf(`["00",[%q]]`, desc), "TX decode failed")
	refused("descriptorprocesspsbt", fmt.Sprintf(`[%s,[%q],"NONSENSE"]`, quoted(created), desc), "NONSENSE")
	refused("descriptorprocesspsbt", fmt.Sprintf(`["00",[%q,"mr(x)"],"NONSENSE"]`, desc), "A function is needed within P2MR")
	direct := get("descriptorprocesspsbt", fmt.Sprintf(`[%s,[{"desc":%q,"range":1}]]`, quoted(created), desc))
	if complete, _ := direct.Get("complete").AsBool(); !complete {
		t.Errorf("at once: %s", encode(t, direct))
	}
}
