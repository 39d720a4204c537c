package peers

import (
	"fmt"
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/peerhandle"
)

// receive hands a message to the actors that it concerns. The next one of the peer is
// read when all of them have handled it, so that it finds the effects of the one before,
// as in Core.
func (n *connActor) receive(c actor.Context, m p2p.Message) {
	if n.info.Type == p2p.PrivateBroadcast {
		n.table.tell(privateMessage{n.info.ID, m.Message, func() { n.session.Want(1) }})
		return
	}
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
		if n.cfg.Private {
			n.table.tell(sentBack{msg, p2p.PeerName(n.info.ID, n.info.LogAddr)})
		}
		n.pass(n.cfg.Relay, m)
	case *wire.MsgMemPool:
		n.mempool(m)
	case *wire.MsgFilterLoad, *wire.MsgFilterAdd, *wire.MsgFilterClear:
		n.filter(m)
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

// ping answers after earlier blocks have been handled. So a peer that has received the
// pong finds the effects of all its earlier messages, as with Core. Messages of other
// kinds are handled before the next message is read.
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

// filter sets which transactions are announced to the peer. From a filter on it listens, whatever its
// version said.
func (n *connActor) filter(m p2p.Message) {
	f := n.info.Filter
	if f == nil {
		n.Disconnect(m.Command() + " received despite not offering bloom services")
		return
	}
	switch msg := m.Message.(type) {
	case *wire.MsgFilterLoad:
		f.Load(msg)
	case *wire.MsgFilterClear:
		f.Clear()
	case *wire.MsgFilterAdd:
		if err := f.Add(msg.Data); err != nil {
			n.Misbehaving(err.Error())
		}
		n.session.Want(1)
		return
	}
	if !n.listens.Swap(true) && n.info.Remote.Version.NoTransactions {
		n.table.tell(relaying{n.info.ID, m.Command()})
	}
	n.pass(n.cfg.Relay, m)
}

// mempool passes on a request for the ids of the whole pool. It takes a permission,
// since no bloom filters are served.
func (n *connActor) mempool(m p2p.Message) {
	switch {
	case n.info.Permissions.Mempool:
		n.pass(n.cfg.Relay, m)
	case n.info.Filter != nil:
		if n.totals.Uploads.State(n.cfg.Now()).Reached && !n.info.Permissions.NoBan {
			n.Disconnect("mempool request with bandwidth limit reached")
			return
		}
		n.pass(n.cfg.Relay, m)
	case n.info.Permissions.NoBan:
		n.session.Want(1)
	default:
		n.Disconnect("mempool request with bloom filters disabled")
	}
}

// data has relay answer the part of a request that names transactions, then answers
// the part that names blocks.
func (n *connActor) data(c actor.Context, m p2p.Message, list []*wire.InvVect) {
	n.debugf("received getdata (%d invsz) peer=%d", len(list), n.info.ID)
	if len(list) > 0 {
		n.debugf("received getdata for: %s peer=%d", invName(list[0]), n.info.ID)
	}
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

// invName names an entry of an inventory as Core does.
func invName(v *wire.InvVect) string {
	const witness = wire.InvTypeWitnessTx &^ wire.InvTypeTx
	var name, prefix string
	if v.Type&witness != 0 {
		prefix = "witness-"
	}
	switch v.Type &^ witness {
	case wire.InvTypeTx:
		name = "tx"
	case codec.InvWtx:
		name = "wtx"
	case wire.InvTypeBlock:
		name = "block"
	case wire.InvTypeFilteredBlock:
		name = "merkleblock"
	case codec.InvCmpctBlock:
		name = "cmpctblock"
	default:
		return fmt.Sprintf("0x%08x %v", uint32(v.Type), v.Hash)
	}
	return fmt.Sprintf("%s%s %v", prefix, name, v.Hash)
}

// answerBlocks asks for the answer to the rest of a request.
type answerBlocks struct{ list []*wire.InvVect }

// pass hands a message to an actor. Where that is absent the message is dropped.
func (n *connActor) pass(to *ask.Ref, m p2p.Message) {
	if to.IsAbsent() {
		n.session.Want(1)
		return
	}
	n.hand(to, m, func() { n.session.Want(1) })
}

// hand sends an actor a message; done is called once, when it is handled.
func (n *connActor) hand(to *ask.Ref, m p2p.Message, done func()) {
	var handled atomic.Bool
	to.Tell(peerhandle.Received{Peer: n.connection, Message: m, Handled: func() {
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
		if part.to.IsAbsent() || size(part.msg) == 0 {
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

// split separates the entries for blocks from those for transactions. Entries of
// unknown types are left out.
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
