package netaddr

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
)

const (
	onion = "pg6mmjiyjmcrsslvykfwnntlaru7p5svn6y2ymmju6nubxndf4pscryd.onion" // of BIP155
	i2p   = "ukeu3k5oycgaauneqgtnvselmt4yemvoilkln7jpvamvfx7dnkdq.b32.i2p"
)

func TestParseAndPrint(t *testing.T) {
	tests := []struct {
		text    string
		want    string // printed; empty: no address
		network Network
	}{
		{"1.2.3.4", "1.2.3.4:8333", IPv4},
		{"1.2.3.4:1", "1.2.3.4:1", IPv4},
		{"1.2.3.4:0", "1.2.3.4:0", IPv4},
		{"::1", "[::1]:8333", IPv6},
		{"[::1]", "[::1]:8333", IPv6},
		{"[::1]:65535", "[::1]:65535", IPv6},
		{"2001:0DB8:0:0:1:0:0:1", "[2001:db8::1:0:0:1]:8333", IPv6},
		{"::ffff:1.2.3.4", "1.2.3.4:8333", IPv4},
		{onion, onion + ":8333", Onion},
		{strings.ToUpper(onion[:56]) + ".onion:9", onion + ":9", Onion},
		{i2p + ":0", i2p + ":0", I2P},
		{"", "", 0},
		{":8333", "", 0},
		{"1.2.3", "1.2.0.3:8333", IPv4}, // as the C library reads it
		{"1.2.3.4:", "", 0},
		{"1.2.3.4:65536", "", 0},
		{"1.2.3.4:+1", "", 0},
		{"1.2.3.4:-1", "", 0},
		{"1.2.3.4 ", "", 0},
		{"[1.2.3.4", "", 0},
		{"localhost:1", "", 0},
		{"a" + onion[1:], "", 0},          // wrong checksum
		{onion[2:], "", 0},                // too short
		{"a" + i2p, "", 0},                // too long
		{"expyuzz4wqqyqhjn.onion", "", 0}, // version 2
	}
	for _, test := range tests {
		a, err := Parse(test.text, 8333)
		if (err == nil) != (test.want != "") {
			t.Errorf("%q: got %v, %v", test.text, a, err)
		}
		if err == nil && (a.String() != test.want || a.Network() != test.network) {
			t.Errorf("%q: got %v %v, want %s", test.text, a.Network(), a, test.want)
		}
	}
}

func TestRoutable(t *testing.T) {
	tests := []struct {
		host            string
		valid, routable bool
	}{
		{"8.8.8.8", true, true},
		{"0.0.0.0", false, false},
		{"255.255.255.255", false, false},
		{"0.1.2.3", true, false},
		{"127.0.0.1", true, false},
		{"10.255.0.1", true, false},
		{"11.0.0.1", true, true},
		{"172.15.0.1", true, true},
		{"172.31.255.1", true, false},
		{"172.32.0.1", true, true},
		{"192.168.1.1", true, false},
		{"198.19.1.1", true, false},
		{"169.254.1.1", true, false},
		{"100.64.0.1", true, false},
		{"100.128.0.1", true, true},
		{"203.0.113.9", true, false},
		{"::", false, false},
		{"::1", true, false},
		{"2001:db8::1", false, false},
		{"2001:10::1", true, false}, // ORCHID
		{"2001:20::1", true, false}, // ORCHIDv2
		{"2001:30::1", true, true},
		{"fe80::1", true, false},
		{"fd00::1", true, false},
		{"fd6b:88c0:8724::1", false, false},
		{"2a00::1", true, true},
		{onion, true, true},
		{i2p, true, true},
	}
	for _, test := range tests {
		a, err := Parse(test.host, 1)
		if err != nil {
			t.Fatal(err)
		}
		if a.IsValid() != test.valid || a.IsRoutable() != test.routable {
			t.Errorf("%s: valid %v, routable %v", test.host, a.IsValid(), a.IsRoutable())
		}
	}
	if cjdns, _ := FromV2(6, []byte{0: 0xfc, 15: 1}, 1); !cjdns.IsRoutable() || cjdns.String() != "[fc00::1]:1" {
		t.Errorf("got %v", cjdns)
	}
	if other, _ := FromV2(6, []byte{0: 0xfd, 15: 1}, 1); other.IsValid() {
		t.Error("an address outside of CJDNS is valid")
	}
}

