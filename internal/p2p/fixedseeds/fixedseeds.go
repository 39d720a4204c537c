// Package fixedseeds has addresses of nodes that were long reachable when this revision was made: for
// a node that knows none, and that no DNS seed answers. They are the ones that Bitcoin Core 30 has
// in its folder contrib/seeds.
package fixedseeds

import (
	"embed"
	"strings"

	"github.com/seed61375155/trawl/internal/p2p/netaddr"
)

//go:embed *.txt
var lists embed.FS

// Of returns the addresses for one of Bitcoin's chains: main, test, signet or testnet4. Others have
// none.
func Of(chain string) []netaddr.Addr {
	text, err := lists.ReadFile(chain + ".txt")
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
