package p2p

import (
	"cmp"
	"fmt"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/internal/p2p/transport"
)

// A Config says how a session behaves. Zero values are Core's defaults, where
// there are any.
type Config struct {
	ID        int64  // of the peer, for log lines
	LogAddr   string // what log lines have of the peer's address, see AddrSuffix; empty: nothing
	Type      ConnectionType
	Magic     [4]byte
	V2        bool         // speak v2, or detect it for an inbound connection
	Addr      netaddr.Addr // of the peer; zero behind a proxy
	Protocol  int32        // the version of the protocol; default codec.ProtocolVersion
	UserAgent string       // at most codec.MaxUserAgent bytes
	Services  wire.ServiceFlag
	Height    int32 // of the best block

	// MinProtocol is the oldest version that a peer may speak; default 31800.
	MinProtocol int32

	// Offered is what the peer is believed to offer.
	Offered wire.ServiceFlag

	// NoTransactions tells the peer not to announce transactions. It need not be
	// set for block-relay-only connections and feelers.
	NoTransactions bool

	// QuietFeelers says that feelers, which do not wait for addresses, ask for none.
	QuietFeelers bool

	// Reconcile offers to reconcile transactions (BIP330), of which nothing but the
	// offer is there yet.
	Reconcile bool

	// Desirable returns what a peer must offer that offers what it is given;
	// nil: nothing is required. It is called for connections that the node made
	// for itself.
	Desirable func(offered wire.ServiceFlag) wire.ServiceFlag

	// Refuse returns why the session must end with a peer that offers what it is given, nil: it need not. It
	// is called after Desirable, for connections of all types, and logs the reason itself; nil: no reason ends it.
	Refuse func(offered wire.ServiceFlag) error

	// Nonces are those of all sessions of the node, by which it recognizes itself.
	Nonces *Nonces

	// Make returns an empty message to read a payload into, nil for one to be
	// ignored; default codec.New.
	Make func(command string) wire.Message

	// HandPings hands pings to the owner, which answers each with [Session.Pong] once
	// it has handled all earlier messages. Otherwise the session answers them at once.
	HandPings bool

	SendLimit int // bytes queued above which nothing is read, as -maxsendbuffer; default 1,000,000

	// ReceiveLimit is how many bytes are with the owner above which nothing is read, as
	// -maxreceivebuffer; default 5,000,000.
	ReceiveLimit int

	PeerTimeout time.Duration // for the handshake, as -peertimeout; default 60 s

	Now            func() time.Time  // default time.Now
	NewerLog       bool              // lines are those of Core 32, else of 30.2
	Log            func(line string) // Core's lines of category net; may be nil
	LogReconciling func(line string) // those of category txreconciliation; may be nil
	LogPrivate     func(line string) // those of category privatebroadcast; may be nil
	Totals         *Totals           // counts with those of other sessions; may be nil

	// Capture is called with each message that was received whole, and with each that is
	// about to be sent, in the goroutines that read and write; may be nil. The payload is
	// the session's.
	Capture func(command string, payload []byte, incoming bool)
}

// PeerName is how a line of the log names a peer whose connection ends or has begun. suffix is empty where
// addresses are not logged, else an [AddrSuffix].
func PeerName(id int64, suffix string) string { return fmt.Sprintf("peer=%d%s", id, suffix) }

// AddrSuffix is what follows the number of a peer in lines of the log that name its address, as Core 30.2 or 32
// writes it.
func AddrSuffix(addr string, newer bool) string {
	if newer {
		return ", peeraddr=" + addr
	}
	return " peeraddr=" + addr
}

// withDefaults fills in the defaults of unset fields.
func (c Config) withDefaults() Config {
	c.Protocol = cmp.Or(c.Protocol, codec.ProtocolVersion)
	c.MinProtocol = cmp.Or(c.MinProtocol, 31800)
	c.SendLimit = cmp.Or(c.SendLimit, 1_000_000)
	c.ReceiveLimit = cmp.Or(c.ReceiveLimit, 5_000_000)
	c.PeerTimeout = cmp.Or(c.PeerTimeout, time.Minute)
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Make == nil {
		c.Make = codec.New
	}
	if c.Nonces == nil {
		c.Nonces = new(Nonces)
	}
	if c.Totals == nil {
		c.Totals = new(Totals)
	}
	c.NoTransactions = c.NoTransactions || c.Type == BlockRelayOnly || c.Type == Feeler
	return c
}

// mode is how the transport is found.
func (c Config) mode() transport.Mode {
	switch {
	case !c.V2:
		return transport.OnlyV1
	case c.Type == Inbound:
		return transport.Detect
	default:
		return transport.InitiateV2
	}
}
