package walletrpc_test

import (
	"bytes"
	"encoding/hex"
	"reflect"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/messages"
)

// The request of a sendall call to the wallet.
func TestSendAllRequests(t *testing.T) {
	r := newRig(t)
	w := r.load("a", plain)
	answer(w, func(messages.Spend) (messages.Spent, error) {
		return messages.Spent{TxID: chainhash.Hash{31: 1}, Complete: true, Sent: true}, nil
	})
	ofOwn := messages.Payment{Script: ownScript, Rest: true, Address: own}
	base := func(change func(q *messages.Spend)) messages.Spend {
		q := messages.Spend{
			Version: 2, MaxConf: 9_999_999, AllowUsed: true, All: new(messages.AllCoins), Sniped: true,
			Payments: []messages.Payment{ofOwn}, Sign: messages.SignSome, Send: true,
		}
		if change != nil {
			change(&q)
		}
		return q
	}
	const txid = "0100000000000000000000000000000000000000000000000000000000000000"
	at := wire.OutPoint{Hash: chainhash.Hash{31: 1}, Index: 3}
	for params, want := range map[string]messages.Spend{
		`[["` + own + `"]]`: base(nil),
		`[[{"` + foreign + `": 1.5}, "` + own + `"], null, "unset", 2]`: base(func(q *messages.Spend) {
			q.Payments = []messages.Payment{{Script: foreignScript, Amount: 150_000_000, Address: foreign}, ofOwn}
			q.FeeRate = new(int64(2000))
		}),
		`[["` + own + `"], 6, "economical", null, {"send_max": true, "minconf": 1, "maxconf": 2, "version": 3,
			"replaceable": false, "lock_unspents": true, "add_to_wallet": false}]`: base(func(q *messages.Spend) {
			q.ConfTarget, q.Conservative, q.All.Worth = 6, new(false), true
			q.MinConf, q.MaxConf, q.Version, q.Replaceable, q.LockCoins, q.Send = 1, 2, 3, new(false), true, false
		}),
		`{"recipients": ["` + own + `"], "inputs": [{"txid": "` + txid + `", "vout": 3}], "locktime": 5}`: base(
			func(q *messages.Spend) {
				q.Inputs = []messages.SpendInput{{At: at}}
				q.All.Given, q.Sniped, q.LockTime = true, false, new(uint32(5))
			}),
		`[["` + own + `"], null, null, null, {"inputs": []}]`: base(func(q *messages.Spend) { q.All.Given = true }),
		`[["BCRT1QD0M6Z476PGC4W0K06M5YNMDDMPH2X0EN7R9VL3"]]`: base(func(q *messages.Spend) {
			q.Payments[0].Rest = false
		}),
	} {
		const sent = `{"txid":"` + txid + `","complete":true}`
		got := r.call(nil, "sendall", params)
		if want.Send && got != sent {
			t.Errorf("%s: %s", params, got)
		}
		if q := asked[messages.Spend](w); !reflect.DeepEqual(q, want) {
			t.Errorf("%s\nasked %+v\nwant  %+v", params, q, want)
		}
	}
}

// A transaction that is not sent is handed out as the wallet signed it: the wallet is not asked to sign again.
func TestSendPackets(t *testing.T) {
	r := newRig(t)
	w := r.load("a", plain)
	id, tx := chainhash.Hash{31: 1}, wire.NewMsgTx(2)
	spent := messages.Spent{TxID: id, Tx: tx, PSBT: "packet", Complete: true}
	answer(w, func(messages.Spend) (messages.Spent, error) { return spent, nil })
	const to = `[[{"` + own + `": 1}], null, null, null, `
	whole := `{"psbt":"packet","txid":"` + id.String() + `","hex":"02000000000000000000","complete":true}`
	for options, want := range map[string]string{`{"psbt": true}]`: whole, `{"add_to_wallet": false}]`: whole} {
		if got := r.call(nil, "send", to+options); got != want {
			t.Errorf("%s: %s", options, got)
		}
	}
	key := messages.PQCUse{Made: 1}
	spent.Sent, spent.PQCKeys = true, []messages.PQCUse{key}
	if got := r.call(nil, "send", to+`{}]`); !strings.Contains(got, `"pqc_signature_count":1`) {
		t.Errorf("signed by a key of P2MR: %s", got)
	}
	spent.Sent, spent.PQCKeys, spent.Complete = false, nil, false
	if got := r.call(nil, "send", to+`{}]`); got != `{"psbt":"packet","complete":false}` {
		t.Errorf("signatures are missing: %s", got)
	}
}

