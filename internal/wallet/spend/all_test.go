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
	"github.com/seed61375155/trawl/internal/dialect"
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
		Size: descriptor.InputSize{Stack: 107, Elements: 2, Witness: true}, Known: true,
	}
}

// core30 are the answers of Core 30.2.
var core30 = func() dialect.Answers {
	n, err := dialect.Named(dialect.NameBitcoin, "regtest", dialect.Choices{Reference: dialect.Core30})
	if err != nil {
		panic(err)
	}
	return n.Answers
}()

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
		Atom: "sat", Answers: core30,
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
		"small too":  {[]messages.Payment{rest(9)}, []Coin{coinOf(1, 10_000), coinOf(2, 60)}, false, []int64{9882}, 2},
		"worth it":   {[]messages.Payment{rest(9)}, []Coin{coinOf(1, 10_000), coinOf(2, 67)}, true, []int64{9890}, 1},
		"just worth": {[]messages.Payment{rest(9)}, []Coin{coinOf(1, 10_000), coinOf(2, 68)}, true, []int64{9890}, 2},
		"three share, with a fixed": {
			[]messages.Payment{rest(7), fixed(8, 700), rest(6), rest(9)},
			[]Coin{coinOf(1, 10_000)},
			false,
			[]int64{3033, 700, 3032, 3032},
			1, // 10,000 - 203 - 700
		},
		"down to dust": {
			[]messages.Payment{fixed(8, 9565), rest(9)}, []Coin{coinOf(1, 10_000)}, false, []int64{9565, 294}, 1,
		},
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

// The fee that unconfirmed ancestors lack is not shared; if there are too many ancestors to tell, none is missing.
func TestAllPaysForAncestors(t *testing.T) {
	for _, tooMany := range []bool{false, true} {
		q := &messages.Spend{Payments: []messages.Payment{rest(9)}, All: new(messages.AllCoins)}
		p := planOf(q, coinOf(1, 10_000))
		p.Coins[0].Depth = 0
		p.Pool.Txs = []messages.ClusterTx{{ID: chainhash.Hash{1}, VSize: 200, ModifiedFee: 120}}
		p.Pool.TooMany = tooMany
		want := int64(9890 - 80)
		if tooMany {
			want = 9890
		}
		built, err := Build(p)
		if err != nil || built.Tx.TxOut[0].Value != want || built.Fee != 10_000-want {
			t.Errorf("too many %v: %+v, %v; want %d", tooMany, built, err, want)
		}
	}
}

