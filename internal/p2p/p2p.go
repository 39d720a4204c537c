// Package p2p is one connection between two nodes. Its session finds the
// transport, shakes hands, and reads and writes messages, as Bitcoin Core 30.2
// does (src/net.cpp, src/net_processing.cpp).
//
// A [Session] knows a single peer. Its [Owner] decides where to connect, how to
// handle a block, and when to ban.
//
// # Flow
//
// Nothing here makes the owner wait. Arriving messages are handed to the owner's
// methods, which have to return soon: a mailbox behind them ensures this.
// Messages to send go into a queue. In the other direction the owner grants
// credit: a session reads its socket only while [Session.Want] has asked for more
// messages than came, so that a flood stops at TCP. It also stops while more is
// queued to be sent than Config.SendLimit, so that a peer which asks and does not
// read stops itself.
//
// # Trust
//
// A peer may say anything. Faults that Core forgives cost only the message: an
// unreadable payload, a wrong checksum, an unknown message, a message that comes
// too early. Other faults end the session with an error: a wrong magic, a message
// that is too long, a broken cipher. A panic while a peer's bytes are handled
// ends the session alike, and nothing else.
package p2p

import (
	"errors"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p/codec"
)

// Why sessions end and messages are not sent, beside what the connection, the
// transport and the codec say.
var (
	// ErrClosed reports a session that was closed without a reason.
	ErrClosed = errors.New("session closed")

	// ErrEarly reports a message to a peer that has not shaken hands yet.
	ErrEarly = errors.New("sent before the handshake")

	// ErrRetryV1 reports that a peer left upon the first bytes of v2, as nodes do
	// that speak only v1. Core connects again, with v1.
	ErrRetryV1 = errors.New("retrying with v1 transport protocol")

	// ErrSelf reports a connection of this node to itself.
	ErrSelf = errors.New("connected to self")

	// ErrObsolete reports a peer that speaks a version older than
	// Config.MinProtocol.
	ErrObsolete = errors.New("peer using obsolete version")

	// ErrServices reports a peer that offers other services than Config.Desirable and Config.Refuse want.
	ErrServices = errors.New("peer does not offer the expected services")

	// ErrLate reports a feature that was negotiated after the handshake.
	ErrLate = errors.New("received after verack")

	// ErrFeeler reports that a feeler has found what it was sent for.
	ErrFeeler = errors.New("feeler connection completed")

	// ErrTimeout reports a peer that is silent, or does not read.
	ErrTimeout = errors.New("timeout")

	// ErrSendOverflow reports a queue that grew beyond all limits, because its
	// owner did not heed Session.Writable.
	ErrSendOverflow = errors.New("send queue overflow")

	// ErrPanic reports a panic while the peer's bytes were handled: a bug.
	ErrPanic = errors.New("panic in session")
)

// A ServicesError is an [ErrServices] with what the peer offers.
type ServicesError struct {
	Offered wire.ServiceFlag
	Reason  string
}

// Error implements error.
func (e *ServicesError) Error() string { return e.Reason }

// Is makes it an ErrServices.
func (*ServicesError) Is(target error) bool { return target == ErrServices }

// A ConnectionType says what a connection is for.
type ConnectionType uint8

// The types of connections.
const (
	Inbound ConnectionType = iota
	Manual
	OutboundFullRelay
	BlockRelayOnly
	Feeler    // finds out whether there is a node
	AddrFetch // asks for addresses

	// PrivateBroadcast hands over one transaction of this node's, and tells nothing else.
	PrivateBroadcast
)

// String returns the name that Core uses, as in getpeerinfo.
func (t ConnectionType) String() string {
	return [...]string{"inbound", "manual", "outbound-full-relay", "block-relay-only", "feeler", "addr-fetch",
		"private-broadcast"}[t]
}

// A Message is a message of a peer.
type Message struct {
	wire.Message

	Payload  []byte // as it came, also the owner's
	Received time.Time
}

// A Remote is what a peer has said of itself.
type Remote struct {
	Version    codec.Version
	Common     int32  // the version of the protocol that both speak; 0 before the peer's version
	UserAgent  string // without the characters that Core does not print
	TimeOffset time.Duration
	WtxidRelay bool // announces transactions by their wtxid (BIP339)
	AddrV2     bool // takes addrv2 (BIP155)
}

// An Owner hears what happens in a session.
//
// The methods are called by the session's goroutines: Writable by one, the others
// by another. They must return soon, and may call the session's methods.
type Owner interface {
	// Established says that the handshake is done. It comes before any Received.
	Established(r Remote)

	// Received hands over a message, which takes one from the credit. Up to two
	// that count although they came early follow Established without it.
	Received(m Message)

	// Misbehaved says that the peer did what no honest peer does. Whether it
	// may stay is for the owner to decide.
	Misbehaved(reason error)

	// Writable says that less is queued than Config.SendLimit, after it was more.
	Writable()
}
