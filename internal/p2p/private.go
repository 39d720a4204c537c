package p2p

import (
	"errors"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/internal/p2p/transport"
)

// Connections that hand over one transaction without telling whose it is. They say no more than every
// node would, and the same for all nodes.
const (
	// privateAgent is the user agent of such connections.
	privateAgent = "/pynode:0.0.1/"

	// privateLifetime is how long such a connection may last (Core: PRIVATE_BROADCAST_MAX_CONNECTION_LIFETIME).
	privateLifetime = 3 * time.Minute
)

// ErrInVain reports a peer that takes no transactions.
var ErrInVain = errors.New("does not support transaction relay (connected in vain)")

// disguised returns the configuration without what tells nodes apart.
func (c Config) disguised() Config {
	if c.Type != PrivateBroadcast {
		return c
	}
	c.Protocol, c.UserAgent = featuresFrom, privateAgent
	c.Services, c.Offered, c.Height, c.Addr = 0, 0, 0, netaddr.Addr{}
	c.NoTransactions, c.Reconcile = true, false
	// A peer that tries our nonce on other nodes must not see which of them knows it.
	c.Nonces = new(Nonces)
	return c
}

// timeOf is what our version message says of the clock.
func timeOf(s *Session) int64 {
	if s.cfg.Type == PrivateBroadcast {
		return 0
	}
	return s.cfg.Now().Unix()
}

// answerPrivately follows the peer's version where a transaction is handed over.
func answerPrivately(s *Session, v *codec.Version) error {
	if v.NoTransactions {
		privately(s, "Disconnecting: %v, %s", ErrInVain, PeerName(s.cfg.ID, s.cfg.LogAddr))
		return ErrInVain
	}
	s.say(wire.NewMsgVerAck())
	return nil
}

// dispatchPrivately handles what comes after the handshake: the peer's request, and the answer to our
// ping, which says that it has got all before.
func dispatchPrivately(s *Session, m transport.Message, now time.Time) error {
	switch m.Command {
	case wire.CmdGetData:
		return s.pass(m, now)
	case wire.CmdPong:
		if s.pong(m.Payload, now) {
			return s.pass(m, now)
		}
	default:
		privately(s, "Ignoring incoming message '%s', %s", transport.Sanitize(m.Command),
			PeerName(s.cfg.ID, s.cfg.LogAddr))
	}
	return nil
}

// privately writes a line of category privatebroadcast.
func privately(s *Session, format string, args ...any) { writeLine(s.cfg.LogPrivate, format, args...) }
