package trawl_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed61375155/trawl"
)

// Where there is no estimate, wallets of qbit's chains pay 250 for 1000 virtual bytes, or the rate that the operator
// sets. A rate of 0 makes them refuse, as wallets of Bitcoin's chains do unless the operator sets a rate.
func TestFallbackFee(t *testing.T) {
	const noCoins, noEstimate = "Insufficient funds", "Fallbackfee is disabled"
	for _, c := range []struct {
		name, dialect string
		chosen        *int64
		want          string
	}{
		{"qbit", "qbit", nil, noCoins},
		{"qbit, none", "qbit", new(int64), noEstimate},
		{"Bitcoin", "", nil, noEstimate},
		{"Bitcoin, some", "", new(int64(1000)), noCoins},
	} {
		config := trawl.Config{
			Dir: t.TempDir(), Chain: "regtest", Dialect: c.dialect, Mempool: trawl.MempoolConfig{NoPersist: true},
			Wallets: &trawl.WalletConfig{NoSync: true, KeyPool: 1},
		}
		config.Wallets.Spending.FallbackFee = c.chosen
		node := open(t, config)
		if _, err := node.Call(t.Context(), "createwallet", []any{"w"}); err != nil {
			t.Fatal(err)
		}
		answer, err := node.Call(t.Context(), "getnewaddress", nil)
		if err != nil {
			t.Fatal(err)
		}
		var to string
		if err := json.Unmarshal(answer, &to); err != nil {
			t.Fatal(err)
		}
		_, err = node.Call(t.Context(), "sendtoaddress", []any{to, 1})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
