package scanner_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/actors/scanner"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/messages"
)

// state is a state of a scanner.
type state string

const (
	idle     state = "idle"
	reserved state = "reserved"
	waiting  state = "waiting for the index"
	scanning state = "scanning"
	holding  state = "holding"
)

type action func(ctx context.Context, ref *ask.Ref, slot messages.ScanSlot) (any, error)

func plain[Q messages.Request[R], R any](q Q) action {
	return func(ctx context.Context, ref *ask.Ref, _ messages.ScanSlot) (any, error) {
		return ask.Ask(ctx, ref, q)
	}
}

func release(ctx context.Context, ref *ask.Ref, slot messages.ScanSlot) (any, error) {
	return ask.Ask(ctx, ref, messages.ReleaseScan{Slot: slot.ID})
}

// reported reports how far the holder is, and returns the status after that.
func reported(q messages.ReportScan) action {
	return func(ctx context.Context, ref *ask.Ref, slot messages.ScanSlot) (any, error) {
		q.Slot = slot.ID
		if _, err := ask.Ask(ctx, ref, q); err != nil {
			return nil, err
		}
		return ask.Ask(ctx, ref, messages.GetScanStatus{})
	}
}

// half is a status with another progress.
func half(s messages.ScanStatus, progress int) messages.ScanStatus {
	s.Progress = progress
	return s
}

