package spend

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/txs"
	"github.com/seed61375155/trawl/messages"
)

// scriptOf is a script of P2WPKH.
func scriptOf(n byte) []byte { return append([]byte{0, 20, n}, make([]byte, 19)...) }

// coinOf is a confirmed coin that an input of 68 virtual bytes spends.
func coinOf(n byte, amount int64) Coin {
	return Coin{
		Spendable: txs.Spendable{
			At: wire.OutPoint{Hash: chainhash.Hash{n}}, Script: scriptOf(n), Amount: btcutil.Amount(amount), Depth: 6,
			Version: 2,
		},
		Size: descriptor.InputSize{Stack: 108, Elements: 2, Witness: true}, Known: true,
	}
}

// planOf is a plan with 1 sat/vB, where outputs below 294 are dust.
func planOf(q *messages.Spend, coins ...Coin) *Plan {
	rate := int64(1000)
	if q.Version == 0 {
		q.Version = 2
	}
	if q.FeeRate == nil {
		q.FeeRate = &rate
	}
	return &Plan{
		Atom:    "sat",
		Request: q, Options: DefaultOptions(), Coins: coins, Tip: messages.Tip{Height: 500}, Current: true, Scale: 4,
		TRUCSize: 10_000, TRUCChildSize: 1_000,
		Pool:   messages.PoolClusters{MinRelayFee: 100, IncrementalFee: 100, DustFee: 3000},
		Random: rand.New(rand.NewPCG(1, 2)),
		Dust: func(out *wire.TxOut, _ FeeRate) int64 {
			if len(out.PkScript) > 0 && out.PkScript[0] == 0x6a {
				return 0
			}
			return 294
		},
	}
}

func rest(n byte) messages.Payment {
	return messages.Payment{Script: scriptOf(n), Rest: true, Address: fmt.Sprint("address ", n)}
}

func fixed(n byte, amount int64) messages.Payment {
	return messages.Payment{Script: scriptOf(n), Amount: btcutil.Amount(amount), Address: fmt.Sprint("address ", n)}
}

// All coins are spent, what is left after the fee is shared, and nothing is change.
func TestAll(t *testing.T) {
	for name, c := range map[string]struct {
		payments []messages.Payment
		coins    []Coin
		worth    bool
		want     []int64
		inputs   int
	}{
		"one":       {[]messages.Payment{rest(9)}, []Coin{coinOf(1, 10_000)}, false, []int64{9890}, 1},
		"two share": {[]messages.Payment{rest(8), rest(9)}, []Coin{coinOf(1, 10_000)}, false, []int64{4930, 4929}, 1},
		"and a fixed": {
			[]messages.Payment{fixed(8, 700), rest(9)}, []Coin{coinOf(1, 10_000)}, false, []int64{700, 9159}, 1,
		},
		"small too": {[]messages.Payment{rest(9)}, []Coin{coinOf(1, 10_000), coinOf(2, 60)}, false, []int64{9882}, 2},
		"worth it":  {[]messages.Payment{rest(9)}, []Coin{coinOf(1, 10_000), coinOf(2, 60)}, true, []int64{9890}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			q := &messages.Spend{Payments: c.payments, All: &messages.AllCoins{Worth: c.worth}, Sniped: true}
			p := planOf(q, c.coins...)
			built, err := Build(p)
			if err != nil {
				t.Fatal(err)
			}
			var total, paid int64
			for _, in := range built.Tx.TxIn {
				for _, coin := range c.coins {
					if coin.At == in.PreviousOutPoint {
						total += int64(coin.Amount)
					}
				}
				if in.Sequence != sequenceReplaceable {
					t.Errorf("sequence %x", in.Sequence)
				}
			}
			for i, out := range built.Tx.TxOut {
				paid += out.Value
				if i < len(c.want) && out.Value != c.want[i] {
					t.Errorf("output %d pays %d, want %d", i, out.Value, c.want[i])
				}
			}
			if len(built.Tx.TxOut) != len(c.want) || len(built.Tx.TxIn) != c.inputs || built.Change != -1 {
				t.Errorf("got %d outputs, %d inputs, change %d", len(built.Tx.TxOut), len(built.Tx.TxIn), built.Change)
			}
			if built.Fee != total-paid || built.Fee != int64(built.Weight+3)/4 {
				t.Errorf("fee %d of %d, weight %d", built.Fee, total-paid, built.Weight)
			}
			if built.Tx.LockTime < 400 || built.Tx.LockTime > 500 {
				t.Errorf("lock time %d", built.Tx.LockTime)
			}
		})
	}
}

