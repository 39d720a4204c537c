package peers_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/actors/peers"
	"github.com/seed61375155/trawl/messages"
)

// The log says that a peer runs a later release, on networks where it does.
func TestLogsNewerPeer(t *testing.T) {
	const line = "peer=0 advertises newer subversion " + remoteAgent + " (local /Remote:1.2.2/); consider upgrading"
	for _, logs := range []bool{false, true} {
		var log textLog
		n := start(t, func(c *peers.Config) {
			network := *c.Network
			network.TellsNewer, network.Software.Agent = logs, "Remote:1.2.2"
			c.Network, c.UserAgent = &network, "/Remote:1.2.2/"
			c.Log = slog.New(slog.NewTextHandler(&log, nil))
		})
		connect(t, n)
		n.eventually(t, "a peer", func(list []messages.PeerInfo) bool { return len(list) == 1 && list[0].Established })
		if got := strings.Contains(log.String(), line); got != logs {
			t.Errorf("logged %v, want %v:\n%s", got, logs, log.String())
		}
	}
}
