package differ_test

// fees are requests with all combinations of the arguments about fees.
func (r *refusing) fees() []request {
	var list []request
	for _, target := range []string{`null`, `0`, `-1`, `1009`, `6`, `"6"`, `1.5`} {
		for _, mode := range []string{
			`null`, `"unset"`, `"economical"`, `"CONSERVATIVE"`, `"sat/vb"`, `"BTC/kvB"`, `"foo"`, `""`, `1`,
		} {
			for _, rate := range []string{
				`null`, `0`, `-1`, `"x"`, `""`, `0.5`, `"1.0001"`, `"0.999"`, `100000000`, `21000000000000000`, `true`, `[]`,
			} {
				list = append(list, feeRequests(target, mode, rate)...)
			}
		}
	}
	return list
}

// feeRequests are requests by each method, of which none can be paid.
func feeRequests(target, mode, rate string) []request {
	const much = "15000000"
	options := `{"conf_target": ` + target + `, "estimate_mode": ` + mode + `, "fee_rate": ` + rate + `}`
	return []request{
		{"sendtoaddress", `["<T>", ` + much + `, "", "", false, null, ` + target + `, ` + mode + `, null, ` + rate + `]`},
		{"sendmany", `["", {"<T>": ` + much + `}, null, "", [], null, ` + target + `, ` + mode + `, ` + rate + `]`},
		{"send", `[{"<T>": ` + much + `}, ` + target + `, ` + mode + `, ` + rate + `]`},
		{"send", `[{"<T>": ` + much + `}, null, null, null, ` + options + `]`},
		{"sendall", `[["<T>", {"<O>": ` + much + `}], ` + target + `, ` + mode + `, ` + rate + `]`},
		{"walletcreatefundedpsbt", `[[], {"<T>": ` + much + `}, 0, ` + options + `]`},
		{"bumpfee", `["<none>", ` + options + `]`},
	}
}

// optionTexts are members of objects of options, most of them wrong.
var optionTexts = []string{
	`"feeRate": 1`, `"feeRate": "x"`, `"feeRate": 0.001, "fee_rate": 1`, `"feeRate": 0.001, "conf_target": 1`,
	`"feeRate": 0.001, "estimate_mode": "economical"`, `"feeRate": -1`, `"feeRate": null`, `"fee_rate": null`,
	`"conf_target": 1`, `"conf_target": 1, "estimate_mode": "unset"`, `"conf_target": 1, "fee_rate": 2`,
	`"estimate_mode": "economical", "fee_rate": 2`, `"change_address": "x"`, `"change_address": ""`, `"change_address": 1`,
	`"changeAddress": "x"`, `"changeAddress": "<O>"`, `"change_position": -1`, `"change_position": 3`,
	`"change_position": "x"`, `"change_position": 1.5`, `"changePosition": 3`, `"changePosition": 0`, `"change_type": "x"`,
	`"change_type": ""`, `"change_type": 1`, `"change_type": "p2mr"`, `"change_type": "bech32", "change_address": "<O>"`,
	`"lock_unspents": "x"`, `"lockUnspents": true`, `"include_unsafe": 1`, `"includeWatching": true`,
	`"include_watching": "x"`, `"minconf": -1`, `"minconf": "x"`, `"minconf": 2, "maxconf": 1`, `"maxconf": -1`,
	`"minconf": 9999`, `"maxconf": 0`, `"subtract_fee_from_outputs": [0, 0]`, `"subtract_fee_from_outputs": [5]`,
	`"subtract_fee_from_outputs": [-1]`, `"subtract_fee_from_outputs": ["x"]`, `"subtract_fee_from_outputs": ["<T>"]`,
	`"subtract_fee_from_outputs": ["<T>", 0]`, `"subtract_fee_from_outputs": {}`, `"subtract_fee_from_outputs": [1.5]`,
	`"subtract_fee_from_outputs": [{}]`, `"subtractFeeFromOutputs": [5]`, `"subtractFeeFromOutputs": [0]`,
	`"max_tx_weight": 0`, `"max_tx_weight": 100`, `"max_tx_weight": 500`, `"max_tx_weight": 400001`, `"max_tx_weight": -1`,
	`"max_tx_weight": "x"`, `"replaceable": "x"`, `"replaceable": null`, `"unknown": 1`, `"": 1`, `"locktime": -1`,
	`"locktime": "x"`, `"locktime": 4294967296`, `"locktime": 1.5`, `"psbt": "x"`, `"add_to_wallet": 1`,
	`"add_inputs": 0`, `"add_inputs": false`, `"version": 0`, `"version": 4`, `"version": "x"`, `"version": -1`,
	`"version": 3, "max_tx_weight": 40001`, `"input_weights": []`, `"input_weights": [1]`, `"input_weights": [{}]`,
	`"input_weights": [{"txid": "x"}]`, `"input_weights": [{"txid": "<none>"}]`,
	`"input_weights": [{"txid": "<none>", "vout": -1}]`, `"input_weights": [{"txid": "<none>", "vout": "0"}]`,
	`"input_weights": [{"txid": "<none>", "vout": 0}]`, `"input_weights": [{"txid": "<none>", "vout": 0, "weight": 164}]`,
	`"input_weights": [{"txid": "<none>", "vout": 0, "weight": 400001}]`,
	`"input_weights": [{"txid": "<none>", "vout": 0, "weight": "x"}]`,
	`"solving_data": 1`, `"solving_data": {"pubkeys": 1}`, `"solving_data": {"pubkeys": [1]}`,
	`"solving_data": {"pubkeys": ["zz"]}`, `"solving_data": {"pubkeys": ["02"]}`,
	`"solving_data": {"pubkeys": ["020000000000000000000000000000000000000000000000000000000000000000"]}`,
	`"solving_data": {"scripts": ["zz"]}`, `"solving_data": {"scripts": [""]}`, `"solving_data": {"scripts": [1]}`,
	`"solving_data": {"descriptors": ["x"]}`, `"solving_data": {"descriptors": ["wpkh()"]}`,
	`"solving_data": {"descriptors": ["raw(51)#8lvh9jxk"]}`, `"send_max": 1`, `"send_max": true, "minconf": 1`,
}

