package corepool_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/corepool"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/corenode"
	"github.com/seed61375155/trawl/messages"
)

// begins returns when looks began during a time, from its begin.
func (r *rig) begins(during time.Duration) (at []time.Duration) {
	r.t.Helper()
	return r.beginsAfter(func() {}, during)
}

// beginsAfter returns when looks began from an event on: the first may begin before the event's function returns.
func (r *rig) beginsAfter(event func(), during time.Duration) (at []time.Duration) {
	r.t.Helper()
	start := time.Now()
	r.core.set(func(n *core) {
		n.listed = func() { at = append(at, time.Since(start).Round(time.Millisecond)) }
	})
	event()
	time.Sleep(during)
	synctest.Wait()
	r.core.set(func(n *core) { n.listed = nil })
	return at
}

// apart returns the times between some.
func apart(at []time.Duration) (gaps []time.Duration) {
	for i := 1; i < len(at); i++ {
		gaps = append(gaps, at[i]-at[i-1])
	}
	return gaps
}

// Looks come each second, and more seldom where a list takes long: it has a twentieth of the time, and a minute is the
// longest that is waited.
func TestTimeBetweenLooks(t *testing.T) {
	for _, c := range []struct{ cost, gap time.Duration }{
		{0, time.Second},
		{50 * time.Millisecond, 1050 * time.Millisecond},
		{100 * time.Millisecond, 2100 * time.Millisecond},
		{2 * time.Second, 42 * time.Second},
		{3 * time.Second, 63 * time.Second},
		{10 * time.Second, 70 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			time.Sleep(betweenLooks)
			r.core.set(func(n *core) { n.takes = c.cost })
			time.Sleep(2 * time.Minute)
			gaps := apart(r.begins(5 * time.Minute))
			if len(gaps) < 2 {
				t.Fatalf("looks %v apart", gaps)
			}
			for _, gap := range gaps {
				if gap != c.gap {
					t.Fatalf("a list takes %v: looks %v apart, want %v", c.cost, gap, c.gap)
				}
			}
			r.core.set(func(n *core) { n.takes = 0 })
			time.Sleep(2 * time.Minute)
		})
	}
}

// Where the other node does not answer it is asked after ever longer times, up to ten seconds; where it may not be
// asked once a minute. As soon as it answers, all is as before.
func TestTimeBetweenRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		time.Sleep(betweenLooks)
		for range 2 {
			r.core.set(func(n *core) { n.failing = errAway })
			var seconds []int
			start := time.Now()
			last, asked := start, r.core.asked("getmempoolinfo")+r.core.asked("getbestblockhash")
			for time.Since(start) < 50*time.Second {
				time.Sleep(100 * time.Millisecond)
				if now := r.core.asked("getmempoolinfo") + r.core.asked("getbestblockhash"); now != asked {
					seconds = append(seconds, int(time.Since(last).Round(time.Second)/time.Second))
					last, asked = time.Now(), now
				}
			}
			if want := []int{1, 1, 2, 4, 8, 10, 10, 10}; len(seconds) < 7 || !equalFrom(seconds, want, 1) {
				t.Errorf("asked after %v seconds, want %v", seconds, want)
			}
			r.core.set(func(n *core) { n.failing = nil })
			time.Sleep(15 * time.Second)
			r.same("after")
			for _, gap := range apart(r.begins(10 * time.Second)) {
				if gap != time.Second {
					t.Errorf("looks %v apart", gap)
				}
			}
		}
		r.core.set(func(n *core) { n.failing = corenode.ErrForbidden })
		time.Sleep(5 * time.Second)
		asked := r.core.asked("getrawmempool")
		time.Sleep(3 * time.Minute)
		if n := r.core.asked("getrawmempool") - asked; n != 3 {
			t.Errorf("asked %d times in three minutes where it is forbidden", n)
		}
	})
}

