package corepool_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/corepool"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/corenode"
	"github.com/seed61375155/trawl/internal/corenode/poolcopy"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
)

// betweenLooks ends while no look is under way: they begin at whole seconds.
const betweenLooks = 2300 * time.Millisecond

var errAway = fmt.Errorf("%w: connection refused", corenode.ErrAway)

// The tests of every actor.
func TestSuite(t *testing.T) {
	actortest.Suite(t, func(t *testing.T) *actortest.Subject {
		t.Helper()
		actortest.InBubble(t)
		r := newRig(t, nil)
		tx := r.core.add(r.tx(nil))
		out := wire.OutPoint{Hash: tx.TxHash()}
		return &actortest.Subject{
			Ref: r.ref, Served: corepool.Requests,
			Requests: []actortest.Request{
				actortest.Sample(messages.SubmitTx{Tx: r.tx(nil)}),
				actortest.Sample(messages.GetPoolTx{ID: tx.TxHash()}),
				actortest.Sample(messages.GetPoolCoins{Outs: []wire.OutPoint{out, {Hash: chainhash.Hash{1}}}}),
				actortest.Sample(messages.GetPoolSpenders{Outs: []wire.OutPoint{out}}),
				actortest.Sample(nodemsg.FollowPool{}),
			},
			News: func() {
				r.core.add(r.tx(nil))
				r.tip.Publish(messages.TipChanged{Hash: chainhash.Hash{byte(r.salt)}})
			},
			Check: func() {
				r.core.add(r.tx(nil))
				time.Sleep(time.Minute) // of the bubble: longer than any retry
				r.same("checked")
			},
		}
	})
}

// After any change at the other node, the copy is soon the same again.
func TestAlwaysSame(t *testing.T) {
	seeds := uint64(3)
	if os.Getenv("TRAWL_SOAK") != "" {
		seeds = 200
	}
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			r := newRig(t, nil)
			var known []*wire.MsgTx
			for round := range 8 {
				r.core.set(func(n *core) { n.large = []int{0, 2, 3, 50}[random.IntN(4)] })
				for range random.IntN(150) {
					var of *wire.MsgTx
					if len(known) > 0 && random.IntN(2) == 0 {
						of = known[random.IntN(len(known))]
					}
					known = append(known, r.core.add(r.tx(of)))
				}
				for range random.IntN(40) {
					if len(known) > 0 {
						at := random.IntN(len(known))
						r.core.remove(known[at].TxHash())
						known = append(known[:at], known[at+1:]...)
					}
				}
				switch random.IntN(4) {
				case 0:
					r.core.set(func(n *core) { n.failing = errAway })
					time.Sleep(time.Duration(random.IntN(30)) * time.Second)
					r.core.set(func(n *core) { n.failing = nil })
				case 1:
					r.tip.Publish(messages.TipChanged{Hash: chainhash.Hash{1, byte(random.Int())}})
				case 2:
					tx := r.tx(nil)
					if _, err := ask.Ask(t.Context(), r.ref, messages.SubmitTx{Tx: tx}); err != nil {
						t.Fatal(err)
					}
					known = append(known, tx)
				}
				time.Sleep(15 * time.Second)
				r.same(fmt.Sprintf("seed %d, round %d", seed, round))
			}
		})
	}
}

// While the other node is away, or reads its own pool, all is kept, and said so in one line.
func TestAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		tx, other := r.core.add(r.tx(nil)), r.core.add(r.tx(nil))
		time.Sleep(betweenLooks)
		r.same("before")
		r.core.set(func(n *core) { n.failing, n.loading = errAway, true })
		r.core.remove(tx.TxHash())
		time.Sleep(time.Minute)
		if s := r.state(); s.Txs != 2 || !strings.Contains(s.Reason, "does not answer") || s.Updated.IsZero() {
			t.Errorf("away: %+v", s)
		}
		if err := r.follow(); !errors.Is(err, messages.ErrNodeAway) {
			t.Errorf("follow: %v", err)
		}
		if _, err := ask.Ask(t.Context(), r.ref, messages.GetPoolTx{ID: tx.TxHash()}); err != nil {
			t.Errorf("what was there: %v", err)
		}
		r.core.remove(other.TxHash())
		r.core.set(func(n *core) { n.failing = nil })
		r.core.add(r.tx(nil))
		time.Sleep(time.Minute)
		if s := r.state(); s.Txs != 3 || !strings.Contains(s.Reason, "reads its pool") {
			t.Errorf("loading: %+v", s)
		}
		r.core.add(other)
		r.core.set(func(n *core) { n.loading = false })
		time.Sleep(betweenLooks)
		r.same("after")
		if got := strings.Count(r.log.text(), "\n"); got != 4 {
			t.Errorf("logged:\n%s", r.log.text())
		}
	})
}

