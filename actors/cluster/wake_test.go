package cluster_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61375155/trawl/actors/cluster"
	"github.com/seed61375155/trawl/actors/cluster/wire"
)

// A pass is offered to worker nodes as soon as it has run here for the time that it is to, whenever it begins.
func TestOfferedInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 1000)
		workerNode := r.workerNode()
		coordinator := r.coordinator(true, 0, workerNode)
		if height := coordinator.state().Members[0].Height; height != 1000 {
			t.Errorf("the worker node is said to be at height %d", height)
		}
		var began time.Time
		var offered []time.Duration
		r.mu.Lock()
		r.change = func(m *wire.Message) {
			if m.Kind == wire.Open {
				offered = append(offered, time.Since(began))
			}
		}
		r.mu.Unlock()
		for range 5 {
			r.mu.Lock()
			began, offered = time.Now(), nil
			r.mu.Unlock()
			check(t, coordinator, r.all(3, 5), r.expected(3, 5))
			r.mu.Lock()
			const most = cluster.DefaultAfter + 5*time.Millisecond
			if len(offered) == 0 || offered[0] < cluster.DefaultAfter || offered[0] > most {
				t.Errorf("offered after %v", offered)
			}
			r.mu.Unlock()
			time.Sleep(270 * time.Millisecond)
		}
	})
}
