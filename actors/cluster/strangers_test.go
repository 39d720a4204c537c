package cluster_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61375155/trawl/actors/cluster"
	"github.com/seed61375155/trawl/actors/cluster/wire"
)

// A session belongs to the coordinator that began it. Another node that knows its token gets no
// answer, and changes nothing.
func TestSessionOfAnotherCoordinator(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 200)
		workerNode := r.workerNode()
		var token [16]byte
		r.mu.Lock()
		r.change = func(m *wire.Message) { token = m.Session }
		r.mu.Unlock()
		coordinator := r.coordinator(false, 0, workerNode)
		stranger := &node{rig: r, address: "10.9.9.9:1", watchers: make(map[string]bool), frames: make(map[byte]int)}
		answers := 0
		stranger.frame = func(string, []byte, func()) { answers++ }
		r.mu.Lock()
		r.nodes[stranger.address] = stranger
		r.mu.Unlock()
		for _, kind := range []wire.Kind{wire.Hello, wire.Open, wire.Unit, wire.Close} {
			frame := (&wire.Message{
				Kind: kind, Session: token, Protocols: []uint32{wire.Protocol}, Network: "regtest",
			}).Append(nil)
			workerNode.arrive(func() { workerNode.frame(stranger.address, frame, func() {}) })
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if answers > 0 {
			t.Errorf("a stranger with the token of a session got %d answers", answers)
		}
		check(t, coordinator, r.all(3, 5), r.expected(3, 5))
	})
}

// A node that is listed twice is one worker node, and the node itself is none.
func TestListedTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 100)
		workerNode := r.workerNode()
		self := fmt.Sprintf("10.0.0.%d:1", r.spawn+1)
		nodes := []string{workerNode.address, self, workerNode.address}
		coordinator := r.node(setup{options: cluster.Options{Nodes: nodes}})
		coordinator.await(1)
		time.Sleep(time.Minute)
		if got := coordinator.state().Members; len(got) != 1 || got[0].Address != workerNode.address {
			t.Errorf("worker nodes: %+v", got)
		}
	})
}