// options are requests with options, by each method that has some.
func (r *refusing) options() []request {
	const tx = "02000000000140420f0000000000160014751e76e8199196d454941c45d1b3a323f1433bd600000000"
	var list []request
	for _, text := range optionTexts {
		list = append(list,
			request{"send", `[{"<T>": 0.01}, null, null, null, {"add_to_wallet": false, ` + text + `}]`},
			request{"sendall", `[["<T>"], null, null, null, {"add_to_wallet": false, ` + text + `}]`},
			request{"walletcreatefundedpsbt", `[[], {"<T>": 0.01}, 0, {` + text + `}]`},
			request{"fundrawtransaction", `["` + tx + `", {` + text + `}]`},
			request{"bumpfee", `["<none>", {` + text + `}]`},
		)
	}
	for _, hex := range []string{``, `x`, `00`, `020000000000`, tx[:len(tx)-2], tx + `00`, `02000000000000000000`} {
		list = append(list, request{"fundrawtransaction", `["` + hex + `"]`},
			request{"fundrawtransaction", `["` + hex + `", {}, true]`},
			request{"fundrawtransaction", `["` + hex + `", {}, false]`})
	}
	for _, lock := range []string{`-1`, `"x"`, `4294967296`, `1.5`, `true`} {
		list = append(list, request{"walletcreatefundedpsbt", `[[], {"<T>": 0.01}, ` + lock + `]`})
	}
	return append(list,
		request{"sendtoaddress", `["<T>", 15000000, "", "", false, null, null, null, true]`},
		request{"sendtoaddress", `["<T>", 15000000, 1]`}, request{"sendtoaddress", `["<T>", 15000000, "", 1]`},
		request{"sendtoaddress", `["<T>", 15000000, "", "", 1]`},
		request{"sendtoaddress", `["<T>", 15000000, "", "", true]`},
		request{"sendmany", `["", {"<T>": 15000000}, 1]`}, request{"sendmany", `["", {"<T>": 15000000}, "x"]`},
	)
}

