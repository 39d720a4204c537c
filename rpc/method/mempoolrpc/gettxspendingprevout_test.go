package mempoolrpc_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
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
