package spend

import (
	"bytes"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/messages"
)

// replacedOf is a signed transaction of 110 virtual bytes that pays 110.
func replacedOf() *Replaced {
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{
		PreviousOutPoint: wire.OutPoint{Hash: chainhash.Hash{1}},
		Witness:          wire.TxWitness{make([]byte, 72), make([]byte, 33)},
	})
	tx.AddTxOut(wire.NewTxOut(9890, scriptOf(9)))
	return &Replaced{ID: tx.TxHash(), Tx: tx, Fee: 110, Outs: tx.TxOut}
}

func raised(change func(p *Plan, old *Replaced)) (*Plan, error) {
	old := replacedOf()
	p := planOf(&messages.Spend{})
	p.Given = []Coin{coinOf(1, 10_000)}
	if change != nil {
		change(p, old)
	}
	return p, p.Raise(old)
}

// Without a rate that is asked for, the one of before is raised by what nodes ask for, or
// more, to what the wallet pays otherwise.
func TestRaise(t *testing.T) {
	for name, c := range map[string]struct {
		change func(p *Plan, old *Replaced)
		want   int64
	}{
		"by what wallets add": {nil, 1000 + 1 + 5000},
		"by what the node asks": {
			func(p *Plan, _ *Replaced) { p.Pool.IncrementalFee = 7000 }, 1000 + 1 + 7000,
		},
		"to what is paid otherwise":   {func(p *Plan, _ *Replaced) { p.Options.Pay = 20_000 }, 20_000},
		"to what is estimated":        {func(p *Plan, _ *Replaced) { p.Options.Fallback = 30_000 }, 30_000},
		"the rate of before is floor": {func(_ *Plan, old *Replaced) { old.Fee = 123 }, 1118 + 1 + 5000},
		"asked for":                   {func(_ *Plan, old *Replaced) { old.Rate = new(int64(2000)) }, 2000},
		"the least that may be asked for": {
			func(_ *Plan, old *Replaced) { old.Rate = new(int64(1091)) }, 1091, // 121 = 110 + 11 for 110 bytes
		},
		"what the pool asks": {
			func(p *Plan, old *Replaced) { old.Rate, p.Pool.MinFee = new(int64(2000)), 2000 }, 2000,
		},
		"what the wallet pays at least": {
			func(p *Plan, old *Replaced) { old.Rate, p.Options.Min = new(int64(2991)), 3000 }, 2991, // 330
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := raised(c.change)
			if err != nil {
				t.Fatal(err)
			}
			if *p.Request.FeeRate != c.want {
				t.Errorf("rate %d, want %d", *p.Request.FeeRate, c.want)
			}
		})
	}
}

func TestRaiseRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		rate   int64
		change func(p *Plan, old *Replaced)
		code   int
		text   string
	}{
		"below what the pool asks": {
			1999, func(p *Plan, _ *Replaced) { p.Pool.MinFee = 2000 }, -4,
			"New fee rate (0.00001999) is lower than the minimum fee rate (0.00002) to get into the mempool -- ",
		},
		"no more than before": {
			1000, nil, -8,
			"Insufficient total fee 0.0000011, must be at least 0.00000121 (oldFee 0.0000011 + incrementalFee 0.00000011)",
		},
		"nothing": {
			0, nil, -8,
			"Insufficient total fee 0.00, must be at least 0.00000121 (oldFee 0.0000011 + incrementalFee 0.00000011)",
		},
		"a satoshi too little": {
			1090, nil, -8, "Insufficient total fee 0.0000012, " +
				"must be at least 0.00000121 (oldFee 0.0000011 + incrementalFee 0.00000011)",
		},
		"of unknown size": {
			50_000, func(p *Plan, _ *Replaced) { p.Given[0].Known = false }, -8,
			"Insufficient total fee 0.00, must be at least 0.0000011 (oldFee 0.0000011 + incrementalFee 0.00)",
		},
		"less than the wallet pays": {
			2990, func(p *Plan, _ *Replaced) { p.Options.Min = 3000 }, -8,
			"Insufficient total fee (cannot be less than required fee 0.0000033)",
		},
		"more than may be paid": {
			200_000, func(p *Plan, _ *Replaced) { p.Options.MaxFee = 20_000 }, -4,
			"Specified or calculated fee 0.00022 is too high (cannot be higher than -maxtxfee 0.0002)",
		},
		"too many depend on it": {
			2000, func(p *Plan, _ *Replaced) { p.Pool.TooMany = true }, -4,
			"Failed to calculate bump fees, because unconfirmed UTXOs depend on an enormous cluster of unconfirmed transactions.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := raised(func(p *Plan, old *Replaced) {
				old.Rate = &c.rate
				if c.change != nil {
					c.change(p, old)
				}
			})
			wantError(t, err, c.code, c.text)
		})
	}
}

