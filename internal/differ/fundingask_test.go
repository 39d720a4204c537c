package differ_test

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/seed61375155/trawl/internal/differ"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
)

// ask has a wallet fund transactions.
func (f *fundingPlay) ask() {
	name := f.wallet()
	coins := f.coins(name)
	total := 0.0
	for _, c := range coins {
		total += c.Amount
	}
	values := f.valuesOf(name)
	var calls []differ.Call
	var asked []fundingRequest
	for range fundingPerRound {
		one := f.request(name, coins, int64(total*1e8))
		calls, asked = append(calls, one.call), append(asked, one)
	}
	for i, got := range f.send(calls...) {
		f.cases++
		if got.Trawl.OK() && got.Core.OK() {
			f.both++
			f.compare(values, &asked[i], got)
		}
	}
}

// fundingRequest is a call that funds a transaction.
type fundingRequest struct {
	call     differ.Call
	rate     float64 // satoshis a virtual byte; 0: the request has no rate, or an odd value
	payments int
}

// request makes a request at random; most can be served.
func (f *fundingPlay) request(name string, coins []unspent, total int64) (r fundingRequest) {
	outs := []any{}
	for range 1 + f.IntN(3) {
		amount := f.value()
		if total > 0 && f.IntN(3) > 0 {
			amount = 1 + f.Int64N(total)
		}
		to := pick(f.Rand, append(f.own[name], f.faucet(), f.faucet()), "")
		outs = append(outs, map[string]any{to: coinText(amount)})
	}
	outs = uniqueOuts(outs)
	options := map[string]any{}
	r.payments = len(outs)
	switch r.rate = math.Round(math.Exp(6*f.Float64())*1000) / 1000; f.IntN(25) {
	case 0:
		r.rate = 0
		options["conf_target"], options["estimate_mode"] = 1+f.IntN(20), "economical"
	case 1:
		options["fee_rate"] = []any{0, "x", 0.5, 1_000_000, -1}[f.IntN(5)]
		r.rate = 0
	default:
		options["fee_rate"] = fmt.Sprintf("%.3f", r.rate)
	}
	f.vary(options, len(outs))
	inputs := []any{}
	if len(coins) > 0 && f.IntN(4) == 0 {
		for range 1 + f.IntN(2) {
			c := pick(f.Rand, coins, unspent{})
			inputs = append(inputs, map[string]any{"txid": c.TxID, "vout": c.Vout})
		}
		inputs = uniqueInputs(inputs)
		options["add_inputs"] = f.IntN(3) > 0
	}
	if f.IntN(2) == 0 {
		r.call = differ.Call{Method: "walletcreatefundedpsbt", Params: []any{inputs, outs, 0, options}, Wallet: name}
		return r
	}
	if len(inputs) > 0 {
		options["inputs"] = inputs
	}
	options["add_to_wallet"], options["locktime"] = false, 0
	f.rename(options)
	r.call = differ.Call{Method: "send", Params: []any{outs, nil, nil, nil, options}, Wallet: name}
	return r
}

// rename gives options their names in send.
func (*fundingPlay) rename(options map[string]any) {
	for old, name := range map[string]string{
		"subtractFeeFromOutputs": "subtract_fee_from_outputs", "changePosition": "change_position",
	} {
		if value, ok := options[old]; ok {
			delete(options, old)
			options[name] = value
		}
	}
}

func uniqueInputs(inputs []any) []any {
	seen := make(map[string]bool)
	var list []any
	for _, in := range inputs {
		if text := fmt.Sprint(in); !seen[text] {
			seen[text] = true
			list = append(list, in)
		}
	}
	return list
}

// vary sets options that say which coins and what change.
func (f *fundingPlay) vary(options map[string]any, outs int) {
	if f.IntN(4) == 0 {
		options["subtractFeeFromOutputs"] = []int{f.IntN(outs)}
	}
	if f.IntN(6) == 0 {
		options["changePosition"] = f.IntN(outs + 2)
	}
	if f.IntN(5) == 0 {
		options["change_type"] = pick(f.Rand, []string{"legacy", "p2sh-segwit", "bech32", "bech32m", "x"}, "")
	}
	if f.IntN(6) == 0 {
		options["include_unsafe"] = true
	}
	if f.IntN(8) == 0 {
		options["minconf"] = f.IntN(8)
	}
	if f.IntN(12) == 0 {
		options["maxconf"] = f.IntN(8)
	}
	if f.IntN(10) == 0 {
		options["max_tx_weight"] = []int{0, 300, 600, 1500, 4000, 400_001}[f.IntN(6)]
	}
}

// valued is what is known of a coin: its value, and how large an input of it is.
type valued struct {
	satoshis int64
	size     int64
	depth    int
}

