package netrpc_test

import (
	"strings"
	"testing"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/method/netrpc"
)

// Core 31 tells how much there is to announce to a peer, and has lost the height that the peer began with.
func TestPeersAreSpoken(t *testing.T) {
	relay := func(c actor.Context) {
		if m, ok := c.Message().(*ask.Call[nodemsg.GetPeerRelay, map[int64]nodemsg.PeerRelay]); ok {
			m.Answer(map[int64]nodemsg.PeerRelay{7: {LastInv: 5, ToAnnounce: 3}}, nil)
		}
	}
	peers := &table{peers: []messages.PeerInfo{{ID: 7, StartHeight: 12}}}
	d := netrpc.Deps{
		Peers: peers.start(t),
		Relay: actortest.New(t).Spawn("relay", func() actor.Actor { return actor.ReceiveFunc(relay) }),
	}
	for reference, want := range map[int][2]string{
		dialect.Core30: {`"relaytxes":false,"lastsend":`, `"bip152_hb_from":false,"startingheight":12,"presynced_headers":`},
		dialect.Core32: {
			`"relaytxes":false,"last_inv_sequence":5,"inv_to_send":3,"lastsend":`, `"bip152_hb_from":false,"presynced_headers":`,
		},
	} {
		got, err := tryAs(t, reference, d, "getpeerinfo")
		if err != nil || !strings.Contains(got, want[0]) || !strings.Contains(got, want[1]) {
			t.Errorf("%d: %s, %v", reference, got, err)
		}
	}
}

// No map is built in. Beside a Core that has one the call writes a file there, which callers may not that only read.
func TestExportASMap(t *testing.T) {
	_, err := tryAs(t, dialect.Core32, netrpc.Deps{}, "exportasmap", "map")
	if err == nil || !strings.Contains(err.Error(), "No embedded ASMap data available") {
		t.Error(err)
	}
	for _, c := range netrpc.Commands(netrpc.Deps{}) {
		if c.Name == "exportasmap" && c.LooksOnly() {
			t.Error("it is believed to look only")
		}
	}
}
