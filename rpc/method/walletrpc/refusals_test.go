package walletrpc_test

import (
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/messages"
)

// Arguments are refused in the order of Core's checks.
func TestRefusalOrder(t *testing.T) {
	r := newRig(t)
	r.load("a", plain)
	const number, text = `{"code":-3,"message":"JSON value of type number is not of expected type `,
		`{"code":-3,"message":"JSON value of type string is not of expected type number"}`
	replies(t, r, "send", map[string]string{
		`[{"` + own + `": 1}, null, null, null, {"conf_target": 0, "estimate_mode": 1}]`: number + `string"}`,
		`[{"` + own + `": 1}, null, null, null, {"conf_target": 0, "estimate_mode": "unset"}]`: `{"code":-8,` +
			`"message":"Specify estimate_mode"}`,
		`[{"` + own + `": 1}, null, null, null, {"max_tx_weight": "x"}]`: text,
	})
	replies(t, r, "walletcreatefundedpsbt", map[string]string{
		`[[], {"` + own + `": 1}, 0, {"max_tx_weight": "x"}]`: `{"code":-3,"message":"JSON value of type string for ` +
			`field max_tx_weight is not of expected type number"}`,
		`[[], {"` + own + `": 1}, 0, {"solving_data": {"scripts": 1}}]`: number + `array"}`,
	})
	const undecoded = `{"code":-22,"message":"TX decode failed"}`
	replies(t, r, "fundrawtransaction", map[string]string{
		`["x"]`: undecoded, `["0200"]`: undecoded,
		`["` + spendTx + `", 1]`: number + `object"}`,
		`["` + spendTx + `", []]`: `{"code":-3,"message":"JSON value of ` +
			`type array is not of expected type object"}`,
		`["` + spendTx + `", {"solving_data": {"pubkeys": 1}}]`:                                   number + `array"}`,
		`["` + spendTx + `", {"solving_data": {"pubkeys": [], "scripts": [], "descriptors": 1}}]`: number + `array"}`,
		`["` + spendTx + `", {"solving_data": {"pubkeys": ["zz"], "scripts": 1}}]`: `{"code":-5,"message":"Pubkey \"zz\" ` +
			`must be a hex string"}`,
	})
}

// If the wallet's private keys of P2MR are not fit to sign, a call is refused before its payments or its
// transaction are looked at. A transaction that is only built does not need the keys.
func TestUncheckedKeysFirst(t *testing.T) {
	r := newRig(t)
	network, err := dialect.Named("qbit", "regtest", dialect.Choices{})
	if err != nil {
		t.Fatal(err)
	}
	r.deps.Network, r.deps.Currency = network, network.Coin
	r.build()
	const about = `{"code":-4,"message":"Error: plaintext PQC wallet key validation `
	for _, test := range []struct {
		keys messages.PQCValidation
		want string
	}{
		{messages.PQCValidation{Pending: 1, Failed: 1}, about + `is still in progress. Check ` +
			`getwalletinfo.pqc_key_validation before signing or sending."}`},
		{messages.PQCValidation{Valid: 5, Failed: 1}, about + `failed. Wallet signing is disabled until the wallet is ` +
			`restored or repaired."}`},
	} {
		info := plain
		info.PQC = test.keys
		name := "pending"
		if test.keys.Pending == 0 {
			name = "failed"
		}
		r.load(name, info)
		for method, args := range map[string]string{
			"send": `[{"x": 1}]`, "sendall": `[["x"]]`, "signrawtransactionwithwallet": `["` + spendTx + `", [1]]`,
		} {
			if got := r.call(&name, method, args); got != test.want {
				t.Errorf("%s: got %s", method, got)
			}
		}
		onlySigning := strings.Replace(test.want, " or sending", "", 1)
		for method, args := range map[string]string{
			"bumpfee": `["` + strings.Repeat("11", 32) + `"]`, "signdatapqchash": `["x", "x"]`,
		} {
			want := test.want
			if method != "bumpfee" {
				want = onlySigning
			}
			if got := r.call(&name, method, args); got != want {
				t.Errorf("%s: got %s", method, got)
			}
		}
		const other = `{"code":-5,"message":"Invalid qbit address: x"}`
		if got := r.call(&name, "walletcreatefundedpsbt", `[[], {"x": 1}]`); got != other {
			t.Errorf("walletcreatefundedpsbt: got %s", got)
		}
	}
}
