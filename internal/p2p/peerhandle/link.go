// Package peerhandle has the handle of a peer that actors share: the peer table owns
// the connections, others own what is said over them.
//
// The actor of a connection sends [Joined] when the handshake is done, then
// [Received] for each message that concerns the receiving actor, then [Left] once.
// The receivers are those of peers.Config: one for headers and blocks, one for
// transactions.
//
// An actor that failed has forgotten the peers. An actor that does not need the peers'
// earlier messages publishes [Restarted], and each connection sends Joined again; Joined
// of a peer that the actor knows is ignored. Another actor disconnects its peers when it
// fails. The peer over whose message an actor failed is disconnected in any case: since
// the message was never handled, the peer would not be read any more.
package peerhandle

import (
	"sync/atomic"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/bloom"
)

// A Peer is the handle of a connection after its handshake. All methods may be
// called from anywhere, and none waits.
type Peer interface {
	Info() Info

	// Send queues a message. A message that cannot be sent any more is dropped: Left
	// follows.
	Send(m wire.Message)

	// CanWrite reports whether little enough is queued that large messages
	// may follow.
	CanWrite() bool

	// Misbehaving reports what no honest peer does. Unless its permissions
	// forbid it, the peer is discouraged and disconnected.
	Misbehaving(reason string)

	// Disconnect ends the connection at once.
	Disconnect(reason string)
}

// Info is what is known of a peer; it does not change.
type Info struct {
	ID          int64 // never used again in the life of the process
	Addr        string
	Type        p2p.ConnectionType
	Remote      p2p.Remote
	Permissions Permissions
	Since       time.Time
	CameBy      string        // the same for inbound peers on one network that came by one address of the node
	Archive     bool          // it must give all blocks with their witnesses
	LogAddr     string        // what lines of the log have of it, a p2p.AddrSuffix or nothing
	NoWitnesses *atomic.Bool  // it has shown to lack those of old blocks, whatever it said; nil: nobody asks
	Filter      *bloom.Filter // of the transactions that it wants, nil: it may set none
}

// Disconnecting is how a line of the log says that the peer is left.
func (i *Info) Disconnecting() string { return "disconnecting " + p2p.PeerName(i.ID, i.LogAddr) }

// Permissions are what the operator allows a peer (-whitelist, -whitebind).
type Permissions struct {
	NoBan       bool // is never discouraged
	Relay       bool // its transactions are relayed in any case
	ForceRelay  bool // also those that are in the pool already
	Mempool     bool // may ask for the pool
	Download    bool // may ask for blocks beyond limits
	Addr        bool // gets addresses without limits
	BloomFilter bool // may set a filter (BIP37)
}

// Joined says that a peer has shaken hands.
type Joined struct{ Peer Peer }

// Restarted says that a receiver of these messages has failed and restarted, and needs
// Joined of all peers again.
type Restarted struct{}

// HeadersSent says that a peer was sent the headers that it asked for, and so knows the
// chain up to Last. Last is the last header sent, or the tip if no header was left to
// send.
type HeadersSent struct {
	ID   int64
	Last chainhash.Hash
}

// Left says that a connection has ended. It comes once, after Joined, and
// nothing of the peer follows.
type Left struct{ ID int64 }

// Received hands over a message of a peer. The receiver calls Handled once, after it has
// handled the message. Only then is the peer's next message read, so that a flood stops
// at TCP.
type Received struct {
	Peer    Peer
	Message p2p.Message
	Handled func()
}