// The answers to each request in each state, and whether a scan has the slot afterwards.
func TestStates(t *testing.T) {
	r := newRig(t, 40)
	all := order{scripts: [][]byte{script(1)}, to: 40}
	deriving := messages.ScanStatus{Running: true, Stage: messages.ScanDeriving}
	matching := messages.ScanStatus{Running: true}
	matched := messages.ScanStatus{Running: true, Progress: 100, Height: 40}
	reading := messages.ScanStatus{Running: true, Stage: messages.ScanReading, Height: 40}
	const wrong = 1 << 60 // a slot that nobody has
	run := func(o order) action {
		return func(ctx context.Context, ref *ask.Ref, slot messages.ScanSlot) (any, error) {
			_, err := ask.Ask(ctx, ref, r.request(slot, o))
			return nil, err
		}
	}
	wrongRun := plain(messages.RunScan{Slot: wrong, Stop: r.chain.Active().Tip().Hash})
	unknownBlock := func(ctx context.Context, ref *ask.Ref, slot messages.ScanSlot) (any, error) {
		return ask.Ask(ctx, ref, messages.RunScan{Slot: slot.ID, Stop: chainhash.Hash{1}})
	}
	reserve := func(ctx context.Context, ref *ask.Ref, _ messages.ScanSlot) (any, error) {
		_, err := ask.Ask(ctx, ref, messages.ReserveScan{})
		return nil, err
	}
	for _, test := range []struct {
		state state
		name  string
		act   action
		want  any   // answer; nil: not compared
		err   error // nil: none
		busy  bool  // afterwards
	}{
		{idle, "ReserveScan", reserve, nil, nil, true},
		{idle, "ReleaseScan", release, messages.Done{}, nil, false},
		{idle, "RunScan", wrongRun, nil, messages.ErrNoSuchScan, false},
		{idle, "GetScanStatus", plain(messages.GetScanStatus{}), messages.ScanStatus{}, nil, false},
		{idle, "AbortScan", plain(messages.AbortScan{}), false, nil, false},

		{reserved, "ReserveScan", reserve, nil, messages.ErrScanBusy, true},
		{reserved, "ReleaseScan", release, messages.Done{}, nil, false},
		{reserved, "ReleaseScan of another slot", plain(messages.ReleaseScan{Slot: wrong}), messages.Done{}, nil, true},
		{reserved, "RunScan", run(all), nil, nil, false},
		{reserved, "RunScan with another slot", wrongRun, nil, messages.ErrNoSuchScan, true},
		{reserved, "RunScan to an unknown block", unknownBlock, nil, messages.ErrBlockNotFound, false},
		{reserved, "RunScan from below 0", run(order{from: -1, to: 40}), nil, messages.ErrBlockNotFound, false},
		{reserved, "RunScan from above its end", run(order{from: 21, to: 20}), nil, messages.ErrBlockNotFound, false},
		{reserved, "GetScanStatus", plain(messages.GetScanStatus{}), deriving, nil, true},
		{reserved, "ReportScan", reported(messages.ReportScan{Progress: 5}), half(deriving, 5), nil, true},
		{reserved, "AbortScan", plain(messages.AbortScan{}), true, nil, true},

		{waiting, "ReserveScan", reserve, nil, messages.ErrScanBusy, true},
		{waiting, "ReleaseScan", release, messages.Done{}, nil, true},
		{waiting, "RunScan", run(all), nil, messages.ErrNoSuchScan, true},
		{waiting, "GetScanStatus", plain(messages.GetScanStatus{}), messages.ScanStatus{Running: true}, nil, true},
		{waiting, "AbortScan", plain(messages.AbortScan{}), true, nil, false},

		{scanning, "ReserveScan", reserve, nil, messages.ErrScanBusy, true},
		{scanning, "ReleaseScan", release, messages.Done{}, nil, true},
		{scanning, "RunScan", run(all), nil, messages.ErrNoSuchScan, true},
		{scanning, "RunScan with another slot", wrongRun, nil, messages.ErrNoSuchScan, true},
		{scanning, "GetScanStatus", plain(messages.GetScanStatus{}), messages.ScanStatus{Running: true}, nil, true},
		{scanning, "ReportScan", reported(messages.ReportScan{Progress: 5}), matching, nil, true},
		{scanning, "AbortScan", plain(messages.AbortScan{}), true, nil, false},

		{holding, "ReserveScan", reserve, nil, messages.ErrScanBusy, true},
		{holding, "ReleaseScan", release, messages.Done{}, nil, false},
		{holding, "ReleaseScan of another slot", plain(messages.ReleaseScan{Slot: wrong}), messages.Done{}, nil, true},
		{holding, "RunScan", run(all), nil, nil, false},
		{holding, "RunScan with another slot", wrongRun, nil, messages.ErrNoSuchScan, true},
		{holding, "GetScanStatus", plain(messages.GetScanStatus{}), matched, nil, true},
		{holding, "ReportScan", reported(messages.ReportScan{Progress: 5}), half(reading, 5), nil, true},
		{holding, "AbortScan", plain(messages.AbortScan{}), true, nil, true},
	} {
		t.Run(string(test.state)+"/"+test.name, func(t *testing.T) {
			ref, slot := r.in(t, test.state, all)
			got, err := test.act(t.Context(), ref, slot)
			if !errors.Is(err, test.err) {
				t.Errorf("got error %v, want %v", err, test.err)
			}
			if test.want != nil && got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
			if status := do(t, ref, messages.GetScanStatus{}); status.Running != test.busy {
				t.Errorf("afterwards %+v", status)
			}
		})
	}
}

// How far a scan is, in percent of the blocks after its first.
func TestProgressAtTheBeginning(t *testing.T) {
	r := newRig(t, 40)
	for _, test := range []struct{ from, to, progress int32 }{{0, 40, 0}, {39, 40, 0}, {20, 20, 100}, {0, 0, 100}} {
		ref, _ := r.in(t, waiting, order{from: test.from, to: test.to})
		want := messages.ScanStatus{Running: true, Height: test.from, Progress: int(test.progress)}
		if got := do(t, ref, messages.GetScanStatus{}); got != want {
			t.Errorf("%d to %d: %+v, want %+v", test.from, test.to, got, want)
		}
	}
}

