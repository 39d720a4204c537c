package scanner_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/messages"
)

// clumsyReader panics the first time that a block is looked up.
type clumsyReader struct {
	chainview.Reader
	first *sync.Once
}

func (r clumsyReader) Lookup(hash *chainhash.Hash) *chainview.Block {
	r.first.Do(func() { panic("boom") })
	return r.Reader.Lookup(hash)
}

// A panic, in the actor or in a worker, is answered at once to the client, and
// the next scan runs.
func TestPanic(t *testing.T) {
	r := newRig(t, 80)
	var first sync.Once
	for _, test := range []struct {
		name string
		options
	}{
		{"in Receive", options{reader: clumsyReader{r.chain, new(sync.Once)}}},
		{"in a worker", options{workers: 4, hook: func(heights) { first.Do(func() { panic("boom") }) }}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := &rig{r.chain, r.current, r.store, r.indexer, actortest.New(t), r.dir}
			ref := r.spawn(test.options)
			o := order{scripts: [][]byte{script(5)}, to: 80}
			if _, err := r.run(t.Context(), ref, o); !errors.Is(err, ask.ErrRestarted) {
				t.Errorf("got %v, want %v", err, ask.ErrRestarted)
			}
			got, err := r.run(t.Context(), ref, o)
			r.check(t, answer{got, err}, o)
		})
	}
}

// The slot of a scanner that failed is worth nothing afterwards.
func TestSlotDoesNotOutliveARestart(t *testing.T) {
	r := newRig(t, 5)
	ref := r.spawn(options{reader: clumsyReader{r.chain, new(sync.Once)}})
	old := do(t, ref, messages.ReserveScan{})
	q := r.request(old, order{to: 5})
	if _, err := ask.Ask(t.Context(), ref, q); !errors.Is(err, ask.ErrRestarted) {
		t.Error(err)
	}
	if slot := do(t, ref, messages.ReserveScan{}); slot.ID == old.ID {
		t.Error("the same slot again")
	}
	if _, err := ask.Ask(t.Context(), ref, q); !errors.Is(err, messages.ErrNoSuchScan) {
		t.Errorf("the old slot: %v", err)
	}
}

// Stopping waits for the workers, which begin nothing more, and answers the client, whatever the scan is at.
func TestStop(t *testing.T) {
	for _, state := range []string{"waiting for the index", "scanning", "aborted"} {
		t.Run(state, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				actortest.InBubble(t)
				r := newRig(t, 60)
				held := make(chan struct{})
				var begun atomic.Int32
				o := options{hook: func(heights) { begun.Add(1); <-held }}
				if state == "waiting for the index" {
					o.indexer = r.sys.Probe("probe").Ref
				}
				ref := r.spawn(o)
				answers := r.begin(t.Context(), t, ref, order{to: 60})
				synctest.Wait()
				if state == "aborted" {
					do(t, ref, messages.AbortScan{})
					<-answers
				}
				stopped := make(chan error, 1)
				go func() { stopped <- ref.Stop(t.Context()) }()
				synctest.Wait()
				select {
				case <-stopped:
					if state != "waiting for the index" {
						t.Error("stopped before its workers")
					}
					stopped <- nil
				default:
				}
				before := begun.Load()
				close(held)
				if err := <-stopped; err != nil {
					t.Error(err)
				}
				if more := begun.Load() - before; more > 0 {
					t.Errorf("%d pieces of work were begun after that", more)
				}
				if state == "aborted" {
					return
				}
				if got := <-answers; !errors.Is(got.err, ask.ErrStopped) {
					t.Errorf("the client got %+v", got)
				}
			})
		})
	}
}
