package txpool_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/txpool"
	"github.com/seed61375155/trawl/messages"
)

func byClusters(p *txpool.Policy) { p.Order = txpool.ByClusters }

// A cluster has 64 transactions and 101,000 virtual bytes at most, however they are connected.
func TestClusterLimits(t *testing.T) {
	for _, chain := range []bool{true, false} {
		r := newRig(t, byClusters)
		root := r.must(r.tx(1000, 64, r.coin()))
		from := out(root, 0)
		for i := range uint32(63) {
			if tx := r.must(r.tx(100, 1, from)); chain {
				from = out(tx, 0)
			} else {
				from = out(root, i+1)
			}
		}
		got := r.accept(r.tx(100, 1, from))
		if fmt.Sprint(got) != "too-large-cluster" || got.Kind != messages.TxPolicy {
			t.Errorf("chain: %v: %v", chain, got)
		}
		r.must(r.tx(1000, 1, r.coin())) // others are not in the way
	}
	r := newRig(t, byClusters)
	big := r.must(sized(r.tx(200_000, 1, r.coin()), 90_000))
	if got := r.accept(sized(r.tx(50_000, 1, out(big, 0)), 10_996)); fmt.Sprint(got) != "too-large-cluster" {
		t.Errorf("large: %v", got)
	}
	r.must(sized(r.tx(50_000, 1, out(big, 0)), 10_995))
}

// A replacement pays for its conflicts and for itself, and makes the diagram better. New
// unconfirmed inputs are as good as others.
func TestClusterReplacement(t *testing.T) {
	r := newRig(t, byClusters)
	coin, other := r.coin(), r.coin()
	old := r.must(r.tx(1000, 1, coin))
	parent := r.must(r.tx(1000, 2, other))
	for _, test := range []struct {
		name string
		tx   *wire.MsgTx
		want string
		kind messages.TxRejectKind
	}{
		{"less", r.tx(999, 1, coin), "insufficient fee, rejecting replacement ID, less fees than conflicting txs; " +
			"0.00000999 < 0.00001", messages.TxReconsiderable},
		{"not for itself", r.tx(1009, 1, coin), "insufficient fee, rejecting replacement ID, not enough additional " +
			"fees to relay; 0.00000009 < 0.0000001", messages.TxReconsiderable},
		{"a lower rate", r.tx(1200, 10, coin), "replacement-failed, " +
			"insufficient feerate: does not improve feerate diagram", messages.TxReconsiderable},
		{"spends what it replaces", r.tx(9000, 1, coin, out(old, 0)), "bad-txns-spends-conflicting-tx, ID spends " +
			"conflicting transaction " + old.TxHash().String(), messages.TxInvalid},
	} {
		got := r.accept(test.tx)
		want := strings.ReplaceAll(test.want, "ID", test.tx.TxHash().String())
		if fmt.Sprint(got) != want || got.Kind != test.kind {
			t.Errorf("%s: %v of kind %v, want %s", test.name, got, got.Kind, want)
		}
	}
	r.holds("refused", old, parent)
	same := newRig(t, byClusters, func(p *txpool.Policy) { p.IncrementalFee = txpool.PerKvB(0) })
	coin = same.coin()
	first, second := same.must(same.tx(1000, 1, coin)), same.tx(1000, 1, coin)
	second.LockTime = 1
	if got := reasonOf(same.accept(second)); got != "replacement-failed" {
		t.Errorf("as good as what it replaces: %s", got)
	}
	same.holds("as good", first)
	coin = old.TxIn[0].PreviousOutPoint
	better := r.must(r.tx(2000, 1, coin, out(parent, 0)))
	r.holds("with a new unconfirmed input", better, parent)
}

