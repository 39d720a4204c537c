package peers_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/seed61375155/trawl/actors/peers"
	"github.com/seed61375155/trawl/messages"
)

// textLog is a log that a test reads.
type textLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *textLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *textLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// The log names peers by their addresses only where the operator wants that.
func TestLogIPs(t *testing.T) {
	for _, wanted := range []bool{false, true} {
		t.Run(fmt.Sprintf("wanted=%v", wanted), func(t *testing.T) {
			var log textLog
			n := start(t, func(c *peers.Config) {
				c.LogIPs = wanted
				c.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			})
			connect(t, n)
			list := n.eventually(
				t, "a peer", func(list []messages.PeerInfo) bool { return len(list) == 1 && list[0].Version != 0 },
			)
			must(t, n, messages.DisconnectPeer{ID: &list[0].ID})
			n.eventually(t, "nobody", func(list []messages.PeerInfo) bool { return len(list) == 0 })
			addr := list[0].Addr
			for _, line := range []string{
				"Added connection to " + addr + " peer=0", ", them=", "txrelay=1, peer=0 peeraddr=" + addr,
				"disconnecting peer=0 peeraddr=" + addr,
			} {
				if got := strings.Contains(log.String(), line); got != wanted {
					t.Errorf("%q is there: %v, in\n%s", line, got, log.String())
				}
			}
			// Whence a connection comes is told when it is accepted, as in Core.
			if !wanted && strings.Count(log.String(), addr) != 1 {
				t.Errorf("the log names %s:\n%s", addr, log.String())
			}
		})
	}
}