// The sequence numbers of all coins say whether the transaction may be replaced, or that its lock time counts; final
// inputs take no lock time.
func TestAllSequences(t *testing.T) {
	const final = wire.MaxTxInSequenceNum
	for _, c := range []struct {
		name        string
		given       bool
		replaceable bool
		own         *uint32
		lock        *uint32
		sequence    uint32
		wantLock    uint32
	}{
		{"replaceable", false, true, nil, nil, sequenceReplaceable, 500},
		{"final", false, false, nil, nil, final, 0},
		{"final, with a lock time", false, false, nil, new(uint32(7)), final, 7},
		{"given, replaceable", true, true, nil, nil, sequenceReplaceable, 500},
		{"given, final", true, false, nil, nil, final, 0},
		{"given, with a lock time", true, false, nil, new(uint32(7)), sequenceLockTime, 7},
		{"given, lock time 0", true, false, nil, new(uint32(0)), final, 0},
		{"given, the last sequence that signals", true, true, new(sequenceReplaceable), nil, sequenceReplaceable, 500},
		{"given, a sequence", true, false, new(uint32(9)), nil, 9, 0},
	} {
		q := &messages.Spend{
			Payments: []messages.Payment{rest(9)}, All: &messages.AllCoins{Given: c.given}, Sniped: c.lock == nil,
			Replaceable: &c.replaceable, LockTime: c.lock,
		}
		p := planOf(q, coinOf(1, 10_000))
		p.Random = rand.New(rand.NewPCG(4, 4)) // the lock time is no height of before
		if c.given {
			give(p, []messages.SpendInput{{Sequence: c.own}}, coinOf(1, 10_000))
		}
		built, err := Build(p)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := built.Tx.TxIn[0].Sequence; got != c.sequence || built.Tx.LockTime != c.wantLock {
			t.Errorf("%s: sequence %x, lock time %d; want %x, %d",
				c.name, got, built.Tx.LockTime, c.sequence, c.wantLock)
		}
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
	const dust = "Dynamically assigned remainder results in dust output."
	const fees = "Insufficient funds for fees after creating specified outputs."
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
		"nothing for the fee": {nil, and(9_900), coin, -6, fees},
		"rest is dust":        {nil, and(9_700), coin, -6, dust},
		"payment is dust":     {nil, and(293), coin, -8, "Specified output amount to address 8 is below dust threshold."},
		"contradicts sequence": {
			func(p *Plan) {
				p.Request.All.Given, p.Request.Replaceable = true, new(true)
				p.Request.Inputs = []messages.SpendInput{{Sequence: new(wire.MaxTxInSequenceNum)}}
				p.GivenErr = codes.Errorf(-1, "later")
			}, one, nil, -8, "Invalid parameter combination: Sequence number(s) contradict replaceable option",
		},
		"a sequence that does not signal": {
			func(p *Plan) {
				p.Request.All.Given, p.Request.Replaceable = true, new(true)
				p.Request.Inputs = []messages.SpendInput{{Sequence: new(sequenceLockTime)}}
			}, one, nil, -8, "Invalid parameter combination: Sequence number(s) contradict replaceable option",
		},
		"all of it is fee":  {nil, one, []Coin{coinOf(1, 110)}, -6, low + lower},
		"a satoshi is left": {nil, one, []Coin{coinOf(1, 111)}, -6, dust},
		"the greatest fee": {
			func(p *Plan) { p.Options.MaxFee = 110 }, one, []Coin{coinOf(1, 111)}, -6, dust,
		},
		"as much as there is":     {nil, and(10_000), coin, -6, fees},
		"a satoshi for the fee":   {nil, and(10_000 - 140), coin, -6, fees},
		"nothing but the fee":     {nil, and(10_000 - 141), coin, -6, dust},
		"a satoshi of too little": {nil, and(10_000 - 141 - 293), coin, -6, dust},
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

// A transaction that spends all and cannot be replaced lets lock times count, but for Core 30.
func TestSweepSequences(t *testing.T) {
	for _, c := range []struct {
		answers dialect.Answers
		want    uint32
	}{{core30, wire.MaxTxInSequenceNum}, {dialect.Answers{}, wire.MaxTxInSequenceNum - 1}} {
		q := &messages.Spend{
			All: &messages.AllCoins{}, Replaceable: new(false), Sniped: true,
			Payments: []messages.Payment{{Script: scriptOf(9), Rest: true}},
		}
		p := planOf(q, coinOf(1, 50_000))
		p.Answers = c.answers
		built, err := Build(p)
		if err != nil {
			t.Fatal(err)
		}
		if got := built.Tx.TxIn[0].Sequence; got != c.want {
			t.Errorf("sequence %x, want %x", got, c.want)
		}
		if locked := built.Tx.LockTime != 0; locked != (c.want != wire.MaxTxInSequenceNum) {
			t.Errorf("sequence %x: lock time %d", c.want, built.Tx.LockTime)
		}
	}
}

// Where a balance covers the payment, but not the fee, the fee is told.
func TestFundsForFee(t *testing.T) {
	for _, c := range []struct {
		answers dialect.Answers
		amount  int64
		want    string
	}{
		{dialect.Answers{}, 49_900, "The total exceeds your balance when the 0.00000042 transaction fee is included."},
		{dialect.Answers{}, 50_001, "Insufficient funds"},
		{core30, 49_900, "Insufficient funds"},
	} {
		p := paymentOf([]messages.Payment{fixed(9, c.amount)}, coinOf(1, 50_000))
		p.Answers = c.answers
		if _, err := Build(p); err == nil || err.Error() != c.want {
			t.Errorf("paying %d: %v, want %q", c.amount, err, c.want)
		}
	}
}
