package spend

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/wallet/coinselect"
	"github.com/seed61375155/trawl/messages"
)

// Sizes of a transaction of P2WPKH in units of weight: what is fixed, with marker and flag, an input and an output.
const (
	fixedWeight  = 10*4 + 2
	inputWeight  = 68 * 4
	outputWeight = 31 * 4
)

// paymentOf is a plan that pays by choosing coins, with change to a script of the wallet.
func paymentOf(payments []messages.Payment, coins ...Coin) *Plan {
	p := planOf(&messages.Spend{Payments: payments}, coins...)
	p.Change.Script = scriptOf(7)
	p.Pool.MaxAncestors, p.Pool.MaxDescendants = 25, 25
	p.Pool.MaxAncestorVSize, p.Pool.MaxDescVSize = 101_000, 101_000
	return p
}

// bearing is a payment that bears its share of the fee.
func bearing(n byte, amount int64) messages.Payment {
	to := fixed(n, amount)
	to.SubtractFee = true
	return to
}

// give makes a request ask for coins, each to be spent as an input says.
func give(p *Plan, inputs []messages.SpendInput, coins ...Coin) {
	for i := range coins {
		coins[i].Given = true
		inputs[i].At = coins[i].At
	}
	p.Given, p.Request.Inputs = coins, inputs
}

// paidTo returns what a transaction pays to each script of [scriptOf].
func paidTo(tx *wire.MsgTx) map[byte]int64 {
	paid := make(map[byte]int64)
	for _, out := range tx.TxOut {
		paid[out.PkScript[2]] += out.Value
	}
	return paid
}

// The fee is that of the rate for the size of the signed transaction. The rest is change, which stands
// where the request says.
func TestChangeGetsTheRest(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(p *Plan)
		weight int
		fee    int64
		at     int // of change
	}{
		{"one payment", nil, fixedWeight + inputWeight + 2*outputWeight, 141, 0},
		{
			"at another rate", func(p *Plan) { p.Request.FeeRate = new(int64(2500)) },
			fixedWeight + inputWeight + 2*outputWeight, 353, 0,
		},
		{
			"last", func(p *Plan) { p.Request.ChangePosition = new(1) },
			fixedWeight + inputWeight + 2*outputWeight, 141, 1,
		},
		{
			"between two", func(p *Plan) {
				p.Request.ChangePosition = new(1)
				p.Request.Payments = append(p.Request.Payments, fixed(8, 1000))
			}, fixedWeight + inputWeight + 3*outputWeight, 172, 1,
		},
		{
			"of an input without a witness", func(p *Plan) {
				p.Coins[0].Size.Witness, p.Coins[0].Size.Script = false, 107
				p.Coins[0].Size.Stack, p.Coins[0].Size.Elements = 0, 0
			}, (10 + 41 + 107 + 62) * 4, 220, 0,
		},
		{
			"with an input of a weight that is given", func(p *Plan) {
				one := coinOf(3, 100_000)
				one.Weight = 1000
				give(p, make([]messages.SpendInput, 1), one)
			}, fixedWeight + 1000 + 2*outputWeight, 323, 0,
		},
	} {
		p := paymentOf([]messages.Payment{fixed(9, 30_000)}, coinOf(1, 100_000))
		p.Request.ChangePosition = new(0)
		if c.change != nil {
			c.change(p)
		}
		built, err := Build(p)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		paid := paidTo(built.Tx)
		if paid[9] != 30_000 || paid[7] != 100_000-30_000-paid[8]-c.fee || built.Tx.TxOut[c.at].PkScript[2] != 7 {
			t.Errorf("%s: pays %v, change at %d", c.name, paid, built.Change)
		}
		if built.Fee != c.fee || built.Weight != c.weight || built.Change != c.at || built.Reason != reasonPay {
			t.Errorf("%s: fee %d of weight %d (%s), change at %d; want %d of %d, at %d",
				c.name, built.Fee, built.Weight, built.Reason, built.Change, c.fee, c.weight, c.at)
		}
	}
}