// Only sendtoaddress leaves coins on addresses that were spent from, where the wallet avoids
// reuse.
func TestAllowUsed(t *testing.T) {
	r := newRig(t)
	info := plain
	info.AvoidReuse = true
	w := r.load("a", info)
	answer(w, func(messages.Spend) (messages.Spent, error) {
		return messages.Spent{Tx: wire.NewMsgTx(2), Sent: true}, nil
	})
	answer(w, func(messages.FillPacket) (messages.FilledPacket, error) { return messages.FilledPacket{}, nil })
	for _, c := range []struct {
		method, params string
		want           bool
	}{
		{"sendtoaddress", `["` + own + `", 1]`, false},
		{"sendtoaddress", `{"address": "` + own + `", "amount": 1, "avoid_reuse": false}`, true},
		{"sendmany", `["", {"` + own + `": 1}]`, true},
		{"send", `[{"` + own + `": 1}]`, true},
		{"sendall", `[["` + own + `"]]`, true},
		{"walletcreatefundedpsbt", `[[], {"` + own + `": 1}]`, true},
		{"fundrawtransaction", `["` + spendTx + `"]`, true},
	} {
		r.call(nil, c.method, c.params)
		if got := asked[messages.Spend](w).AllowUsed; got != c.want {
			t.Errorf("%s %s: used coins are allowed: %v", c.method, c.params, got)
		}
	}
}

// Errors in the request, and errors that are told after errors in the fee rate.
func TestSendAllRefusals(t *testing.T) {
	r := newRig(t)
	w := r.load("a", plain)
	answer(w, func(q messages.Spend) (messages.Spent, error) { return messages.Spent{}, q.All.Refused })
	const to = `[["` + own + `"], null, null, null, `
	replies(t, r, "sendall", map[string]string{
		`[[]]`:                                    `{"code":-8,"message":"Must provide at least one address without a specified amount"}`,
		`[[{"` + own + `": 1}]]`:                  `{"code":-8,"message":"Must provide at least one address without a specified amount"}`,
		to + `{"minconf": -1}]`:                   `{"code":-8,"message":"Invalid minconf (minconf cannot be negative): -1"}`,
		to + `{"minconf": 2, "maxconf": 1}]`:      `{"code":-8,"message":"maxconf can't be lower than minconf: 1 < 2"}`,
		to + `{"feeRate": 1}]`:                    `{"code":-8,"message":"Use fee_rate (sat/vB) instead of feeRate"}`,
		to + `{"version": 4}]`:                    `{"code":-8,"message":"Invalid parameter, version out of range(1~3)"}`,
		to + `{"locktime": -1}]`:                  `{"code":-8,"message":"Invalid parameter, locktime out of range"}`,
		to + `{"inputs": [], "send_max": false}]`: `{"code":-8,"message":"Cannot combine send_max with specific inputs."}`,
		to + `{"inputs": [], "minconf": 0}]`:      `{"code":-8,"message":"Cannot combine minconf or maxconf with specific inputs."}`,
		to + `{"inputs": [], "maxconf": 1}]`:      `{"code":-8,"message":"Cannot combine minconf or maxconf with specific inputs."}`,
		`[["` + own + `", "` + own + `"]]`:        `{"code":-8,"message":"Invalid parameter, duplicated address: ` + own + `"}`,
		`[["x"]]`:                                 `{"code":-5,"message":"Invalid Bitcoin address: x"}`,
		`[["` + own + `", 5]]`:                    `{"code":-8,"message":"Invalid parameter, key-value pair not an object as expected"}`,
	})
}

