package walletrpc_test

import (
	"fmt"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/rawtx/psbt"
	"github.com/seed61375155/trawl/messages"
)

// Packets of wallets are made of the wanted version, by default of the network's first.
func TestPSBTVersion(t *testing.T) {
	r := newRig(t)
	w := r.load("a", plain)
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(wire.NewTxIn(&wire.OutPoint{Index: 1}, nil, nil))
	answer(w, func(messages.Spend) (messages.Spent, error) { return messages.Spent{Tx: tx}, nil })
	answer(w, func(messages.BumpFee) (messages.Bumped, error) { return messages.Bumped{Tx: tx}, nil })
	answer(w, func(messages.FillPacket) (messages.FilledPacket, error) { return messages.FilledPacket{}, nil })
	calls := map[string]string{
		"walletcreatefundedpsbt": `[[], {"` + own + `": 1}, 0, {}, true, 2, %s]`,
		"psbtbumpfee":            `["` + replacedTx + `", {"psbt_version": %s}]`,
	}
	name := "a"
	for version, want := range map[string]uint32{"null": 0, "0": 0, "2": 2} {
		for method, params := range calls {
			if method == "psbtbumpfee" && version == "null" {
				continue
			}
			r.call(&name, method, fmt.Sprintf(params, version))
			p, err := psbt.Decode(asked[messages.FillPacket](w).PSBT)
			if err != nil || p.Version != want {
				t.Errorf("%s, %s: got %+v, %v", method, version, p, err)
			}
		}
	}
	for version, want := range map[string]string{
		"1":  `{"code":-8,"message":"The PSBT version can only be 2 or 0"}`,
		"-1": `{"code":-1,"message":"JSON integer out of range"}`,
	} {
		for method, params := range calls {
			if got := r.call(&name, method, fmt.Sprintf(params, version)); got != want {
				t.Errorf("%s, %s: got %s", method, version, got)
			}
		}
	}
	const of = `["` + replacedTx + `", `
	replies(t, r, "psbtbumpfee", map[string]string{
		of + `{"psbt_version": "2"}]`: `{"code":-3,"message":"JSON value of type string for ` +
			`field psbt_version is not of expected type number"}`,
		of + `{"psbt_version": 2, "replaceable": 1}]`: `{"code":-3,"message":"JSON value of type number for ` +
			`field replaceable is not of expected type bool"}`,
	})
	replies(t, r, "bumpfee", map[string]string{
		of + `{"psbt_version": 2}]`: `{"code":-3,"message":"Unexpected key psbt_version"}`,
	})
	r.deps.Network.PSBTVersions = []uint32{2, 0}
	r.build()
	for method, params := range map[string]string{
		"walletcreatefundedpsbt": `[[], {"` + own + `": 1}]`, "psbtbumpfee": `["` + replacedTx + `"]`,
	} {
		r.call(&name, method, params)
		if p, err := psbt.Decode(asked[messages.FillPacket](w).PSBT); err != nil || p.Version != 2 {
			t.Errorf("%s: got %+v, %v", method, p, err)
		}
	}
}
