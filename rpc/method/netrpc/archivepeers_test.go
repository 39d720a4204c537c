package netrpc_test

import (
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/method/netrpc"
)

func TestGetArchivePeers(t *testing.T) {
	const full, pruned, archive wire.ServiceFlag = wire.SFNodeNetwork | wire.SFNodeWitness, 1 << 12, 1 << 13
	peers := &table{
		peers: []messages.PeerInfo{
			{ID: 1, Addr: "1.1.1.1:1", Type: "inbound", Services: uint64(full | archive)},
			{ID: 2, Addr: "2.2.2.2:2", Type: "manual", Services: uint64(full)},
			{ID: 3, Addr: "3.3.3.3:3", Type: "manual", Services: uint64(full | pruned | archive), Archive: true},
			{ID: 4, Addr: "4.4.4.4:4", Type: "manual", Archive: true}, // has not said yet
		},
		added: []messages.AddedNode{
			{Node: "2.2.2.2:2", Addr: "2.2.2.2:2", ID: 2},
			{Node: "3.3.3.3", Archive: true, Addr: "3.3.3.3:3", ID: 3},
			{Node: "0.archive", Archive: true, Addr: "4.4.4.4:4", ID: 0},
			{Node: "5.5.5.5", Archive: true},
		},
	}
	d := netrpc.Deps{
		Peers: peers.start(t), Archive: archive,
		ServiceNames: map[wire.ServiceFlag]string{pruned: "WITNESS_PRUNED", archive: "ARCHIVE"},
	}
	const summary = `{"summary":{"connected_advertised_archive_peers":2,"connected_archive_connections":2,` +
		`"configured_archive_targets":3,"connected_configured_archive_targets":2}`
	const connected = `,"connected":[{"nodeid":1,"address":"1.1.1.1:1","connection_type":"inbound",` +
		`"archive_connection":false,"advertises_archive":true,"services":"0000000000002009",` +
		`"servicesnames":["NETWORK","WITNESS","ARCHIVE"]},{"nodeid":3,"address":"3.3.3.3:3",` +
		`"connection_type":"manual","archive_connection":true,"advertises_archive":true,` +
		`"services":"0000000000003009","servicesnames":["NETWORK","WITNESS","WITNESS_PRUNED","ARCHIVE"]},` +
		`{"nodeid":4,"address":"4.4.4.4:4","connection_type":"manual","archive_connection":true,` +
		`"advertises_archive":false,"services":"0000000000000000","servicesnames":[]}]`
	const configured = `,"configured":[{"target":"3.3.3.3","source":"connectarchive","connected":true,"nodeid":3},` +
		`{"target":"0.archive","source":"connectarchive","connected":true,"nodeid":0},` +
		`{"target":"5.5.5.5","source":"connectarchive","connected":false}]`
	for view, want := range map[string]string{
		"all": connected + configured, "summary": "", "connected": connected, "configured": configured,
	} {
		if got := call(t, d, "getarchivepeers", view); got != summary+want+"}" {
			t.Errorf("%s: got %s\nwant %s", view, got, summary+want+"}")
		}
	}
	if got := call(t, d, "getarchivepeers"); got != summary+connected+configured+"}" {
		t.Errorf("without a view: %s", got)
	}
	const refused = "Invalid view, expected one of: all, summary, connected, configured (-8)"
	for _, view := range []string{"", "ALL", "invalid"} {
		if _, err := try(t, d, "getarchivepeers", view); err == nil || err.Error() != refused {
			t.Errorf("%q: %v", view, err)
		}
	}
	nobody := (&table{}).start(t)
	const empty = `{"summary":{"connected_advertised_archive_peers":0,"connected_archive_connections":0,` +
		`"configured_archive_targets":0,"connected_configured_archive_targets":0},"connected":[],"configured":[]}`
	if got := call(t, netrpc.Deps{Peers: nobody, Archive: archive}, "getarchivepeers"); got != empty {
		t.Errorf("without peers: %s", got)
	}
	if _, err := try(t, netrpc.Deps{Archive: archive}, "getarchivepeers"); err == nil ||
		!strings.Contains(err.Error(), "Peer-to-peer functionality missing or disabled") {
		t.Errorf("without networking: %v", err)
	}
}

// Networks without the service do not have the method.
func TestArchivePeersElsewhere(t *testing.T) {
	for _, c := range netrpc.Commands(netrpc.Deps{}) {
		if c.Name == "getarchivepeers" {
			t.Error("it is there")
		}
	}
}
