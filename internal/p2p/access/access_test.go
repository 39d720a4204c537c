package access_test

import (
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/p2p/access"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/internal/p2p/peerhandle"
)

func subnet(t *testing.T, text string) netaddr.Subnet {
	t.Helper()
	s, err := netaddr.ParseSubnet(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestBans(t *testing.T) {
	var bans access.Bans
	at := func(sec int64) time.Time { return time.Unix(sec, 0) }
	net, _ := netaddr.Parse("10.0.0.7:1", 0)
	if !bans.Add(access.Ban{Subnet: subnet(t, "10.0.0.0/24"), Created: at(100), Until: at(200)}) {
		t.Error("not added")
	}
	if bans.Add(access.Ban{Subnet: subnet(t, "10.0.0.0/24"), Created: at(100), Until: at(150)}) {
		t.Error("a ban was shortened")
	}
	for sec, want := range map[int64]bool{150: true, 199: true, 200: false, 201: false} {
		if bans.Contains(net, at(sec)) != want || bans.Has(subnet(t, "10.0.0.0/24"), at(sec)) != want {
			t.Errorf("at %d: banned %t", sec, !want)
		}
	}
	if bans.Sweep(at(200)) || !bans.Sweep(at(201)) || len(bans.List()) != 0 {
		t.Error("swept too early or too late")
	}
	bans.Put(access.Ban{Subnet: subnet(t, "10.0.0.0/24"), Created: at(100), Until: at(300)})
	bans.Put(access.Ban{Subnet: subnet(t, "10.0.0.0/24"), Created: at(100), Until: at(150)})
	if bans.Has(subnet(t, "10.0.0.0/24"), at(200)) || !bans.Remove(subnet(t, "10.0.0.0/24")) {
		t.Error("what was put does not replace what was there")
	}
	if bans.Remove(subnet(t, "10.0.0.0/24")) {
		t.Error("removed what is gone")
	}
}

func TestWhitelist(t *testing.T) {
	implicit := peerhandle.Permissions{NoBan: true, Download: true, Mempool: true, Relay: true}
	for _, test := range []struct {
		text    string
		want    peerhandle.Permissions
		in, out bool
		err     string
	}{
		{"1.2.3.4", implicit, true, false, ""},
		{"1.2.3.4/8", implicit, true, false, ""},
		{"@1.2.3.4", peerhandle.Permissions{}, true, false, ""},
		{"noban@1.2.3.4", peerhandle.Permissions{NoBan: true, Download: true}, true, false, ""},
		{"noban,in,out@127.0.0.1", peerhandle.Permissions{NoBan: true, Download: true}, true, true, ""},
		{"forcerelay,,out@::1", peerhandle.Permissions{ForceRelay: true, Relay: true}, false, true, ""},
		{"out,in@1.2.3.4", peerhandle.Permissions{}, false, false, "Only direction was set, no permissions: 'out,in@1.2.3.4'"},
		{"oopsie@1.2.3.4", peerhandle.Permissions{}, false, false, "Invalid P2P permission: 'oopsie'"},
		{"noban@1.2.3.4:80", peerhandle.Permissions{}, false, false, "Invalid netmask specified in -whitelist: '1.2.3.4:80'"},
	} {
		got, err := access.ParseWhitelist(test.text)
		if err != nil || test.err != "" {
			if err == nil || err.Error() != test.err {
				t.Errorf("%s: %v", test.text, err)
			}
			continue
		}
		if p := got.Of(access.Defaults{Relay: true}); p != test.want || got.In != test.in || got.Out != test.out {
			t.Errorf("%s: got %+v", test.text, got)
		}
	}
	for text, want := range map[string]string{
		"noban@1.2.3.4:80":     "",
		"out,noban@1.2.3.4:80": `whitebind may only be used for incoming connections ("out" was passed)`,
		"noban@1.2.3.4":        "Need to specify a port with -whitebind: '1.2.3.4'",
		"noban@here:80":        "Cannot resolve -whitebind address: 'here:80'",
	} {
		_, _, err := access.ParseWhitebind(text)
		if (err != nil) != (want != "") || err != nil && err.Error() != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}