// On a network of P2MR outputs alone no message is signed, and nothing is spent by keys and scripts of Bitcoin's.
func TestNoOtherKeys(t *testing.T) {
	r := newRig(t)
	network, err := dialect.Named("qbit", "regtest", dialect.Choices{Activation: map[string]int32{"outerwitness": 9}})
	if err != nil {
		t.Fatal(err)
	}
	r.deps.Network, r.deps.Currency = network, network.Coin
	r.build()
	w := r.load("a", plain)
	answer(w, func(q messages.Spend) (messages.Spent, error) { return messages.Spent{}, q.Refused })
	replies(t, r, "signmessage", map[string]string{
		`["a", "b"]`: `{"code":-32,"message":"Legacy message signing is disabled on this chain"}`,
	})
	const reserved = `{"code":-8,"message":"Reserved witness versions are valid addresses, but outputs to reserved ` +
		`witness versions are nonstandard under qbit restricted-output relay policy"}`
	later, ok := descriptor.AddressOf([]byte{0x60, 2, 1, 2}, network.Descriptors())
	if !ok {
		t.Fatal("a later witness version has no address")
	}
	for method, args := range map[string]string{
		"sendtoaddress": `["` + later + `", 1]`, "sendmany": `["", {"` + later + `": 1}]`,
		"send": `[{"` + later + `": 1}]`, "walletcreatefundedpsbt": `[[], {"` + later + `": 1}]`,
	} {
		replies(t, r, method, map[string]string{args: reserved})
	}
	replies(t, r, "sendall", map[string]string{
		`[[], null, null, null, {"feeRate": 1}]`: `{"code":-8,"message":"Use fee_rate (bits/vB) instead of feeRate"}`,
	})
	replies(t, r, "fundrawtransaction", map[string]string{
		`["` + txPaying(0x6a) + `", {"feeRate": 1, "fee_rate": 1}]`: `{"code":-8,"message":"Cannot specify both fee_rate ` +
			`(bits/vB) and feeRate (QBT/kvB)"}`,
		`["` + txPaying(0x60, 2, 1, 2) + `"]`:                            reserved,
		`["` + txPaying(0x6a) + `", {"changeAddress": "` + later + `"}]`: reserved,
		`["` + txPaying(0x6a) + `", {"changeAddress": "x"}]`: `{"code":-5,"message":"Change address must be a valid ` +
			`qbit address"}`,
		`["` + txPaying(0x6a) + `", {"change_type": "bech32"}]`: `{"code":-5,"message":"change type 'bech32' is not ` +
			`available on this chain"}`,
		`["` + txPaying(0x6a) + `", {"change_type": "x"}]`: `{"code":-5,"message":"Unknown change type 'x'"}`,
		`["` + txPaying(0x51) + `"]`: `{"code":-8,"message":"Output scriptPubKey ` +
			`is not allowed in restricted-output mode"}`,
		`["` + spendTx + `", {"solving_data": {"scripts": ["51"]}}]`: `{"code":-8,"message":"Legacy pubkey/script ` +
			`solving data is disabled on this chain; use p2mr descriptors"}`,
		`["` + spendTx + `", {"solving_data": {"pubkeys": ["zz"], "scripts": 1}}]`: `{"code":-8,"message":"Legacy ` +
			`pubkey/script solving data is disabled on this chain; use p2mr descriptors"}`,
		`["` + spendTx + `", {"solving_data": {"pubkeys": [], "scripts": 1}}]`: `{"code":-3,"message":"JSON value of ` +
			`type number is not of expected type array"}`,
	})
}

// txPaying returns a transaction without inputs that pays to a script.
func txPaying(script ...byte) string {
	tx := wire.NewMsgTx(2)
	tx.AddTxOut(wire.NewTxOut(100_000, script))
	var raw bytes.Buffer
	_ = tx.SerializeNoWitness(&raw)
	return hex.EncodeToString(raw.Bytes())
}
