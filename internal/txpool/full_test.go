package txpool_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/txpool"
	"github.com/seed61375155/trawl/messages"
)

// full is a pool in which n transactions have room that pay 1000 each.
func full(t *testing.T, n int) *rig {
	t.Helper()
	probe := newRig(t)
	probe.must(probe.tx(1000, 1, probe.coin()))
	r := newRig(t, func(p *txpool.Policy) { p.MaxBytes = probe.pool.Usage() * int64(n) })
	for range n {
		r.must(r.tx(1000, 1, r.coin()))
	}
	return r
}

// A full pool drops the transaction that pays least together with its descendants. It
// raises its minimum fee to their rate plus the increment of a replacement.
func TestFullPool(t *testing.T) {
	r := full(t, 4)
	r.holds("as many as have room", txsOf(r)...)
	if got := r.pool.Raised(); got != (txpool.FeeRate{}) {
		t.Errorf("raised to %v before the pool was full", got)
	}
	low := r.tx(999, 1, r.coin())
	if got := r.accept(low); reasonOf(got) != "mempool full" || got.Kind != messages.TxReconsiderable {
		t.Errorf("one that pays less: %v", got)
	}
	// 999 for 96 virtual bytes are 10406 for 1000.
	if got := r.pool.Raised().PerKvB(); got != 10_506 {
		t.Errorf("raised to %d", got)
	}
	if got := r.pool.MinFee(r.now.Time).PerKvB(); got != 10_506 {
		t.Errorf("minimum fee %d", got)
	}
	// 10506 for 1000 virtual bytes are 1009 for 96, rounded up.
	if got := r.accept(r.tx(1008, 1, r.coin())); fmt.Sprint(got) != "mempool min fee not met, 1008 < 1009" {
		t.Errorf("one that pays just too little: %v", got)
	}
	r.must(r.tx(1009, 1, r.coin()))
	r.pool.Limit(r.now.Time)
	if got := r.pool.Raised(); got != (txpool.FeeRate{}) {
		t.Errorf("still raised to %v when nothing was dropped", got)
	}
}

func txsOf(r *rig) (txs []*wire.MsgTx) {
	for _, e := range r.pool.Ordered() {
		txs = append(txs, e.Tx)
	}
	return txs
}

// The minimum fee of a pool that was full halves in twelve hours from the first block
// on. It falls twice as fast in a pool that is less than half full, and four times as
// fast below a quarter. It ends below half the increment of a replacement.
func TestMinFeeDecays(t *testing.T) {
	const hour = 3600
	for _, test := range []struct {
		stay int // transactions, of 8 that have room
		half int64
	}{{8, 12 * hour}, {5, 12 * hour}, {4, 12 * hour}, {3, 6 * hour}, {2, 6 * hour}, {1, 3 * hour}} {
		t.Run(strconv.Itoa(test.stay), func(t *testing.T) {
			r := full(t, 8)
			r.accept(r.tx(999, 1, r.coin()))
			const raised = 10_506
			if got := r.pool.MinFee(r.now.Time + 100*hour).PerKvB(); got != raised {
				t.Errorf("before a block %d", got)
			}
			var block []*wire.MsgTx
			for _, e := range r.pool.Ordered()[test.stay:] {
				block = append(block, e.Tx)
			}
			now := r.now.Time
			r.pool.Connect(block, now)
			if got := r.pool.MinFee(now + 10).PerKvB(); got != raised {
				t.Errorf("within ten seconds %d", got)
			}
			want := func(seconds int64) int64 {
				return int64(math.Round(raised / math.Pow(2, float64(seconds)/float64(test.half))))
			}
			if got := r.pool.MinFee(now + 11).PerKvB(); got != want(11) {
				t.Errorf("after eleven seconds %d, want %d", got, want(11))
			}
			for _, n := range []int64{1, 3, 5} {
				if got := r.pool.MinFee(now + n*test.half).PerKvB(); got != want(n*test.half) {
					t.Errorf("after %d half lives %d, want %d", n, got, want(n*test.half))
				}
			}
			// 7 halvings: 82, less than the 100 that a replacement adds; 8: 41, less
			// than half.
			if got := r.pool.MinFee(now + 7*test.half).PerKvB(); got != 100 {
				t.Errorf("after seven half lives %d", got)
			}
			if got := r.pool.MinFee(now + 8*test.half); got.PerKvB() != 0 {
				t.Errorf("after eight half lives %v", got)
			}
			if got := r.pool.MinFee(now + 8*test.half); got.PerKvB() != 0 {
				t.Errorf("and then %v", got)
			}
		})
	}
}

