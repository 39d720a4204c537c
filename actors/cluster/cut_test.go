package cluster_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/actors/cluster"
)

// While the scripts of a pass are cut for worker nodes, the coordinator leaves its heights to these; where they
// cannot be cut, it goes on at once.
func TestWhileScriptsAreCut(t *testing.T) {
	for _, failure := range []error{nil, errors.New("no such header")} {
		synctest.Test(t, func(t *testing.T) {
			const height, wait = 2000, time.Second
			r := newRig(t, height)
			workerNode := r.workerNode()
			coordinator := r.node(setup{
				options: cluster.Options{Nodes: []string{workerNode.address}},
				header: func(*chainhash.Hash) (chainhash.Hash, error) {
					time.Sleep(wait)
					return chainhash.Hash{}, failure
				},
			})
			coordinator.await(1)
			var cut int64
			time.AfterFunc(cluster.DefaultAfter+wait-time.Millisecond, func() { cut = coordinator.read.Load() })
			began := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			got, err := coordinator.scan(ctx, r.all(3, 5))
			if err != nil || !slices.Equal(got, r.expected(3, 5)) {
				t.Errorf("%v: found %v, %v", failure, got, err)
			}
			if cut > 2*int64(cluster.DefaultAfter/time.Millisecond) {
				t.Errorf("%v: the coordinator has read %d filters until the scripts were cut", failure, cut)
			}
			if took := time.Since(began); took > wait+height*time.Millisecond+200*time.Millisecond {
				t.Errorf("%v: it took %v", failure, took)
			}
			if n := coordinator.read.Load(); failure != nil && n != height+1 {
				t.Errorf("the coordinator has read %d filters", n)
			}
		})
	}
}

// A coordinator that is stopped does not wait for checks of blocks for worker nodes: it ends them.
func TestStopWhileBlocksAreLookedInto(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 2000)
		workerNode := r.node(setup{options: cluster.Options{Serve: true}, reader: prunedReader{r.chain}})
		coordinator := r.coordinator(false, 0, workerNode)
		var looking, stopped atomic.Int64
		cfg := r.all(3)
		cfg.Exact, cfg.First = true, 1
		cfg.Keep = func(ctx context.Context, _ *chainhash.Hash) (bool, error) {
			looking.Add(1)
			defer stopped.Add(1)
			select {
			case <-ctx.Done():
			case <-time.After(time.Minute):
			}
			return false, ctx.Err()
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			if _, err := coordinator.scan(ctx, cfg); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}()
		time.Sleep(time.Second)
		n, began := looking.Load(), time.Now()
		err := coordinator.ref.Stop(t.Context())
		if err != nil || time.Since(began) > time.Second || n < 2 || stopped.Load() < n-1 {
			t.Errorf("%v after %v: %d of %d looks have ended", err, time.Since(began), stopped.Load(), n)
		}
		cancel()
		<-ended
	})
}

// A worker node that ends is down as soon as its connection is, and its leased heights are matched elsewhere at once.
func TestWorkerNodeEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 1000)
		workerNode := r.workerNode()
		coordinator := r.coordinator(false, 0, workerNode)
		began := time.Now()
		time.AfterFunc(300*time.Millisecond, workerNode.kill)
		check(t, coordinator, r.all(3, 5), r.expected(3, 5))
		if took := time.Since(began); took > 1200*time.Millisecond {
			t.Errorf("it took %v", took)
		}
		if m := coordinator.state().Members[0]; m.State != "down" {
			t.Errorf("%+v", m)
		}
	})
}