// A replacement may have conflicts in 100 clusters, however many transactions are in them.
func TestManyConflicts(t *testing.T) {
	r := newRig(t, byClusters)
	var coins []wire.OutPoint
	for range 101 {
		at := r.coin()
		coins = append(coins, at)
		r.chain(2, at)
	}
	tx := r.tx(900_000, 1, coins...)
	got := r.accept(tx)
	want := fmt.Sprintf("too many potential replacements, rejecting replacement %v; too many conflicting clusters "+
		"(101 > 100)", tx.TxHash())
	if fmt.Sprint(got) != want || got.Kind != messages.TxPolicy {
		t.Errorf("%v, want %v", got, want)
	}
	tx = r.must(r.tx(900_000, 1, coins[:100]...))
	if r.pool.Len() != 3 || r.pool.Lookup(new(tx.TxHash())) == nil {
		t.Errorf("%d transactions are left", r.pool.Len())
	}
}

// Packages are limited by the clusters that come of them, and replace what they improve on.
func TestClusterPackages(t *testing.T) {
	r := newRig(t, byClusters)
	last := r.chain(63, r.coin())
	parent := r.tx(1000, 1, last)
	child := r.spending(1000, parent, 0)
	if got := said(r.pool.Try([]*wire.MsgTx{parent, child}, r.coins, r.now)); got != "too-large-cluster (package)" {
		t.Errorf("65 in a cluster: %s", got)
	}
	for _, test := range []struct {
		fee   int64
		limit int
		want  string
	}{
		{20_000, 2, "0 pays 0; 1 pays 20000"},
		{20_000, 1, "too-large-cluster (package); 0 min relay fee not met, 0 < 10; 1 bad-txns-inputs-missingorspent"},
		{2010, 2, "package RBF failed: insufficient feerate: does not improve feerate diagram (package); " +
			"0 min relay fee not met, 0 < 10; 1 bad-txns-inputs-missingorspent"},
	} {
		r := newRig(t, byClusters, func(p *txpool.Policy) { p.Limits.Cluster = test.limit })
		coin := r.coin()
		r.must(r.tx(1000, 1, coin))
		parent := restricted(r.tx(0, 1, coin))
		child := restricted(r.spending(test.fee, parent, 0))
		if test.fee < 10_000 {
			child = restricted(sized(child, 900))
		}
		if got := said(r.submit(txpool.FeeRate{}, parent, child)); got != test.want {
			t.Errorf("%d: %s, want %s", test.fee, got, test.want)
		}
	}
}

// A full pool drops the worst chunk whole, and asks for more than that paid.
func TestWorstChunk(t *testing.T) {
	probe := newRig(t, byClusters)
	probe.must(probe.tx(1000, 1, probe.coin()))
	r := newRig(t, byClusters, func(p *txpool.Policy) { p.MaxBytes = probe.pool.Usage()*4 + 100 })
	stays := r.must(r.tx(5000, 1, r.coin()))
	poor := r.must(r.tx(100, 1, r.coin()))
	pays := r.must(r.tx(3000, 1, out(poor, 0))) // 3100 for both, of 762 units of weight
	fair := r.must(r.tx(2000, 1, r.coin()))
	last := r.must(r.tx(4000, 1, r.coin()))
	r.holds("two are dropped together", stays, fair, last)
	if r.pool.Lookup(new(pays.TxHash())) != nil {
		t.Error("the child is left")
	}
	if got, want := r.pool.Raised().PerKvB(), int64(3100*1000/191+100); got != want {
		t.Errorf("raised to %d, want %d", got, want)
	}
	if err := r.pool.Check(); err != nil {
		t.Error(err)
	}
}

// Transactions that come back from blocks join their children; too large clusters are cut.
func TestClusterReturn(t *testing.T) {
	r := newRig(t, byClusters)
	coin := r.coin()
	var block []*wire.MsgTx
	at := coin
	for range 10 {
		block = append(block, r.must(r.tx(1000, 1, at)))
		at = out(block[len(block)-1], 0)
	}
	spent := r.coins[coin]
	r.pool.Connect(block, r.now.Time)
	delete(r.coins, coin)
	r.coins[at] = coinOf(block[9], 0)
	r.chain(60, at)
	r.pool.TakeChanges()
	delete(r.coins, at)
	r.coins[coin] = spent
	r.pool.Return(block, r.coins, r.now)
	if r.pool.Len() != 64 {
		t.Errorf("%d transactions", r.pool.Len())
	}
	dropped := 0
	for _, change := range r.pool.TakeChanges() {
		if !change.Added && change.Reason == messages.PoolSizeLimit {
			dropped++
		}
	}
	if dropped != 6 {
		t.Errorf("%d were dropped", dropped)
	}
	if err := r.pool.Check(); err != nil {
		t.Error(err)
	}
	list := r.pool.Choose(4_000_000, 8000, txpool.FeeRate{})
	if len(list) != 64 || !slices.Equal(list, r.pool.Ordered()) || list[0].Tx != block[0] {
		t.Errorf("a block of %d", len(list))
	}
}

