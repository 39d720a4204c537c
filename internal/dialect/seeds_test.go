package dialect_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/dialect"
)

// Seeds that are chosen take the place of the network's own; a signet of one's own has none.
func TestDNSSeeds(t *testing.T) {
	t.Parallel()
	public, err := dialect.Bitcoin("signet")
	if err != nil {
		t.Fatal(err)
	}
	own, chosen := public.DNSSeeds(nil), []string{"a.example", "b.example"}
	if len(own) == 0 || slices.Equal(own, chosen) {
		t.Errorf("the public signet has %v", own)
	}
	if got := public.DNSSeeds(chosen); !slices.Equal(got, chosen) {
		t.Errorf("got %v, want %v", got, chosen)
	}
	private := dialect.Signet([]byte{0x51})
	if got := private.DNSSeeds(nil); len(got) != 0 {
		t.Errorf("a signet of one's own has %v", got)
	}
	if got := private.DNSSeeds(chosen); !slices.Equal(got, chosen) {
		t.Errorf("got %v, want %v", got, chosen)
	}
}

// Each public network has names, all of which end with the root.
func TestPublicSeeds(t *testing.T) {
	t.Parallel()
	for chain, count := range map[string]int{"main": 8, "test": 5, "testnet4": 2, "signet": 2} {
		n, err := dialect.Bitcoin(chain)
		if err != nil {
			t.Fatal(err)
		}
		names := n.DNSSeeds(nil)
		if len(names) != count {
			t.Errorf("%s has %d seeds, want %d", chain, len(names), count)
		}
		for _, name := range names {
			if !strings.HasSuffix(name, ".") || strings.Count(name, ".") < 3 {
				t.Errorf("%s: %q", chain, name)
			}
		}
	}
}