// Change stands at any place where the request names none.
func TestChangeStandsAnywhere(t *testing.T) {
	at := make(map[int]int)
	for seed := range uint64(150) {
		p := paymentOf([]messages.Payment{fixed(8, 10_000), fixed(9, 10_000)}, coinOf(1, 100_000))
		p.Random = rand.New(rand.NewPCG(seed, 1))
		built, err := Build(p)
		if err != nil {
			t.Fatal(err)
		}
		if built.Tx.TxOut[built.Change].PkScript[2] != 7 {
			t.Fatalf("change is not at %d", built.Change)
		}
		at[built.Change]++
	}
	if len(at) != 3 || at[0] < 20 || at[1] < 20 || at[2] < 20 {
		t.Errorf("places %v", at)
	}
}

// Payments bear the fee in equal shares, the first also the remainder. An excess that is too small for change
// comes back to the payments.
func TestPaymentsBearTheFee(t *testing.T) {
	for _, c := range []struct {
		name  string
		value int64
		at    *int
		want  map[byte]int64
		fee   int64
	}{
		{"change first", 100_000, new(0), map[byte]int64{1: 29_898, 2: 20_000, 3: 9899, 7: 40_000}, 203},
		{"change second", 100_000, new(1), map[byte]int64{1: 29_898, 2: 20_000, 3: 9899, 7: 40_000}, 203},
		{"change third", 100_000, new(2), map[byte]int64{1: 29_898, 2: 20_000, 3: 9899, 7: 40_000}, 203},
		{"change last", 100_000, new(3), map[byte]int64{1: 29_898, 2: 20_000, 3: 9899, 7: 40_000}, 203},
		{"no change", 60_000, nil, map[byte]int64{1: 29_914, 2: 20_000, 3: 9914}, 172},
		{"more than the fee is left", 60_501, nil, map[byte]int64{1: 30_165, 2: 20_000, 3: 10_164}, 172},
	} {
		p := paymentOf([]messages.Payment{bearing(1, 30_000), fixed(2, 20_000), bearing(3, 10_000)}, coinOf(9, c.value))
		p.Request.ChangePosition = c.at
		built, err := Build(p)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		paid := paidTo(built.Tx)
		for n, want := range c.want {
			if paid[n] != want {
				t.Errorf("%s: pays %d to %d, want %d", c.name, paid[n], n, want)
			}
		}
		if built.Fee != c.fee || len(built.Tx.TxOut) != len(c.want) {
			t.Errorf("%s: fee %d, %d outputs; want %d, %d", c.name, built.Fee, len(built.Tx.TxOut), c.fee, len(c.want))
		}
	}
}

