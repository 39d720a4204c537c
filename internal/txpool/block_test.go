package txpool_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/txpool"
	"github.com/seed61375155/trawl/messages"
)

// A block is lighter than its limit, and has fewer signature operations than
// its limit. Weight and operations that are kept for the coinbase count.
func TestChooseLimits(t *testing.T) {
	chooseLimits(t, txpool.ByAncestors)
	chooseLimits(t, txpool.ByClusters)
}

func chooseLimits(t *testing.T, order txpool.Order) {
	t.Helper()
	const ops = 12 // the weight is then a whole number of virtual bytes
	weight, sigOps := int64(4_000_000), int64(80_000)
	for _, test := range []struct {
		what string
		set  func(r *rig, parent, child *txpool.Entry, more int64)
	}{
		{"weight of one", func(_ *rig, parent, _ *txpool.Entry, more int64) { weight = 8000 + 4*parent.VSize + more }},
		{"weight of both", func(_ *rig, parent, child *txpool.Entry, more int64) {
			weight = 8000 + 4*parent.VSize + 4*child.VSize + more
		}},
		{"operations of one", func(_ *rig, parent, _ *txpool.Entry, more int64) {
			sigOps = 400 + parent.SigOps + more
		}},
		{"operations of both", func(_ *rig, parent, child *txpool.Entry, more int64) {
			sigOps = 400 + parent.SigOps + child.SigOps + more
		}},
	} {
		for more := range int64(2) {
			weight, sigOps = 4_000_000, 80_000
			r := newRig(t, func(p *txpool.Policy) { p.Order = order })
			fees := []int64{2000, 1000} // the parent first
			if test.what[len(test.what)-4:] == "both" {
				fees = []int64{1000, 5000} // both together
			}
			parent := r.tx(fees[0], 1, r.coin())
			child := r.spending(fees[1], parent, 0)
			for _, tx := range []*wire.MsgTx{parent, child} {
				tx.TxIn[0].Witness = wire.TxWitness{slices.Repeat([]byte{txscript.OP_CHECKSIG}, ops)}
				r.must(tx)
			}
			a, b := r.pool.Lookup(new(parent.TxHash())), r.pool.Lookup(new(child.TxHash()))
			if a.SigOps != ops || b.SigOps != ops {
				t.Fatalf("%d and %d operations", a.SigOps, b.SigOps)
			}
			test.set(r, a, b, more)
			r.rules.MaxSigOps = sigOps
			again := txpool.New(r.rules, r.pool.Policy())
			for _, tx := range []*wire.MsgTx{parent, child} {
				if got := again.Accept(tx, r.coins, r.now, txpool.Options{}).Rejected; got != nil {
					t.Fatal(got)
				}
			}
			var want []chainhash.Hash
			if more > 0 {
				want = []chainhash.Hash{a.ID, b.ID}[:len(fees)-1+int(fees[1]/5000)]
			}
			got := ids(again.Choose(weight, 8000, txpool.FeeRate{}))
			if more == 0 && len(got) == 1 && fees[1] == 5000 { // the parent alone has room
				got = nil
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, %d more: %v, want %v", test.what, more, got, want)
			}
		}
	}
}

// Nothing gets into a block that pays less than the operator wants.
func TestChooseMinimum(t *testing.T) {
	r := newRig(t)
	tx := r.must(r.tx(960, 1, r.coin())) // of 96 virtual bytes
	for rate, want := range map[int64]int{9_999: 1, 10_000: 1, 10_001: 0} {
		if got := r.pool.Choose(4_000_000, 8000, txpool.PerKvB(rate)); len(got) != want {
			t.Errorf("at %d: %d", rate, len(got))
		}
	}
	e := r.pool.Choose(4_000_000, 8000, txpool.FeeRate{})[0]
	want := fmt.Sprintf("%+v", messages.BlockTx{Tx: tx, Fee: 960, Weight: e.Weight})
	if got := fmt.Sprintf("%+v", e.BlockTx()); got != want {
		t.Error(got)
	}
}

