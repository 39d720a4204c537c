package differ_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/differ"
)

// TestPaymentRefusals asks wallets for impossible payments, by every method that pays. A table has wrong
// addresses, amounts, fees, inputs and options, and combinations that do not go together. Both refuse in the same
// words. Nothing is paid, so the calls come in any order.
func TestPaymentRefusals(t *testing.T) {
	r := newRefusing(t)
	for _, name := range []string{"rich", "empty"} {
		r.ask(name, r.outputs())
		r.ask(name, r.fees())
		r.ask(name, r.options())
		r.ask(name, r.inputs())
		r.ask(name, r.sums())
	}
	r.ask("rich", r.bumps())
	const least = 2000
	t.Logf("%d calls, %d refused", r.calls, r.refused)
	if r.refused < least || r.refused < r.calls*3/4 {
		t.Errorf("only %d of %d calls were refused", r.refused, r.calls)
	}
	r.p.Alive()
}

// refusing has two wallets on both nodes: one with two coins, and transactions of its own, and one without.
type refusing struct {
	fundingPlay

	to, coin                string // an address of nobody's, and a coin of the rich wallet as JSON
	confirmed, child        string // ids: of a transaction in a block, and of a transaction whose output is spent
	final, replaced, lonely string // ids of transactions that cannot be replaced, was replaced, can be replaced

	calls, refused int
}

func newRefusing(t *testing.T) *refusing {
	t.Helper()
	r := &refusing{fundingPlay: fundingPlay{own: map[string][]string{}}}
	p := differ.Start(t, differ.Config{Args: []string{"-keypool=3", "-fallbackfee=0.0001", "-acceptnonstdtxn=1"}},
		append(walletExceptions(), differ.Exception{
			Reason: "both pay: coins, lock time and the place of change are chosen by chance",
			Is: func(c differ.Call, got differ.Replies) bool {
				return r.pays(c) && got.Trawl.OK() && got.Core.OK()
			},
		}, differ.Exception{
			Reason: "psbt and lock_unspents of a wrong type, which Core looks at after it has chosen coins",
			Is: func(c differ.Call, got differ.Replies) bool {
				return (c.Method == "send" || c.Method == "sendall") &&
					strings.HasSuffix(got.Trawl.String(), `is not of expected type bool"}`) &&
					strings.Contains(got.Core.String(), "too low to pay")
			},
		})...)
	r.walletPlay = walletPlay{keys: keys{differ.Random(t)}, p: p, t: t, now: 1_700_000_000}
	r.begin()
	r.send(differ.Call{Method: "generatetodescriptor", Params: []any{130, "raw(51)"}})
	for _, name := range []string{"rich", "empty"} {
		r.send(differ.Call{Method: "createwallet", Params: []any{name, false, true}})
		r.names = append(r.names, name)
		r.importStandard(name)
		got := r.send(differ.Call{Method: "getnewaddress", Params: []any{"", "bech32"}, Wallet: name})
		r.own[name] = []string{textOf(got[0].Core.Result)}
	}
	r.to = r.faucet()
	const gifts = 40 // more than six of them are large enough
	for range gifts {
		r.give("rich", 1)
	}
	r.mine(r.to, 1)
	r.prepare()
	return r
}

// prepare makes transactions that cannot be replaced, each for another reason, and keeps one coin.
func (r *refusing) prepare() {
	r.t.Helper()
	const enough = 0.001 // for two fees
	coins := slices.DeleteFunc(r.coins("rich"), func(c unspent) bool { return c.Amount < enough })
	if len(coins) < 6 {
		r.t.Fatalf("%d coins", len(coins))
	}
	slices.SortFunc(coins, func(a, b unspent) int { return strings.Compare(a.TxID, b.TxID) })
	r.confirmed = coins[0].TxID
	r.coin = fmt.Sprintf(`{"txid": "%s", "vout": %d}`, coins[0].TxID, coins[0].Vout)
	pay := func(c unspent, sequence uint32, fee int64) string {
		amount := int64(c.Amount*1e8+0.5) - fee
		got := r.send(differ.Call{Method: "createrawtransaction", Params: []any{
			[]any{map[string]any{"txid": c.TxID, "vout": c.Vout, "sequence": sequence}},
			[]any{map[string]any{r.own["rich"][0]: coinText(amount)}},
		}})
		got = r.send(differ.Call{
			Method: "signrawtransactionwithwallet", Params: []any{textOf(got[0].Core.Result)}, Wallet: "rich",
		})
		var signed struct{ Hex string }
		if err := json.Unmarshal(got[0].Core.Result, &signed); err != nil {
			r.t.Fatal(err)
		}
		got = r.send(differ.Call{Method: "sendrawtransaction", Params: []any{signed.Hex, 0}})
		r.settle()
		return textOf(got[0].Core.Result)
	}
	const replaceable, final = 0xfffffffd, 0xfffffffe
	r.final = pay(coins[1], final, 2000)
	r.replaced = pay(coins[2], replaceable, 2000)
	pay(coins[2], replaceable, 9000)
	r.child = pay(coins[3], replaceable, 2000)
	pay(unspent{TxID: r.child, Amount: float64(int64(coins[3].Amount*1e8+0.5)-2000) / 1e8}, replaceable, 2000)
	r.lonely = pay(coins[4], replaceable, 2000)
}