func (f *fundingPlay) valuesOf(name string) map[string]valued {
	got := f.send(differ.Call{Method: "listunspent", Params: []any{0, 9999999, []string{}, true}, Wallet: name})
	var list []struct {
		TxID   string
		Vout   int
		Amount float64
		Desc   string

		Confirmations int
	}
	_ = json.Unmarshal(got[0].Core.Result, &list)
	known := make(map[string]valued, len(list))
	sizes := map[string]int64{"wp": 68, "tr": 58, "pk": 148, "sh": 91}
	for _, c := range list {
		satoshis := int64(math.Round(c.Amount * 1e8))
		known[fmt.Sprint(c.TxID, c.Vout)] = valued{satoshis, sizes[c.Desc[:2]], c.Confirmations}
	}
	return known
}

// compare adds what both waste, and looks at the fee rates.
func (f *fundingPlay) compare(values map[string]valued, r *fundingRequest, got differ.Replies) {
	if r.rate == 0 {
		return
	}
	trawl, size, ok := f.waste(values, r, got.Trawl)
	core, _, same := f.waste(values, r, got.Core)
	if !ok || !same {
		return
	}
	f.weighed++
	rate, call := r.rate, r.call
	f.trawl += trawl.waste
	f.core += core.waste
	f.differences += trawl.waste - core.waste
	f.squares += (trawl.waste - core.waste) * (trawl.waste - core.waste)
	if !trawl.change {
		f.changeless++
	}
	if !core.change {
		f.coreWhole++
	}
	// Signatures are a byte shorter at times, and a change that is not worth it goes to the fee.
	switch least := rate * float64(size) * 0.98; {
	case float64(trawl.fee) < least-float64(size):
		f.p.Report.Add("fee is too low", fmt.Sprintf("%v: fee %d, rate %.3f, size %d", call, trawl.fee, rate, size))
	case trawl.change && !trawl.unconfirmed && float64(trawl.fee) > rate*float64(size)*1.1+float64(size):
		f.p.Report.Add("fee is too high", fmt.Sprintf("%v: fee %d, rate %.3f, size %d", call, trawl.fee, rate, size))
	}
}

// A choice is what a funded transaction costs.
type choice struct {
	waste  float64
	fee    int64
	change bool

	unconfirmed bool // it spends what is not confirmed, and may pay for it too
}

// waste works out the waste of a transaction. Waste is the cost of inputs above their cost
// at 10 sat/vB, and the cost of change or, without change, the excess fee.
func (f *fundingPlay) waste(
	values map[string]valued, asked *fundingRequest, r differ.Reply,
) (c choice, size int64, ok bool) {
	const longTerm, changeSize, changeSpend = 10.0, 31, 68
	rate := asked.rate
	var tx struct{ PSBT string }
	if json.Unmarshal(r.Result, &tx) != nil || tx.PSBT == "" {
		return c, 0, false
	}
	var decoded struct{ Fee float64 }
	if f.p.Core.Call(f.t.Context(), &decoded, "decodepsbt", tx.PSBT) != nil {
		return c, 0, false
	}
	p, err := psbt.Decode(tx.PSBT) // of either version
	if err != nil {
		return c, 0, false
	}
	size = 11
	for _, out := range p.Tx.TxOut {
		size += 9 + int64(len(out.PkScript))
	}
	for _, in := range p.Tx.TxIn {
		v, known := values[fmt.Sprint(in.PreviousOutPoint.Hash.String(), in.PreviousOutPoint.Index)]
		if !known {
			return c, 0, false
		}
		size += v.size
		c.unconfirmed = c.unconfirmed || v.depth == 0
		c.waste += (rate - longTerm) * float64(v.size)
	}
	c.fee = int64(math.Round(decoded.Fee * 1e8))
	c.change = len(p.Tx.TxOut) > asked.payments
	if excess := float64(c.fee) - rate*float64(size); c.change {
		c.waste += rate*changeSize + longTerm*changeSpend
	} else {
		c.waste += math.Max(excess, 0)
	}
	return c, size, true
}

// judge fails where the choices here waste more than those of Core, by more than chance
// explains.
func (f *fundingPlay) judge() {
	n := float64(f.weighed)
	if n == 0 {
		f.t.Fatal("nothing was funded")
	}
	mean := f.differences / n
	deviation := math.Sqrt((f.squares/n - mean*mean) / n)
	f.t.Logf("%d cases, %d funded by both, %d of them compared: waste %.0f here, %.0f by Core, "+
		"%.1f ± %.1f more on average; without change %d and %d; %d answered by chance",
		f.cases, f.both, f.weighed, f.trawl/n, f.core/n, mean, deviation, f.changeless, f.coreWhole, f.doubts)
	if mean > 3*deviation {
		f.t.Errorf("the choices waste %.1f satoshis more than Core's on average, with a deviation of %.1f", mean, deviation)
	}
}