// A block takes out the transactions that it confirms, and its conflicts with their
// descendants. Descendants of confirmed transactions stay.
func TestConnect(t *testing.T) {
	r := newRig(t)
	coin := r.coin()
	confirmed := r.must(r.tx(1000, 1, r.coin()))
	stays := r.must(r.tx(1000, 1, out(confirmed, 0)))
	conflict := r.must(r.tx(1000, 1, coin))
	child := r.must(r.tx(1000, 1, out(conflict, 0)))
	foreign := r.tx(5000, 1, coin)
	for _, tx := range []*wire.MsgTx{confirmed, conflict, foreign, child} {
		r.pool.Prioritise(new(tx.TxHash()), 7)
	}
	r.pool.SetUnbroadcast(new(confirmed.TxHash()), true)
	r.pool.TakeChanges()
	r.pool.Connect([]*wire.MsgTx{confirmed, foreign}, r.now.Time)
	r.holds("after the block", stays)
	want := map[chainhash.Hash]messages.PoolReason{
		confirmed.TxHash(): messages.PoolBlock, conflict.TxHash(): messages.PoolConflict,
		child.TxHash(): messages.PoolConflict,
	}
	changes := r.pool.TakeChanges()
	for i, change := range changes {
		if change.Added || want[change.ID] != change.Reason || change.Sequence != 5+uint64(i) || change.Fee != 1000 ||
			change.VSize != 96 {
			t.Errorf("change %+v", change)
		}
	}
	if len(changes) != 3 {
		t.Errorf("%d changes", len(changes))
	}
	if deltas := r.pool.Prioritised(); len(deltas) != 1 || deltas[child.TxHash()] != 7 {
		t.Errorf("priorities %v", deltas)
	}
	if len(r.pool.AllUnbroadcast()) > 0 || r.pool.Idle() {
		t.Error("a confirmed transaction is still to be sent, or a block cannot change the pool")
	}
	if err := r.pool.Check(); err != nil {
		t.Error(err)
	}
	empty := newRig(t).pool
	if !empty.Idle() {
		t.Error("a block can change an empty pool")
	}
	empty.Prioritise(&chainhash.Hash{1}, 1)
	if empty.Idle() {
		t.Error("a block cannot change what is prioritised")
	}
}

// A returning block is checked by the outputs that its transactions spend and pay,
// and those that the pool spends of the chain.
func TestReturnNeeds(t *testing.T) {
	r := newRig(t)
	coinbase := wire.NewMsgTx(2)
	coinbase.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Index: wire.MaxPrevOutIndex}})
	coinbase.AddTxOut(wire.NewTxOut(1, anyone))
	back := r.tx(1000, 2, r.coin())
	pooled := r.must(r.tx(1000, 1, r.coin()))
	child := r.must(r.tx(1000, 1, out(pooled, 0)))
	got := make(map[wire.OutPoint]int)
	for _, at := range r.pool.ReturnNeeds([]*wire.MsgTx{coinbase, back}) {
		got[at]++
	}
	want := map[wire.OutPoint]int{
		back.TxIn[0].PreviousOutPoint: 1, out(back, 0): 1, out(back, 1): 1, pooled.TxIn[0].PreviousOutPoint: 1,
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	_ = child
}

// Where other rules of scripts hold after a reorganisation, scripts are executed again, once for each version of the
// rules. A transaction that breaks the rules leaves with its descendants.
func TestReturnUnderOtherRules(t *testing.T) {
	r := newRig(t)
	later := r.now.Tip.Height
	r.rules.VerifyVersion = func(height int32) int { return int(height / (later + 1)) }
	r.pool = txpool.New(r.rules, txpool.DefaultPolicy())
	stays, bad := r.must(r.tx(1000, 1, r.coin())), r.must(r.tx(1000, 1, r.coin()))
	child := r.must(r.spending(1000, bad, 0))
	r.fails[bad.TxHash()] = scriptFailure("old rules")
	for _, step := range []struct {
		back int32 // blocks that have left
		ran  int
		want []*wire.MsgTx
	}{
		{0, 0, []*wire.MsgTx{stays, bad, child}},
		{1, 2, []*wire.MsgTx{stays}},
		{2, 0, []*wire.MsgTx{stays}},
		{0, 1, []*wire.MsgTx{stays}},
	} {
		now := r.now
		now.Tip = now.Tip.Ancestor(later - step.back)
		r.ran = 0
		r.pool.Return(nil, r.coins, now)
		r.holds(fmt.Sprintf("%d back", step.back), step.want...)
		if r.ran != step.ran {
			t.Errorf("%d back: scripts of %d transactions were executed, want %d", step.back, r.ran, step.ran)
		}
	}
}

