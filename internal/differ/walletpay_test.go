package differ_test

import (
	"math"
	"strings"
)

// recipient is an address of either wallet.
func (w *peerWallets) recipient() string {
	return pick(w.Rand, pick(w.Rand, []*side{w.trawl, w.core}, nil).to, "")
}

// amount is a random one, of no more than some coins.
func (w *peerWallets) amount() string {
	return coinText(1000 + int64(math.Exp(19*w.Float64())))
}

// feeRate is a random one, in satoshis a virtual byte.
func (w *peerWallets) feeRate() float64 { return math.Round(math.Exp(4*w.Float64())*1000) / 1000 }

// sendToAddress are arguments of that method but for the key.
func (w *peerWallets) sendToAddress(*side) []any {
	return []any{w.recipient(), w.amount(), "", "", w.IntN(4) == 0, true, nil, nil, nil, w.feeRate(), nil}
}

// pay makes one payment by a side.
func (w *peerWallets) pay(s *side) {
	w.t.Helper()
	defer w.timed("pay " + s.name)()
	kinds := []string{
		"sendtoaddress", "sendtoaddress", "sendmany", "send", "sendall", "fundrawtransaction", "bumpfee", "psbtbumpfee",
		"psbt", "psbt",
	}
	kind := pick(w.Rand, kinds, "")
	rate := w.feeRate()
	if kind == "bumpfee" || kind == "psbtbumpfee" {
		rate += 60 // above what others pay
	}
	var id string
	var err error
	switch kind {
	case "sendtoaddress":
		params := w.sendToAddress(s)
		params[9] = rate
		err = s.call(&id, s.wallet, "sendtoaddress", params[:10]...)
	case "sendmany":
		to := map[string]any{}
		for range 1 + w.IntN(4) {
			to[w.recipient()] = w.amount()
		}
		err = s.call(&id, s.wallet, "sendmany", "", to, nil, "", []string{}, true, nil, nil, rate)
	case "fundrawtransaction":
		id, err = w.payByRawTx(s, rate)
	case "psbt", "psbtbumpfee":
		w.share() // both choose among the coins of one wallet
		id, err = w.payByPSBT(s, kind, rate)
		w.share()
	default:
		id, err = w.payByObject(s, kind, rate)
	}
	switch {
	case err == nil:
		w.sends++
		w.kinds[kind]++
		w.check(s, kind, id, rate)
	case isRefusal(err):
		w.refused++
	default:
		w.t.Fatal(err)
	}
}

// payByObject pays by a method whose result is an object.
func (w *peerWallets) payByObject(s *side, kind string, rate float64) (id string, err error) {
	var result struct{ TxID string }
	switch kind {
	case "send":
		options := map[string]any{"fee_rate": rate, "replaceable": true}
		err = s.call(&result, s.wallet, "send",
			[]any{map[string]any{w.recipient(): w.amount()}}, nil, nil, nil, options)
	case "sendall":
		var coins []unspent
		if err = s.call(&coins, s.wallet, "listunspent", 0); err != nil {
			return "", err
		}
		c := pick(w.Rand, coins, unspent{})
		options := map[string]any{"fee_rate": rate, "inputs": []any{map[string]any{"txid": c.TxID, "vout": c.Vout}}}
		err = s.call(&result, s.wallet, "sendall", []any{w.recipient()}, nil, nil, nil, options)
	default:
		old := pick(w.Rand, s.replaceable, "00")
		err = s.call(&result, s.wallet, "bumpfee", old, map[string]any{"fee_rate": rate})
	}
	return result.TxID, err
}

// payByRawTx has a wallet add inputs to a transaction, sign and send it.
func (w *peerWallets) payByRawTx(s *side, rate float64) (id string, err error) {
	var raw string
	w.get(s, &raw, "", "createrawtransaction", []any{}, []any{map[string]any{w.recipient(): w.amount()}})
	var funded struct{ Hex string }
	if err = s.call(&funded, s.wallet, "fundrawtransaction", raw, map[string]any{"fee_rate": rate}); err != nil {
		return "", err
	}
	var signed struct {
		Hex      string
		Complete bool
	}
	w.get(s, &signed, s.wallet, "signrawtransactionwithwallet", funded.Hex)
	if !signed.Complete {
		w.t.Fatalf("%s has not signed all of %s", s.name, funded.Hex)
	}
	err = s.call(&id, "", "sendrawtransaction", signed.Hex)
	return id, err
}

// payByPSBT has the watching wallet fund or replace a transaction, the owner sign it, and the watching wallet
// finalize and send it.
func (w *peerWallets) payByPSBT(s *side, kind string, rate float64) (id string, err error) {
	var funded, signed struct{ PSBT string }
	var final struct {
		Hex      string
		Complete bool
	}
	if kind == "psbtbumpfee" {
		old := pick(w.Rand, s.replaceable, "00")
		err = s.other.call(&funded, s.watched, "psbtbumpfee", old, map[string]any{"fee_rate": rate})
	} else {
		to := []any{map[string]any{w.recipient(): w.amount()}}
		err = s.other.call(&funded, s.watched, "walletcreatefundedpsbt", []any{}, to, 0, map[string]any{
			"fee_rate": rate, "change_type": pick(w.Rand, w.changeTypes, ""),
		})
	}
	if err != nil {
		return "", err
	}
	w.get(s, &signed, s.wallet, "walletprocesspsbt", funded.PSBT)
	w.get(s.other, &final, "", "finalizepsbt", signed.PSBT)
	if !final.Complete {
		w.t.Fatalf("%s signed, and the other side cannot finalize: %s", s.name, signed.PSBT)
	}
	err = s.other.call(&id, "", "sendrawtransaction", final.Hex)
	return id, err
}

// check looks at the fee of a payment by trawld's wallet.
func (w *peerWallets) check(s *side, kind, id string, rate float64) {
	w.t.Helper()
	s.replaceable = append(s.replaceable, id)
	if s != w.trawl {
		return
	}
	var entry struct {
		VSize, AncestorSize float64
		Fees                struct{ Base, Ancestor float64 }
	}
	if w.trawl.call(&entry, "", "getmempoolentry", id) != nil {
		return // sent by the other side, and not here yet
	}
	// A transaction from the other side is kept once the wallet lists it. Before that a kill may lose it, as the
	// pool does, and the other side sends it again.
	sentByOther := strings.HasPrefix(kind, "psbt")
	if !sentByOther || w.trawl.call(nil, w.trawl.wallet, "gettransaction", id) == nil {
		w.pending = append(w.pending, id)
	}
	// Without change what is left is paid as well: no more than change would have cost.
	const discard = 10
	// Unconfirmed parents are paid for too.
	parents := max(0, rate*(entry.AncestorSize-entry.VSize)-(entry.Fees.Ancestor-entry.Fees.Base)*1e8)
	fee, least := entry.Fees.Base*1e8, rate*entry.VSize
	if most := rate*(entry.VSize*1.05+8) + (rate+discard)*w.changeCost + parents; fee < least-1 || fee > most {
		w.t.Errorf("%s pays %.0f for %.0f vB at %.3f sat/vB", id, fee, entry.VSize, rate)
	}
}
