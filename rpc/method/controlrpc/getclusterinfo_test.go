package controlrpc_test

import (
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/method/controlrpc"
)

func TestClusterInfo(t *testing.T) {
	alone := call(t, newTable(t, controlrpc.Node{}), "getclusterinfo", `[]`)
	if want := `{"code":-1,"message":"The node is in no cluster (-clusterlisten)"}`; alone != want {
		t.Errorf("got %s", alone)
	}
	probe := actortest.New(t).Probe("cluster")
	got := make(chan string)
	go func() { got <- call(t, newTable(t, controlrpc.Node{Cluster: probe.Ref}), "getclusterinfo", `[]`) }()
	actortest.Expect[*ask.Call[messages.GetCluster, messages.Cluster]](probe).Answer(messages.Cluster{
		Address: "a:1", Local: true, Lending: 1, Serves: true, Fronts: 2, Scans: 3, Units: 4, Scripts: 5, Refused: 6,
		Members: []messages.ClusterMember{{
			Address: "b:1", State: "late", Build: "v", Workers: 7, Height: 8, Units: 9, Redone: 10, Twice: 11,
			Audited: 12, Busy: 1500 * time.Millisecond, Refusals: 13, Refusal: "why",
		}},
	}, nil)
	const want = `{"address":"a:1","local":true,"lending":1,"members":[{"address":"b:1","state":"late",` +
		`"version":"v","workers":7,"height":8,"units":9,"redone":10,"twice":11,"audited":12,"seconds":1.5,` +
		`"refusals":13,"refusal":"why"}],"serves":true,"fronts":2,"scans":3,"units":4,"script_bytes":5,"refused":6}`
	if text := <-got; text != want {
		t.Errorf("got %s", text)
	}
}
