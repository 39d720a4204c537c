package peers

import (
	"sync/atomic"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/peerhandle"
)

// A connection is what a session, its actor and the rest of the node share: it is the
// owner of the session, and the peerhandle.Peer of other actors.
type connection struct {
	*base

	table         mailbox
	actor         mailbox // set before the session runs
	session       *p2p.Session
	info          peerhandle.Info // complete once the handshake is done
	joined        atomic.Bool     // others have received Joined
	left          atomic.Bool     // and Left
	begun         bool            // the actor's
	reason        error           // why the session ended; the actor's, and the table's once that has stopped
	writable      chan struct{}   // the peer has taken what was sent
	continueAfter chainhash.Hash  // block after which the peer gets the next inventory; the server's
	listens       atomic.Bool     // the peer wants transactions, although its version said that it does not
	compact       atomic.Bool     // the peer announces blocks as compact blocks by request
}

func newConnection(b *base, table mailbox, e *entry) *connection {
	return &connection{base: b, table: table, writable: make(chan struct{}, 1), info: peerhandle.Info{
		ID: e.id, Addr: e.name, Type: e.typ, Permissions: e.allowed, Since: b.cfg.Now(), Archive: e.archive,
		LogAddr: b.logSuffix(e.name), NoWitnesses: new(atomic.Bool), CameBy: e.cameBy(),
	}}
}

// Messages of the session to its actor.
type (
	established struct{ remote p2p.Remote }
	received    struct{ message p2p.Message }
)

// Established implements p2p.Owner.
func (n *connection) Established(r p2p.Remote) { n.actor.tell(established{r}) }

// Received implements p2p.Owner.
func (n *connection) Received(m p2p.Message) { n.actor.tell(received{m}) }

// Misbehaved implements p2p.Owner.
func (n *connection) Misbehaved(reason error) { n.Misbehaving(reason.Error()) }

// Writable implements p2p.Owner.
func (n *connection) Writable() {
	select {
	case n.writable <- struct{}{}:
	default:
	}
}

// Info implements peerhandle.Peer.
func (n *connection) Info() peerhandle.Info { return n.info }

// Send implements peerhandle.Peer.
func (n *connection) Send(m wire.Message) {
	if err := n.session.Send(m); err != nil {
		n.debugf("%s not sent to peer=%d: %v", m.Command(), n.info.ID, err)
	}
}

// CanWrite implements peerhandle.Peer.
func (n *connection) CanWrite() bool { return n.session.CanWrite() }

// Misbehaving implements peerhandle.Peer.
func (n *connection) Misbehaving(reason string) { n.table.tell(misbehaved{n.info.ID, reason}) }

// peerServices is what the peer offers, as it has said and shown since.
func (n *connection) peerServices(said wire.ServiceFlag) wire.ServiceFlag {
	if n.info.NoWitnesses.Load() {
		said |= n.cfg.Network.WitnessPruned
	}
	return said
}

// Disconnect implements peerhandle.Peer.
func (n *connection) Disconnect(reason string) {
	n.debugf("%s, %s", reason, n.info.Disconnecting())
	n.session.Close(closed(reason))
}

// isClosed reports whether the session has ended, or is about to.
func (n *connection) isClosed() bool {
	select {
	case <-n.session.Done():
		return true
	default:
		return false
	}
}

// closed is a reason of the node's own to end a session.
type closed string

// Error implements error.
func (c closed) Error() string { return string(c) }

// Is makes it a p2p.ErrClosed.
func (closed) Is(target error) bool { return target == p2p.ErrClosed }

const (
	errStopping     closed = "node is stopping"
	errDisconnected closed = "disconnected by request"
	errBanned       closed = "banned"
	errEvicted      closed = "evicted"
	errMisbehaving  closed = "misbehaving" // does what no honest peer does
	errInactive     closed = "network is not active"
	errNoRelay      closed = "too many peers relay transactions"
	errInVain       closed = "nothing to hand over"
	errHandedOver   closed = "transaction handed over"
)