// After a reorganisation the pool has what is valid in the next block.
func TestReturn(t *testing.T) {
	for _, test := range []struct {
		what string
		// set makes a transaction of the pool, and what has left the chain.
		set  func(r *rig) (tx *wire.MsgTx, block []*wire.MsgTx)
		want bool // it stays
	}{
		{"nothing changed", func(r *rig) (*wire.MsgTx, []*wire.MsgTx) {
			return r.must(r.tx(1000, 1, r.coin())), nil
		}, true},
		{"its coin is gone", func(r *rig) (*wire.MsgTx, []*wire.MsgTx) {
			tx := r.must(r.tx(1000, 1, r.coin()))
			delete(r.coins, tx.TxIn[0].PreviousOutPoint)
			return tx, nil
		}, false},
		{"its coin comes back into the pool", func(r *rig) (*wire.MsgTx, []*wire.MsgTx) {
			parent := r.tx(1000, 1, r.coin())
			r.coins[out(parent, 0)] = coinOf(parent, 0)
			tx := r.must(r.tx(1000, 1, out(parent, 0)))
			delete(r.coins, out(parent, 0))
			return tx, []*wire.MsgTx{parent}
		}, true},
		{"what it spends does not come back", func(r *rig) (*wire.MsgTx, []*wire.MsgTx) {
			parent := r.tx(1000, 1, r.coin())
			r.coins[out(parent, 0)] = coinOf(parent, 0)
			tx := r.must(r.tx(1000, 1, out(parent, 0)))
			delete(r.coins, out(parent, 0))
			r.fails[parent.TxHash()] = scriptFailure("no")
			return tx, []*wire.MsgTx{parent}
		}, false},
		{"it is what the block had, and is bad now", func(r *rig) (*wire.MsgTx, []*wire.MsgTx) {
			tx := r.must(r.tx(1000, 1, r.coin()))
			return tx, []*wire.MsgTx{tx}
		}, false},
		{"a coinbase left the chain", func(r *rig) (*wire.MsgTx, []*wire.MsgTx) {
			coinbase := wire.NewMsgTx(2)
			coinbase.AddTxIn(&wire.TxIn{
				PreviousOutPoint: wire.OutPoint{Index: wire.MaxPrevOutIndex}, SignatureScript: []byte{1, 1},
			})
			coinbase.AddTxOut(wire.NewTxOut(coinValue, anyone))
			r.coins[out(coinbase, 0)] = coinOf(coinbase, 0)
			tx := r.must(r.tx(1000, 1, out(coinbase, 0)))
			return tx, []*wire.MsgTx{coinbase}
		}, false},
		{"a coinbase of 100 blocks", func(r *rig) (*wire.MsgTx, []*wire.MsgTx) {
			at := r.coin(func(c *messages.Coin) { c.Coinbase, c.Height = true, 101 })
			return r.must(r.tx(1000, 1, at)), nil
		}, true},
		{"a coinbase that is too young now", func(r *rig) (*wire.MsgTx, []*wire.MsgTx) {
			at := r.coin(func(c *messages.Coin) { c.Coinbase, c.Height = true, 101 })
			tx := r.must(r.tx(1000, 1, at))
			r.now.Tip = r.now.Tip.Parent
			return tx, nil
		}, false},
		{"another coin that is as young", func(r *rig) (*wire.MsgTx, []*wire.MsgTx) {
			tx := r.must(r.tx(1000, 1, r.coin(func(c *messages.Coin) { c.Height = 101 })))
			r.now.Tip = r.now.Tip.Parent
			return tx, nil
		}, true},
		{"its lock time is not reached now", func(r *rig) (*wire.MsgTx, []*wire.MsgTx) {
			tx := r.tx(1000, 1, r.coin())
			tx.LockTime, tx.TxIn[0].Sequence = 200, 0xfffffffe
			r.must(tx)
			r.now.Tip = r.now.Tip.Parent
			return tx, nil
		}, false},
		{"its relative lock time is not reached now", func(r *rig) (*wire.MsgTx, []*wire.MsgTx) {
			tx := r.tx(1000, 1, r.coin())
			tx.TxIn[0].Sequence = 151
			r.must(tx)
			r.now.Tip = r.now.Tip.Parent
			return tx, nil
		}, false},
	} {
		t.Run(test.what, func(t *testing.T) {
			r := newRig(t)
			tx, block := test.set(r)
			child := r.must(r.tx(1000, 1, out(tx, 0)))
			r.pool.TakeChanges()
			r.pool.Return(block, r.coins, r.now)
			if got := r.pool.Lookup(new(tx.TxHash())) != nil; got != test.want {
				t.Errorf("stays %v, want %v", got, test.want)
			}
			if got := r.pool.Lookup(new(child.TxHash())) != nil; got != test.want {
				t.Errorf("what depends on it stays %v, want %v", got, test.want)
			}
			for _, change := range r.pool.TakeChanges() {
				if !change.Added && change.Reason != messages.PoolReorg || change.Added && change.Sequence != 0 {
					t.Errorf("change %+v", change)
				}
			}
			if err := r.pool.Check(); err != nil {
				t.Error(err)
			}
		})
	}
}

