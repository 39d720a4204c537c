package peers

import (
	"context"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/peerhandle"
)

// A connActor is the actor of one connection. It hands the peer's messages to the
// actors of blocks and transactions, and answers itself where reading the chain is
// enough.
type connActor struct {
	*connection

	ctx    context.Context //nolint:containedctx // ends the session when the actor stops
	cancel context.CancelFunc
	tasks  ask.Tasks // the session, and the answer to a message

	feeFilter *p2p.Message // the peer's last one, which it sends when it changes; nil: none
}

// newConnActor returns the producer of a connection's actor.
func newConnActor(l *connection) actor.Producer {
	return func() actor.Actor {
		n := &connActor{connection: l}
		n.ctx, n.cancel = context.WithCancel(context.Background())
		return n
	}
}

// joined reports to the table that the handshake is done. The end of a connection has
// no message: the table notices that its actor stops.
type joined struct {
	id     int64
	remote p2p.Remote
}

// addrMessage hands the table a message of the peer about addresses of nodes.
type addrMessage struct {
	id      int64
	message wire.Message
	handled func()
}

// Receive implements actor.Actor.
func (n *connActor) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *actor.Started:
		n.start(c)
	case *actor.Stopping, *actor.Restarting:
		n.close()
	case established:
		n.establish(m.remote)
	case received:
		n.receive(c, m.message)
	case peerhandle.Restarted:
		n.rejoin()
	case answerBlocks:
		n.serve(c, &wire.MsgGetData{InvList: m.list})
	case repaired:
		n.repaired(c, m)
	default:
		ask.Unhandled(c)
	}
}

// start runs the session. An actor that was restarted has none any more, and stops.
func (n *connActor) start(c actor.Context) {
	if n.begun {
		c.Stop(c.Self())
		return
	}
	n.begun = true
	n.actor = mailbox{c.ActorSystem().Root, c.Self()}
	n.tasks.Go(c, func() func() {
		reason := n.session.Run(n.ctx)
		return func() {
			n.sendLeft()
			n.reason = reason
			c.Stop(c.Self())
		}
	})
}

// establish introduces the peer to the others.
func (n *connActor) establish(r p2p.Remote) {
	n.info.Remote = r
	n.table.tell(joined{n.info.ID, r})
	if n.info.Type == p2p.PrivateBroadcast {
		n.session.Want(1)
		return
	}
	n.joined.Store(true)
	n.notifyAll(peerhandle.Joined{Peer: n.connection})
	n.session.Want(1)
}

// notifyAll sends a message to the actors of blocks and transactions.
func (n *connActor) notifyAll(msg any) {
	for _, ref := range []*ask.Ref{n.cfg.Sync, n.cfg.Relay} {
		ref.Tell(msg)
	}
}

// rejoin introduces the peer to a relay that has forgotten it.
func (n *connActor) rejoin() {
	if !n.joined.Load() || n.left.Load() {
		return
	}
	n.cfg.Relay.Tell(peerhandle.Joined{Peer: n.connection})
	if n.feeFilter != nil {
		n.cfg.Relay.Tell(peerhandle.Received{Peer: n.connection, Message: *n.feeFilter, Handled: func() {}})
	}
}

// sendLeft says goodbye for the peer, once.
func (n *connActor) sendLeft() {
	if n.joined.Load() && n.left.CompareAndSwap(false, true) {
		n.notifyAll(peerhandle.Left{ID: n.info.ID})
	}
}

// close ends the session, which takes no longer than closing its socket.
func (n *connActor) close() {
	n.cancel()
	n.session.Close(p2p.ErrPanic) // counts when it has not ended yet
	n.tasks.Drop()
	n.sendLeft()
}
