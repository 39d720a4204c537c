package peers_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/peers"
	"github.com/seed61375155/trawl/internal/chaintest"
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

// A begunChain has deleted its first witnesses since it was opened.
type begunChain struct{ *chaintest.Chain }

func (begunChain) HasStripped() bool     { return true }
func (begunChain) HasBegunToStrip() bool { return true }

// The table logs services that were withdrawn before it had connections, at its start and once.
func TestWithdrawnBeforeStart(t *testing.T) {
	var log textLog
	n := start(t, func(c *peers.Config) {
		c.Network.Archive, c.Network.WitnessPruned = 1<<13, 1<<12
		c.Services |= 1 << 13
		c.Chain.Set(begunChain{chaintest.New(c.Network.Params)})
		c.Log = slog.New(slog.NewTextHandler(&log, nil))
	})
	if got := must(t, n, messages.GetNetwork{}).Services; got&(1<<12|1<<13) != 1<<12 {
		t.Errorf("services %x", got)
	}
	for _, line := range []string{"withdrawing NODE_ARCHIVE", "advertising NODE_WITNESS_PRUNED"} {
		line = "Witness compaction completed before networking startup; " + line
		if strings.Count(log.String(), line) != 1 {
			t.Errorf("%q is not logged once: %s", line, log.String())
		}
	}
}