// equalFrom compares lists from a place on, as far as the shorter one goes.
func equalFrom(a, b []int, from int) bool {
	for i := from; i < min(len(a), len(b)); i++ {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// By request looks come sooner than by themselves, with four times what the last list took between them; news of a tip
// that was seen at the last look ask for nothing.
func TestTimeOfLookByRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.core.set(func(n *core) { n.takes = time.Second })
		time.Sleep(2 * time.Minute)
		for r.core.busy() {
			time.Sleep(time.Millisecond)
		}
		for !r.core.busy() {
			time.Sleep(time.Millisecond)
		}
		for r.core.busy() { // ends with the end of a look
			time.Sleep(time.Millisecond)
		}
		start := time.Now()
		if err := r.follow(); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start).Round(10 * time.Millisecond); took != 5*time.Second {
			t.Errorf("followed after %v, want 4 s of rest and 1 s of the list", took)
		}
		tx := r.core.add(r.tx(nil))
		if err := r.follow(); err != nil {
			t.Fatal(err)
		}
		r.core.remove(tx.TxHash()) // what leaves is looked for in the chain
		if err := r.follow(); err != nil {
			t.Fatal(err)
		}
		seen := r.chain.Active().Tip().Hash
		for hash, want := range map[chainhash.Hash]int{seen: 0, {9}: 1} {
			if err := r.follow(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(5 * time.Second) // of the 20 s to the next look
			news := func() { r.tip.Publish(messages.TipChanged{Hash: hash}) }
			if got := len(r.beginsAfter(news, 2*time.Second)); got != want {
				t.Errorf("%d looks after news of %v, want %d", got, hash, want)
			}
		}
		r.core.set(func(n *core) { n.takes = 0 })
		time.Sleep(time.Minute)
	})
}

// A transaction that is too large to be reported by itself is left out, and all others come in ever smaller batches.
func TestTooLargeToBeReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.core.set(func(n *core) { n.large = 1 })
		for range 5 {
			r.core.add(r.tx(nil))
		}
		if err := r.follow(); err != nil {
			t.Errorf("followed: %v", err)
		}
		if s := r.state(); s.Txs != 0 || s.Reason != "" {
			t.Errorf("%+v", s)
		}
		r.core.set(func(n *core) { n.large = 2 })
		if err := r.follow(); err != nil {
			t.Error(err)
		}
		r.same("one by one")
	})
}

// Transactions that have left stay while the chain cannot follow, and callers get the error.
func TestChainCannotFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		tx := r.core.add(r.tx(nil))
		if err := r.follow(); err != nil {
			t.Fatal(err)
		}
		r.chainErr.Store(&errChain)
		r.core.remove(tx.TxHash())
		err := r.follow()
		if _, ok := errors.AsType[messages.Refusal](err); !ok || !errors.Is(err, errChain) {
			t.Errorf("followed: %v", err)
		}
		if s := r.state(); s.Txs != 1 || s.Reason != errChain.Error() {
			t.Errorf("%+v", s)
		}
		outs := []wire.OutPoint{{Hash: chainhash.Hash{1}}}
		if _, err := ask.Ask(t.Context(), r.ref, messages.GetPoolCoins{Outs: outs}); !errors.Is(err, errChain) {
			t.Errorf("coins: %v", err)
		}
		r.chainErr.Store(nil)
		time.Sleep(time.Minute)
		r.same("after")
	})
}

var errChain = errors.New("the chain is at its end")

