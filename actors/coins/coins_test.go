package coins_test

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/coinstats"
	"github.com/seed61375155/trawl/messages"
)

var errBroken = errors.New("broken")

// A scan finds what a look at every output finds, with any number of workers.
func TestScan(t *testing.T) {
	for _, workers := range []int{1, 2, 7} {
		for _, size := range []int{0, 1, 800} {
			r := newRig(t, newSet(size), workers)
			for n := range scripts + 1 {
				got := <-r.begin(t, script(n), script(n), script(1000))
				want := messages.CoinScanResult{
					Completed: true, Tip: r.set.tip, Visited: int64(len(r.set.coins)), Coins: r.set.found(script(n)),
				}
				if got.err != nil || !reflect.DeepEqual(got.result, want) {
					t.Fatalf("%d workers, %d outputs, script %d: got %+v, want %+v", workers, size, n, got, want)
				}
			}
			if got := int(r.set.released.Load()); got != scripts+1 {
				t.Errorf("%d sets were released, want %d", got, scripts+1)
			}
		}
	}
}

// Sums are those of one pass over everything.
func TestSums(t *testing.T) {
	for _, workers := range []int{1, 5} {
		r := newRig(t, newSet(2000), workers)
		for hash, mode := range map[messages.CoinHash]coinstats.Mode{
			messages.NoHash: coinstats.Count, messages.HashSerialized: coinstats.Serial, messages.MuHash: coinstats.Set,
		} {
			sum := coinstats.New(mode)
			for _, c := range r.set.coins {
				sum.Add(&coinstats.Coin{
					Out: c.Out, Height: c.Height, Coinbase: c.Coinbase, Amount: c.Amount, Script: c.Packed[1:],
				})
			}
			want := messages.CoinSums{Hash: sum.Hash(), Tip: r.set.tip, DiskSize: 77}
			want.Txs, want.Outputs, want.BogoSize, want.Amount = sum.Txs, sum.Outputs, sum.BogoSize, sum.Amount
			if got := do(t, r.ref, messages.SumCoins{Hash: hash}); got != want {
				t.Errorf("hash %d: got %+v, want %+v", hash, got, want)
			}
		}
	}
}

// One scan at a time; status and abort are answered while it runs, and what was
// found until then is the answer.
func TestAbort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		actortest.InBubble(t)
		set := newSet(2000)
		held := make(chan struct{})
		var beyond atomic.Int32 // shards that were begun
		set.hook = func(_ context.Context, first byte) error {
			if first >= 64 {
				beyond.Add(1)
				<-held
			}
			return nil
		}
		r := newRig(t, set, 1)
		if do(t, r.ref, messages.AbortCoinScan{}) || do(t, r.ref, messages.GetCoinScanStatus{}).Running {
			t.Error("a scan before the first")
		}
		answers := r.begin(t, script(3))
		synctest.Wait()
		if got := do(t, r.ref, messages.GetCoinScanStatus{}); got != (messages.CoinScanStatus{
			Running: true, Progress: 25,
		}) {
			t.Errorf("status %+v", got)
		}
		if _, err := ask.Ask(
			t.Context(), r.ref, messages.ReserveCoinScan{},
		); !errors.Is(err, messages.ErrCoinScanBusy) {
			t.Errorf("a second scan: %v", err)
		}
		if !do(t, r.ref, messages.AbortCoinScan{}) {
			t.Error("nothing to abort")
		}
		var want []messages.FoundCoin
		for _, c := range set.found(script(3)) {
			if c.Out.Hash[0] < 64 {
				want = append(want, c)
			}
		}
		got := <-answers
		if got.err != nil || got.result.Completed || !reflect.DeepEqual(got.result.Coins, want) ||
			got.result.Tip != set.tip {
			t.Errorf("got %+v, want %+v", got, want)
		}
		// The next scan need not wait for the workers of this one.
		next := r.begin(t, script(4))
		close(held)
		if got := <-next; got.err != nil || !got.result.Completed {
			t.Errorf("the next: %+v", got)
		}
		synctest.Wait()
		if got := set.released.Load(); got != 2 {
			t.Errorf("%d sets were released", got)
		}
		if got := beyond.Load() - (256 - 64); got != 1 {
			t.Errorf("%d shards were begun for the aborted scan, beside those that it had read", got)
		}
	})
}

// A slot that is aborted while its scripts are prepared gives an empty result.
func TestAbortReservation(t *testing.T) {
	r := newRig(t, newSet(10), 1)
	slot := do(t, r.ref, messages.ReserveCoinScan{})
	if !do(t, r.ref, messages.GetCoinScanStatus{}).Running || !do(t, r.ref, messages.AbortCoinScan{}) {
		t.Error("the reservation is not a scan")
	}
	<-slot.Aborted
	if _, err := ask.Ask(t.Context(), r.ref, messages.ReserveCoinScan{}); !errors.Is(err, messages.ErrCoinScanBusy) {
		t.Errorf("a second scan before the first has ended: %v", err)
	}
	if got := do(t, r.ref, messages.RunCoinScan{Slot: slot.ID}); got.Completed || got.Visited != 0 {
		t.Errorf("got %+v", got)
	}
	if _, err := ask.Ask(
		t.Context(), r.ref, messages.RunCoinScan{Slot: slot.ID},
	); !errors.Is(err, messages.ErrNoSuchScan) {
		t.Error(err)
	}
	other := do(t, r.ref, messages.ReserveCoinScan{})
	do(t, r.ref, messages.ReleaseCoinScan{Slot: slot.ID})
	if _, err := ask.Ask(t.Context(), r.ref, messages.ReserveCoinScan{}); !errors.Is(err, messages.ErrCoinScanBusy) {
		t.Errorf("an old slot was given back: %v", err)
	}
	do(t, r.ref, messages.ReleaseCoinScan{Slot: other.ID})
	do(t, r.ref, messages.ReserveCoinScan{})
}

