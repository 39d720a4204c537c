package spend

import (
	"encoding/binary"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/messages"
)

// sharedCoins are two coins of one address of which one pays for a payment of 30,000.
func sharedCoins() []Coin {
	first, second := coinOf(1, 100_000), coinOf(1, 100_000)
	second.At.Index = 1
	return []Coin{first, second}
}

// All coins of an address are spent together where that costs no more than it may: at 40 satoshis for a byte a second
// input costs 2720. Where only one way is looked at, no fees are compared.
func TestWholeAddresses(t *testing.T) {
	const single, grouped = 141 * 40, 209 * 40
	for _, c := range []struct {
		name   string
		change func(p *Plan)
		inputs int
		fees   [2]int64 // of single coins, and grouped
	}{
		{"for nothing more", nil, 1, [2]int64{single, grouped}},
		{"for less than it costs", func(p *Plan) { p.Options.MaxGroupFee = 2719 }, 1, [2]int64{single, grouped}},
		{"for what it costs", func(p *Plan) { p.Options.MaxGroupFee = 2720 }, 2, [2]int64{single, grouped}},
		{"never", func(p *Plan) { p.Options.MaxGroupFee = -1 }, 1, [2]int64{}},
		{"always", func(p *Plan) { p.Options.AvoidPartial = true }, 2, [2]int64{}},
		{"asked for", func(p *Plan) { p.Request.AvoidPartial = true }, 2, [2]int64{}},
		{
			"asked for, although never", func(p *Plan) {
				p.Request.AvoidPartial, p.Options.MaxGroupFee = true, -1
			}, 2, [2]int64{},
		},
		{
			"too heavy together", func(p *Plan) {
				p.Options.MaxGroupFee = 10_000
				p.Request.MaxWeight = new(fixedWeight + 2 + inputWeight + 2*outputWeight)
			}, 1, [2]int64{},
		},
	} {
		p := paymentOf([]messages.Payment{fixed(9, 30_000)}, sharedCoins()...)
		p.Request.FeeRate = new(int64(40_000))
		if c.change != nil {
			c.change(p)
		}
		built, err := Build(p)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := [2]int64{built.Single, built.Grouped}; len(built.Tx.TxIn) != c.inputs || got != c.fees {
			t.Errorf("%s: %d inputs, fees %d; want %d, %d", c.name, len(built.Tx.TxIn), got, c.inputs, c.fees)
		}
	}
}

// Without a fee nothing is compared: whole addresses cost nothing then.
func TestWholeAddressesWithoutFee(t *testing.T) {
	p := paymentOf([]messages.Payment{fixed(9, 30_000)}, sharedCoins()...)
	p.Request.FeeRate, p.Request.AnyFeeRate, p.Options.LongTerm = new(int64(0)), true, 0
	built, err := Build(p)
	if err != nil || built.Fee != 0 || built.Single != 0 || built.Grouped != 0 {
		t.Errorf("%+v, %v", built, err)
	}
}

// The cost of change follows its script and the known way to spend it. Change must be worth more than the cost
// of spending it later, at the discard rate; otherwise there is none.
func TestPriceOfChange(t *testing.T) {
	for _, c := range []struct {
		name                       string
		change                     func(p *Plan)
		size                       int
		fee, cost, least, spending int64
	}{
		{"of P2WPKH", nil, 31, 62, 62 + 680, 681, 680},
		{"of unknown kind, as nested", func(p *Plan) { p.Change.Known = false }, 31, 62, 62 + 910, 911, 910},
		{
			"of a native kind", func(p *Plan) {
				p.Change.Known = false
				p.Native, p.NativeInput = func([]byte) bool { return true }, 200
			}, 31, 62, 62 + 2000, 2001, 2000,
		},
		{
			"of another kind where one is native", func(p *Plan) {
				p.Change.Known = false
				p.Native, p.NativeInput = func([]byte) bool { return false }, 200
			}, 31, 62, 62 + 910, 911, 910,
		},
		{
			"of P2WSH", func(p *Plan) { p.Change.Script = append([]byte{0, 32}, make([]byte, 32)...) },
			43, 86, 86 + 680, 681, 680,
		},
		{
			"more is dust", func(p *Plan) {
				p.Dust = func(_ *wire.TxOut, rate FeeRate) int64 { return int64(rate) / 10 }
			}, 31, 62, 62 + 680, 1000, 680,
		},
		{
			"at a lower rate of dropping it", func(p *Plan) { p.Options.Discard = 5000 },
			31, 62, 62 + 340, 341, 340,
		},
	} {
		p := paymentOf([]messages.Payment{fixed(8, 5000), fixed(9, 15_000)})
		p.Request.FeeRate = new(int64(2000))
		p.Change.Known, p.Change.Size = true, coinOf(1, 0).Size
		if c.change != nil {
			c.change(p)
		}
		b := &builder{Plan: p}
		if err := b.prepare(); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got := b.params
		if got.ChangeSize != c.size || got.ChangeFee != c.fee || got.ChangeCost != c.cost || got.MinChange != c.least {
			t.Errorf("%s: size %d, fee %d, cost %d, least %d; want %d, %d, %d, %d", c.name,
				got.ChangeSize, got.ChangeFee, got.ChangeCost, got.MinChange, c.size, c.fee, c.cost, c.least)
		}
		if got.ChangeTarget != 50_000+c.fee { // for payments of 10,000 on average
			t.Errorf("%s: change of %d is aimed at", c.name, got.ChangeTarget)
		}
	}
}

