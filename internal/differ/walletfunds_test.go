package differ_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed61375155/trawl/internal/differ"
)

// madeByChance is the difference between transactions that wallets make: change and lock
// time are chosen by chance, and coins are listed in another order.
var madeByChance = differ.Exception{
	Reason: "where change goes, the lock time and the order of coins are chosen by chance",
	Is: func(c differ.Call, got differ.Replies) bool {
		return (c.Method == "psbtbumpfee" || c.Method == "sendall") && got.Trawl.OK() && got.Core.OK()
	},
}

// funds changes what wallets count by a word of the caller.
func (w *walletPlay) funds() {
	name := w.wallet()
	id := pick(w.Rand, w.txids, strings.Repeat("00", 32))
	switch w.IntN(7) {
	case 0, 1:
		w.send(differ.Call{Method: "abandontransaction", Params: []any{id}, Wallet: name})
	case 2:
		flag := pick(w.Rand, []string{"avoid_reuse", "avoid_reuse", "blank", "none"}, "")
		w.send(differ.Call{Method: "setwalletflag", Params: []any{flag, w.IntN(2) == 0}, Wallet: name})
	case 3:
		w.prunedFunds(name, id)
	case 4, 5:
		w.bump(name, id)
	default:
		w.sweep(name)
	}
	w.settle()
}

// prunedFunds removes a transaction and imports it again by a proof. It leaves out
// transactions with conflicts, since Core forgets too much when they are removed.
func (w *walletPlay) prunedFunds(name, id string) {
	var tx struct {
		BlockHash string   `json:"blockhash"`
		Hex       string   `json:"hex"`
		Conflicts []string `json:"walletconflicts"`
	}
	got := w.send(differ.Call{Method: "gettransaction", Params: []any{id}, Wallet: name})
	if json.Unmarshal(got[0].Core.Result, &tx) != nil || tx.BlockHash == "" || len(tx.Conflicts) > 0 {
		w.send(differ.Call{Method: "removeprunedfunds", Params: []any{strings.Repeat("ab", 32)}, Wallet: name})
		return
	}
	got = w.send(differ.Call{Method: "gettxoutproof", Params: []any{[]string{id}, tx.BlockHash}})
	var proof string
	if json.Unmarshal(got[0].Core.Result, &proof) != nil {
		return
	}
	damaged := proof[:2*w.IntN(len(proof)/2)]
	other := pick(w.Rand, w.txids, "")
	w.send(
		differ.Call{Method: "verifytxoutproof", Params: []any{proof}},
		differ.Call{Method: "verifytxoutproof", Params: []any{damaged}},
		differ.Call{Method: "gettxoutproof", Params: []any{[]string{id, other}, tx.BlockHash}},
		differ.Call{Method: "removeprunedfunds", Params: []any{id}, Wallet: name},
		differ.Call{Method: "getbalances", Wallet: name},
		differ.Call{Method: "importprunedfunds", Params: []any{tx.Hex, damaged}, Wallet: name},
		differ.Call{Method: "importprunedfunds", Params: []any{tx.Hex, proof}, Wallet: name},
	)
}

// bump makes a transaction that replaces another transaction, or is refused.
func (w *walletPlay) bump(name, id string) {
	options := map[string]any{}
	switch w.IntN(6) {
	case 0:
		options["fee_rate"] = []any{0, 1, "5.5", 100000, -1, "x"}[w.IntN(6)]
	case 1:
		options["original_change_index"] = w.IntN(3)
	case 2:
		options["outputs"] = []any{map[string]any{w.address(): "0.0001"}}
	case 3:
		options["conf_target"], options["estimate_mode"] = w.IntN(3), "economical"
	default:
	}
	w.send(differ.Call{Method: "psbtbumpfee", Params: []any{id, options}, Wallet: name})
}

// sweep makes a transaction of all coins, or of one, and neither keeps nor sends it.
func (w *walletPlay) sweep(name string) {
	options := map[string]any{"add_to_wallet": false, "fee_rate": []any{1, 3, 500, 1000000}[w.IntN(4)]}
	switch w.IntN(5) {
	case 0:
		options["send_max"] = true
	case 1:
		options["minconf"] = w.IntN(3)
	case 2:
		options["inputs"] = []any{map[string]any{"txid": pick(w.Rand, w.txids, ""), "vout": w.IntN(2)}}
	case 3:
		options["version"] = w.IntN(5)
	default:
	}
	to := []any{w.address()}
	if w.IntN(3) == 0 {
		to = append(to, map[string]any{w.address(): fmt.Sprintf("%.8f", w.Float64())})
	}
	w.send(differ.Call{Method: "sendall", Params: []any{to, nil, nil, nil, options}, Wallet: name})
}

// simulate asks what transactions of any wallet would do.
func (w *walletPlay) simulate() differ.Call {
	raws := []string{}
	for range w.IntN(3) {
		raws = append(raws, pick(w.Rand, w.raws, "00"))
	}
	return differ.Call{Method: "simulaterawtransaction", Params: []any{raws}}
}
