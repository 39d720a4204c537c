package wallet_test

import "testing"

// Arguments are refused in the order in which Core looks at them.
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
		`["` + spendTx + `", 1]`:                                number + `object"}`,
		`["` + spendTx + `", []]`:                               `{"code":-3,"message":"JSON value of type array is not of expected type object"}`,
		`["` + spendTx + `", {"solving_data": {"pubkeys": 1}}]`: number + `array"}`,
		`["` + spendTx + `", {"solving_data": {"pubkeys": [], "scripts": [], "descriptors": 1}}]`: number + `array"}`,
		`["` + spendTx + `", {"solving_data": {"pubkeys": ["zz"], "scripts": 1}}]`: `{"code":-5,"message":"Pubkey \"zz\" ` +
			`must be a hex string"}`,
	})
}
