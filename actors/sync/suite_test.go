package sync_test

import (
	"testing"
	"time"

	"github.com/seed61375155/trawl/actors/sync"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/internal/p2p"
)

// The tests of every actor.
func TestSuite(t *testing.T) {
	actortest.Suite(t, func(t *testing.T) *actortest.Subject {
		t.Helper()
		net, err := dialect.Bitcoin("regtest")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Until(net.Params.GenesisBlock.Header.Timestamp.Add(48 * time.Hour)))
		r := newRig(t, net, nil)
		remote := r.remote()
		grow(remote, 5)
		return &actortest.Subject{
			Ref: r.sync, Served: sync.Requests,
			Requests: []actortest.Request{
				actortest.Sample(nodemsg.FetchBlock{Hash: remote.Active().At(2).Hash}),
				actortest.Sample(nodemsg.FetchBlockFrom{Peer: 1, Hash: remote.Active().At(3).Hash}),
			},
			News: func() {
				p := r.join(p2p.OutboundFullRelay)
				p.sayHeaders(remote, 1, 5)
				p.serve(remote)
				p.leave("")
			},
			Check: func() {
				grow(remote, 5)
				p := r.join(p2p.OutboundFullRelay)
				p.serve(remote)
				p.sayHeaders(remote, 1, remote.Active().Height())
				p.serve(remote)
				if got, want := r.height(), remote.Active().Height(); got != want || p.gone != "" {
					t.Errorf("at height %d, want %d; the peer left for %q", got, want, p.gone)
				}
			},
		}
	})
}
