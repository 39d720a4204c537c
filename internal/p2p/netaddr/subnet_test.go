package netaddr_test

import (
	"testing"

	"github.com/seed61375155/trawl/internal/p2p/netaddr"
)

func TestSubnet(t *testing.T) {
	for _, test := range []struct {
		text, want string // want is empty for a refused text
		in, out    string
	}{
		{"127.0.0.1", "127.0.0.1/32", "127.0.0.1", "127.0.0.2"},
		{"127.0.0.1/32", "127.0.0.1/32", "127.0.0.1", "::1"},
		{"192.168.7.9/16", "192.168.0.0/16", "192.168.255.1", "192.169.0.0"},
		{"192.168.7.9/255.255.0.0", "192.168.0.0/16", "192.168.255.1", "192.169.0.0"},
		{"1.2.3.4/0", "0.0.0.0/0", "9.9.9.9", "::9"},
		{"1.2.3.4/13", "1.0.0.0/13", "1.7.255.255", "1.8.0.0"},
		{"2001:4d48:ac57:400:cacf:e9ff:fe1d:9c63/19", "2001:4000::/19", "2001:4d48::1", "2002::1"},
		{"[::1]", "::1/128", "::1", "::2"},
		{"::ffff:1.2.3.4", "1.2.3.4/32", "1.2.3.4", "1.2.3.5"},
		{"127.1", "127.0.0.1/32", "127.0.0.1", "127.0.0.2"},
		{"0x7f.0.010.1/16", "127.0.0.0/16", "127.0.9.1", "127.1.0.0"},
		{"2130706433", "127.0.0.1/32", "127.0.0.1", "127.0.0.2"},
		{"256.1", "", "", ""},
		{"1.2.3.256", "", "", ""},
		{"1._2", "", "", ""},
		{"1..2", "", "", ""},
		{"+1", "", "", ""},
		{"1.2.3.4/33", "", "", ""},
		{"1.2.3.4/255.0.255.0", "", "", ""},
		{"1.2.3.4/ffff::", "", "", ""},
		{"1.2.3.4/-1", "", "", ""},
		{"1.2.3.4/+1", "", "", ""},
		{"1.2.3.4/", "", "", ""},
		{"/8", "", "", ""},
		{"127.0.0.0.0", "", "", ""},
		{"127.0.0.1:80", "", "", ""},
		{"localhost", "", "", ""},
		{"fe80::1%eth0", "", "", ""},
		{
			"kpgvmscirrdqpekbqjsvw5teanhatztpp2gl6eee4zkowvwfxwenqaid.onion",
			"kpgvmscirrdqpekbqjsvw5teanhatztpp2gl6eee4zkowvwfxwenqaid.onion",
			"kpgvmscirrdqpekbqjsvw5teanhatztpp2gl6eee4zkowvwfxwenqaid.onion", "1.2.3.4",
		},
		{"kpgvmscirrdqpekbqjsvw5teanhatztpp2gl6eee4zkowvwfxwenqaid.onion/8", "", "", ""},
	} {
		got, err := netaddr.ParseSubnet(test.text)
		if (err != nil) != (test.want == "") {
			t.Errorf("%s: %v", test.text, err)
			continue
		}
		if err != nil {
			continue
		}
		if got.String() != test.want {
			t.Errorf("%s: got %s, want %s", test.text, got, test.want)
		}
		for text, want := range map[string]bool{test.in: true, test.out: false} {
			a, err := netaddr.ParseHost(text)
			if err != nil {
				t.Fatal(err)
			}
			if got.Contains(a.WithPort(7)) != want {
				t.Errorf("%s: contains %s: %t", test.text, text, !want)
			}
		}
		if again, err := netaddr.ParseSubnet(got.String()); err != nil || again != got {
			t.Errorf("%s: reads back as %v, %v", test.text, again, err)
		}
	}
	if (netaddr.Subnet{}).Contains(netaddr.Addr{}) {
		t.Error("no subnet contains an address")
	}
}

func FuzzSubnet(f *testing.F) {
	f.Add("1.2.3.4/8")
	f.Add("::1/64")
	f.Add("1.2.3.4/255.0.0.0")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := netaddr.ParseSubnet(text)
		if err != nil {
			return
		}
		if again, err := netaddr.ParseSubnet(s.String()); err != nil || again != s {
			t.Errorf("%s: reads back as %v, %v", s, again, err)
		}
	})
}