// The coins must come to the payments with the fee of all but inputs and change; where payments bear the fee, to
// the payments alone. The other rules of the choice are the request's and the operator's.
func TestWhatCoinsMustComeTo(t *testing.T) {
	payments := make([]messages.Payment, 0, 300)
	for range 300 {
		payments = append(payments, fixed(9, 1000))
	}
	for _, c := range []struct {
		name         string
		payments     []messages.Payment
		size         int
		target, most int64
	}{
		{"a payment", []messages.Payment{fixed(9, 1000)}, 42, 1000 + 84, 50_062},
		{"two payments", []messages.Payment{fixed(9, 1000), fixed(8, 500)}, 73, 1500 + 146, 50_062},
		{"one of two bears the fee", []messages.Payment{fixed(9, 1000), bearing(8, 500)}, 73, 1500, 50_062},
		{"252 payments", payments[:252], 11 + 252*31, 252_000 + 2*(11+252*31), 50_062},
		{"253 payments", payments[:253], 13 + 253*31, 253_000 + 2*(13+253*31), 50_062},
		{"great payments", []messages.Payment{fixed(9, 200_000), fixed(8, 400_000)}, 73, 600_000 + 146, 600_062},
	} {
		p := paymentOf(c.payments)
		p.Request.FeeRate = new(int64(2000))
		b := &builder{Plan: p}
		if err := b.prepare(); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got := b.params
		if got.FixedSize != c.size || got.Target != c.target {
			t.Errorf("%s: size %d, target %d; want %d, %d", c.name, got.FixedSize, got.Target, c.size, c.target)
		}
		if got.ChangeTarget < 50_062 || got.ChangeTarget > c.most {
			t.Errorf("%s: change of %d is aimed at, want 50062 to %d", c.name, got.ChangeTarget, c.most)
		}
	}
	p := paymentOf([]messages.Payment{fixed(9, 1000)})
	p.Request.Version, p.Request.Unsafe, p.Options.LongTerm = 3, true, 7
	p.Options.OnlyOld, p.Options.AnyChain, p.Pool.MaxAncestors, p.Pool.MaxDescendants = true, true, 5, 6
	b := &builder{Plan: p, avoidPartial: true}
	if err := b.prepare(); err != nil {
		t.Fatal(err)
	}
	if got := b.params; !got.Version3 || !got.Unsafe || got.LongTermRate != 7 || !got.NoUnconfirmed ||
		!got.IgnoreChains || got.MaxAncestors != 5 || got.MaxDescendants != 6 || !got.AvoidPartial ||
		got.MaxWeight != 40_000 || got.MaxChildWeight != 4000 || got.Scale != 4 || got.SubtractFee {
		t.Errorf("got %+v", got)
	}
}

// Version 3 bounds the weight, whatever the request allows.
func TestWeightOfVersion3(t *testing.T) {
	many := func(n int) (coins []Coin) {
		for i := range n {
			c := coinOf(1, 1000)
			binary.LittleEndian.PutUint32(c.At.Hash[4:], uint32(i))
			coins = append(coins, c)
		}
		return coins
	}
	const most = (40_000 - fixedWeight - outputWeight) / inputWeight // inputs, without change
	for _, c := range []struct {
		name    string
		version int32
		weight  *int
		inputs  int
		fits    bool
	}{
		{"version 3", 3, nil, most - 1, true},
		{"version 3, too many", 3, nil, most + 1, false},
		{"version 3, more is allowed", 3, new(400_000), most + 1, false},
		{"version 3, more than any is allowed", 3, new(400_001), most - 1, true},
		{"version 3, less is allowed", 3, new(30_000), most - 1, false},
		{"version 2", 2, nil, most + 1, true},
	} {
		payment := int64(c.inputs*(1000-68) - 42)
		p := paymentOf([]messages.Payment{fixed(9, payment)}, many(c.inputs)...)
		p.Request.Version, p.Request.MaxWeight = c.version, c.weight
		if built, err := Build(p); (err == nil) != c.fits {
			t.Errorf("%s: %+v, %v", c.name, built, err)
		}
	}
}
