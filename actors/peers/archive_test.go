package peers_test

import (
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/peers"
	"github.com/seed61375155/trawl/messages"
)

// Nodes of -connectarchive stay connected as long as they offer what they must, over both transports.
func TestConnectArchive(t *testing.T) {
	const full, pruned, archive wire.ServiceFlag = wire.SFNodeNetwork | wire.SFNodeWitness, 1 << 12, 1 << 13
	for name, c := range map[string]struct {
		offers wire.ServiceFlag
		stays  bool
	}{
		"archive":         {full | archive, true},
		"pruned":          {full | pruned, false},
		"without service": {full, false},
	} {
		for _, v2 := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				other := start(t, func(c2 *peers.Config) { c2.Services, c2.V2 = c.offers, v2 })
				n := start(t, func(c *peers.Config) {
					c.Network.Archive, c.Network.WitnessPruned = archive, pruned
					c.Archives, c.V2 = []string{other.addr}, v2
				})
				if !c.stays {
					// It is met, and left.
					n.eventually(t, "the peer speaks", func([]messages.PeerInfo) bool {
						return must(t, n, messages.GetNetwork{}).Received > 0
					})
					n.eventually(t, "nobody", func(l []messages.PeerInfo) bool { return len(l) == 0 })
					got := must(t, n, messages.GetNetwork{}).Archives
					if got != (messages.ArchiveCount{Configured: 1}) {
						t.Errorf("counts %+v", got)
					}
					return
				}
				list := n.peersOf(t, 1)
				if !list[0].Archive || list[0].Type != "manual" || list[0].Services != uint64(c.offers) {
					t.Errorf("peer %+v", list[0])
				}
				got := must(t, n, messages.GetNetwork{}).Archives
				if got != (messages.ArchiveCount{Offering: 1, Configured: 1, Reached: 1}) {
					t.Errorf("counts %+v", got)
				}
				added := must(t, n, messages.GetAddedNodes{})
				if len(added) != 1 || !added[0].Archive || added[0].ID != list[0].ID || added[0].Addr == "" {
					t.Errorf("added nodes %+v", added)
				}
			})
		}
	}
}
