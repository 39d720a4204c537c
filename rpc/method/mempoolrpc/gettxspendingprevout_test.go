package mempoolrpc_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/jsontree"
)

// Outputs that the pool spends are told with the spending transaction, if that was asked for.
func TestSpendersWithOptions(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	tx := wire.NewMsgTx(2)
	if err := tx.Deserialize(hex.NewDecoder(strings.NewReader(someTx))); err != nil {
		t.Fatal(err)
	}
	id, err := chainhash.NewHashFromStr(someID)
	if err != nil {
		t.Fatal(err)
	}
	spender := tx.TxHash()
	r.spends = map[wire.OutPoint]*wire.MsgTx{{Hash: *id, Index: 1}: tx}
	spent, unspent := `{"vout":1,"txid":"`+someID+`"}`, `{"vout":2,"txid":"`+someID+`"}`
	found := strings.TrimSuffix(spent, "}") + `,"spendingtxid":"` + spender.String() + `"`
	const missing = `{"code":-1,"message":"Mempool lacks a relevant spend, and txospenderindex is unavailable."}`
	for _, test := range []struct{ params, want string }{
		{`[[` + spent + `]]`, `[{"txid":"` + someID + `","vout":1,"spendingtxid":"` + spender.String() + `"}]`},
		{`[[` + spent + `],null]`, `[{"txid":"` + someID + `","vout":1,"spendingtxid":"` + spender.String() + `"}]`},
		{`[[` + unspent + `,` + spent + `],{}]`, `[` + unspent + `,` + found + `}]`},
		{`[[` + spent + `],{"return_spending_tx":true}]`, `[` + found + `,"spendingtx":"` + someTx + `"}]`},
		{`[[` + unspent + `],{"return_spending_tx":true,"mempool_only":true}]`, `[` + unspent + `]`},
		{`[[` + spent + `],{"mempool_only":false}]`, `[` + found + `}]`},
		{`[[` + spent + `,` + unspent + `],{"mempool_only":false}]`, missing},
		{`{"outputs":[` + unspent + `],"mempool_only":false}`, missing},
		{`[[],{"x":1}]`, `{"code":-8,"message":"Invalid parameter, outputs are missing"}`},
		{`[[{}],{"x":1}]`, `{"code":-3,"message":"Unexpected key x"}`},
		{`[[{}],{"mempool_only":1,"x":1}]`, `{"code":-3,"message":"JSON value of type number for field mempool_only ` +
			`is not of expected type bool"}`},
		{`[[{}],{"return_spending_tx":"x"}]`, `{"code":-3,"message":"JSON value of type string for field ` +
			`return_spending_tx is not of expected type bool"}`},
		{`[[{}],{"mempool_only":null}]`, `{"code":-3,"message":"JSON value of type null is not of expected type bool"}`},
		{`[[{}],{}]`, `{"code":-3,"message":"Missing txid"}`},
	} {
		if got := r.call("gettxspendingprevout", test.params); got != test.want {
			t.Errorf("%s:\ngot  %s\nwant %s", test.params, got, test.want)
		}
	}
	if r.asked != 2 {
		t.Errorf("the transaction was asked for %d times: the first time it had just left", r.asked)
	}
}

// indexed is an index of spenders.
type indexed struct {
	by     map[wire.OutPoint]*chainview.Spender
	behind bool
	err    error
}

func (x *indexed) Find(_ context.Context, out *wire.OutPoint) (*chainview.Spender, bool, error) {
	return x.by[*out], !x.behind, x.err
}

