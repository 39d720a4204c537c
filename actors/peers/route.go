package peers

import (
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/link"
)

// receive hands a message to whom it concerns. The peer is read on when all of
// them are done with it: what follows a message finds its effects, as it does in
// Core.
func (n *conn) receive(_ actor.Context, m p2p.Message) {
	switch msg := m.Message.(type) {
	case *wire.MsgInv:
		blocks, txs := split(msg.InvList)
		n.share(m, &wire.MsgInv{InvList: blocks}, &wire.MsgInv{InvList: txs})
	case *wire.MsgNotFound:
		blocks, txs := split(msg.InvList)
		n.share(m, &wire.MsgNotFound{InvList: blocks}, &wire.MsgNotFound{InvList: txs})
	case *codec.SendCmpct:
		n.compact.Store(msg.HighBandwidth && msg.Version == codec.CmpctVersion)
		n.pass(n.cfg.Sync, m)
	case *codec.Headers, *wire.MsgBlock, *codec.CmpctBlock, *codec.BlockTxn, *wire.MsgSendHeaders:
		n.pass(n.cfg.Sync, m)
	case *wire.MsgTx, *wire.MsgMemPool, *wire.MsgFeeFilter:
		n.pass(n.cfg.Relay, m)
	default:
		n.session.Want(1)
	}
}

// pass hands a message to an actor. Without one it is forgotten.
func (n *conn) pass(to *ask.Ref, m p2p.Message) {
	if to == nil {
		n.session.Want(1)
		return
	}
	n.hand(to, m, func() { n.session.Want(1) })
}

// hand tells an actor a message; done is called once, when it is handled.
func (n *conn) hand(to *ask.Ref, m p2p.Message, done func()) {
	var handled atomic.Bool
	to.Tell(link.Received{Peer: n.line, Message: m, Handled: func() {
		if handled.CompareAndSwap(false, true) {
			done()
		}
	}})
}

// share hands the parts of a message to the actors of blocks and transactions.
func (n *conn) share(m p2p.Message, blocks, txs wire.Message) {
	var parts atomic.Int32
	parts.Store(1)
	done := func() {
		if parts.Add(-1) == 0 {
			n.session.Want(1)
		}
	}
	for _, part := range []struct {
		to  *ask.Ref
		msg wire.Message
	}{{n.cfg.Sync, blocks}, {n.cfg.Relay, txs}} {
		if part.to == nil || size(part.msg) == 0 {
			continue
		}
		parts.Add(1)
		n.hand(part.to, p2p.Message{Message: part.msg, Payload: m.Payload, Received: m.Received}, done)
	}
	done()
}

// size is how many entries an inventory has.
func size(m wire.Message) int {
	switch m := m.(type) {
	case *wire.MsgInv:
		return len(m.InvList)
	case *wire.MsgNotFound:
		return len(m.InvList)
	}
	return 0
}

// invWtx is the type of a transaction named by its wtxid (BIP339), which btcd
// does not know.
const invWtx wire.InvType = 5

// split parts what concerns blocks from what concerns transactions. Unknown
// types concern nobody.
func split(list []*wire.InvVect) (blocks, txs []*wire.InvVect) {
	for _, v := range list {
		switch v.Type { //nolint:exhaustive // unknown ones come, too
		case wire.InvTypeTx, wire.InvTypeWitnessTx, invWtx:
			txs = append(txs, v)
		case wire.InvTypeBlock, wire.InvTypeWitnessBlock, invCmpctBlock, wire.InvTypeFilteredBlock:
			blocks = append(blocks, v)
		}
	}
	return blocks, txs
}

// invCmpctBlock asks for a compact block (BIP152), which btcd does not know.
const invCmpctBlock wire.InvType = 4
