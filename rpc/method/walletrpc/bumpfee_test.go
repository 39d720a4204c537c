package walletrpc_test

import (
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/messages"
)

const replacedTx = "0100000000000000000000000000000000000000000000000000000000000000"

func TestBumpFeeRequests(t *testing.T) {
	r := newRig(t)
	w := r.load("a", plain)
	id := chainhash.Hash{31: 1}
	type m = messages.BumpFee
	check[messages.BumpFee](t, r, w, nil, []request{
		{"bumpfee", `["` + replacedTx + `"]`, m{TxID: id, Send: true}},
		{"bumpfee", `["` + replacedTx + `", {"fee_rate": "2.5", "replaceable": false, "original_change_index": 1}]`, m{
			TxID: id, FeeRate: new(int64(2500)), Irreplaceable: true, ChangeIndex: new(uint32(1)), Send: true,
		}},
		{"bumpfee", `{"txid": "` + replacedTx + `", "conf_target": 3, "estimate_mode": "conservative"}`, m{
			TxID: id, ConfTarget: 3, Conservative: new(true), Send: true,
		}},
		{"bumpfee", `["` + replacedTx + `", {"confTarget": 4, "outputs": {}}]`, m{TxID: id, ConfTarget: 4, Send: true}},
		{"bumpfee", `["` + replacedTx + `", {"outputs": [{"` + own + `": 1}, {"data": "00"}]}]`, m{
			TxID: id, Send: true,
			Payments: []messages.Payment{{Script: ownScript, Amount: 100_000_000}, {Script: []byte{0x6a, 1, 0}}},
		}},
	})
}

func TestBumpFeeReplies(t *testing.T) {
	r := newRig(t)
	w := r.load("a", plain)
	tx := wire.NewMsgTx(2)
	tx.AddTxOut(wire.NewTxOut(1, ownScript))
	answer(w, func(messages.BumpFee) (messages.Bumped, error) {
		return messages.Bumped{Tx: tx, TxID: chainhash.Hash{31: 1}, OldFee: 110, Fee: 660}, nil
	})
	answer(w, func(q messages.FillPacket) (messages.FilledPacket, error) {
		if q.Sign || !q.Derivations {
			t.Errorf("asked to fill %+v", q)
		}
		return messages.FilledPacket{PSBT: "packet"}, nil
	})
	replies(t, r, "bumpfee", map[string]string{
		`["` + replacedTx + `"]`: `{"txid":"` + replacedTx + `","origfee":0.00000110,"fee":0.00000660,"errors":[]}`,
	})
	replies(t, r, "psbtbumpfee", map[string]string{
		`["` + replacedTx + `"]`: `{"psbt":"packet","origfee":0.00000110,"fee":0.00000660,"errors":[]}`,
	})
	const of = `["` + replacedTx + `", `
	replies(t, r, "bumpfee", map[string]string{
		of + `{"totalFee": 1}]`: `{"code":-3,"message":"Unexpected key totalFee"}`,
		of + `{"confTarget": 1, "conf_target": 1}]`: `{"code":-8,"message":"confTarget and conf_target options ` +
			`should not both be set. Use conf_target (confTarget is deprecated)."}`,
		of + `{"estimate_mode": 1}]`: `{"code":-3,"message":"JSON value of type number for ` +
			`field estimate_mode is not of expected type string"}`,
		of + `{"outputs": []}]`: `{"code":-8,"message":"Invalid parameter, output argument ` +
			`cannot be an empty array"}`,
		of + `{"original_change_index": -1}]`:                 `{"code":-1,"message":"JSON integer out of range"}`,
		of + `{"outputs": [{"data": "00"}, {"data": "00"}]}]`: `{"code":-8,"message":"Invalid parameter, duplicate key: data"}`,
		of + `{"fee_rate": -1}]`:                              `{"code":-3,"message":"Amount out of range"}`,
	})
	r.directory.Remove("a")
	r.load("watch", watching)
	replies(t, r, "bumpfee", map[string]string{
		`["x"]`: `{"code":-4,"message":"bumpfee is not available with wallets that have private keys disabled. Use psbtbumpfee instead."}`,
	})
	r.directory.Remove("watch")
	r.load("locked", locked)
	for _, method := range []string{"bumpfee", "psbtbumpfee"} {
		replies(t, r, method, map[string]string{
			`["x"]`:                  `{"code":-8,"message":"txid must be of length 64 (not 1, for 'x')"}`,
			`["` + replacedTx + `"]`: `{"code":-13,"message":"Error: Please enter the wallet passphrase with walletpassphrase first."}`,
		})
	}
}
