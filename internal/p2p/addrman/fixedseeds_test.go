package addrman_test

import (
	"os"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/p2p/addrman"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
)

// Every line is an address that can be routed to, and no one is there twice.
func TestOf(t *testing.T) {
	for chain, least := range map[string]int{"main": 800, "test": 100, "signet": 100, "testnet4": 100} {
		text, err := os.ReadFile(chain + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		list, seen := addrman.FixedSeeds(chain), map[netaddr.Addr]bool{}
		if len(list) < least || len(list) != strings.Count(string(text), "\n") {
			t.Errorf("%s: %d addresses", chain, len(list))
		}
		for _, a := range list {
			if !a.IsRoutable() || seen[a] {
				t.Errorf("%s: %v cannot be routed to, or is there twice", chain, a)
			}
			seen[a] = true
		}
	}
	if list := addrman.FixedSeeds("regtest"); list != nil {
		t.Errorf("a regtest has %v", list)
	}
}