// A parent that comes back alone is joined with its child too.
func TestClusterParentReturns(t *testing.T) {
	r := newRig(t, byClusters)
	parent := r.tx(100, 1, r.coin())
	r.coins[out(parent, 0)] = coinOf(parent, 0)
	child := r.must(r.tx(2000, 1, out(parent, 0)))
	delete(r.coins, out(parent, 0))
	r.must(parent)
	if err := r.pool.Check(); err != nil {
		t.Error(err)
	}
	if list := r.pool.Ordered(); len(list) != 2 || list[0].Tx != parent || list[1].Tx != child {
		t.Error("the child comes before its parent")
	}
}

// Blocks have chunks in the order of their rates; what does not fit keeps what follows in its
// cluster out.
func TestChunksOfBlocks(t *testing.T) {
	r := newRig(t, byClusters)
	parent := r.must(r.tx(100, 2, r.coin()))
	child := r.must(r.tx(20_000, 1, out(parent, 0)))
	low := r.must(r.tx(200, 1, out(parent, 1)))
	alone := r.must(r.tx(4000, 1, r.coin()))
	at := func(weight int64) (txs []*wire.MsgTx) {
		for _, e := range r.pool.Choose(weight, 0, txpool.PerKvB(1)) {
			txs = append(txs, e.Tx)
		}
		return txs
	}
	if got := at(4_000_000); !slices.Equal(got, []*wire.MsgTx{parent, child, alone, low}) {
		t.Error("all are out of order")
	}
	weight := r.pool.Lookup(new(alone.TxHash())).Weight
	if got := at(weight + 4); !slices.Equal(got, []*wire.MsgTx{alone}) {
		t.Errorf("%d where one has room", len(got))
	}
	ops := r.tx(1000, 1, r.coin())
	ops.TxIn[0].Witness = wire.TxWitness{slices.Repeat([]byte{txscript.OP_CHECKSIG}, 100)}
	e := r.pool.Lookup(new(r.must(ops).TxHash()))
	if got := txpool.ChunksOf(r.pool).Of(e); got.Weight != 100*20 || got.Fees != 1000 {
		t.Errorf("a chunk with many signature operations: %+v", got)
	}
	id, rich := parent.TxHash(), ops.TxHash()
	r.pool.Prioritise(&rich, -1000)
	r.pool.Prioritise(&id, -30_000)
	if got := at(4_000_000); !slices.Equal(got, []*wire.MsgTx{alone}) {
		t.Errorf("%d that pay", len(got))
	}
}

// TRUC's rules are the same by clusters.
func TestClusterTRUC(t *testing.T) {
	r := newRig(t, byClusters)
	truc := func(fee int64, from ...wire.OutPoint) *wire.MsgTx { return restricted(r.tx(fee, 2, from...)) }
	parent := r.must(truc(1000, r.coin()))
	if got := r.accept(r.tx(1000, 1, out(parent, 0))); reasonOf(got) != "TRUC-violation" {
		t.Errorf("child of another version: %v", got)
	}
	child := r.must(truc(1000, out(parent, 0)))
	if got := withoutIDs(r, fmt.Sprint(r.accept(truc(1000, out(child, 0))))); got == "<nil>" {
		t.Error("a grandchild was taken")
	}
	if got := r.accept(truc(1000, out(parent, 1))); reasonOf(got) != "insufficient fee (including sibling eviction)" {
		t.Errorf("cheap sibling: %v", got)
	}
	r.holds("sibling", parent, r.must(truc(2000, out(parent, 1))))
}
