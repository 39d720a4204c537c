package peers

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/internal/p2p/netsetup"
)

// A seedRig is a seeder whose times pass at the test's will, and the lines that it writes.
type seedRig struct {
	*seeder

	now time.Time
	log *strings.Builder
}

func newSeedRig(set func(*Config)) *seedRig {
	r := &seedRig{now: time.Unix(1_700_000_000, 0), log: new(strings.Builder)}
	b := testBase("", nil)
	b.cfg.Seeds = []string{"a.test", "b.test", "c.test", "d.test"}
	b.cfg.Now = func() time.Time { return r.now }
	b.cfg.Log = slog.New(slog.NewTextHandler(r.log, nil))
	if set != nil {
		set(&b.cfg)
	}
	r.seeder = newSeeder(b, new(secret))
	return r
}

// ask returns how many DNS seeds are asked now, each of which has one address.
func (r *seedRig) ask(known, peers int) (n int) {
	for r.dueName(r.now, known, peers, true) != "" {
		r.answered(1)
		n++
	}
	return n
}

// DNS seeds are asked when no addresses are known, or no peers come of them in time, a
// few at a time; never twice.
func TestSeederNames(t *testing.T) {
	for name, test := range map[string]struct {
		set  func(*Config)
		at   []time.Duration // since the start
		have [][2]int        // addresses and peers then
		want []int           // seeds that are asked then
		says string
	}{
		"none known": {nil, []time.Duration{0}, [][2]int{{0, 0}}, []int{4}, "4 addresses found from DNS seeds"},
		"some known": {
			nil,
			[]time.Duration{0, seedLook - 1, seedLook, 2*seedLook - 1, 2 * seedLook},
			[][2]int{{1, 0}, {1, 0}, {1, 1}, {1, 1}, {1, 1}},
			[]int{0, 0, 3, 0, 1},
			"Waiting 11 seconds before querying",
		},
		"peers in time": {
			nil,
			[]time.Duration{0, seedLook, time.Hour},
			[][2]int{{1, 0}, {1, 2}, {0, 0}},
			[]int{0, 0, 0},
			"P2P peers available. Skipped DNS seeding.",
		},
		"peers after some": {
			nil,
			[]time.Duration{0, seedLook, 2 * seedLook, time.Hour},
			[][2]int{{1, 0}, {1, 0}, {1, 2}, {0, 0}},
			[]int{0, 3, 0, 0},
			"P2P peers available. Finished DNS seeding.",
		},
		"many known": {
			nil,
			[]time.Duration{0, seedLook, seedLater - 1, seedLater + seedLook},
			[][2]int{{manyAddrs, 0}, {manyAddrs, 0}, {manyAddrs, 0}, {manyAddrs, 0}},
			[]int{0, 0, 0, 3},
			"Waiting 300 seconds before querying DNS seeds.",
		},
		"forced": {
			func(c *Config) { c.ForceSeeds = true },
			[]time.Duration{0},
			[][2]int{{manyAddrs, 9}},
			[]int{4},
			"Loading addresses from DNS seed",
		},
		"unwanted": {
			func(c *Config) { c.NoSeeds = true },
			[]time.Duration{0, time.Hour},
			[][2]int{{0, 0}, {0, 0}},
			[]int{0, 0},
			"",
		},
		"after nodes": {
			func(c *Config) { c.SeedNodes = []string{"n"} },
			[]time.Duration{0, nodesFirst, nodesFirst + 1},
			[][2]int{{0, 0}, {0, 0}, {0, 0}},
			[]int{0, 0, 4},
			"Handing fetch logic to the DNS seeds.",
		},
		"nodes are enough": {
			func(c *Config) { c.SeedNodes = []string{"n"} },
			[]time.Duration{0, time.Second, time.Hour},
			[][2]int{{1, 0}, {1, 2}, {1, 0}},
			[]int{0, 0, 0},
			"Skipping DNS seeds. Enough peers have been found",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newSeedRig(test.set)
			began := r.now
			for i, at := range test.at {
				r.now = began.Add(at)
				if got := r.ask(test.have[i][0], test.have[i][1]); got != test.want[i] {
					t.Errorf("after %v: asks %d, want %d", at, got, test.want[i])
				}
			}
			if !strings.Contains(r.log.String(), test.says) {
				t.Errorf("log %s", r.log)
			}
		})
	}
}

// While a seed is asked no other is, and none while there is no network.
func TestSeederWaits(t *testing.T) {
	r := newSeedRig(nil)
	if r.dueName(r.now, 0, 0, false) != "" || r.dueName(r.now, 0, 0, true) == "" || r.dueName(r.now, 0, 0, true) != "" {
		t.Error("asked at the wrong time")
	}
	if n := strings.Count(r.log.String(), "Waiting for network to be reactivated"); n != 1 {
		t.Errorf("said %d times", n)
	}
}

// The first seed node is asked at once where no address is known, the others, and
// all where some are, when there are no peers after a while.
func TestSeederNodes(t *testing.T) {
	for _, test := range []struct {
		known, peers int
		want         []bool // at once, just in time, a moment after, just in time after that, …
	}{
		{0, 0, []bool{true, false, true, false, false}},
		{5, 0, []bool{false, false, true, false, true}},
		{5, seedPeers, []bool{false, false, false, false, false}},
		{0, seedPeers - 1, []bool{true, false, true, false, false}},
	} {
		r := newSeedRig(func(c *Config) { c.SeedNodes = []string{"m", "n"} })
		var got []bool
		asked := make(map[string]bool)
		for _, wait := range []time.Duration{0, nextNode, 1, nextNode, 1} {
			r.now = r.now.Add(wait)
			node := r.dueNode(test.known, test.peers)
			if node != "" && asked[node] {
				t.Errorf("%+v: %s again", test, node)
			}
			asked[node] = true
			got = append(got, node != "")
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%+v: got %v", test, got)
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

// The addresses of a seed count as full nodes that were seen some days ago. An unknown seed has
// none.
func TestSeederLooksUp(t *testing.T) {
	book := phoneBook{"x9.b.test": {netip.MustParseAddr("9.9.9.9"), netip.MustParseAddr("::ffff:9.9.9.8")}}
	r := newAddrRig(t, func(c *Config) { c.Source = book })
	s := newSeeder(r.base, r.secret)
	if list := s.lookUp(t.Context(), "a.test"); len(list) != 0 {
		t.Errorf("found %+v", list)
	}
	list := s.lookUp(t.Context(), "b.test")
	if len(list) != 2 || list[0].Addr != address(t, "9.9.9.9:18444") || list[1].Addr != address(t, "9.9.9.8:18444") {
		t.Errorf("found %+v", list)
	}
	for _, a := range list {
		age := time.Since(time.Unix(int64(a.Time), 0))
		if a.Services != fullNode || age < seedMinAge-time.Minute || age > seedMinAge+seedAges+time.Minute {
			t.Errorf("found %+v", a)
		}
	}
	book["x9.c.test"] = make([]netip.Addr, 40)
	if list := s.lookUp(t.Context(), "c.test"); len(list) != maxSeeded {
		t.Errorf("%d of one seed", len(list))
	}
}

// Which networks are used depends on what can be reached, and how.
func TestNetworks(t *testing.T) {
	proxies := map[netaddr.Network]netsetup.Proxy{netaddr.Onion: {Addr: "127.0.0.1:9050"}}
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
