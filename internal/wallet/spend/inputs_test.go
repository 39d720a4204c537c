package spend

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/messages"
)

// Inputs that the request names come first, in its order and with its scripts; the others follow in any order.
func TestOrderOfInputs(t *testing.T) {
	orders := make(map[string]bool)
	for seed := range uint64(40) {
		p := paymentOf(
			[]messages.Payment{fixed(9, 480_000)}, coinOf(1, 100_000), coinOf(2, 100_000), coinOf(3, 100_000),
		)
		give(p, []messages.SpendInput{
			{SigScript: []byte{1, 2}}, {Witness: wire.TxWitness{{3}}},
		}, coinOf(5, 100_000), coinOf(4, 100_000))
		p.Random = rand.New(rand.NewPCG(seed, 1))
		built, err := Build(p)
		if err != nil {
			t.Fatal(err)
		}
		var order []byte
		for _, in := range built.Tx.TxIn {
			order = append(order, in.PreviousOutPoint.Hash[0])
		}
		first, second := built.Tx.TxIn[0], built.Tx.TxIn[1]
		if len(order) != 5 || order[0] != 5 || order[1] != 4 || !bytes.Equal(first.SignatureScript, []byte{1, 2}) ||
			first.Witness != nil || second.SignatureScript != nil || len(second.Witness) != 1 {
			t.Fatalf("inputs %v: %+v, %+v", order, first, second)
		}
		orders[string(order)] = true
	}
	if len(orders) != 6 {
		t.Errorf("%d orders of three coins", len(orders))
	}
}

// Sequence numbers say whether the transaction may be replaced, unless the request gives them; the lock time is
// against fee sniping where the request gives neither.
func TestSequencesAndLockTime(t *testing.T) {
	const tip, replaceable, final = 500, sequenceReplaceable, sequenceLockTime
	for _, c := range []struct {
		name     string
		change   func(r *messages.Spend, o *Options)
		sequence [2]uint32 // of a given input, and of another
		lock     uint32
	}{
		{"as the wallet does", nil, [2]uint32{replaceable, replaceable}, tip},
		{
			"the wallet does not replace", func(_ *messages.Spend, o *Options) { o.Irreplaceable = true },
			[2]uint32{final, final},
			tip,
		},
		{
			"not to be replaced", func(r *messages.Spend, _ *Options) { r.Replaceable = new(false) },
			[2]uint32{final, final},
			tip,
		},
		{
			"to be replaced", func(r *messages.Spend, o *Options) { r.Replaceable, o.Irreplaceable = new(true), true },
			[2]uint32{replaceable, replaceable},
			tip,
		},
		{
			"a sequence", func(r *messages.Spend, _ *Options) { r.Inputs[0].Sequence = new(uint32(5)) },
			[2]uint32{5, replaceable},
			0,
		},
		{
			"a usual sequence", func(r *messages.Spend, _ *Options) { r.Inputs[0].Sequence = new(final) },
			[2]uint32{final, replaceable},
			0,
		},
		{
			"a lock time", func(r *messages.Spend, _ *Options) { r.LockTime = new(uint32(7)) },
			[2]uint32{replaceable, replaceable},
			7,
		},
		{
			"lock time 0", func(r *messages.Spend, _ *Options) { r.LockTime = new(uint32(0)) },
			[2]uint32{replaceable, replaceable},
			0,
		},
		{
			"lock time 0 as the default",
			func(r *messages.Spend, _ *Options) { r.LockTime, r.Sniped = new(uint32(0)), true },
			[2]uint32{replaceable, replaceable},
			tip,
		},
		{
			"lock time 0 as the default, a usual sequence", func(r *messages.Spend, _ *Options) {
				r.LockTime, r.Sniped, r.Inputs[0].Sequence = new(uint32(0)), true, new(final)
			}, [2]uint32{final, replaceable}, tip,
		},
		{
			"lock time 0 as the default, a sequence", func(r *messages.Spend, _ *Options) {
				r.LockTime, r.Sniped, r.Inputs[0].Sequence = new(uint32(0)), true, new(uint32(5))
			}, [2]uint32{5, replaceable}, 0,
		},
		{
			"lock time 0 as the default, a final sequence", func(r *messages.Spend, _ *Options) {
				r.LockTime, r.Sniped, r.Inputs[0].Sequence = new(uint32(0)), true, new(wire.MaxTxInSequenceNum)
			}, [2]uint32{wire.MaxTxInSequenceNum, replaceable}, 0,
		},
	} {
		p := paymentOf([]messages.Payment{fixed(9, 130_000)}, coinOf(2, 100_000))
		give(p, make([]messages.SpendInput, 1), coinOf(1, 100_000))
		p.Random = rand.New(rand.NewPCG(4, 4)) // the lock time is no height of before
		if c.change != nil {
			c.change(p.Request, &p.Options)
		}
		built, err := Build(p)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		in := built.Tx.TxIn
		if len(in) != 2 || in[0].Sequence != c.sequence[0] || in[1].Sequence != c.sequence[1] {
			t.Errorf("%s: %+v, want sequences %x", c.name, in, c.sequence)
		}
		if built.Tx.LockTime != c.lock {
			t.Errorf("%s: lock time %d, want %d", c.name, built.Tx.LockTime, c.lock)
		}
	}
}

// The lock time is the height of the tip, of each tenth transaction up to 99 less; without a tip of today it is 0.
func TestLockTime(t *testing.T) {
	earlier, least := 0, uint32(1000)
	p := &Plan{Tip: messages.Tip{Height: 1000}, Current: true, Random: rand.New(rand.NewPCG(1, 1))}
	for range 10_000 {
		got := p.LockTime()
		if got > 1000 {
			t.Fatalf("lock time %d above the tip", got)
		}
		if got < 1000 {
			earlier++
		}
		least = min(least, got)
	}
	if earlier < 800 || earlier > 1200 || least != 901 {
		t.Errorf("%d of 10000 are earlier, down to %d", earlier, least)
	}
	p.Tip.Height = 5
	for range 1000 {
		if got := p.LockTime(); got > 5 {
			t.Fatalf("lock time %d at height 5", got)
		}
	}
	p.Current = false
	if got := p.LockTime(); got != 0 {
		t.Errorf("lock time %d without a tip of today", got)
	}
}

// The fee that unconfirmed ancestors lack is paid too, for coins that are given and for others. It is paid
// once for coins that are spent together.
func TestAncestorsArePaidFor(t *testing.T) {
	unconfirmed := func(index uint32) Coin {
		c := coinOf(1, 60_000)
		c.At.Index, c.Depth, c.Own = index, 0, true
		return c
	}
	for _, c := range []struct {
		name  string
		given bool
		coins []Coin
		pays  int64
		fee   int64
	}{
		{"chosen", false, []Coin{unconfirmed(0)}, 30_000, 141 + 100},
		{"given", true, nil, 30_000, 141 + 100},
		{"two coins of a transaction", false, []Coin{unconfirmed(0), unconfirmed(1)}, 90_000, 209 + 100},
	} {
		p := paymentOf([]messages.Payment{fixed(9, c.pays)}, c.coins...)
		p.Pool.Txs = []messages.ClusterTx{{ID: chainhash.Hash{1}, VSize: 200, ModifiedFee: 100}}
		if c.given {
			give(p, make([]messages.SpendInput, 1), unconfirmed(0))
		}
		built, err := Build(p)
		if err != nil || built.Fee != c.fee || built.Change < 0 {
			t.Errorf("%s: %+v, %v; want fee %d", c.name, built, err, c.fee)
		}
	}
}