// With an index outputs are looked up in the pool first, then in the chain; the answers come in this order.
func TestConfirmedSpenders(t *testing.T) {
	t.Parallel()
	tx := wire.NewMsgTx(2)
	if err := tx.Deserialize(hex.NewDecoder(strings.NewReader(someTx))); err != nil {
		t.Fatal(err)
	}
	id, err := chainhash.NewHashFromStr(someID)
	if err != nil {
		t.Fatal(err)
	}
	block := chainhash.Hash{7}
	out := func(n uint32) wire.OutPoint { return wire.OutPoint{Hash: *id, Index: n} }
	x := &indexed{by: map[wire.OutPoint]*chainview.Spender{
		out(1): {Tx: wire.NewMsgTx(1), Block: chainhash.Hash{8}}, // of a transaction that is replaced in the pool
		out(3): {Tx: tx, Block: block},
	}}
	r := newRigWith(t, x)
	r.asked, r.spends = 1, map[wire.OutPoint]*wire.MsgTx{out(1): tx}
	given := func(n int) string { return fmt.Sprintf(`{"vout":%d,"txid":"%s"}`, n, someID) }
	spent := func(n int, more string) string {
		return strings.TrimSuffix(given(n), "}") + `,"spendingtxid":"` + tx.TxHash().String() + `"` + more + "}"
	}
	all := given(3) + "," + given(2) + "," + given(1)
	whole, in := `,"spendingtx":"`+someTx+`"`, `,"blockhash":"`+block.String()+`"`
	const missing = `{"code":-1,"message":"Mempool lacks a relevant spend, and txospenderindex is unavailable."}`
	lost := `{"code":-1,"message":"IO error finding spending tx for outpoint ` + someID + `:3."}`
	for _, test := range []struct {
		x            indexed
		params, want string
	}{
		{*x, `[[` + all + `]]`, `[` + spent(1, "") + `,` + spent(3, in) + `,` + given(2) + `]`},
		{
			*x, `[[` + all + `],{"return_spending_tx":true}]`,
			`[` + spent(1, whole) + `,` + spent(3, whole+in) + `,` + given(2) + `]`,
		},
		{*x, `[[` + all + `],{"mempool_only":true}]`, `[` + given(3) + `,` + given(2) + `,` + spent(1, "") + `]`},
		{*x, `[[` + all + `],{"mempool_only":false}]`, `[` + spent(1, "") + `,` + spent(3, in) + `,` + given(2) + `]`},
		{indexed{behind: true}, `[[` + given(1) + `]]`, `[` + spent(1, "") + `]`},
		{indexed{behind: true}, `[[` + given(1) + `,` + given(2) + `]]`, missing},
		{indexed{err: chainview.ErrPruned}, `[[` + given(3) + `]]`, lost},
		{indexed{err: fmt.Errorf("x: %w", chainview.ErrUnreadable)}, `[[` + given(3) + `]]`, lost},
		{indexed{err: errors.New("broken")}, `[[` + given(3) + `],{"mempool_only":true}]`, `[` + given(3) + `]`},
	} {
		*x = test.x
		if got := r.call("gettxspendingprevout", test.params); got != test.want {
			t.Errorf("%s:\ngot  %s\nwant %s", test.params, got, test.want)
		}
	}
}

// FuzzSpenders: whatever is asked for, there is an answer for each output, or an error.
func FuzzSpenders(f *testing.F) {
	f.Add(`[[{"txid":"` + someID + `","vout":1}],{"mempool_only":false}]`)
	f.Add(`[[{"txid":"` + someID + `","vout":1},{"vout":4294967296}],{"return_spending_tx":true}]`)
	f.Add(`{"outputs":[{"txid":"","txid":1}],"return_spending_tx":1}`)
	f.Fuzz(func(t *testing.T, params string) {
		if _, err := jsontree.Parse([]byte(params)); err != nil {
			return
		}
		var answers []any
		got := newRigWith(t, &indexed{}).call("gettxspendingprevout", params)
		if json.Unmarshal([]byte(got), &answers) != nil {
			return // refused
		}
		var given []json.RawMessage
		var outs []any
		if json.Unmarshal([]byte(params), &given) == nil &&
			(json.Unmarshal(given[0], &outs) != nil || len(outs) != len(answers)) {
			t.Errorf("%s: %s", params, got)
		}
	})
}