// Of transactions that have left the pool, those in a block are told apart.
func TestMined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		evicted := r.core.add(r.tx(nil))
		time.Sleep(betweenLooks)
		block := r.chain.MineN(1)
		msg, err := r.chain.Block(&block.Hash)
		if err != nil {
			t.Fatal(err)
		}
		mined := r.core.add(msg.Transactions[0])
		time.Sleep(betweenLooks)
		r.core.remove(evicted.TxHash())
		r.core.remove(mined.TxHash())
		r.tip.Publish(messages.TipChanged{Hash: block.Hash, Height: block.Height})
		time.Sleep(time.Millisecond)
		r.same("mined")
		if r.left[evicted.TxHash()] != messages.PoolReplaced || r.left[mined.TxHash()] != messages.PoolBlock {
			t.Errorf("left: %v", r.left)
		}
	})
}

// By request the copy is the same at once, also while an older list is on the way.
func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		slow := make(chan struct{})
		r.core.set(func(n *core) { n.slow = slow })
		time.Sleep(betweenLooks) // a look is under way
		done := make(chan error)
		go func() { done <- r.follow() }()
		synctest.Wait()
		r.core.add(r.tx(nil))
		r.core.set(func(n *core) { n.slow = nil })
		close(slow)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		r.same("followed")
	})
}

// Listing takes no more than a twentieth of the time.
func TestBoundedWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		time.Sleep(time.Hour)
		if n := r.core.asked("getrawmempool"); n < 3000 || n > 3700 {
			t.Errorf("a small pool was listed %d times in an hour", n)
		}
		stop := make(chan struct{})
		r.core.set(func(n *core) { n.slow = make(chan struct{}) })
		go func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(time.Second):
					r.core.set(func(n *core) { close(n.slow); n.slow = make(chan struct{}) })
				}
			}
		}()
		before := r.core.asked("getrawmempool")
		time.Sleep(time.Hour)
		if n := r.core.asked("getrawmempool") - before; n > 3600/10 {
			t.Errorf("a large pool was listed %d times in an hour", n)
		}
		close(stop)
		synctest.Wait()
		r.core.set(func(n *core) { close(n.slow); n.slow = nil })
		time.Sleep(time.Minute)
	})
}

// Transactions that there is no room for are counted, and not asked for.
func TestRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *corepool.Config) { c.Limits = poolcopy.Limits{Bytes: 1 << 20, Txs: 3} })
		for range 10 {
			r.core.add(r.tx(nil))
		}
		time.Sleep(betweenLooks)
		if s := r.state(); s.Txs != 3 || s.Missing != 7 || r.core.asked("getrawtransaction") != 3 {
			t.Errorf("%+v, fetched %d", s, r.core.asked("getrawtransaction"))
		}
	})
}

// A transaction of a wallet goes to the other node, and is here as soon as it was taken.
func TestSubmit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		tx := r.tx(nil)
		if _, err := ask.Ask(t.Context(), r.ref, messages.SubmitTx{Tx: tx, MaxFee: 1000}); err != nil {
			t.Fatal(err)
		}
		r.same("sent")
		size := int64(tx.SerializeSize())
		if want := json.Number(fmt.Sprintf("0.%08d", 1000*1000/size)); r.core.sent[1] != want {
			t.Errorf("rate %v, want %v", r.core.sent[1], want)
		}
		large := r.tx(nil)
		large.TxOut[0].PkScript = make([]byte, 10_000)
		if _, err := ask.Ask(t.Context(), r.ref, messages.SubmitTx{Tx: large, MaxFee: 1}); err != nil {
			t.Fatal(err)
		}
		if want := json.Number("0.00000001"); r.core.sent[1] != want {
			t.Errorf("a limit below the lowest rate: %v, want %v, as 0 would be no limit", r.core.sent[1], want)
		}
		for _, test := range []struct {
			err  error
			want error
		}{
			{&corenode.Error{Code: -27, Message: "Transaction outputs already in utxo set"}, messages.ErrTxConfirmed},
			{&corenode.Error{Code: -25, Message: "Fee exceeds maximum configured by user"}, messages.ErrTxFee},
			{errAway, messages.ErrNodeAway},
			{&corenode.Error{Code: -28, Message: "Loading"}, messages.ErrNodeAway},
		} {
			r.core.refuse = test.err
			if _, err := ask.Ask(t.Context(), r.ref, messages.SubmitTx{Tx: r.tx(nil)}); !errors.Is(err, test.want) {
				t.Errorf("%v: %v", test.err, err)
			}
		}
		r.core.refuse = &corenode.Error{Code: -26, Message: "min relay fee not met, 0 < 11"}
		_, err := ask.Ask(t.Context(), r.ref, messages.SubmitTx{Tx: r.tx(nil)})
		e, ok := errors.AsType[*messages.TxReject](err)
		if !ok || e.Reason != "min relay fee not met" || e.Debug != "0 < 11" {
			t.Errorf("rejected: %v", err)
		}
		r.core.refuse = errors.New("not to be asked")
		if _, err := ask.Ask(t.Context(), r.ref, messages.SubmitTx{Tx: tx, Quietly: true}); err != nil {
			t.Errorf("one that is there: %v", err)
		}
	})
}