// A minimum fee that a full pool raised again stands until the next block.
func TestMinFeeIsRaisedAgain(t *testing.T) {
	r := full(t, 4)
	r.accept(r.tx(999, 1, r.coin()))
	r.pool.Connect(nil, r.now.Time)
	later := r.now
	later.Time += 12 * 3600
	if got := r.pool.MinFee(later.Time).PerKvB(); got != 5253 {
		t.Errorf("after a half life %d", got)
	}
	got := r.pool.Accept(r.tx(900, 1, r.coin()), r.coins, later, txpool.Options{})
	if reasonOf(got.Rejected) != "mempool full" {
		t.Errorf("one that pays less: %v", got.Rejected)
	}
	for _, after := range []int64{0, 3600} {
		if got := r.pool.MinFee(later.Time + after).PerKvB(); got != 9375+100 {
			t.Errorf("%d s after it was full again: %d", after, got)
		}
	}
}

// A package is limited as a whole, when all of it is there: the parent may pay less than
// what leaves.
func TestPackageInFullPool(t *testing.T) {
	for _, test := range []struct {
		fee  int64 // of the child
		want string
	}{{5000, ""}, {1050, "mempool full"}} {
		r := full(t, 4)
		parent := r.tx(900, 1, r.coin())
		child := r.spending(test.fee, parent, 0)
		got := r.pool.Submit([]*wire.MsgTx{parent, child}, r.coins, r.now, txpool.FeeRate{})
		for i, result := range got.Results {
			if reasonOf(result.Rejected) != test.want {
				t.Errorf("child pays %d: %d is %v, want %q", test.fee, i, result.Rejected, test.want)
			}
		}
		if failed := reasonOf(got.Failed); (failed == "transaction failed") != (test.want != "") || got.Policy {
			t.Errorf("child pays %d: %q", test.fee, failed)
		}
		if test.want == "" && (!slices.Equal(got.Results[0].RateOf, []chainhash.Hash{parent.WitnessHash()}) ||
			got.Results[0].Fee != 900 || got.Results[1].Fee != test.fee || got.Results[0].Rate != 9375) {
			t.Errorf("child pays %d: %+v", test.fee, got.Results)
		}
		if err := r.pool.Check(); err != nil {
			t.Error(err)
		}
	}
}

// Transactions that come back from a block are limited only when all are there.
func TestReturnToFullPool(t *testing.T) {
	r := full(t, 4)
	parent := r.tx(10, 1, r.coin())
	child := r.spending(5000, parent, 0)
	r.pool.Return([]*wire.MsgTx{parent, child}, r.coins, r.now)
	for _, tx := range []*wire.MsgTx{parent, child} {
		if r.pool.Lookup(new(tx.TxHash())) == nil {
			t.Errorf("%v was dropped", tx.TxHash())
		}
	}
	if r.pool.Len() != 4 {
		t.Errorf("%d transactions", r.pool.Len())
	}
}

// Among transactions that pay the same, the latest leaves first.
func TestLatestLeavesFirst(t *testing.T) {
	r := newRig(t)
	var txs []*wire.MsgTx
	for _, at := range []int64{5, 9, 7, 3, 8} {
		tx := r.tx(1000, 1, r.coin())
		txs = append(txs, tx)
		if reject := r.pool.Accept(tx, r.coins, r.now, txpool.Options{Time: r.now.Time - at}).Rejected; reject != nil {
			t.Fatal(reject)
		}
	}
	policy := func(p *txpool.Policy) { p.MaxBytes = r.pool.Usage() * 2 / 5 }
	small := newRig(t, policy)
	small.coins, small.now = r.coins, r.now
	for i, at := range []int64{5, 9, 7, 3, 8} {
		small.pool.Accept(txs[i], r.coins, r.now, txpool.Options{Time: r.now.Time - at, Bypass: true})
	}
	small.pool.Limit(r.now.Time)
	small.holds("the oldest", txs[1], txs[4])
}

// A transaction is dropped with what depends on it when it is older than the operator
// wants.
func TestExpiry(t *testing.T) {
	r := newRig(t, func(p *txpool.Policy) { p.Expiry = 1000 })
	old := r.must(r.tx(1000, 1, r.coin()))
	added := r.now.Time
	r.now.Time += 900
	child := r.must(r.tx(1000, 1, out(old, 0)))
	young := r.must(r.tx(1000, 1, r.coin()))
	r.pool.Limit(added + 1000)
	r.holds("at its last second", old, child, young)
	r.pool.TakeChanges()
	r.pool.Limit(added + 1001)
	r.holds("after it", young)
	var gone []chainhash.Hash
	for _, change := range r.pool.TakeChanges() {
		if change.Reason != messages.PoolExpiry || change.Added {
			t.Errorf("change %+v", change)
		}
		gone = append(gone, change.ID)
	}
	if !slices.Equal(gone, []chainhash.Hash{child.TxHash(), old.TxHash()}) {
		t.Errorf("in the order %v", gone)
	}
}
