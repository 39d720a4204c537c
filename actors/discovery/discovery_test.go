package discovery_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/actors/discovery"
	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/messages"
)

// All accounts are found, up to the tip, whether blocks are here or pruned.
func TestDiscovery(t *testing.T) {
	for name, prunes := range map[string]bool{"whole": false, "pruned": true} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.fill(t)
			r.index(t)
			var fetch chainview.Fetch
			if prunes {
				fetch = r.prune(t)
			}
			r.spawn(fetch)
			got := do(t, r.discovery, r.order())
			if list := texts(&got); !slices.Equal(list, filled) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(list, "\n"), strings.Join(filled, "\n"))
			}
			tip := r.chain.Active().Tip()
			if !got.Completed || got.To != tip.Height || got.Stop != tip.Hash || got.Entries != 8 || got.Passes != 3 {
				t.Errorf("%+v", got)
			}
			var blocks []chainhash.Hash
			for _, h := range []int32{1, 2, 4, 5} {
				blocks = append(blocks, r.chain.Active().At(h).Hash)
			}
			if !slices.Equal(got.Blocks, blocks) {
				t.Errorf("blocks %v, want %v", got.Blocks, blocks)
			}
			// 8 accounts of BIP44, 4 of BIP84, 6 of BIP86, 3 of BIP49, and what is behind the used indices.
			if want := (8+4+6+3)*2*10 + 18 + 1 + 4 + 6; got.Scripts.Len() != want {
				t.Errorf("%d scripts, want %d", got.Scripts.Len(), want)
			}
			if status := do(t, r.discovery, messages.GetDiscovery{}); status.Running {
				t.Errorf("%+v after the answer", status)
			}
			do(t, r.scanner, messages.ReserveScan{}) // the slot is free
		})
	}
}

// A source from which nothing can be looked for is refused, and the next discovery begins.
func TestRefusals(t *testing.T) {
	r := newRig(t)
	r.fill(t)
	r.start(t, nil)
	for _, source := range []string{"", "zoo", "wpkh(" + r.key + "/84h/1h/0h/0/*h)#aaaaaaaa"} {
		_, err := ask.Ask(t.Context(), r.discovery, messages.DiscoverAccounts{Source: []byte(source)})
		if _, ok := errors.AsType[*messages.DiscoverySourceError](err); !ok || strings.Contains(err.Error(), r.key) {
			t.Errorf("%q: %v", source, err)
		}
	}
	slot := do(t, r.scanner, messages.ReserveScan{})
	if _, err := ask.Ask(t.Context(), r.discovery, r.order()); !errors.Is(err, messages.ErrScanBusy) {
		t.Errorf("during another scan: %v", err)
	}
	do(t, r.scanner, messages.ReleaseScan{Slot: slot.ID})
	if do(t, r.discovery, messages.AbortDiscovery{}) {
		t.Error("nothing was aborted")
	}
	if got := do(t, r.discovery, r.order()); len(got.Accounts) != len(filled) {
		t.Errorf("%d accounts", len(got.Accounts))
	}
}

// A block that is pruned, and that nobody has, fails the discovery.
func TestPrunedBlockIsMissing(t *testing.T) {
	r := newRig(t)
	r.fill(t)
	r.index(t)
	r.prune(t)
	r.spawn(nil)
	if _, err := ask.Ask(t.Context(), r.discovery, r.order()); !errors.Is(err, chainview.ErrPruned) {
		t.Errorf("got %v", err)
	}
	do(t, r.scanner, messages.ReserveScan{}) // the slot is free
}

type (
	reserveCall = *ask.Call[messages.ReserveScan, messages.ScanSlot]
	reportCall  = *ask.Call[messages.ReportScan, messages.Done]
	runCall     = *ask.Call[messages.RunScan, messages.ScanResult]
	statusCall  = *ask.Call[messages.GetScanStatus, messages.ScanStatus]
	abortCall   = *ask.Call[messages.AbortScan, bool]
	releaseCall = *ask.Call[messages.ReleaseScan, messages.Done]
)

// A played discovery runs over a scanner that the test plays.
type played struct {
	*rig
	probe   *actortest.Probe
	aborted chan struct{} // of the slot
	answers chan answer
}

type answer struct {
	found messages.Discovery
	err   error
}

func newPlayed(t *testing.T) *played {
	t.Helper()
	r := newRig(t)
	r.chain.MineN(3)
	p := &played{rig: r, probe: r.sys.Probe("scanner"), aborted: make(chan struct{}), answers: make(chan answer, 1)}
	r.discover(p.probe.Ref, nil)
	return p
}

// play begins a discovery, up to the first pass.
func play(ctx context.Context, t *testing.T) (p *played, run runCall) {
	t.Helper()
	p = newPlayed(t) //nolint:contextcheck // actors outlive a caller
	go func() {
		found, err := ask.Ask(ctx, p.discovery, p.order())
		p.answers <- answer{found, err}
	}()
	actortest.Expect[reserveCall](p.probe).Answer(messages.ScanSlot{ID: 7, Aborted: p.aborted}, nil)
	for range 2 { // deriving and matching begin
		actortest.Expect[reportCall](p.probe).Answer(messages.Done{}, nil)
	}
	return p, actortest.Expect[runCall](p.probe)
}

// givesBack expects that the slot is given back.
func (p *played) givesBack() {
	if a := actortest.Expect[abortCall](p.probe); a.Req.Slot == 7 {
		a.Answer(true, nil)
	}
	if a := actortest.Expect[releaseCall](p.probe); a.Req.Slot == 7 {
		a.Answer(messages.Done{}, nil)
	}
}

