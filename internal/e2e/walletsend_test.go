package e2e_test

import (
	"testing"

	"github.com/seed61375155/trawl/internal/e2e"
)

// TestKill9AfterSending kills a node as soon as it has answered that it took a
// payment of its wallet: the wallet must know of it afterwards.
func TestKill9AfterSending(t *testing.T) {
	t.Parallel()
	kills := count(t, "TRAWL_SOAK", 4)
	const fee, coinbase = 0.001, 50
	for done := 0; done < kills; done += killsPerNode {
		d := e2e.Start(t, e2e.Config{Chain: "regtest", Args: []string{"-keypool=5"}})
		d.Get(nil, "createwallet", "w", false, false, "", false, true, true) // loaded on start
		d.Get(nil, "createwallet", "other", false, false, "", false, true, true)
		get := func(wallet string, result any, method string, params ...any) {
			t.Helper()
			if err := d.CallWallet(t.Context(), wallet, result, method, params...); err != nil {
				t.Fatalf("%s: %v\nlog:\n%s", method, err, d.LogTail())
			}
		}
		var mine string
		get("w", &mine, "getnewaddress")
		d.Get(nil, "generatetoaddress", 100+killsPerNode, mine)
		for round := range killsPerNode {
			var unspent []struct {
				TxID string `json:"txid"`
				Vout int    `json:"vout"`
			}
			get("w", &unspent, "listunspent")
			var paid, raw string
			get("other", &paid, "getnewaddress")
			get("w", &raw, "createrawtransaction", unspent[:1], map[string]any{paid: coinbase - fee})
			var signed struct {
				Hex      string `json:"hex"`
				Complete bool   `json:"complete"`
			}
			get("w", &signed, "signrawtransactionwithwallet", raw)
			if !signed.Complete {
				t.Fatal("not signed")
			}
			var id string
			if round%2 == 0 {
				d.Get(&id, "sendrawtransaction", signed.Hex)
			} else {
				d.Get(nil, "submitpackage", []string{signed.Hex})
				var decoded struct {
					TxID string `json:"txid"`
				}
				d.Get(&decoded, "decoderawtransaction", signed.Hex)
				id = decoded.TxID
			}
			d.Kill()
			d.Restart()
			for _, name := range []string{"w", "other"} {
				var tx struct {
					Confirmations int `json:"confirmations"`
				}
				if err := d.CallWallet(t.Context(), name, &tx, "gettransaction", id); err != nil {
					t.Errorf("round %d, wallet %s: %v", round, name, err)
				}
			}
		}
		d.Stop()
	}
}