// pays reports whether a call may pay.
func (*refusing) pays(c differ.Call) bool {
	return slices.Contains([]string{
		"send", "sendall", "walletcreatefundedpsbt", "fundrawtransaction", "psbtbumpfee",
	}, c.Method)
}

// A request is a call as a person writes it: the method, and its parameters in JSON. Placeholders stand between
// angle brackets: T for an address of nobody's, O for an own address, C for a coin, and names for transactions.
type request struct{ method, params string }

// ask sends requests to a wallet of both nodes.
func (r *refusing) ask(wallet string, requests []request) {
	r.t.Helper()
	place := strings.NewReplacer(
		"<T>", r.to, "<O>", r.own[wallet][0], "<C>", r.coin, "<confirmed>", r.confirmed, "<final>", r.final,
		"<replaced>", r.replaced, "<child>", r.child, "<lonely>", r.lonely, "<none>", strings.Repeat("07", 32),
	)
	for _, q := range requests {
		params := json.RawMessage(place.Replace(q.params))
		if !json.Valid(params) {
			r.t.Fatalf("%s: %s", q.method, params)
		}
		got := r.send(differ.Call{Method: q.method, Params: params, Wallet: wallet})
		r.calls++
		if !got[0].Trawl.OK() {
			r.refused++
		} else if q.method == "sendtoaddress" || q.method == "sendmany" {
			r.t.Errorf("paid: %s %s", q.method, params)
		}
	}
}

// each has every method that takes outputs pay these, and more than there is, so that none does.
func each(outputs string) []request {
	return []request{
		{"send", `[` + outputs + `, null, null, null, {"add_to_wallet": false}]`},
		{"walletcreatefundedpsbt", `[[], ` + outputs + `]`},
		{"sendall", `[["<T>"], null, null, null, {"add_to_wallet": false, "send_max": true}]`},
		{"bumpfee", `["<none>", {"outputs": ` + outputs + `}]`},
		{"psbtbumpfee", `["<lonely>", {"outputs": ` + outputs + `}]`},
	}
}

// addresses are such as nobody can pay to here.
var addresses = []string{
	"", "x", " ", "bcrt1", "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt08",
	"BCRT1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KYGT081",
	"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2",
	"mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfm", "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx",
	"bcrt1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0",
}

// amounts are such as cannot be paid.
var amounts = []string{
	`0`, `-1`, `-0`, `"0"`, `"-0.1"`, `"x"`, `""`, `" 1"`, `"1 "`, `0.000000001`, `1e-9`, `21000000.00000001`, `1e30`,
	`"1e2x"`, `null`, `true`, `[]`, `{}`, `"0x1"`, `"+1"`, `"1,0"`, `"."`, `1e-8`, `0.00000293`, `20000000`,
}

// outputs are requests with something wrong about the outputs.
func (r *refusing) outputs() []request {
	var list []request
	for _, address := range addresses {
		list = append(list, each(`[{"`+address+`": 0.01}]`)...)
		list = append(list, request{"sendtoaddress", `["` + address + `", 0.01]`},
			request{"sendmany", `["", {"` + address + `": 0.01}]`}, request{"sendall", `[["` + address + `"]]`},
			request{"sendall", `[["<T>", {"` + address + `": 0.01}]]`})
	}
	for _, amount := range amounts {
		list = append(list, each(`[{"<T>": `+amount+`}]`)...)
		list = append(list, each(`[{"<T>": 0.01}, {"<O>": `+amount+`}]`)...)
		list = append(list, request{"sendtoaddress", `["<T>", ` + amount + `]`},
			request{"sendmany", `["", {"<T>": ` + amount + `}]`},
			request{"sendall", `[["<T>", {"<O>": ` + amount + `}], null, null, null, {"psbt": true}]`})
	}
	for _, outputs := range []string{
		`[]`, `{}`, `null`, `"x"`, `1`, `[1]`, `["<T>"]`, `[[]]`, `[{}]`, `[null]`, `[{"<T>": 0.01, "<O>": 0.02}]`,
		`[{"<T>": 0.01}, {"<T>": 0.02}]`, `[{"data": "00"}, {"data": "01"}]`, `[{"data": ""}]`, `[{"data": "x"}]`,
		`[{"data": 1}]`, `[{"data": "000"}]`, `[{"data": "00"}]`, `{"data": "00"}`, `{"<T>": 20000000}`,
		`[{"<T>": 0.01}, {"data": "zz"}]`,
	} {
		list = append(list, each(outputs)...)
		list = append(list, request{"sendall", `[` + outputs + `]`}, request{"sendmany", `["", ` + outputs + `]`})
	}
	return append(list,
		request{"sendall", `[["<T>", "<T>"]]`}, request{"sendall", `[["<T>", {"<T>": 0.01}]]`},
		request{"sendmany", `["x", {"<T>": 0.01}]`}, request{"sendmany", `[null, {}]`},
		request{"sendmany", `["", {"<T>": 0.01}, null, null, ["<O>"]]`},
		request{"sendmany", `["", {"<T>": 0.01}, null, null, ["<T>", "<T>"]]`},
		request{"sendmany", `["", {"<T>": 0.01}, null, null, [1]]`},
		request{"sendmany", `["", {"<T>": 0.01}, null, null, [0, "<T>"]]`},
		request{"sendmany", `["", {"<T>": 0.01}, null, null, [-1]]`},
		request{"sendmany", `["", {"<T>": 0.01}, null, null, [{}]]`},
		request{"sendmany", `["", {"<T>": 0.01}, null, null, {}]`},
	)
}