func TestV2(t *testing.T) {
	tests := []struct {
		name    string
		network byte
		host    []byte
		want    string
		err     error
	}{
		{"IPv4", 1, []byte{1, 2, 3, 4}, "1.2.3.4:7", nil},
		{"IPv4 of a wrong length", 1, []byte{1, 2, 3}, "", ErrLength},
		{"IPv6", 2, []byte{0: 0x20, 15: 1}, "[2000::1]:7", nil},
		{"IPv6 of a wrong length", 2, make([]byte, 4), "", ErrLength},
		{"IPv4 in IPv6", 2, append([]byte{10: 0xff, 11: 0xff}, 1, 2, 3, 4), "[::]:7", nil},
		{"Tor version 2 in IPv6", 2, append(
			[]byte{0xfd, 0x87, 0xd8, 0x7e, 0xeb, 0x43}, make([]byte, 10)...,
		), "[::]:7", nil},
		{"Tor version 2", 3, make([]byte, 10), "[::]:7", nil},
		{"Tor version 3 of a wrong length", 4, make([]byte, 31), "", ErrLength},
		{"I2P of a wrong length", 5, make([]byte, 33), "", ErrLength},
		{"CJDNS of a wrong length", 6, make([]byte, 15), "", ErrLength},
		{"a network to come", 0xaa, make([]byte, 512), "[::]:7", nil},
		{"longer than any", 0xaa, make([]byte, 513), "", ErrTooLong},
	}
	for _, test := range tests {
		a, err := FromV2(test.network, test.host, 7)
		if !errors.Is(err, test.err) || err == nil && a.String() != test.want {
			t.Errorf("%s: got %v, %v", test.name, a, err)
		}
	}
}

func TestRoundTrips(t *testing.T) {
	for _, text := range []string{"1.2.3.4:5", "[2000::1]:5", onion + ":5", i2p + ":0"} {
		a, err := Parse(text, 0)
		if err != nil {
			t.Fatal(err)
		}
		network, host := a.V2()
		if got, err := FromV2(network, host, a.Port()); err != nil || got != a {
			t.Errorf("%s: got %v, %v", text, got, err)
		}
		want := a
		if !a.IsV1Compatible() {
			want = Addr{}.WithPort(a.Port())
		}
		if got := FromV1(a.V1(), a.Port()); got != want {
			t.Errorf("%s: got %v", text, got)
		}
		if at, ok := a.AddrPort(); ok && FromAddrPort(at) != a {
			t.Errorf("%s: got %v", text, FromAddrPort(at))
		}
	}
	if got := FromAddrPort(netip.AddrPort{}); got != (Addr{}) || got.IsValid() {
		t.Errorf("got %v", got)
	}
	for n := IPv6; n <= CJDNS; n++ {
		if got, ok := ParseNetwork(n.String()); !ok || got != n {
			t.Errorf("got %v for %v", got, n)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"1.2.3.4:5", "[::1]:5", onion, i2p, ":", "[", "]:1", "[]:1", "fe80::1%eth0", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := Parse(text, 8333)
		if err != nil {
			return
		}
		if again, err := Parse(a.String(), 0); err != nil || again != a {
			t.Errorf("%q became %v and then %v, %v", text, a, again, err)
		}
	})
}

func FuzzFromV2(f *testing.F) {
	f.Add(byte(1), []byte{1, 2, 3, 4})
	f.Add(byte(2), make([]byte, 16))
	f.Add(byte(4), make([]byte, 32))
	f.Add(byte(9), []byte(nil))
	f.Fuzz(func(t *testing.T, network byte, host []byte) {
		a, err := FromV2(network, host, 1)
		if err != nil || !a.IsValid() {
			return
		}
		again, raw := a.V2()
		if again != network || string(raw) != string(host) {
			t.Errorf("%d %x became %d %x", network, host, again, raw)
		}
	})
}
