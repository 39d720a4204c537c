package addrman

import (
	"embed"
	"strings"

	"github.com/seed61375155/trawl/internal/p2p/netaddr"
)

//go:embed *.txt
var seedLists embed.FS

// FixedSeeds returns addresses of nodes that were long reachable when this revision was made. A node
// uses them if it knows no address and no DNS seed answers. The chain is main, test, signet or
// testnet4 of Bitcoin; other chains have no seeds.
//
// Source: Bitcoin Core 30, contrib/seeds.
func FixedSeeds(chain string) []netaddr.Addr {
	text, err := seedLists.ReadFile(chain + ".txt")
	if err != nil {
		return nil
	}
	var list []netaddr.Addr
	for line := range strings.FieldsSeq(string(text)) {
		if a, err := netaddr.Parse(line, 0); err == nil {
			list = append(list, a.OnCJDNS())
		}
	}
	return list
}