// Outputs that something in the other pool spends are none that can be spent.
func TestUnspentCoins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		parent := r.core.add(r.tx(nil))
		child := r.core.add(r.tx(parent))
		if err := r.follow(); err != nil {
			t.Fatal(err)
		}
		outs := []wire.OutPoint{
			{Hash: parent.TxHash()}, {Hash: child.TxHash()}, parent.TxIn[0].PreviousOutPoint, {Hash: chainhash.Hash{1}},
		}
		for view, want := range map[messages.PoolView][4]bool{
			messages.PoolUnspent: {false, true, false, true}, messages.PoolOutputs: {true, true, true, true},
		} {
			coins, err := ask.Ask(t.Context(), r.ref, messages.GetPoolCoins{Outs: outs, View: view})
			if err != nil || len(coins) != 4 {
				t.Fatalf("%v: %v, %v", view, coins, err)
			}
			for i := range coins {
				if (coins[i] != nil) != want[i] {
					t.Errorf("view %v: output %d is there: %v, want %v", view, i, coins[i] != nil, want[i])
				}
			}
		}
		by, err := ask.Ask(t.Context(), r.ref, messages.GetPoolSpenders{Outs: outs})
		if err != nil || len(by) != 4 || by[0] == nil || *by[0] != child.TxHash() || by[1] != nil ||
			by[2] == nil || *by[2] != parent.TxHash() || by[3] != nil {
			t.Errorf("%v, %v", by, err)
		}
		r.core.set(func(n *core) { n.failing = errAway })
		_, err = ask.Ask(t.Context(), r.ref, messages.GetPoolCoins{Outs: outs, View: messages.PoolUnspent})
		if !errors.Is(err, messages.ErrNodeAway) {
			t.Errorf("away: %v", err)
		}
	})
}

// A transaction that is there is handed over once more unless the sender asks for quiet; what was not taken is not
// here.
func TestSubmitAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		tx := r.core.add(r.tx(nil))
		if err := r.follow(); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			tx      *wire.MsgTx
			quietly bool
			sent    bool
		}{{tx, true, false}, {tx, false, true}, {r.tx(nil), true, true}} {
			r.core.set(func(n *core) { n.sent, n.refuse = nil, &corenode.Error{Code: -26, Message: "no"} })
			_, err := ask.Ask(t.Context(), r.ref, messages.SubmitTx{Tx: c.tx, Quietly: c.quietly})
			if (err != nil) != c.sent || (r.core.sent != nil) != c.sent {
				t.Errorf("quietly %v: %v, sent %v", c.quietly, err, r.core.sent)
			}
		}
		if s := r.state(); s.Txs != 1 {
			t.Errorf("%+v", s)
		}
	})
}

// All requests that need a pool of one's own are refused.
func TestRefusesWhatFollowersCannot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		for name, err := range map[string]error{
			"test":       second(ask.Ask(t.Context(), r.ref, messages.TestTxs{})),
			"package":    second(ask.Ask(t.Context(), r.ref, messages.SubmitPackage{})),
			"relatives":  second(ask.Ask(t.Context(), r.ref, messages.GetPoolRelatives{})),
			"prioritise": second(ask.Ask(t.Context(), r.ref, messages.PrioritiseTx{})),
			"priorities": second(ask.Ask(t.Context(), r.ref, messages.GetPrioritised{})),
			"save":       second(ask.Ask(t.Context(), r.ref, messages.SavePool{})),
			"load":       second(ask.Ask(t.Context(), r.ref, messages.LoadPool{})),
			"select":     second(ask.Ask(t.Context(), r.ref, messages.SelectTxs{})),
		} {
			if !errors.Is(err, messages.ErrFollows) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if s := r.state(); s.Reason != "" || s.Updated.IsZero() {
			t.Errorf("%+v", s)
		}
	})
}

func second[T any](_ T, err error) error { return err }

// The copy says that it was not read yet until it was, and when it was read last.
func TestStateBeforeTheFirstLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := make(chan struct{})
		r := newRig(t, func(c *corepool.Config) { c.Node.(*core).slow = slow })
		info, err := ask.Ask(t.Context(), r.ref, messages.GetPoolInfo{})
		if s := r.state(); err != nil || info.Loaded || !s.Updated.IsZero() || s.Reason != "It was not read yet" {
			t.Errorf("%+v, %+v, %v", info, s, err)
		}
		r.core.set(func(n *core) { n.slow = nil })
		close(slow)
		synctest.Wait()
		info, err = ask.Ask(t.Context(), r.ref, messages.GetPoolInfo{})
		if s := r.state(); err != nil || !info.Loaded || s.Updated.IsZero() || s.Reason != "" ||
			info.MaxBytes != corepool.DefaultLimits.Bytes {
			t.Errorf("%+v, %+v, %v", info, s, err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.resets != 0 {
			t.Errorf("listeners are reset %d times", r.resets)
		}
	})
}
