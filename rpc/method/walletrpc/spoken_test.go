package walletrpc_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
)

// speak has the rig use the words of a version of Bitcoin Core, and those of -deprecatedrpc.
func (r *rig) speak(reference int, kept ...string) {
	r.t.Helper()
	net, err := dialect.Named("", "regtest", dialect.Choices{Reference: reference})
	if err != nil {
		r.t.Fatal(err)
	}
	r.deps.Network, r.kept = net, kept
	r.build()
}

// Later versions count coins that only transactions spend which are not in sight, and say how much that is.
func TestBalancesAreSpoken(t *testing.T) {
	for reference, want := range map[int]string{
		dialect.Core30: `{"trusted":0.00000001,"untrusted_pending":0.00000002,"immature":0.00000003,"used":0.00000004}`,
		dialect.Core32: `{"trusted":0.00000001,"untrusted_pending":0.00000002,"immature":0.00000003,` +
			`"nonmempool":-0.00000005,"used":0.00000004}`,
	} {
		r := newRig(t)
		r.speak(reference)
		w := r.load("a", plain)
		gives[messages.GetBalances](w, messages.Balances{
			Trusted: 1, Pending: 2, Immature: 3, Used: 4, HasUsed: true, Unsent: -5,
		}, nil)
		got, err := jsontree.Parse([]byte(r.call(nil, "getbalances", `[]`)))
		if err != nil || got.Get("mine").String() != want {
			t.Errorf("%d: %s, %v", reference, got, err)
		}
		if q := asked[messages.GetBalances](w); q.Unsent != (reference == dialect.Core32) {
			t.Errorf("%d: %+v", reference, q)
		}
	}
}

// Later versions show four texts kept with a transaction, in their order, and no sign of replaceability unless that
// is kept.
func TestTransactionsAreSpoken(t *testing.T) {
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(wire.NewTxIn(&wire.OutPoint{Index: 1}, nil, nil))
	tx.AddTxOut(wire.NewTxOut(1, nil))
	tx.AddTxOut(wire.NewTxOut(2, nil))
	var raw strings.Builder
	_ = tx.Serialize(hex.NewEncoder(&raw)) // to memory
	serialized, err := hex.DecodeString(raw.String())
	if err != nil {
		t.Fatal(err)
	}
	details := messages.TxDetails{Change: []bool{false, true}, Tx: messages.WalletTx{
		Raw: serialized, Replaceable: "no",
		Values: map[string]string{"to": "b", "replaced_by_txid": "d", "comment": "", "from": "x", "replaces_txid": "c"},
	}}
	const ordered = `"comment":"","to":"b","replaces_txid":"c","replaced_by_txid":"d","details":`
	for _, test := range []struct {
		reference int
		kept      []string
		texts     string
		change    bool
	}{
		{
			30, nil, `"bip125-replaceable":"no","comment":"","from":"x","replaced_by_txid":"d","replaces_txid":"c","to":"b",`, false,
		},
		{32, nil, `"timereceived":0,` + ordered, true},
		{32, []string{"bip125"}, `"timereceived":0,"bip125-replaceable":"no",` + ordered, true},
	} {
		r := newRig(t)
		r.speak(test.reference, test.kept...)
		w := r.load("a", plain)
		gives[messages.GetTransaction](w, details, nil)
		text := r.call(nil, "gettransaction", `["`+replacedTx+`", false, true]`)
		if !strings.Contains(text, test.texts) {
			t.Errorf("%d, %v: %s, want %s", test.reference, test.kept, text, test.texts)
		}
		got, err := jsontree.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		for i, out := range got.Get("decoded").Get("vout").Elements() {
			if is := out.Get("ischange"); (is != nil) != (test.change && i == 1) {
				t.Errorf("%d: output %d: %s", test.reference, i, out)
			}
		}
		gives[messages.ListTransactions](w, []messages.TxEntry{{Category: "send", Tx: details.Tx}}, nil)
		list := r.call(nil, "listtransactions", `[]`)
		if has := strings.Contains(list, `"from"`); has != (test.reference == 30) {
			t.Errorf("%d: %s", test.reference, list)
		}
	}
}

// Core 31 has no fee rate of a wallet's own.
func TestNoPayTxFee(t *testing.T) {
	for _, reference := range dialect.References() {
		r := newRig(t)
		r.speak(reference)
		w := r.load("a", plain)
		answer(w, func(messages.SetPayFee) (messages.Done, error) { return messages.Done{}, nil })
		old := reference == dialect.Core30
		if got := r.call(nil, "getwalletinfo", `[]`); strings.Contains(got, `"paytxfee"`) != old {
			t.Errorf("%d: %s", reference, got)
		}
		want := `{"code":-32601,"message":"Method not found"}`
		if old {
			want = "true"
		}
		if got := r.call(nil, "settxfee", `[0.0001]`); got != want {
			t.Errorf("%d: %s", reference, got)
		}
	}
}

// In later versions wallets on a signing device pay by other methods than these.
func TestDevicesNeedSend(t *testing.T) {
	const refused = `{"code":-4,"message":"Error: sendtoaddress and sendmany are not supported for wallets with ` +
		`external signers; use send instead"}`
	device := plain
	device.Flags = []string{"external_signer"}
	for _, test := range []struct {
		reference int
		info      messages.WalletInfo
		refused   bool
	}{{30, device, false}, {32, device, true}, {32, plain, false}} {
		r := newRig(t)
		r.speak(test.reference)
		w := r.load("a", test.info)
		answer(w, func(messages.Spend) (messages.Spent, error) { return messages.Spent{}, nil })
		for method, params := range map[string]string{
			"sendtoaddress": `["` + own + `", 1]`, "sendmany": `["", {"` + own + `": 1}]`,
		} {
			if got := r.call(nil, method, params); (got == refused) != test.refused {
				t.Errorf("%d, %v: %s: %s", test.reference, test.info.Flags, method, got)
			}
		}
	}
}