// The status has what the scanner tells, and a second discovery is refused meanwhile.
func TestStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		actortest.InBubble(t)
		p, run := play(t.Context(), t)
		q := run.Req
		if q.Slot != 7 || q.Start != 0 || q.Stop != p.chain.Active().Tip().Hash || q.Set.Len() != 2*4*3*10 ||
			!q.CheckBlocks || !q.Uses || !q.Hold {
			t.Errorf("%+v", q)
		}
		_, err := ask.Ask(t.Context(), p.discovery, p.order())
		if !errors.Is(err, messages.ErrScanBusy) {
			t.Errorf("a second discovery: %v", err)
		}
		status := make(chan messages.DiscoveryStatus, 1)
		go func() { status <- do(t, p.discovery, messages.GetDiscovery{}) }()
		scan := messages.ScanStatus{Running: true, Height: 2, Progress: 66}
		actortest.Expect[statusCall](p.probe).Answer(scan, nil)
		want := messages.DiscoveryStatus{ScanStatus: scan, Pass: 1, Scripts: 240}
		if got := <-status; got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
		run.Answer(messages.ScanResult{To: 3, Completed: true}, nil)
		actortest.Expect[reportCall](p.probe).Answer(messages.Done{}, nil) // reading begins
		p.givesBack()
		if got := <-p.answers; got.err != nil || !got.found.Completed || len(got.found.Accounts) != 0 {
			t.Errorf("%+v", got)
		}
	})
}

// An abort ends a pass, by whichever actor, and so does a caller that leaves. Only an abort is answered.
func TestAbort(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, p *played, leave func()){
		"by its own actor": func(t *testing.T, p *played, _ func()) {
			t.Helper()
			if do(t, p.discovery, messages.AbortDiscovery{ID: 9}) || !do(t, p.discovery, messages.AbortDiscovery{}) {
				t.Error("which one is aborted?")
			}
		},
		"by the scanner":  func(_ *testing.T, p *played, _ func()) { close(p.aborted) },
		"of the caller":   func(_ *testing.T, _ *played, leave func()) { leave() },
		"by its stopping": func(t *testing.T, p *played, _ func()) { t.Helper(); go p.discovery.Stop(t.Context()) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				actortest.InBubble(t)
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				p, _ := play(ctx, t)
				end(t, p, leave)
				p.givesBack()
				got := <-p.answers
				synctest.Wait()
				switch name {
				case "of the caller":
					if !errors.Is(got.err, context.Canceled) {
						t.Errorf("%+v", got)
					}
				case "by its stopping":
					if !errors.Is(got.err, ask.ErrStopped) {
						t.Errorf("%+v", got)
					}
					return
				default:
					if got.err != nil || got.found.Completed || got.found.Scripts != nil || got.found.To != 3 {
						t.Errorf("%+v", got)
					}
				}
				if s := do(t, p.discovery, messages.GetDiscovery{}); s.Running {
					t.Errorf("%+v", s)
				}
			})
		})
	}
}

// A discovery whose scripts are derived ends at once.
func TestAbortWhileDeriving(t *testing.T) {
	r := newRig(t)
	r.fill(t)
	r.start(t, nil)
	q := r.order()
	q.Gap = 100_000
	answers := make(chan answer, 1)
	go func() {
		found, err := ask.Ask(t.Context(), r.discovery, q)
		answers <- answer{found, err}
	}()
	for !do(t, r.discovery, messages.AbortDiscovery{}) {
	}
	if got := <-answers; got.err != nil || got.found.Completed {
		t.Errorf("%+v", got)
	}
	do(t, r.scanner, messages.ReserveScan{}) // the slot is free
}

// An aborted discovery tells the accounts of the passes before, without amounts.
func TestAbortedLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		actortest.InBubble(t)
		p, run := play(t.Context(), t)
		query, _ := run.Req.Set.(*filters.Query)
		place, has := query.Place(p.script(t, "wpkh(%s)", "/84h/1h/0h/0/3"))
		if !has {
			t.Fatal("the script is not looked for")
		}
		run.Answer(messages.ScanResult{
			To: 3, Completed: true, Blocks: []chainhash.Hash{p.chain.Active().At(2).Hash},
			Uses: [][]uint32{{uint32(place)}},
		}, nil)
		for range 2 {
			actortest.Expect[reportCall](p.probe).Answer(messages.Done{}, nil)
		}
		actortest.Expect[runCall](p.probe)
		do(t, p.discovery, messages.AbortDiscovery{})
		p.givesBack()
		got := <-p.answers
		if got.err != nil || got.found.Completed || len(got.found.Accounts) != 1 {
			t.Fatalf("%+v", got)
		}
		a := got.found.Accounts[0]
		if a.Purpose != 84 || a.Number != 0 || a.FirstHeight != -1 || a.Received != 0 || !a.Chains[0].Exhausted {
			t.Errorf("%+v", a)
		}
	})
}

// The tests of every actor.
func TestSuite(t *testing.T) {
	actortest.Suite(t, func(t *testing.T) *actortest.Subject {
		t.Helper()
		actortest.InBubble(t)
		r := newRig(t)
		r.fill(t)
		r.start(t, nil)
		return &actortest.Subject{
			Ref: r.discovery, Served: discovery.Requests,
			Requests: []actortest.Request{actortest.Sample(r.order())},
			Check: func() {
				synctest.Wait()
				if got := do(t, r.discovery, r.order()); len(got.Accounts) != len(filled) || !got.Completed {
					t.Errorf("%d accounts", len(got.Accounts))
				}
			},
		}
	})
}
