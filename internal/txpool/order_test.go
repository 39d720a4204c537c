package txpool_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/txpool"
)

// A replacement must pay a higher rate than each that it replaces, not the same one:
// however much more it pays altogether.
func TestReplacementAtTheSameRate(t *testing.T) {
	for more, want := range map[int64]string{0: "insufficient fee", 1: ""} {
		r := newRig(t)
		coin := r.coin()
		r.must(r.tx(10*r.virtual(r.tx(0, 1, coin)), 1, coin))
		large := r.tx(0, 2, coin)
		large = r.tx(10*r.virtual(large)+2*more, 2, coin)
		if reject := r.accept(large); reasonOf(reject) != want {
			t.Errorf("%d more: got %v, want %q", more, reject, want)
		}
	}
}

// Packages have at most 25 transactions and a weight of 404,000.
func TestPackageEdges(t *testing.T) {
	for _, test := range []struct {
		what string
		last int
		txs  func(r *rig, n int) []*wire.MsgTx
		want string
	}{
		{"transactions", txpool.MaxPackageCount, func(r *rig, n int) (txs []*wire.MsgTx) {
			for range n {
				txs = append(txs, r.tx(1000, 1, r.coin()))
			}
			return txs
		}, "package-too-many-transactions"},
		{"weight", 404_000, func(r *rig, n int) []*wire.MsgTx {
			first, second := sized(r.tx(100_000, 1, r.coin()), 90_000), r.tx(100_000, 1, r.paying(taproot))
			second.TxIn[0].Witness[0] = make([]byte, 3000)
			weight := func(tx *wire.MsgTx) int { return 3*tx.SerializeSizeStripped() + tx.SerializeSize() }
			second.TxIn[0].Witness[0] = make([]byte, 3000+n-weight(first)-weight(second))
			return []*wire.MsgTx{first, second}
		}, "package-too-large"},
	} {
		for _, n := range []int{test.last, test.last + 1} {
			r, want := newRig(
				t, func(p *txpool.Policy) { p.Limits.AncestorVSize, p.Limits.DescendantVSize = 1e6, 1e6 },
			), ""
			if n > test.last {
				want = test.want
			}
			got := r.pool.Try(test.txs(r, n), r.coins, r.now)
			if reasonOf(got.Failed) != want {
				t.Errorf("%s, %d: got %v, want %q", test.what, n, got.Failed, want)
			}
		}
	}
}

// Lists are in order of ancestors, then of the rates without what the operator added,
// then by falling ids.
func TestOrder(t *testing.T) {
	r := newRig(t)
	var txs []*wire.MsgTx
	for _, fee := range []int64{1000, 1000, 1000, 3000, 2000} {
		txs = append(txs, r.must(r.tx(fee, 1, r.coin())))
	}
	child := r.must(r.tx(9000, 1, out(txs[0], 0)))
	slices.SortFunc(txs[:3], func(a, b *wire.MsgTx) int {
		x, y := a.TxHash(), b.TxHash()
		return bytes.Compare(y[:], x[:])
	})
	id := txs[1].TxHash()
	r.pool.Prioritise(&id, 1_000_000)
	want := []*wire.MsgTx{txs[3], txs[4], txs[0], txs[1], txs[2], child}
	for i, e := range r.pool.Ordered() {
		if e.Tx != want[i] {
			t.Errorf("%d is %v, with %d", i, e.ID, e.Fee)
		}
	}
}

// Every transaction that comes or goes counts, also if a block takes it out.
func TestSequence(t *testing.T) {
	r := newRig(t)
	if got := r.pool.Sequence(); got != 1 {
		t.Errorf("at first %d", got)
	}
	first, second := r.must(r.tx(1000, 1, r.coin())), r.must(r.tx(1000, 1, r.coin()))
	if got := r.pool.Sequence(); got != 3 {
		t.Errorf("with two %d", got)
	}
	conflict := r.tx(2000, 1, second.TxIn[0].PreviousOutPoint)
	r.pool.Connect([]*wire.MsgTx{first, conflict}, r.now.Time)
	r.holds("after the block")
	if got := r.pool.Sequence(); got != 5 {
		t.Errorf("after the block %d", got)
	}
	full := newRig(t, func(p *txpool.Policy) { p.MaxBytes = 100 })
	if got := reasonOf(full.accept(full.tx(1000, 1, full.coin()))); got != "mempool full" || full.pool.Sequence() != 2 {
		t.Errorf("%q, and then %d", got, full.pool.Sequence())
	}
}