// Requests for impossible transactions are refused in Core's words, from each bound on.
func TestPaymentRefusals(t *testing.T) {
	const small = "The transaction amount is too small to "
	const heavy = "The inputs size exceeds the maximum weight. " +
		"Please try sending a smaller amount or manually consolidating your wallet's UTXOs"
	const weights = "Maximum transaction weight must be between 260 and 400000"
	one, coin := []messages.Payment{fixed(9, 30_000)}, []Coin{coinOf(1, 100_000)}
	unknown := coinOf(1, 100_000)
	unknown.Known = false
	zero := []messages.Payment{{Script: []byte{0x6a}}}
	for name, c := range map[string]struct {
		payments []messages.Payment
		coins    []Coin
		change   func(p *Plan)
		want     string // empty: it is built
	}{
		"nobody is paid":  {nil, coin, nil, "Transaction must have at least one recipient"},
		"less than zero":  {[]messages.Payment{fixed(9, -1)}, coin, nil, "Transaction amounts must not be negative"},
		"dust":            {[]messages.Payment{fixed(9, 293)}, coin, nil, "Transaction amount too small"},
		"no dust":         {[]messages.Payment{fixed(9, 294)}, coin, nil, ""},
		"one of two dust": {[]messages.Payment{fixed(9, 1000), fixed(8, 1)}, coin, nil, "Transaction amount too small"},
		"too small a fee": {
			one, coin, func(p *Plan) { p.Request.FeeRate = new(int64(999)) },
			"Fee rate (0.999 sat/vB) is lower than the minimum fee rate setting (1.000 sat/vB)",
		},
		"any fee":          {one, coin, atAnyRate(1), ""},
		"too little":       {one, []Coin{coinOf(1, 30_109)}, nil, "Insufficient funds"},
		"exactly enough":   {one, []Coin{coinOf(1, 30_110)}, nil, ""},
		"only its inputs":  {one, coin, func(p *Plan) { p.Request.OnlyInputs = true }, coinselect.ErrPreset.Error()},
		"place of change":  {one, coin, changeAt(1), ""},
		"no such place":    {one, coin, changeAt(2), "Transaction change output index out of range"},
		"no place needed":  {one, []Coin{coinOf(1, 30_110)}, changeAt(2), ""},
		"the greatest fee": {one, coin, func(p *Plan) { p.Options.MaxFee = 141 }, ""},
		"a greater fee": {
			one, coin, func(p *Plan) { p.Options.MaxFee = 140 },
			"Fee exceeds maximum configured by user (e.g. -maxtxfee, maxfeerate)",
		},
		"no key for change": {
			one, coin, func(p *Plan) { p.Change = Change{Err: errors.New("no key")} }, "no key",
		},
		"no key for change, none needed": {
			one, []Coin{coinOf(1, 30_110)}, func(p *Plan) { p.Change = Change{Err: errors.New("no key")} }, "",
		},
		"size not known": {one, []Coin{unknown}, nil, "Missing solving data for estimating transaction size"},
		"size of a given coin not known": {
			one, nil, func(p *Plan) { give(p, make([]messages.SpendInput, 1), unknown) },
			"Not solvable pre-selected input COutPoint(" + strings.Repeat("0", 10) + ", 0)",
		},
		"least weight allowed": {
			one, coin, weighing(260), "Maximum transaction weight is too low, can not accommodate change output",
		},
		"less than that":              {one, coin, weighing(259), weights},
		"most weight":                 {one, coin, weighing(400_000), ""},
		"more than that":              {one, coin, weighing(400_001), weights},
		"weight of inputs and change": {one, coin, weighing(44*4 + inputWeight + outputWeight - 8), ""},
		"a unit less":                 {one, coin, weighing(44*4 + inputWeight + outputWeight - 9), heavy},
		"bears the fee":               {[]messages.Payment{bearing(9, 294+141)}, coin, nil, ""},
		"bears it down to dust": {
			[]messages.Payment{bearing(9, 293+141)}, coin, nil, small + "send after the fee has been deducted",
		},
		"bears it down to nothing": {
			[]messages.Payment{bearing(9, 1410)},
			coin, func(p *Plan) { p.Request.FeeRate = new(int64(10_000)) },
			small + "send after the fee has been deducted",
		},
		"cannot bear it": {
			[]messages.Payment{bearing(9, 1409)},
			coin, func(p *Plan) { p.Request.FeeRate = new(int64(10_000)) },
			small + "pay the fee",
		},
		"nothing to pay": {
			zero, coin, atAnyRate(0),
			"Transaction requires one destination of non-zero value, a non-zero feerate, or a pre-selected input",
		},
		"nothing to pay but a fee": {zero, coin, nil, ""},
		"nothing to pay, with an input": {
			zero, nil, func(p *Plan) {
				p.Request.FeeRate, p.Request.AnyFeeRate = new(int64(0)), true
				give(p, make([]messages.SpendInput, 1), coinOf(1, 100_000))
			}, "",
		},
		"too heavy with what is given": {
			one, nil, func(p *Plan) { give(p, make([]messages.SpendInput, 1), heavyCoin(400_001)) },
			"Transaction too large",
		},
		"as heavy as allowed": {
			one, nil, func(p *Plan) { give(p, make([]messages.SpendInput, 1), heavyCoin(400_000)) }, "",
		},
	} {
		p := paymentOf(c.payments, c.coins...)
		if c.change != nil {
			c.change(p)
		}
		built, err := Build(p)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.want != "" && (err == nil || err.Error() != c.want):
			t.Errorf("%s: got %+v, %v\nwant %s", name, built, err, c.want)
		}
	}
}

func changeAt(at int) func(*Plan) { return func(p *Plan) { p.Request.ChangePosition = &at } }

func atAnyRate(rate int64) func(*Plan) {
	return func(p *Plan) { p.Request.FeeRate, p.Request.AnyFeeRate = &rate, true }
}

// weighing makes a request ask for a transaction of some weight at most.
func weighing(most int) func(*Plan) { return func(p *Plan) { p.Request.MaxWeight = &most } }

// heavyCoin is a coin with which a transaction with a payment and change has some weight.
func heavyCoin(weight int) Coin {
	one := coinOf(1, 10_000_000)
	one.Weight = weight - fixedWeight - 2*outputWeight
	return one
}
