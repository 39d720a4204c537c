package walletrpc_test

import (
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/messages"
)

// A key comes with a digest of all other arguments, however they are passed.
func TestIdempotencyKeys(t *testing.T) {
	r := newRig(t)
	w := r.load("a", plain)
	answer(w, func(messages.Spend) (messages.Spent, error) {
		return messages.Spent{TxID: chainhash.Hash{31: 1}, Complete: true, Sent: true}, nil
	})
	const to = `"` + own + `"`
	for method, calls := range map[string][3]string{ // two with the same arguments, and one with others
		"sendtoaddress": {
			`{"address": ` + to + `, "amount": 1, "idempotency_key": "k"}`,
			`[` + to + `, 1, null, null, null, null, null, null, null, null, null, "k"]`,
			`{"address": ` + to + `, "amount": 2, "idempotency_key": "k"}`,
		},
		"sendmany": {
			`{"amounts": {` + to + `: 1}, "idempotency_key": "k"}`,
			`[null, {` + to + `: 1}, null, null, null, null, null, null, null, null, "k"]`,
			`{"amounts": {` + to + `: 1}, "comment": "x", "idempotency_key": "k"}`,
		},
		"send": {
			`{"outputs": {` + to + `: 1}, "add_inputs": true, "idempotency_key": "k"}`,
			`[{` + to + `: 1}, null, null, null, {"add_inputs": true}, null, "k"]`,
			`{"outputs": {` + to + `: 1}, "idempotency_key": "k"}`,
		},
		"sendall": {
			`{"recipients": [` + to + `], "send_max": true, "idempotency_key": "k"}`,
			`[[` + to + `], null, null, null, {"send_max": true}, "k"]`,
			`{"recipients": [` + to + `], "idempotency_key": "k"}`,
		},
	} {
		var keys [3]messages.IdempotencyKey
		for i, params := range calls {
			if got := r.call(nil, method, params); strings.Contains(got, "code") {
				t.Fatalf("%s %s: %s", method, params, got)
			}
			keys[i] = *asked[messages.Spend](w).Key
		}
		if keys[0].Key != "k" || keys[0] != keys[1] || keys[0].Arguments == keys[2].Arguments {
			t.Errorf("%s: keys %+v", method, keys)
		}
	}
}

// A key that holds for nothing is refused.
func TestIdempotencyRefusals(t *testing.T) {
	r := newRig(t)
	r.load("a", plain)
	const size = `{"code":-8,"message":"Invalid parameter, idempotency_key must have 1 to 128 bytes"}`
	const unsent = `{"code":-8,"message":"Invalid parameter, idempotency_key goes neither with psbt nor with ` +
		`add_to_wallet=false, which send nothing"}`
	replies(t, r, "sendtoaddress", map[string]string{
		`{"address": "` + own + `", "amount": 1, "idempotency_key": ""}`:                                size,
		`{"address": "` + own + `", "amount": 1, "idempotency_key": "` + strings.Repeat("é", 65) + `"}`: size,
	})
	for method, outputs := range map[string]string{
		"send": `{"outputs": {"` + own + `": 1}`, "sendall": `{"recipients": ["` + own + `"]`,
	} {
		replies(t, r, method, map[string]string{
			outputs + `, "psbt": true, "idempotency_key": "k"}`:           unsent,
			outputs + `, "add_to_wallet": false, "idempotency_key": "k"}`: unsent,
		})
	}
}
