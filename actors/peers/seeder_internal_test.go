package peers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/p2p/netaddr"
)

func TestSeederDue(t *testing.T) {
	for _, test := range []struct {
		known, peers int
		force        bool
		after        time.Duration
		want         bool
	}{
		{0, 0, false, 0, true},
		{0, seedPeers, false, 0, false},
		{0, seedPeers - 1, false, 0, true},
		{1, 0, false, seedSoon - 1, false},
		{1, 0, false, seedSoon, true},
		{1, seedPeers, false, seedSoon, false},
		{manyAddrs - 1, 0, false, seedSoon, true},
		{manyAddrs, 0, false, seedLater - 1, false},
		{manyAddrs, 0, false, seedLater, true},
		{manyAddrs, seedPeers, true, 0, true},
	} {
		s := &seeder{base: testBase("", nil), secret: new(secret)}
		s.cfg.ForceSeeds = test.force
		began := time.Now()
		if test.after > 0 && s.due(began, test.known, test.peers) {
			t.Errorf("%+v: asked at once", test)
		}
		if got := s.due(began.Add(test.after), test.known, test.peers); got != test.want {
			t.Errorf("%+v: got %v", test, got)
		}
		if test.want && s.due(began.Add(time.Hour), 0, 0) {
			t.Errorf("%+v: asked again", test)
		}
	}
}

// A phoneBook knows the addresses of names.
type phoneBook map[string][]netip.Addr

func (phoneBook) Dial(context.Context, string) (net.Conn, error) {
	return nil, errors.New("no network")
}

func (b phoneBook) Lookup(_ context.Context, host string) ([]netip.Addr, error) {
	if list := b[host]; list != nil {
		return list, nil
	}
	return nil, errors.New("no such name")
}

// Seeds are looked up, one that is not there does no harm. Behind a proxy for names
// they are connected to.
func TestSeederAsks(t *testing.T) {
	book := phoneBook{"x9.b.test": {netip.MustParseAddr("9.9.9.9"), netip.MustParseAddr("::ffff:9.9.9.8")}}
	r := newAddrRig(t, func(c *Config) {
		c.Source, c.Seeds, c.SeedNodes = book, []string{"a.test", "b.test"}, []string{"n.test"}
	})
	s := &seeder{base: r.base, secret: r.secret}
	if got := fmt.Sprint(s.nodes(), s.names()); got != "[n.test] [a.test b.test]" {
		t.Errorf("asks %s", got)
	}
	list := s.lookUp(t.Context())
	if len(list) != 2 || list[0].Addr != address(t, "9.9.9.9:18444") || list[1].Addr != address(t, "9.9.9.8:18444") {
		t.Errorf("found %+v", list)
	}
	for _, a := range list {
		age := time.Since(time.Unix(int64(a.Time), 0))
		if a.Services != fullNode || age < seedMinAge-time.Minute || age > seedMinAge+seedAges+time.Minute {
			t.Errorf("found %+v", a)
		}
	}
	s.cfg.NameProxy = true
	if got := fmt.Sprint(s.nodes(), s.names()); got != "[n.test a.test b.test] []" {
		t.Errorf("behind a proxy: asks %s", got)
	}
}

// Which networks are used depends on what can be reached, and how.
func TestNetworks(t *testing.T) {
	proxies := map[netaddr.Network]string{netaddr.Onion: "127.0.0.1:9050"}
	some := map[netaddr.Network]bool{netaddr.IPv4: true, netaddr.CJDNS: true, netaddr.I2P: true}
	for _, test := range []struct {
		networks networks
		want     string // reachable, usable: in Core's order
	}{
		{networks{}, "++ ++ +- +- +-"},
		{networks{proxies: proxies}, "++ ++ ++ +- +-"},
		{networks{reachable: some, proxies: proxies}, "++ -- -- +- ++"},
	} {
		mark := map[bool]string{true: "+", false: "-"}
		var marks []string
		for _, n := range coreNetworks {
			marks = append(marks, mark[test.networks.reaches(n)]+mark[test.networks.usable(n)])
		}
		if got := strings.Join(marks, " "); got != test.want {
			t.Errorf("%+v: got %s, want %s", test.networks, got, test.want)
		}
	}
}
