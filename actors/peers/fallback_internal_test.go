package peers

import (
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/p2p/netaddr"
)

// The addresses that are built in are taken once: after a minute, or at once where nothing else can
// bring any; and of networks alone of which none are known.
func TestFallback(t *testing.T) {
	v4, onion := netaddr.IPv4, netaddr.Onion
	seeds := []netaddr.Addr{
		address(t, "1.2.3.4:8333"), address(t, "5.6.7.8:8333"),
		address(t, "2gzyxa5ihm7nsggfxnu52rck2vv4rvmdlkiu3zzui5du4xyclen53wid.onion:8333"),
	}
	for name, test := range map[string]struct {
		change func(*Config)
		empty  []netaddr.Network
		added  bool
		at     time.Duration
		want   int
	}{
		"at once":          {func(c *Config) { c.NoSeeds = true }, []netaddr.Network{v4, onion}, false, 0, 3},
		"of one network":   {func(c *Config) { c.NoSeeds = true }, []netaddr.Network{v4}, false, 0, 2},
		"none is empty":    {func(c *Config) { c.NoSeeds = true }, nil, false, 2 * fixedAfter, 0},
		"DNS seeds":        {func(*Config) {}, []netaddr.Network{v4}, false, fixedAfter, 0},
		"DNS seeds, later": {func(*Config) {}, []netaddr.Network{v4}, false, fixedAfter + 1, 2},
		"seed nodes": {func(c *Config) {
			c.NoSeeds, c.SeedNodes = true, []string{"x"}
		}, []netaddr.Network{v4}, false, fixedAfter, 0},
		"added nodes": {func(c *Config) { c.NoSeeds = true }, []netaddr.Network{v4}, true, fixedAfter, 0},
		"disabled": {func(c *Config) {
			c.NoSeeds, c.NoFixedSeeds = true, true
		}, []netaddr.Network{v4}, false, 2 * fixedAfter, 0},
	} {
		now := time.Unix(1_700_000_000, 0)
		r := newAddrRig(t, func(c *Config) {
			c.FixedSeeds, c.Now = seeds, func() time.Time { return now }
			test.change(c)
		})
		f := fallback{base: r.book.base}
		got := len(f.due(test.empty, test.added))
		if now = now.Add(test.at); test.at > 0 {
			got += len(f.due(test.empty, test.added))
		}
		if got != test.want {
			t.Errorf("%s: %d addresses, want %d", name, got, test.want)
		}
		now = now.Add(time.Hour)
		if again := len(f.due(test.empty, test.added)); test.want > 0 && again > 0 {
			t.Errorf("%s: %d more", name, again)
		}
	}
}