// Nothing is handed over where that is not allowed.
func TestMayNotSend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *corepool.Config) { c.MaySend = false })
		_, err := ask.Ask(t.Context(), r.ref, messages.SubmitTx{Tx: r.tx(nil)})
		if err == nil || !strings.Contains(err.Error(), "-attachforward") || r.core.sent != nil {
			t.Errorf("%v, sent %v", err, r.core.sent)
		}
	})
}

// Single transactions and outputs are read from the copy.
func TestRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		parent := r.core.add(r.tx(nil))
		child := r.core.add(r.tx(parent))
		if err := r.follow(); err != nil {
			t.Fatal(err)
		}
		for _, q := range []messages.GetPoolTx{{ID: child.TxHash()}, {ID: child.WitnessHash(), Witness: true}} {
			tx, err := ask.Ask(t.Context(), r.ref, q)
			if err != nil || tx.Ancestors != 2 || tx.AncestorFees != 4000 || tx.AncestorVSize != 200 ||
				tx.Fee != 1000 || tx.Time != 7 || tx.Height != 3 || len(tx.Depends) != 1 ||
				tx.Depends[0] != parent.TxHash() {
				t.Errorf("%+v: %v", tx, err)
			}
		}
		if _, err := ask.Ask(t.Context(), r.ref, messages.GetPoolTx{}); !errors.Is(err, messages.ErrNotInPool) {
			t.Errorf("another: %v", err)
		}
		outs := []wire.OutPoint{{Hash: parent.TxHash()}, {Hash: parent.TxHash(), Index: 1}, {Index: 0}, {Index: 1}}
		coins, err := ask.Ask(t.Context(), r.ref, messages.GetPoolCoins{Outs: outs, View: messages.PoolOutputs})
		if err != nil || len(coins) != 4 || coins[0] == nil || coins[0].Height != messages.PoolHeight ||
			coins[1] != nil || coins[2] == nil || coins[2].Height != 1 || coins[3] != nil {
			t.Errorf("%+v: %v", coins, err)
		}
		info, err := ask.Ask(t.Context(), r.ref, messages.GetPoolInfo{})
		if err != nil || !info.Loaded || info.Size != 2 || info.Fees != 2000 || info.VSize != 200 {
			t.Errorf("%+v: %v", info, err)
		}
		if ids, err := ask.Ask(t.Context(), r.ref, messages.GetPoolIDs{}); err != nil || len(ids.IDs) != 2 {
			t.Errorf("%+v: %v", ids, err)
		}
		if _, err := ask.Ask(t.Context(), r.ref, messages.SelectTxs{}); !errors.Is(err, messages.ErrFollows) {
			t.Errorf("select: %v", err)
		}
	})
}

// Fee rates are those that the other node estimates, and none where it knows none or may not be asked.
func TestEstimates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		if err := r.follow(); err != nil {
			t.Fatal(err)
		}
		fees := []messages.FeeQuery{{Target: 2}, {Target: 2, Conservative: true}, {Target: 1008}}
		q := messages.GetPoolClusters{Fees: fees}
		got, err := ask.Ask(t.Context(), r.ref, q)
		if err != nil || len(got.Estimates) != 3 || got.Estimates[0].Rate != 12_345 || got.Estimates[0].Blocks != 3 ||
			got.Estimates[1].Rate != 0 || got.Estimates[2].Rate != 0 {
			t.Errorf("%+v: %v", got.Estimates, err)
		}
		r.core.set(func(n *core) { n.large = 1 })
		if got, err := ask.Ask(t.Context(), r.ref, q); err != nil || got.Estimates != nil || got.MinFee != 2000 {
			t.Errorf("without estimates: %+v, %v", got, err)
		}
	})
}

// A transaction is connected to its parents and children in any number of steps.
func TestClusters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		parent := r.core.add(r.tx(nil))
		child, sibling := r.core.add(r.tx(parent)), r.core.add(r.tx(parent))
		r.core.add(r.tx(nil))
		if err := r.follow(); err != nil {
			t.Fatal(err)
		}
		q := messages.GetPoolClusters{IDs: []chainhash.Hash{child.TxHash(), {1}}}
		got, err := ask.Ask(t.Context(), r.ref, q)
		if err != nil || len(got.Txs) != 3 || got.MinFee != 2000 || got.MinRelayFee != 1000 || got.MaxAncestors != 25 {
			t.Fatalf("%+v: %v", got, err)
		}
		if first := got.Txs[0]; first.ID != child.TxHash() || first.Depends[0] != parent.TxHash() ||
			first.ModifiedFee != 2000 || first.VSize != 100 || len(first.Spends) != 1 ||
			got.Txs[2].ID != sibling.TxHash() {
			t.Errorf("%+v", got.Txs)
		}
		for last := parent; r.salt < 600; {
			last = r.core.add(r.tx(last))
		}
		if err := r.follow(); err != nil {
			t.Fatal(err)
		}
		if got, err := ask.Ask(t.Context(), r.ref, q); err != nil || !got.TooMany || got.Txs != nil {
			t.Errorf("%d: %v", len(got.Txs), err)
		}
	})
}