// The progress counts the heights below the frontier.
func TestProgress(t *testing.T) {
	r := newRig(t, 64)
	for _, test := range []struct{ from, to, height, progress int32 }{
		{0, 16, 15, 93}, {0, 20, 15, 75}, {0, 64, 15, 23}, {40, 64, 55, 62}, {48, 64, 63, 93},
	} {
		r := &rig{r.chain, r.current, r.store, r.indexer, actortest.New(t), r.dir}
		reached, held := make(chan struct{}), make(chan struct{})
		ref := r.spawn(options{workers: 1, hook: func(at heights) {
			if at.from == test.from+16 { // the second unit
				close(reached)
				<-held
			}
		}})
		answers := r.begin(t.Context(), t, ref, order{from: test.from, to: test.to})
		<-reached
		want := messages.ScanStatus{Running: true, Height: test.height, Progress: int(test.progress)}
		if got := do(t, ref, messages.GetScanStatus{}); got != want {
			t.Errorf("%d to %d: %+v, want %+v", test.from, test.to, got, want)
		}
		close(held)
		<-answers
	}
}

// in starts a scanner that stays in a state until it is asked something.
func (r *rig) in(t *testing.T, s state, o order) (*ask.Ref, messages.ScanSlot) {
	t.Helper()
	r = &rig{r.chain, r.current, r.store, r.indexer, actortest.New(t), r.dir}
	var opts options
	held, reached := make(chan struct{}), make(chan struct{}, 2)
	var probe *actortest.Probe
	if s == waiting {
		probe = r.sys.Probe("indexer")
		opts.indexer = probe.Ref
	}
	if s == scanning {
		opts.hook = func(heights) {
			select {
			case reached <- struct{}{}:
			default: // of the first the test hears
			}
			<-held
		}
	}
	ref := r.spawn(opts)
	t.Cleanup(func() { close(held) })
	if s == idle {
		return ref, messages.ScanSlot{}
	}
	slot := do(t, ref, messages.ReserveScan{})
	if s == reserved {
		return ref, slot
	}
	if s == holding {
		q := r.request(slot, o)
		q.Hold = true
		do(t, ref, q)
		return ref, slot
	}
	go func() { _, _ = ask.Ask(t.Context(), ref, r.request(slot, o)) }()
	if s == waiting {
		actortest.Expect[*ask.Call[messages.WaitIndexed, messages.Done]](probe)
	} else {
		<-reached
	}
	return ref, slot
}

// A slot that was used or released is not given again.
func TestSlotsAreNotGivenTwice(t *testing.T) {
	r := newRig(t, 3)
	ref := r.spawn(options{})
	seen := make(map[uint64]bool)
	for range 5 {
		slot := do(t, ref, messages.ReserveScan{})
		if seen[slot.ID] {
			t.Errorf("slot %d again", slot.ID)
		}
		seen[slot.ID] = true
		do(t, ref, messages.ReleaseScan{Slot: slot.ID})
	}
}

// A plain protoactor request with the message by value is answered with a value
// or an error.
func TestPlainRequests(t *testing.T) {
	r := newRig(t, 40)
	ref := r.spawn(options{})
	ask := func(q any) any {
		t.Helper()
		got, err := r.sys.Root.RequestFuture(ref.PID(), q, 5*time.Second).Result()
		if err != nil {
			t.Fatalf("%T: %v", q, err)
		}
		return got
	}
	slot, ok := ask(messages.ReserveScan{}).(messages.ScanSlot)
	if !ok {
		t.Fatal("no slot")
	}
	if err, ok := ask(messages.ReserveScan{}).(error); !ok || !errors.Is(err, messages.ErrScanBusy) {
		t.Errorf("a second slot: %v", err)
	}
	o := order{scripts: [][]byte{script(7)}, to: 40}
	result, ok := ask(r.request(slot, o)).(messages.ScanResult)
	if !ok {
		t.Fatalf("no result: %v", result)
	}
	r.check(t, answer{result, nil}, o)
	if got := ask(messages.GetScanStatus{}); got != (messages.ScanStatus{}) {
		t.Errorf("status %v", got)
	}
	if got := ask(messages.AbortScan{}); got != false {
		t.Errorf("abort %v", got)
	}
	if got := ask(messages.ReleaseScan{Slot: slot.ID}); got != (messages.Done{}) {
		t.Errorf("release %v", got)
	}
}