// Exactly the coins of the request are spent, with its sequence numbers.
func TestAllGiven(t *testing.T) {
	q := &messages.Spend{
		Payments: []messages.Payment{rest(9)}, All: &messages.AllCoins{Given: true}, LockTime: new(uint32(7)),
		Inputs: []messages.SpendInput{
			{At: wire.OutPoint{Hash: chainhash.Hash{2}}},
			{At: wire.OutPoint{Hash: chainhash.Hash{1}}, Sequence: new(uint32(5))},
		},
		Replaceable: new(false),
	}
	p := planOf(q, coinOf(3, 5000))
	p.Given = []Coin{coinOf(2, 4000), coinOf(1, 6000)}
	built, err := Build(p)
	if err != nil {
		t.Fatal(err)
	}
	in := built.Tx.TxIn
	if len(in) != 2 || in[0].Sequence != sequenceLockTime || in[1].Sequence != 5 || built.Tx.LockTime != 7 {
		t.Errorf("got %+v, lock time %d", in, built.Tx.LockTime)
	}
	if in[0].PreviousOutPoint != q.Inputs[0].At || in[1].PreviousOutPoint != q.Inputs[1].At {
		t.Error("the inputs are in another order")
	}
}

func wantError(t *testing.T, err error, code int, text string) {
	t.Helper()
	e, ok := errors.AsType[*messages.WalletError](err)
	if !ok || e.Code != code || e.Text != text {
		t.Errorf("got  %v\nwant %d %s", err, code, text)
	}
}

func TestAllRefusals(t *testing.T) {
	const low = "Total value of UTXO pool too low to pay for transaction"
	const lower = ". Try using lower feerate or excluding uneconomic UTXOs with 'send_max' option."
	unsolvable, unconfirmed := coinOf(1, 10_000), coinOf(1, 10_000)
	unsolvable.Known = false
	unconfirmed.Depth, unconfirmed.Version = 0, 3
	one, coin := []messages.Payment{rest(9)}, []Coin{coinOf(1, 10_000)}
	and := func(amount int64) []messages.Payment { return []messages.Payment{fixed(8, amount), rest(9)} }
	for name, c := range map[string]struct {
		change func(p *Plan)
		pays   []messages.Payment
		coins  []Coin
		code   int
		text   string
	}{
		"fee rate too low": {
			func(p *Plan) { p.Request.FeeRate = new(int64(50)); p.Request.All.Refused = codes.Errorf(-1, "later") },
			one, nil, -8, "Fee rate (0.050 sat/vB) is lower than the minimum fee rate setting (1.000 sat/vB)",
		},
		"no estimate": {
			func(p *Plan) { p.Request.FeeRate = nil }, one, nil, -4,
			"Fee estimation failed. Fallbackfee is disabled. Wait a few blocks or enable -fallbackfee.",
		},
		"refused": {func(p *Plan) { p.Request.All.Refused = codes.Errorf(-5, "no") }, one, nil, -5, "no"},
		"unsolvable": {
			nil, one,
			[]Coin{unsolvable},
			-4,
			"Unable to determine the size of the transaction, the wallet contains unsolvable descriptors",
		},
		"no coin":        {nil, one, nil, -6, low + lower},
		"no coin, worth": {func(p *Plan) { p.Request.All.Worth = true }, one, nil, -6, low + ", try using lower feerate."},
		"fee above limit": {
			func(p *Plan) { p.Options.MaxFee = 109 }, one, coin, -4,
			"Fee exceeds maximum configured by user (e.g. -maxtxfee, maxfeerate)",
		},
		"too large": {
			func(p *Plan) {
				for i := range 1500 {
					c := coinOf(1, 10_000)
					c.At.Index = uint32(i + 1)
					p.Coins = append(p.Coins, c)
				}
			}, one, nil, -4, "Transaction too large.",
		},
		"child of version 3 too large": {
			func(p *Plan) {
				p.Request.Version = 3
				for i := range 15 {
					c := unconfirmed
					c.At.Index = uint32(i + 1)
					p.Coins = append(p.Coins, c)
				}
			}, one, nil, -4, "Transaction too large.",
		},
		"more than there is":  {nil, and(10_001), coin, -6, "Assigned more value to outputs than available funds."},
		"nothing for the fee": {nil, and(9_900), coin, -6, "Insufficient funds for fees after creating specified outputs."},
		"rest is dust":        {nil, and(9_700), coin, -6, "Dynamically assigned remainder results in dust output."},
		"payment is dust":     {nil, and(293), coin, -8, "Specified output amount to address 8 is below dust threshold."},
		"contradicts sequence": {
			func(p *Plan) {
				p.Request.All.Given, p.Request.Replaceable = true, new(true)
				p.Request.Inputs = []messages.SpendInput{{Sequence: new(wire.MaxTxInSequenceNum)}}
				p.GivenErr = codes.Errorf(-1, "later")
			}, one, nil, -8, "Invalid parameter combination: Sequence number(s) contradict replaceable option",
		},
		"input is not there": {
			func(p *Plan) { p.Request.All.Given = true; p.GivenErr = codes.Errorf(-8, "no") }, one, nil, -8, "no",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := planOf(&messages.Spend{Payments: c.pays, All: new(messages.AllCoins)}, c.coins...)
			if c.change != nil {
				c.change(p)
			}
			_, err := Build(p)
			wantError(t, err, c.code, c.text)
		})
	}
}
