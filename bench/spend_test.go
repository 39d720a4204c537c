package bench

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"
)

const (
	// signedInputs is how many inputs are signed at a time.
	signedInputs = 1_000

	// followedBlocks is after how many blocks a wallet is asked what it has.
	followedBlocks = 1_000
)

// BenchmarkSpend measures a wallet of 100,000 transactions, each with a coin. It chooses
// coins at two fee rates, for a small payment and for a payment of some 200 coins. It lists
// its newest transactions, some in the middle, and all. A wallet with private keys signs
// 1,000 inputs. From 253 coins on Core ends with "Fee needed > fee paid" at the lower rate.
// Core does the same in turn, on a regtest of its own.
func BenchmarkSpend(b *testing.B) {
	nodes := spenders(b)
	fund := func(coins, rate int) func(h *holder) error {
		return func(h *holder) error { return h.fund(b, coins, rate) }
	}
	list := func(count, skip int) func(h *holder) error {
		return func(h *holder) error { return h.list(b, count, skip) }
	}
	for name, call := range map[string]func(h *holder) error{
		"call=fund/coins=1/rate=2": fund(1, 2), "call=fund/coins=200/rate=2": fund(200, 2),
		"call=fund/coins=1/rate=50": fund(1, 50), "call=fund/coins=200/rate=50": fund(200, 50),
		"call=list/count=10": list(10, 0), "call=list/count=1000/skip=50000": list(1000, many/2),
		"call=list/count=100000": list(many, 0),
		"call=sign/inputs=1000":  func(h *holder) error { return h.sign(b) },
	} {
		b.Run(name, func(b *testing.B) {
			var all []*contender
			for _, h := range nodes {
				all = append(all, &contender{run: func() error { return call(h) }})
			}
			competeWithCore(b, all)
		})
	}
}

// BenchmarkBalanceOfBlocks asks a wallet of 100,000 transactions for its balances after each
// of 1,000 blocks. Every tenth block pays to the wallet. Each measured time covers
// one block and its answer.
func BenchmarkBalanceOfBlocks(b *testing.B) {
	nodes := spenders(b)
	blocks := followedBlocks
	if testing.Short() {
		blocks = 20
	}
	figures := map[string][]float64{}
	for b.Loop() {
		for i, h := range nodes {
			prefix := []string{"", "core-"}[i]
			var mining, asking time.Duration
			for n := range blocks {
				to := nobody
				if n%10 == 0 {
					to = addressOf(b, h.scripts[n%len(h.scripts)])
				}
				began := time.Now()
				h.must(b, nil, "generatetoaddress", 1, to)
				mined := time.Now()
				var got struct{ Mine struct{ Trusted float64 } }
				err := h.CallWallet(b.Context(), busyName, &got, "getbalances")
				if err != nil || got.Mine.Trusted == 0 {
					b.Fatal(err, got)
				}
				mining += mined.Sub(began)
				asking += time.Since(mined)
			}
			figures[prefix+"ms"] = append(figures[prefix+"ms"], milliseconds(mining+asking)/float64(blocks))
			figures[prefix+"ask-ms"] = append(figures[prefix+"ask-ms"], milliseconds(asking)/float64(blocks))
		}
	}
	reportFigures(b, figures)
	if rival := figures["core-ms"]; len(rival) > 0 {
		b.ReportMetric(median(rival)/median(figures["ms"]), "x-core")
		b.ReportMetric(median(figures["core-ask-ms"])/median(figures["ask-ms"]), "ask-x-core")
	}
}

// nobody is an address that no wallet has.
const nobody = "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080"

// signing is the wallet with private keys.
const signing = "signing"

// spenders start a daemon, and Core where there is one, with a wallet of many transactions
// and a wallet that signs.
func spenders(b *testing.B) holders {
	b.Helper()
	var all holders
	inTurn(b, buildDaemon(b), func(_, binary string) {
		dir := b.TempDir()
		d := startDaemon(b, binary, dir, "-keypool=10")
		d.waitHeight(b, 0)
		h := &holder{peer: d.peer, wallets: filepath.Join(dir, "regtest", "wallets")}
		h.must(b, nil, "generatetoaddress", 101, nobody)
		all = append(all, h)
	})
	for _, h := range all {
		var block string
		h.must(b, &block, "getblockhash", 1)
		backup := h.makeKeys(b, 1_000)
		h.scripts = fill(b, backup, 1_000, many, block)
		place(b, backup, h.wallets)
		h.must(b, nil, "loadwallet", busyName)
		h.must(b, nil, "createwallet", signing)
		h.prepareSigning(b)
	}
	return all
}

// fund has coins chosen for a payment of some coins' value.
func (h *holder) fund(b *testing.B, coins, rate int) error {
	b.Helper()
	var got struct{ PSBT string }
	amount := float64(coins) * 0.005
	err := h.CallWallet(b.Context(), busyName, &got, "walletcreatefundedpsbt", []any{},
		[]any{map[string]any{nobody: fmt.Sprintf("%.8f", amount)}}, 0,
		map[string]any{"fee_rate": rate, "changeAddress": addressOf(b, h.scripts[0])}, false)
	if err == nil && got.PSBT == "" {
		err = errWrongAnswer
	}
	return err
}

// list lists transactions of the wallet.
func (h *holder) list(b *testing.B, count, skip int) error {
	b.Helper()
	var got []struct{ Category string }
	err := h.CallWallet(b.Context(), busyName, &got, "listtransactions", "*", count, skip)
	if err == nil && len(got) != count {
		err = fmt.Errorf("%w: %d lines", errWrongAnswer, len(got))
	}
	return err
}

// prepareSigning makes a transaction with many inputs that the wallet can sign.
func (h *holder) prepareSigning(b *testing.B) {
	b.Helper()
	var inputs []any
	h.coins = nil
	for i := range signedInputs {
		if i%100 == 0 {
			h.coins = append(h.coins, h.ownCoins(b)...)
		}
		inputs = append(inputs, map[string]any{"txid": foreignTxID, "vout": i})
	}
	for i := range h.coins {
		h.coins[i].(map[string]any)["vout"] = i
	}
	h.must(b, &h.unsigned, "createrawtransaction", inputs, []any{map[string]any{"data": "00"}})
}

// foreignTxID is of a transaction that there is not.
const foreignTxID = "0101010101010101010101010101010101010101010101010101010101010101"

// ownCoins returns a hundred coins on new addresses.
func (h *holder) ownCoins(b *testing.B) (coins []any) {
	b.Helper()
	for range 100 {
		var address string
		if err := h.CallWallet(b.Context(), signing, &address, "getnewaddress"); err != nil {
			b.Fatal(err)
		}
		var shown struct{ ScriptPubKey string }
		h.must(b, &shown, "validateaddress", address)
		coins = append(coins, map[string]any{"txid": foreignTxID, "scriptPubKey": shown.ScriptPubKey, "amount": 1})
	}
	return coins
}

// sign signs the transaction with many inputs.
func (h *holder) sign(b *testing.B) error {
	b.Helper()
	var signed struct{ Complete bool }
	err := h.CallWallet(b.Context(), signing, &signed, "signrawtransactionwithwallet", h.unsigned, h.coins)
	if err == nil && !signed.Complete {
		err = errNotSigned
	}
	return err
}
