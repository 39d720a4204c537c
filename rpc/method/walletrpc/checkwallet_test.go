package walletrpc_test

import (
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/messages"
)

// The options of a check are passed on, with defaults where there are none.
func TestCheckWalletOptions(t *testing.T) {
	r := newRig(t)
	w := r.load("a", plain)
	check[messages.CheckWallet](t, r, w, nil, []request{
		{"checkwallet", `[]`, messages.CheckWallet{Gap: 1000}},
		{"checkwallet", `[{}]`, messages.CheckWallet{Gap: 1000}},
		{"checkwallet", `[{"gap":7,"start_height":3}]`, messages.CheckWallet{Gap: 7, Start: new(int32(3))}},
	})
	const gaps = "-8 gap must be between 1 and 100000"
	for params, want := range map[string]string{
		`[{"gap":0}]`: gaps, `[{"gap":100001}]`: gaps,
		`[{"gap":"x"}]`:           "-3 JSON value of type string is not of expected type number",
		`[{"start_height":true}]`: "-3 JSON value of type bool is not of expected type number",
	} {
		if got := refusedBy(r, nil, "checkwallet", params); got != want {
			t.Errorf("%s: got %q, want %q", params, got, want)
		}
	}
}

// The answer has what the wallet tells, and members only where there is something to tell.
func TestCheckWalletAnswer(t *testing.T) {
	r := newRig(t)
	w := r.load("a", plain)
	answer(w, func(q messages.CheckWallet) (messages.WalletChecked, error) {
		return messages.WalletChecked{
			Gap: q.Gap, From: 2, Tip: messages.Tip{Height: 9, Hash: chainhash.Hash{5}}, New: 4,
			Descriptors: []messages.CheckedDescriptor{
				{
					Desc: "a/*", Active: true, Ranged: true, Before: [2]int32{0, 9}, Range: [2]int32{0, 19},
					HighestUsed: 12, Payments: 3, New: 1, FirstHeight: 4, LastHeight: 7,
				},
				{
					Ranged: true, Before: [2]int32{0, -1}, Range: [2]int32{0, -1}, HighestUsed: -1, Exhausted: true,
					FirstHeight: -1, LastHeight: -1,
				},
				{Desc: "b", HighestUsed: -1, FirstHeight: -1, LastHeight: -1},
			},
		}, nil
	})
	const want = `{"gap":10,"from_height":2,"to_height":9,"blockhash":"` +
		`0000000000000000000000000000000000000000000000000000000000000005","new_transactions":4,"exhausted":true,` +
		`"descriptors":[{"desc":"a/*","active":true,"internal":false,"range_before":[0,9],"range":[0,19],` +
		`"highest_used":12,"exhausted":false,"payments":3,"new_payments":1,"first_height":4,"last_height":7},` +
		`{"active":false,"exhausted":true,"payments":0,"new_payments":0},` +
		`{"desc":"b","active":false,"payments":0,"new_payments":0}]}`
	if got := r.call(nil, "checkwallet", `[{"gap":10}]`); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
