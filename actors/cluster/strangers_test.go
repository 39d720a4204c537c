package cluster_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61375155/trawl/actors/cluster"
	"github.com/seed61375155/trawl/actors/cluster/wire"
)

// A session belongs to the front that began it. Another node that knows its token gets no
// answer, and changes nothing.
func TestSessionOfAnotherFront(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 200)
		member := r.member()
		var token [16]byte
		r.mu.Lock()
		r.change = func(m *wire.Message) { token = m.Session }
		r.mu.Unlock()
		front := r.front(false, 0, member)
		stranger := &node{rig: r, address: "10.9.9.9:1", watchers: make(map[string]bool), frames: make(map[byte]int)}
		heard := 0
		stranger.frame = func(string, []byte, func()) { heard++ }
		r.mu.Lock()
		r.nodes[stranger.address] = stranger
		r.mu.Unlock()
		for _, kind := range []wire.Kind{wire.Hello, wire.Open, wire.Unit, wire.Close} {
			frame := (&wire.Message{
				Kind: kind, Session: token, Protocols: []uint32{wire.Protocol}, Network: "regtest",
			}).Append(nil)
			member.arrive(func() { member.frame(stranger.address, frame, func() {}) })
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if heard > 0 {
			t.Errorf("a stranger with the token of a session got %d answers", heard)
		}
		check(t, front, r.all(3, 5), r.expected(3, 5))
	})
}

// A node that is listed twice is one member, and the node itself is none.
func TestListedTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 100)
		member := r.member()
		self := fmt.Sprintf("10.0.0.%d:1", r.spawn+1)
		front := r.node(setup{options: cluster.Options{Nodes: []string{member.address, self, member.address}}})
		front.await(1)
		time.Sleep(time.Minute)
		if members := front.state().Members; len(members) != 1 || members[0].Address != member.address {
			t.Errorf("members: %+v", members)
		}
	})
}