// inputs are requests with inputs, by each method that takes some.
func (r *refusing) inputs() []request {
	var list []request
	for _, inputs := range []string{
		`1`, `{}`, `[1]`, `[{}]`, `[{"txid": "x", "vout": 0}]`, `[{"txid": 1, "vout": 0}]`, `[{"vout": 0}]`,
		`[{"txid": "<none>"}]`, `[{"txid": "<none>", "vout": -1}]`, `[{"txid": "<none>", "vout": "0"}]`,
		`[{"txid": "<none>", "vout": 0}]`, `[{"txid": "<none>", "vout": 4294967296}]`,
		`[{"txid": "<none>", "vout": 0, "sequence": -1}]`, `[{"txid": "<none>", "vout": 0, "sequence": 4294967296}]`,
		`[{"txid": "<none>", "vout": 0, "sequence": "x"}]`, `[{"txid": "<none>", "vout": 0, "weight": 1}]`,
		`[{"txid": "<none>", "vout": 0, "weight": 400001}]`, `[{"txid": "<none>", "vout": 0, "weight": "x"}]`,
		`[{"txid": "<none>", "vout": 0, "weight": 300}]`, `[{"txid": "<confirmed>", "vout": 99}]`,
		`[{"txid": "<replaced>", "vout": 0}]`, `[{"txid": "<child>", "vout": 0}]`,
	} {
		list = append(list,
			request{"send", `[{"<T>": 0.01}, null, null, null, {"add_to_wallet": false, "inputs": ` + inputs + `}]`},
			request{"sendall", `[["<T>"], null, null, null, {"add_to_wallet": false, "inputs": ` + inputs + `}]`},
			request{"sendall", `[["<T>"], null, null, null, {"send_max": true, "inputs": ` + inputs + `}]`},
			request{"sendall", `[["<T>"], null, null, null, {"minconf": 1, "inputs": ` + inputs + `}]`},
			request{"walletcreatefundedpsbt", `[` + inputs + `, {"<T>": 0.01}]`},
			request{"walletcreatefundedpsbt", `[` + inputs + `, {"<T>": 0.01}, 0, {"add_inputs": true}]`},
			request{"lockunspent", `[false, ` + inputs + `]`}, request{"lockunspent", `[true, ` + inputs + `]`},
		)
	}
	return list
}

// sums are requests for more than there is, or for less than can be.
func (r *refusing) sums() []request {
	var list []request
	for _, options := range []string{
		``, `, "add_inputs": false`, `, "inputs": [<C>]`, `, "inputs": [<C>], "add_inputs": false`,
		`, "inputs": [<C>], "add_inputs": true`, `, "subtract_fee_from_outputs": [0]`, `, "fee_rate": 1000`,
		`, "inputs": [<C>], "subtract_fee_from_outputs": [0]`, `, "inputs": [<C>, <C>]`, `, "fee_rate": 1000000`,
		`, "max_tx_weight": 600`, `, "inputs": [<C>], "max_tx_weight": 300`, `, "minconf": 10000`, `, "version": 3`,
	} {
		for _, amount := range []string{`0.00000001`, `0.00000294`, `5`, `100`, `20999999`} {
			list = append(list,
				request{"send", `[{"<T>": ` + amount + `}, null, null, null, {"add_to_wallet": false` + options + `}]`},
				request{"sendall", `[["<T>", {"<O>": ` + amount + `}], null, null, null, {"psbt": true` + options + `}]`},
			)
		}
	}
	return append(list,
		request{"sendtoaddress", `["<T>", 20999999, "", "", true]`}, request{"sendtoaddress", `["<T>", 0.00000001]`},
		request{"sendtoaddress", `["<T>", 0.00000300, "", "", true, null, null, null, null, 1000]`},
		request{"sendmany", `["", {"<T>": 0.00000400, "<O>": 20999999}, null, "", ["<T>", "<O>"]]`},
		request{"sendmany", `["", {"<T>": 0.00000400}, null, "", ["<T>"], null, null, null, 1000]`},
	)
}

// bumps are requests to pay more for what cannot be paid more for.
func (r *refusing) bumps() []request {
	var list []request
	for _, txid := range []string{
		`"<confirmed>"`, `"<final>"`, `"<replaced>"`, `"<child>"`, `"<lonely>"`, `"<none>"`, `"x"`, `1`, `null`,
	} {
		for _, options := range []string{
			`{}`, `{"fee_rate": 1}`, `{"fee_rate": 0.1}`, `{"fee_rate": 10000000}`, `{"original_change_index": 5}`,
			`{"original_change_index": -1}`, `{"original_change_index": "x"}`, `{"outputs": []}`, `{"outputs": 1}`,
			`{"outputs": [{"<T>": 20999999}]}`, `{"outputs": [{"<T>": 0.01}], "original_change_index": 0}`,
			`{"confTarget": 1}`, `{"confTarget": 1, "conf_target": 2}`, `{"replaceable": 1}`, `{"unknown": 1}`,
			`{"estimate_mode": "x"}`, `{"conf_target": 6, "fee_rate": 1}`, `{"outputs": [{"<T>": 0.00000001}]}`, `1`,
		} {
			list = append(list, request{"psbtbumpfee", `[` + txid + `, ` + options + `]`})
			if txid != `"<lonely>"` && txid != `"<final>"` { // which could be
				list = append(list, request{"bumpfee", `[` + txid + `, ` + options + `]`})
			}
		}
	}
	return list
}