// A replaced transaction does not pay for its ancestors: the fee of its parents is
// missing.
func TestRaiseParents(t *testing.T) {
	parent := chainhash.Hash{1}
	pool := func(p *Plan, old *Replaced) {
		old.Rate = new(int64(2000))
		p.Pool.Txs = []messages.ClusterTx{
			{ID: parent, VSize: 1000, ModifiedFee: 100},
			{ID: old.ID, VSize: 110, ModifiedFee: 100_000, Depends: []chainhash.Hash{parent}},
		}
		p.Options.MaxFee = 2*110 + 2*1000 - 100
	}
	p, err := raised(pool)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Pool.Txs) != 1 {
		t.Errorf("%d transactions are left, want the parent", len(p.Pool.Txs))
	}
	_, err = raised(func(p *Plan, old *Replaced) {
		pool(p, old)
		p.Options.MaxFee--
	})
	wantError(t, err, -4, "Specified or calculated fee 0.0000212 is too high (cannot be higher than -maxtxfee 0.00002119)")
}

// Signatures may become longer, up to 72 bytes; nothing else does.
func TestMaxInputWeight(t *testing.T) {
	signed := func(n int) []byte { return append([]byte{0x30, byte(n - 3)}, bytes.Repeat([]byte{1}, n-2)...) }
	signature := signed(70)
	for name, c := range map[string]struct {
		in   wire.TxIn
		want int
	}{
		"unsigned":  {wire.TxIn{}, 41*4 + 1},
		"witness":   {wire.TxIn{Witness: wire.TxWitness{signature, make([]byte, 33)}}, 41*4 + 1 + 71 + 34 + 2},
		"script":    {wire.TxIn{SignatureScript: append([]byte{70}, signature...)}, (41+71+2)*4 + 1},
		"schnorr":   {wire.TxIn{Witness: wire.TxWitness{make([]byte, 64)}}, 41*4 + 1 + 65},
		"shortest":  {wire.TxIn{Witness: wire.TxWitness{signed(9)}}, 41*4 + 1 + 1 + 72},
		"too short": {wire.TxIn{Witness: wire.TxWitness{signed(8)}}, 41*4 + 1 + 1 + 8},
		"longest":   {wire.TxIn{Witness: wire.TxWitness{signed(73)}}, 41*4 + 1 + 1 + 72},
		"too long":  {wire.TxIn{Witness: wire.TxWitness{signed(74)}}, 41*4 + 1 + 1 + 74},
		"of another length": {
			wire.TxIn{Witness: wire.TxWitness{append(signed(70), 0)}}, 41*4 + 1 + 1 + 71,
		},
		"another type": {
			wire.TxIn{Witness: wire.TxWitness{append([]byte{0x31}, signed(70)[1:]...)}}, 41*4 + 1 + 1 + 70,
		},
		"script and code": {
			wire.TxIn{Witness: wire.TxWitness{nil, signature, {0x30}, {}}}, 41*4 + 1 + 1 + 71 + 2 + 2 + 1,
		},
	} {
		if got := MaxInputWeight(&c.in, 4); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
