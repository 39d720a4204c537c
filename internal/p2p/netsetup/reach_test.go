package netsetup_test

import (
	"bytes"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/internal/p2p/netsetup"
)

// Each network is reached as the operator says, or refused in Core's words.
func TestReach(t *testing.T) {
	long := "unix:" + strings.Repeat("x", 1000)
	const tor = "Outbound connections restricted to Tor (-onlynet=onion) but the proxy for reaching the Tor network is "
	onlyTor := []string{"onion"}
	for _, test := range []struct {
		name string
		ways netsetup.Ways
		want string // proxies by network, ! where it is not reached; or the error
	}{
		{"nothing", netsetup.Ways{}, "ipv4= ipv6= !onion= !i2p= !cjdns="},
		{
			"one proxy",
			netsetup.Ways{Proxy: []string{"127.0.0.1"}},
			"ipv4=127.0.0.1:9050 ipv6=127.0.0.1:9050 onion=127.0.0.1:9050 !i2p= !cjdns=127.0.0.1:9050",
		},
		{"IPv6", netsetup.Ways{Proxy: []string{"[::1]:1"}, NoOnion: true}, "ipv4=[::1]:1 ipv6=[::1]:1 !onion= !i2p= !cjdns=[::1]:1"},
		{"a socket", netsetup.Ways{Onion: "unix:/a"}, "ipv4= ipv6= onion=unix:/a !i2p= !cjdns="},
		{"an empty path", netsetup.Ways{Onion: "unix:", Proxy: []string{"unix:"}}, "ipv4=unix: ipv6=unix: onion=unix: !i2p= !cjdns=unix:"},
		{
			"by network",
			netsetup.Ways{Proxy: []string{"1.2.3.4:5=ipv4", "1.2.3.4:6=IPv6", "1.2.3.4:7=tor"}},
			"ipv4=1.2.3.4:5 ipv6=1.2.3.4:6 onion=1.2.3.4:7 !i2p= !cjdns=",
		},
		{
			"one taken back",
			netsetup.Ways{Proxy: []string{"1.2.3.4:5", "0=cjdns"}, CJDNS: true},
			"ipv4=1.2.3.4:5 ipv6=1.2.3.4:5 onion=1.2.3.4:5 !i2p= cjdns=",
		},
		{"all taken back", netsetup.Ways{Proxy: []string{"1.2.3.4:5", "0"}}, "ipv4= ipv6= !onion= !i2p= !cjdns="},
		{"I2P", netsetup.Ways{I2P: "127.0.0.1", OnlyNet: []string{"i2p"}}, "!ipv4= !ipv6= !onion= i2p=127.0.0.1:7656 !cjdns="},
		{"no host", netsetup.Ways{Proxy: []string{"abc..abc:1"}, Lookup: true}, "Invalid -proxy address or hostname: 'abc..abc:1'"},
		{"names not looked up", netsetup.Ways{Proxy: []string{"localhost:1"}}, "Invalid -proxy address or hostname: 'localhost:1'"},
		{"long path", netsetup.Ways{Proxy: []string{long}}, "Invalid -proxy address or hostname: '" + long + "'"},
		{"no network", netsetup.Ways{Proxy: []string{"1.2.3.4:5="}}, "Invalid -proxy address or hostname, ends with '=': '1.2.3.4:5='"},
		{"other network", netsetup.Ways{Proxy: []string{"1.2.3.4:5=Foo"}}, "Unrecognized network in -proxy='1.2.3.4:5=Foo': 'foo'"},
		{"proxy for I2P", netsetup.Ways{Proxy: []string{"1.2.3.4:5=i2p"}}, "Unrecognized network in -proxy='1.2.3.4:5=i2p': 'i2p'"},
		{"bad onion", netsetup.Ways{Onion: "x..y"}, "Invalid -onion address or hostname: 'x..y'"},
		{"bad router", netsetup.Ways{I2P: "x..y"}, "Invalid -i2psam address or hostname: 'x..y'"},
		{
			"only CJDNS",
			netsetup.Ways{OnlyNet: []string{"cjdns"}},
			"Outbound connections restricted to CJDNS (-onlynet=cjdns) but -cjdnsreachable is not provided",
		},
		{
			"only I2P",
			netsetup.Ways{OnlyNet: []string{"i2p"}},
			"Outbound connections restricted to i2p (-onlynet=i2p) but -i2psam is not provided",
		},
		{"only Tor", netsetup.Ways{OnlyNet: onlyTor}, tor + "not provided: none of -proxy, -onion or -listenonion is given"},
		{"Tor later", netsetup.Ways{OnlyNet: onlyTor, TorLater: true}, "!ipv4= !ipv6= !onion= !i2p= !cjdns="},
		{
			"Tor forbidden",
			netsetup.Ways{OnlyNet: onlyTor, NoOnion: true, Proxy: []string{"1.2.3.4"}},
			tor + "explicitly forbidden: -onion=0",
		},
		{"unknown", netsetup.Ways{OnlyNet: []string{"abc"}}, "Unknown network specified in -onlynet: 'abc'"},
	} {
		got, err := netsetup.Reach(t.Context(), test.ways)
		text := describe(got)
		if err != nil {
			text = err.Error()
		}
		if text != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.name, text, test.want)
		}
	}
}

func describe(n netsetup.Networks) string {
	var words []string
	for _, network := range []netaddr.Network{netaddr.IPv4, netaddr.IPv6, netaddr.Onion, netaddr.I2P, netaddr.CJDNS} {
		word := network.String() + "=" + n.Proxies[network].Addr
		if !n.Reachable[network] {
			word = "!" + word
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// A map of autonomous systems that is not there, or is none, is no start.
func TestASMap(t *testing.T) {
	dir := t.TempDir()
	good, bad, none := filepath.Join(dir, "good"), filepath.Join(dir, "bad"), filepath.Join(dir, "none")
	for path, content := range maps.All(map[string][]byte{good: {0, 0, 0}, bad: {}}) {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		"": "", good: "", bad: "Could not parse asmap file \"" + bad + "\"", none: "Could not find asmap file \"" + none + "\"",
	} {
		var log bytes.Buffer
		to := slog.New(slog.NewTextHandler(&log, nil))
		n, err := netsetup.Open(t.Context(), netsetup.Config{ASMap: path, Log: to})
		text := ""
		if err != nil {
			text = err.Error()
		}
		if text != want || (n.ASMap != nil) != (path == good) {
			t.Errorf("%q: %v", path, err)
		}
		line := "Using /16 prefix for IP bucketing"
		if path == good {
			line = "for IP bucketing"
		}
		if err == nil && !strings.Contains(log.String(), line) {
			t.Errorf("%q: log %s", path, log.String())
		}
	}
}
