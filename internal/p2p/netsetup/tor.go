package netsetup

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"strconv"

	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/internal/p2p/torcontrol"
	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/messages"
)

// A TorConfig says how Tor makes an onion service for the node.
type TorConfig struct {
	Control  string // address of its control port, "host[:port]"; empty: it is not asked to
	Password string // of the control port; empty: none
	Key      torcontrol.Keys
	Port     uint16 // of the service: that of the network, whatever port the node has
	Defend   bool   // as in torcontrol.Config
}

// controlPort is that of Tor's control port where none is named.
const controlPort = 9051

// longestCookie is how many bytes of a cookie are read: more are none.
const longestCookie = 64

// openTor prepares the onion service.
func (n *Network) openTor(c *Config) error {
	if c.Tor.Control == "" || len(n.Listeners) == 0 {
		return nil
	}
	host, port, ok := netaddr.SplitHostPort(c.Tor.Control, controlPort)
	if !ok || host == "" {
		return messages.StartError(fmt.Sprintf("Invalid port specified in -torcontrol: '%s'", c.Tor.Control))
	}
	target := n.Listeners[0].Addr().String()
	for _, l := range n.Listeners {
		if l.Onion {
			target = l.Addr().String()
			break
		}
	}
	plain, tor := c.Log, c.Log.With(slog.String(corelog.CategoryKey, "tor"))
	n.Tor = &torcontrol.Config{
		Addr: net.JoinHostPort(host, strconv.Itoa(int(port))), Password: c.Tor.Password,
		Keys: c.Tor.Key, Port: c.Tor.Port, Target: target, FindProxy: c.Onion == "" && !c.NoOnion,
		Defend: c.Tor.Defend,
		Dial: func(ctx context.Context, addr string) (net.Conn, error) {
			return TCP{Timeout: c.Timeout}.connect(ctx, addr)
		},
		ReadCookie: func(path string) ([]byte, error) { return vfs.ReadFile(vfs.OS, path, longestCookie) },
		Log: func(level slog.Level, line string) {
			if level > slog.LevelDebug {
				corelog.Printf(plain, level, "%s", line)
			} else {
				corelog.Printf(tor, level, "%s", line)
			}
		},
	}
	return nil
}
