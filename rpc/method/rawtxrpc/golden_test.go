package rawtxrpc_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/hex"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/txbuilder"
	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/rawtxrpc"
)

// emptyOutputs marks recorded calls without outputs, which Core accepts.
const emptyOutputs = "empty-outputs"

// recorded is a call as Core 30.2 answered it.
type recorded struct {
	Name     string
	Request  string
	Response string
	Later    string // the error of later versions, where they refuse
	Tags     []string
	Coins    []recordedCoin // unspent outputs that the call could see
	Block    string         // in place of a call: a block of the chain
}

type recordedCoin struct {
	TxID   string
	Vout   uint32
	Value  int64
	Script string
}

// rig is the methods over a builder, and an empty chain unless change sets one.
func rig(tb testing.TB, chain string, allowNoOutputs bool, change ...func(*rawtxrpc.Deps)) *command.Table {
	tb.Helper()
	network, err := dialect.Bitcoin(chain)
	if err != nil {
		tb.Fatal(err)
	}
	sys := actortest.New(tb)
	builder := sys.Spawn("txbuilder", txbuilder.New(txbuilder.Config{
		Net: descriptor.NetworkOf(network.Params), AllowNoOutputs: allowNoOutputs,
	}))
	deps := rawtxrpc.Deps{
		Network: network, Chain: new(chainview.Current), Builder: builder, Pool: sys.EmptyPool(), Currency: "Bitcoin",
	}
	for _, c := range change {
		c(&deps)
	}
	table, err := command.NewTable(rawtxrpc.Commands(deps))
	if err != nil {
		tb.Fatal(err)
	}
	return table
}

// call makes a call and returns the text of its result or of its error.
func call(tb testing.TB, table *command.Table, method string, params *jsontree.Value) (result, fault string) {
	tb.Helper()
	prepared, err := table.Prepare(command.Caller{}, method, params)
	var value any
	if err == nil {
		value, err = prepared.Run(tb.Context())
	}
	if err != nil {
		e, _ := table.Reveal(err)
		return "null", encode(tb, e)
	}
	return encode(tb, value), "null"
}

func encode(tb testing.TB, v any) string {
	tb.Helper()
	text, err := jsontree.Append(nil, v)
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

func parse(tb testing.TB, text string) *jsontree.Value {
	tb.Helper()
	v, err := jsontree.Parse([]byte(text))
	if err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
	return v
}

// TestRecorded replays recorded calls of createrawtransaction and
// decoderawtransaction.
func TestRecorded(t *testing.T) {
	for _, chain := range []string{"regtest", "main"} {
		for name, allow := range map[string]bool{"core": true, "ours": false} {
			t.Run(chain+"/"+name, func(t *testing.T) {
				t.Parallel()
				table := rig(t, chain, allow)
				replayed := 0
				for _, c := range readRecorded(t, chain) {
					replay(t, table, &c, allow)
					replayed++
				}
				if want := map[string]int{"regtest": 989, "main": 785}[chain]; replayed != want {
					t.Errorf("replayed %d calls, want %d", replayed, want)
				}
			})
		}
	}
}

func readRecorded(t *testing.T, chain string) []recorded {
	t.Helper()
	file, err := os.Open("testdata/" + chain + ".jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	plain, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []recorded
	lines := bufio.NewScanner(plain)
	lines.Buffer(nil, 1<<22)
	for lines.Scan() {
		var c recorded
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

func replay(t *testing.T, table *command.Table, c *recorded, allowNoOutputs bool) {
	t.Helper()
	request, response := parse(t, c.Request), parse(t, c.Response)
	result, fault := call(t, table, request.Get("method").Text(), request.Get("params"))
	wantResult, wantFault := response.Get("result").String(), response.Get("error").String()
	if !allowNoOutputs && slices.Contains(c.Tags, emptyOutputs) {
		wantResult, wantFault = "null", `{"code":-8,"message":"Invalid parameter, at least one output is required"}`
	}
	if c.Later != "" {
		wantResult, wantFault = "null", c.Later
	}
	if usage, isHelp := strings.CutSuffix(wantFault, helpCut); isHelp { // in our own words but for the usage line
		fault, _, _ = strings.Cut(fault, `\n`)
		wantFault = usage
	}
	if result != wantResult || fault != wantFault {
		t.Errorf("%s: %s\ngot  %s %s\nwant %s %s", c.Name, c.Request, result, fault, wantResult, wantFault)
	}
}

// TestRecordedRegtest replays recorded calls of the other methods, on a chain
// that has nothing but its genesis block.
func TestRecordedRegtest(t *testing.T) {
	table := rig(t, "regtest", true, func(d *rawtxrpc.Deps) {
		d.Chain.Set(chaintest.New(d.Network.Params))
	})
	for _, c := range readRecorded(t, "core") {
		replay(t, table, &c, true)
	}
}

// TestRecordedChain replays recorded calls on a chain with transactions of most
// kinds of outputs.
func TestRecordedChain(t *testing.T) {
	unspent := map[wire.OutPoint]*wire.TxOut{}
	var chain *chaintest.Chain
	table := rig(t, "regtest", true, func(d *rawtxrpc.Deps) {
		chain = chaintest.New(d.Network.Params)
		d.Chain.Set(chain)
		d.Unspent = func(_ context.Context, at *wire.OutPoint) (*wire.TxOut, error) { return unspent[*at], nil }
	})
	for _, c := range readRecorded(t, "chain") {
		if c.Block != "" {
			if _, err := chain.Add(unhex(t, c.Block)); err != nil {
				t.Fatal(err)
			}
			continue
		}
		clear(unspent)
		for _, coin := range c.Coins {
			hash, err := chainhash.NewHashFromStr(coin.TxID)
			if err != nil {
				t.Fatal(err)
			}
			unspent[wire.OutPoint{Hash: *hash, Index: coin.Vout}] = &wire.TxOut{
				Value: coin.Value, PkScript: unhex(t, coin.Script),
			}
		}
		replay(t, table, &c, true)
	}
}

func unhex(tb testing.TB, text string) []byte {
	tb.Helper()
	raw, err := hex.DecodeString(text)
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

// helpCut ends a recorded error that is the help text of a method.
const helpCut = ` [help text cut]"}`

func TestTable(t *testing.T) {
	if err := rig(t, "main", false).Check(); err != nil {
		t.Error(err)
	}
}
