package walletrpc_test

import (
	"context"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/messages"
)

// replies checks what calls return.
func replies(t *testing.T, r *rig, method string, want map[string]string) {
	t.Helper()
	for params, reply := range want {
		if got := r.call(nil, method, params); got != reply {
			t.Errorf("%s %s\ngot  %s\nwant %s", method, params, got, reply)
		}
	}
}

func TestAbandonTransaction(t *testing.T) {
	r := newRig(t)
	w := r.load("a", plain)
	answer(w, func(messages.AbandonTx) (messages.Done, error) { return messages.Done{}, nil })
	id := "01" + strings.Repeat("00", 31)
	replies(t, r, "abandontransaction", map[string]string{
		`["` + id + `"]`: `null`,
		`["x"]`:          `{"code":-8,"message":"txid must be of length 64 (not 1, for 'x')"}`,
		`[1]`: `{"code":-3,"message":"Wrong type passed:\n{\n    \"Position 1 (txid)\": ` +
			`\"JSON value of type number is not of expected type string\"\n}"}`,
	})
	if got := asked[messages.AbandonTx](w); got.TxID != (chainhash.Hash{31: 1}) {
		t.Errorf("asked %v", got.TxID)
	}
}

func TestListAddressGroupings(t *testing.T) {
	r := newRig(t)
	w := r.load("a", plain)
	groups := [][]messages.GroupedAddress{}
	answer(w, func(messages.ListGroupings) ([][]messages.GroupedAddress, error) { return groups, nil })
	replies(t, r, "listaddressgroupings", map[string]string{`[]`: `[]`})
	groups = [][]messages.GroupedAddress{
		{{Address: "a", Amount: 150_000_000}, {Address: "b", HasLabel: true}},
		{{Address: "c", Label: "l", HasLabel: true}},
	}
	replies(t, r, "listaddressgroupings", map[string]string{
		`[]`: `[[["a",1.50000000],["b",0.00000000,""]],[["c",0.00000000,"l"]]]`,
	})
}

func TestSetWalletFlag(t *testing.T) {
	r := newRig(t)
	w := r.load("a", plain)
	answer(w, func(messages.SetWalletFlag) (messages.Done, error) { return messages.Done{}, nil })
	const set = `{"flag_name":"avoid_reuse","flag_state":true,"warnings":"You need to rescan the blockchain in order to ` +
		`correctly mark used destinations in the past. Until this is done, some destinations may be considered unused, ` +
		`even if the opposite is the case."}`
	replies(t, r, "setwalletflag", map[string]string{
		`["avoid_reuse"]`: set, `["avoid_reuse", true]`: set, `["avoid_reuse", null]`: set,
		`["avoid_reuse", false]`: `{"flag_name":"avoid_reuse","flag_state":false}`,
	})
}

// An error of a transaction is told before the next transaction is read, and outputs are
// looked up in the chain.
func TestSimulateRawTransaction(t *testing.T) {
	r := newRig(t)
	var looked []wire.OutPoint
	r.deps.Unspent = func(_ context.Context, at *wire.OutPoint) (*wire.TxOut, error) {
		looked = append(looked, *at)
		return wire.NewTxOut(1, nil), nil
	}
	r.build()
	w := r.load("a", plain)
	answer(w, func(messages.SimulateTxs) (btcutil.Amount, error) { return -150_000_000, nil })
	replies(t, r, "simulaterawtransaction", map[string]string{
		`[["` + spendTx + `"]]`:                              `{"balance_change":-1.50000000}`,
		`[["` + spendTx + `"], {"include_watchonly": true}]`: `{"balance_change":-1.50000000}`,
		`[["` + spendTx + `", "00"]]`:                        `{"code":-22,"message":"Transaction hex string decoding failure."}`,
		`[["x"]]`:                                            `{"code":-22,"message":"Transaction hex string decoding failure."}`,
		`[[1]]`:                                              `{"code":-3,"message":"JSON value of type number is not of expected type string"}`,
		`[]`:                                                 `{"code":-3,"message":"JSON value of type null is not of expected type array"}`,
	})
	looked = nil
	replies(t, r, "simulaterawtransaction", map[string]string{`[["` + spendTx + `"]]`: `{"balance_change":-1.50000000}`})
	got := asked[messages.SimulateTxs](w)
	if len(looked) == 0 || len(got.Txs) != 1 || len(got.Known) != len(looked) {
		t.Errorf("looked up %v, asked %+v", looked, got)
	}
	r.directory.Remove("a")
	w = r.load("a", plain)
	answer(w, func(messages.SimulateTxs) (btcutil.Amount, error) {
		return 0, &messages.WalletError{Code: -8, Text: "no"}
	})
	replies(t, r, "simulaterawtransaction", map[string]string{
		`[["` + spendTx + `", "00"]]`: `{"code":-8,"message":"no"}`,
	})
}