// After a block has come back, transactions with more ancestors than the limits allow leave.
// This holds for the transactions of the block too.
func TestReturnLimits(t *testing.T) {
	for _, test := range []struct {
		block, pool int // transactions of the chain in them
		vsize       int64
		stay        int
	}{
		{3, 2, 101_000, 5},
		{3, 3, 101_000, 5},
		{6, 2, 101_000, 5},
		{2, 3, 4 * 96, 4},
		{2, 3, 5*96 - 1, 4},
		{2, 3, 5 * 96, 5},
	} {
		r := newRig(t, func(p *txpool.Policy) { p.Limits.Ancestors, p.Limits.AncestorVSize = 5, test.vsize })
		var block, all []*wire.MsgTx
		at, height := r.coin(), r.now.Tip.Height
		for range test.block {
			tx := r.tx(1000, 1, at)
			r.coins[out(tx, 0)] = messages.Coin{Output: tx.TxOut[0], Height: height}
			at, block = out(tx, 0), append(block, tx)
		}
		all = slices.Clone(block)
		for range test.pool {
			tx := r.must(r.tx(1000, 1, at))
			at, all = out(tx, 0), append(all, tx)
		}
		for _, tx := range block {
			delete(r.coins, out(tx, 0))
		}
		lone := r.must(r.tx(1000, 1, r.coin()))
		r.pool.Return(block, r.coins, r.now)
		r.holds(fmt.Sprintf("%+v", test), append(all[:test.stay], lone)...)
	}
}

// The search ends when the block is nearly full, and more than a thousand in a row did
// not fit.
func TestChooseGivesUp(t *testing.T) {
	for i, test := range []struct {
		misses int
		room   int64 // weight that is left beside the first
		want   int
	}{
		{1, 3999, 2}, {1, 3999, 2}, {1000, 3999, 2}, {1000, 3999, 2}, {1001, 3999, 1}, {1001, 3999, 1},
		{1001, 4000, 2}, {1001, 4000, 2},
	} {
		r := newRig(t, func(p *txpool.Policy) { p.Order = txpool.Order(i % 2) })
		first := r.must(r.tx(90_000, 1, r.coin()))
		for range test.misses {
			r.must(sized(r.tx(200_000, 1, r.coin()), 2000))
		}
		r.must(r.tx(100, 1, r.coin()))
		weight := r.pool.Lookup(new(first.TxHash())).Weight
		if got := r.pool.Choose(8000+weight+test.room, 8000, txpool.FeeRate{}); len(got) != test.want {
			t.Errorf("%+v: %d transactions", test, len(got))
		}
	}
}