func TestChainNotOpen(t *testing.T) {
	sys := actortest.New(t)
	ref := sys.Spawn("scanner", scanner.New(scanner.Config{
		Chain: new(chainview.Current), Log: sys.Log,
	}))
	slot := do(t, ref, messages.ReserveScan{})
	if _, err := ask.Ask(t.Context(), ref, messages.RunScan{Slot: slot.ID}); !errors.Is(err, chainview.ErrNotReady) {
		t.Errorf("got %v, want %v", err, chainview.ErrNotReady)
	}
	do(t, ref, messages.ReserveScan{})
}

// listen returns a feed and a probe that receives what is published there.
func (r *rig) listen() (*ask.Feed[messages.ScanChanged], *actortest.Probe) {
	news := new(ask.Feed[messages.ScanChanged])
	listener, subscribed := r.sys.Probe("probe"), make(chan struct{})
	r.sys.Spawn("listener", func() actor.Actor {
		return actor.ReceiveFunc(func(c actor.Context) {
			switch m := c.Message().(type) {
			case *actor.Started:
				news.Subscribe(c)
				close(subscribed)
			case messages.ScanChanged:
				listener.Tell(m)
			}
		})
	})
	<-subscribed
	return news, listener
}

// A scanner that stops with its slot given out reports that nothing runs.
func TestEventsOfAStop(t *testing.T) {
	for _, reserved := range []bool{false, true} {
		r := newRig(t, 3)
		news, listener := r.listen()
		ref := r.spawn(options{news: news})
		if reserved {
			do(t, ref, messages.ReserveScan{})
			actortest.Expect[messages.ScanChanged](listener)
		}
		if err := ref.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if reserved {
			if got := actortest.Expect[messages.ScanChanged](listener); got != (messages.ScanChanged{}) {
				t.Errorf("received %+v", got)
			}
		}
		listener.Quiet()
	}
}

// Events report a scan from its reservation until its slot is given back.
func TestEventsOfAllStages(t *testing.T) {
	r := newRig(t, 40)
	news, listener := r.listen()
	ref := r.spawn(options{news: news})
	next := func(want messages.ScanChanged) {
		t.Helper()
		if got := actortest.Expect[messages.ScanChanged](listener); got != want {
			t.Errorf("received %+v, want %+v", got, want)
		}
	}
	running := func(stage messages.ScanStage, height int32, progress int) messages.ScanChanged {
		return messages.ScanChanged{ScanStatus: messages.ScanStatus{
			Running: true, Stage: stage, Height: height, Progress: progress,
		}}
	}
	for _, completed := range []bool{true, false} {
		slot := do(t, ref, messages.ReserveScan{})
		next(running(messages.ScanDeriving, 0, 0))
		q := r.request(slot, order{scripts: [][]byte{script(1)}, to: 40})
		q.Hold = true
		do(t, ref, q)
		next(running(messages.ScanMatching, 0, 0))
		next(running(messages.ScanMatching, 40, 100))
		do(t, ref, messages.ReleaseScan{Slot: slot.ID, Completed: completed})
		next(messages.ScanChanged{Completed: completed})
		do(t, ref, messages.ReleaseScan{Slot: slot.ID, Completed: completed})
	}
	slot := do(t, ref, messages.ReserveScan{})
	next(running(messages.ScanDeriving, 0, 0))
	do(t, ref, messages.AbortScan{})
	if got := do(t, ref, r.request(slot, order{from: 7, to: 40})); got.Completed || got.To != 7 {
		t.Errorf("an aborted scan answered %+v", got)
	}
	next(messages.ScanChanged{})
	listener.Quiet()
}