// A scan is seen, and no other may begin, from its reservation until its slot is given back.
func TestStages(t *testing.T) {
	r := newRig(t, newSet(10), 1)
	want := func(want messages.CoinScanStatus) {
		t.Helper()
		if got := do(t, r.ref, messages.GetCoinScanStatus{}); got != want {
			t.Errorf("status %+v, want %+v", got, want)
		}
		_, err := ask.Ask(t.Context(), r.ref, messages.ReserveCoinScan{})
		if errors.Is(err, messages.ErrCoinScanBusy) != want.Running {
			t.Errorf("in %+v a second scan: %v", want, err)
		}
	}
	slot := do(t, r.ref, messages.ReserveCoinScan{})
	want(messages.CoinScanStatus{Running: true, Stage: messages.ScanDeriving})
	do(t, r.ref, messages.ReportCoinScan{Slot: slot.ID, Progress: 7})
	want(messages.CoinScanStatus{Running: true, Stage: messages.ScanDeriving, Progress: 7})
	run := messages.RunCoinScan{Slot: slot.ID, Scripts: [][]byte{script(1)}, Hold: true}
	if got := do(t, r.ref, run); !got.Completed {
		t.Errorf("got %+v", got)
	}
	want(messages.CoinScanStatus{Running: true, Progress: 100})
	do(t, r.ref, messages.ReportCoinScan{Slot: slot.ID, Progress: 8})
	want(messages.CoinScanStatus{Running: true, Stage: messages.ScanReading, Progress: 8})
	do(t, r.ref, messages.AbortCoinScan{})
	<-slot.Aborted
	want(messages.CoinScanStatus{Running: true, Stage: messages.ScanReading, Progress: 8})
	do(t, r.ref, messages.ReleaseCoinScan{Slot: slot.ID})
	want(messages.CoinScanStatus{})
}

// A set that cannot be read fails scan and sum, and neither is called complete.
func TestErrors(t *testing.T) {
	r := newRig(t, newSet(500), 3)
	r.set.hook = func(_ context.Context, first byte) error {
		if first == 200 {
			return errBroken
		}
		return nil
	}
	for range 2 {
		if got := <-r.begin(t, script(1)); !errors.Is(got.err, errBroken) || got.result.Completed {
			t.Errorf("scan: %+v", got)
		}
		if _, err := ask.Ask(t.Context(), r.ref, messages.SumCoins{}); !errors.Is(err, errBroken) {
			t.Errorf("sum: %v", err)
		}
		r.fail = errBroken // and then the chain has no set to give
	}
}

// A chain that fails before it has given the set out is asked again.
func TestChainFails(t *testing.T) {
	r := newRig(t, newSet(500), 3)
	r.lost = 2
	if got := <-r.begin(t, script(1)); got.err != nil || !got.result.Completed {
		t.Errorf("got %+v", got)
	}
	if r.lost != 0 {
		t.Error("the chain did not fail")
	}
	r.lost = 1000 // a request that it fails over is not asked for ever
	if got := <-r.begin(t, script(1)); !errors.Is(got.err, ask.ErrRestarted) {
		t.Errorf("got %+v", got)
	}
}

// A panic in a worker is answered at once, and the next scan runs.
func TestPanic(t *testing.T) {
	r := newRig(t, newSet(500), 3)
	var once sync.Once
	r.set.hook = func(context.Context, byte) error {
		once.Do(func() { panic("boom") })
		return nil
	}
	if got := <-r.begin(t, script(1)); !errors.Is(got.err, ask.ErrRestarted) {
		t.Errorf("got %+v", got)
	}
	if got := <-r.begin(t, script(1)); got.err != nil || !got.result.Completed {
		t.Errorf("the next: %+v", got)
	}
}

// Stopping answers everyone, gives the set back and leaves no worker. A sum ends
// with its caller.
func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		actortest.InBubble(t)
		set := newSet(100)
		held := make(chan struct{})
		set.hook = func(context.Context, byte) error { <-held; return nil }
		r := newRig(t, set, 2)
		ctx, cancel := context.WithCancel(t.Context())
		left := make(chan error, 1)
		go func() {
			_, err := ask.Ask(ctx, r.ref, messages.SumCoins{})
			left <- err
		}()
		answers := r.begin(t, script(1))
		synctest.Wait()
		cancel()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		stopped := make(chan error, 1)
		go func() { stopped <- r.ref.Stop(t.Context()) }()
		synctest.Wait()
		close(held)
		if err := <-stopped; err != nil {
			t.Error(err)
		}
		if got := <-answers; !errors.Is(got.err, ask.ErrStopped) {
			t.Errorf("the client got %+v", got)
		}
		if got := set.released.Load(); got != 2 {
			t.Errorf("%d sets were released", got)
		}
	})
}
