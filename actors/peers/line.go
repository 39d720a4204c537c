package peers

import (
	"sync/atomic"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/link"
)

// A line is what a connection's session, its actor and the rest of the node
// share. It is the session's owner, and the peer that other actors know.
type line struct {
	*base

	table   mailbox
	actor   mailbox // set before the session runs
	session *p2p.Session
	info    link.Info      // complete once the handshake is done
	joined  atomic.Bool    // others have heard Joined
	left    atomic.Bool    // and Left
	begun   bool           // the actor's
	reason  error          // why the session ended; the actor's, and the table's once that has stopped
	roomy   chan struct{}  // the peer has taken what was sent
	goesOn  chainhash.Hash // block after which the peer is told of more; the server's
	compact atomic.Bool    // the peer announces blocks as compact blocks by request
}

func newLine(b *base, table mailbox, e *entry) *line {
	return &line{base: b, table: table, roomy: make(chan struct{}, 1), info: link.Info{
		ID: e.id, Addr: e.name, Type: e.typ, Permissions: e.allowed, Since: b.cfg.Now(), LogAddr: b.logAddr(e.name),
	}}
}

// What the session tells its actor.
type (
	established struct{ remote p2p.Remote }
	received    struct{ message p2p.Message }
)

// Established implements p2p.Owner.
func (l *line) Established(r p2p.Remote) { l.actor.tell(established{r}) }

// Received implements p2p.Owner.
func (l *line) Received(m p2p.Message) { l.actor.tell(received{m}) }

// Misbehaved implements p2p.Owner.
func (l *line) Misbehaved(reason error) { l.Misbehaving(reason.Error()) }

// Writable implements p2p.Owner.
func (l *line) Writable() {
	select {
	case l.roomy <- struct{}{}:
	default:
	}
}

// Info implements link.Peer.
func (l *line) Info() link.Info { return l.info }

// Send implements link.Peer.
func (l *line) Send(m wire.Message) {
	if err := l.session.Send(m); err != nil {
		l.debugf("%s not sent to peer=%d: %v", m.Command(), l.info.ID, err)
	}
}

// CanWrite implements link.Peer.
func (l *line) CanWrite() bool { return l.session.CanWrite() }

// Misbehaving implements link.Peer.
func (l *line) Misbehaving(reason string) { l.table.tell(misbehaved{l.info.ID, reason}) }

// Disconnect implements link.Peer.
func (l *line) Disconnect(reason string) {
	l.debugf("%s, %s", reason, l.info.Disconnecting())
	l.session.Close(closed(reason))
}

// closed is a reason of the node's own to end a session.
type closed string

// Error implements error.
func (c closed) Error() string { return string(c) }

// Is makes it a p2p.ErrClosed.
func (closed) Is(target error) bool { return target == p2p.ErrClosed }

const errBanned closed = "banned"

// errMisbehaving ends the session of a peer that does what no honest one does.
const errMisbehaving closed = "misbehaving"
