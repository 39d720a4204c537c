package peers

import (
	"fmt"
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
func (n *connActor) receive(c actor.Context, m p2p.Message) {
	switch msg := m.Message.(type) {
	case *wire.MsgInv:
		blocks, txs := split(msg.InvList)
		if len(txs) > 0 && !n.takesTxs() {
			n.Disconnect(fmt.Sprintf("transaction (%v) inv sent in violation of protocol", txs[0].Hash))
			return
		}
		n.handParts(m, &wire.MsgInv{InvList: blocks}, &wire.MsgInv{InvList: txs})
	case *wire.MsgNotFound:
		blocks, txs := split(msg.InvList)
		n.handParts(m, &wire.MsgNotFound{InvList: blocks}, &wire.MsgNotFound{InvList: txs})
	case *codec.SendCmpct:
		n.compact.Store(msg.HighBandwidth && msg.Version == codec.CmpctVersion)
		n.pass(n.cfg.Sync, m)
	case *codec.Headers, *codec.Block, *wire.MsgBlock, *codec.CmpctBlock, *codec.BlockTxn, *wire.MsgSendHeaders:
		n.pass(n.cfg.Sync, m)
	case *wire.MsgPing:
		n.ping(m, msg.Nonce)
	case *wire.MsgFeeFilter:
		n.feeFilter = &m
		n.pass(n.cfg.Relay, m)
	case *wire.MsgTx:
		if !n.takesTxs() {
			n.Disconnect("transaction sent in violation of protocol")
			return
		}
		n.pass(n.cfg.Relay, m)
	case *wire.MsgMemPool:
		n.mempool(m)
	case *wire.MsgFilterLoad, *wire.MsgFilterAdd, *wire.MsgFilterClear:
		n.Disconnect(m.Command() + " received despite not offering bloom services")
	case *codec.Addresses, *wire.MsgGetAddr:
		n.table.tell(addrMessage{n.info.ID, msg, func() { n.session.Want(1) }})
	case *wire.MsgGetData:
		n.data(c, m, msg.InvList)
	case *wire.MsgGetHeaders, *wire.MsgGetBlocks, *codec.GetBlockTxn,
		*wire.MsgGetCFilters, *wire.MsgGetCFHeaders, *wire.MsgGetCFCheckpt:
		n.serve(c, msg)
	default:
		n.session.Want(1)
	}
}

// ping answers when the blocks that came before are done with: who waits for a pong
// finds the effects of all that it sent, as it does in Core. Other messages are.
func (n *connActor) ping(m p2p.Message, nonce uint64) {
	answer := func() {
		n.session.Pong(nonce)
		n.session.Want(1)
	}
	if n.cfg.Sync.IsAbsent() {
		answer()
		return
	}
	n.hand(n.cfg.Sync, m, answer)
}

// takesTxs reports whether the peer may announce and send transactions.
func (n *connActor) takesTxs() bool {
	switch n.info.Type {
	case p2p.BlockRelayOnly, p2p.Feeler:
		return false
	default:
		return !n.cfg.Relay.IsAbsent() && !n.cfg.BlocksOnly || n.info.Permissions.Relay
	}
}

// mempool passes on the wish to hear of the whole pool, which takes a permission
// where no bloom filters are served.
func (n *connActor) mempool(m p2p.Message) {
	switch {
	case n.info.Permissions.Mempool:
		n.pass(n.cfg.Relay, m)
	case n.info.Permissions.NoBan:
		n.session.Want(1)
	default:
		n.Disconnect("mempool request with bloom filters disabled")
	}
}

// data has each part of a request answered by whom it concerns, the transactions
// first.
func (n *connActor) data(c actor.Context, m p2p.Message, list []*wire.InvVect) {
	n.debugf("received getdata (%d invsz) peer=%d", len(list), n.info.ID)
	blocks, txs := split(list)
	then := func() { n.actor.tell(answerBlocks{blocks}) }
	switch {
	case len(txs) == 0:
		n.serve(c, &wire.MsgGetData{InvList: blocks})
	case n.cfg.Relay.IsAbsent():
		n.Send(&wire.MsgNotFound{InvList: txs})
		n.serve(c, &wire.MsgGetData{InvList: blocks})
	default:
		part := p2p.Message{Message: &wire.MsgGetData{InvList: txs}, Payload: m.Payload, Received: m.Received}
		n.hand(n.cfg.Relay, part, then)
	}
}

// answerBlocks asks for the answer to the rest of a request.
type answerBlocks struct{ list []*wire.InvVect }

// pass hands a message to an actor. Without one it is forgotten.
func (n *connActor) pass(to *ask.Ref, m p2p.Message) {
	if to == nil {
		n.session.Want(1)
		return
	}
	n.hand(to, m, func() { n.session.Want(1) })
}

// hand tells an actor a message; done is called once, when it is handled.
func (n *connActor) hand(to *ask.Ref, m p2p.Message, done func()) {
	var handled atomic.Bool
	to.Tell(link.Received{Peer: n.connection, Message: m, Handled: func() {
		if handled.CompareAndSwap(false, true) {
			done()
		}
	}})
}

// handParts hands the parts of a message to the actors of blocks and transactions.
func (n *connActor) handParts(m p2p.Message, blocks, txs wire.Message) {
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

// split parts what concerns blocks from what concerns transactions. Unknown
// types concern nobody.
func split(list []*wire.InvVect) (blocks, txs []*wire.InvVect) {
	for _, v := range list {
		switch v.Type { //nolint:exhaustive // unknown ones come, too
		case wire.InvTypeTx, wire.InvTypeWitnessTx, codec.InvWtx:
			txs = append(txs, v)
		case wire.InvTypeBlock, wire.InvTypeWitnessBlock, codec.InvCmpctBlock, wire.InvTypeFilteredBlock:
			blocks = append(blocks, v)
		}
	}
	return blocks, txs
}
