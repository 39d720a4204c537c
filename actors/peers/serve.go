package peers

import (
	"errors"
	"math/big"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/peerhandle"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/segment"
)

// A server answers one message of a peer, in a worker: it reads from disk, and before it sends
// it waits until the peer has taken most of the earlier data.
type server struct {
	*connection

	chain   chainview.Reader
	damaged *chainhash.Hash // block whose filter must be rebuilt first
}

// repaired says that a filter was rebuilt, or could not be.
type repaired struct {
	message wire.Message
	err     error
}

// serve begins to answer a message. The peer's next one is read when that is done.
func (n *connActor) serve(c actor.Context, m wire.Message) {
	chain := n.cfg.Chain.Open()
	if chain == nil {
		n.session.Want(1)
		return
	}
	n.tasks.Go(c, func() func() {
		s := &server{connection: n.connection, chain: chain}
		s.answer(m)
		return func() { n.served(c, m, s.damaged) }
	})
}

// served has the next message read or, where a filter was damaged that the answer needs,
// that filter repaired.
func (n *connActor) served(c actor.Context, m wire.Message, damaged *chainhash.Hash) {
	if damaged == nil || n.cfg.Indexer.IsAbsent() {
		n.session.Want(1)
		return
	}
	ask.Then(n.ctx, c, n.cfg.Indexer, messages.RepairFilter{Block: *damaged}, func(_ messages.Done, err error) any {
		return repaired{m, err}
	})
}

func (n *connActor) repaired(c actor.Context, m repaired) {
	if m.err != nil {
		n.log.Warn("filter cannot be served", "err", m.err)
		n.session.Want(1)
		return
	}
	n.serve(c, m.message)
}

func (s *server) answer(m wire.Message) {
	switch m := m.(type) {
	case *wire.MsgGetHeaders:
		s.headers(m)
	case *wire.MsgGetBlocks:
		s.blocks(m)
	case *wire.MsgGetData:
		s.data(m.InvList)
	case *codec.GetBlockTxn:
		s.blockTxs(m)
	case *wire.MsgGetCFilters:
		s.filters(m)
	case *wire.MsgGetCFHeaders:
		s.filterHeaders(m)
	case *wire.MsgGetCFCheckpt:
		s.checkpoints(m)
	}
}

// send sends a message as soon as the peer has taken most of the earlier data. It reports false
// when the session is over.
func (s *server) send(m wire.Message) bool {
	for !s.session.CanWrite() {
		select {
		case <-s.session.Done():
			return false
		case <-s.writable:
		}
	}
	return s.session.Send(m) == nil
}

// maxHeaders is how many headers are sent at a time.
const maxHeaders = codec.MaxHeaders

// headers answers getheaders.
func (s *server) headers(m *wire.MsgGetHeaders) {
	active := s.chain.Active()
	if active.Tip().Work().Cmp(s.cfg.MinimumWork) < 0 && !s.info.Permissions.Download {
		s.debugf(
			"Ignoring getheaders from peer=%d because active chain has too little work; sending empty response",
			s.info.ID,
		)
		s.send(&codec.Headers{})
		return
	}
	next := s.after(active, m.BlockLocatorHashes)
	if len(m.BlockLocatorHashes) == 0 {
		if next = s.chain.Lookup(&m.HashStop); next == nil {
			return
		}
		if !s.mayHave(next) {
			s.debugf(
				"ProcessMessage: ignoring request from peer=%d for old block header that isn't in the main chain",
				s.info.ID,
			)
			return
		}
	}
	s.debugf("getheaders %d to %s from peer=%d", heightOf(next), stopName(&m.HashStop), s.info.ID)
	answer := new(codec.Headers)
	known := active.Tip()
	for b := next; b != nil; b = active.Next(b) {
		answer.List, answer.Payloads = append(answer.List, b.Header()), append(answer.Payloads, b.Payload())
		if len(answer.List) == maxHeaders || b.Hash == m.HashStop {
			known = b
			break
		}
	}
	s.send(answer)
	s.cfg.Sync.Tell(peerhandle.HeadersSent{ID: s.info.ID, Last: known.Hash})
}

func heightOf(b *chainview.Block) int32 {
	if b == nil {
		return -1
	}
	return b.Height
}

func stopName(h *chainhash.Hash) string {
	if *h == (chainhash.Hash{}) {
		return "end"
	}
	return h.String()
}

// after returns the block that follows the active chain's block that a locator names, nil at
// the end of the chain.
func (s *server) after(active *chainview.Chain, locator []*chainhash.Hash) *chainview.Block {
	for _, hash := range locator {
		b := s.chain.Lookup(hash)
		if b == nil {
			continue
		}
		if active.Contains(b) {
			return active.At(b.Height + 1)
		}
		if b.Ancestor(active.Height()).Is(active.Tip()) {
			return nil // the peer has more than this node
		}
	}
	return active.At(1)
}

// maxInvBlocks is how many blocks are named to a peer at a time.
const maxInvBlocks = 500

// blocks answers getblocks.
func (s *server) blocks(m *wire.MsgGetBlocks) {
	active := s.chain.Active()
	next := s.after(active, m.BlockLocatorHashes)
	s.debugf("getblocks %d to %s limit %d from peer=%d", heightOf(next), stopName(&m.HashStop), maxInvBlocks, s.info.ID)
	inv := wire.NewMsgInv()
	for b := next; b != nil && b.Hash != m.HashStop; b = active.Next(b) {
		if b.Status()&chainview.HasData == 0 {
			s.debugf(" getblocks stopping, pruned or too old block at %d %v", b.Height, b.Hash)
			break
		}
		inv.InvList = append(inv.InvList, wire.NewInvVect(wire.InvTypeBlock, &b.Hash))
		if len(inv.InvList) == maxInvBlocks {
			s.debugf("  getblocks stopping at limit %d %v", b.Height, b.Hash)
			s.continueAfter = b.Hash
			break
		}
	}
	if len(inv.InvList) > 0 {
		s.send(inv)
	}
}

// staleAge is the age, in seconds, from which on blocks outside of the active chain are not
// given out. The age is measured by the block's time, and by the work that the tip has in
// addition.
const staleAge = 30 * 24 * 60 * 60

// mayHave reports whether a peer may see a block. Blocks that left the chain long ago are not
// given out, as they could identify the node.
func (s *server) mayHave(b *chainview.Block) bool {
	active := s.chain.Active()
	if active.Contains(b) {
		return true
	}
	tip := active.Tip()
	if b.Status()&chainview.Valid == 0 || b.Status().Invalid() ||
		tip.Time().Unix()-b.Time().Unix() >= staleAge || tip.Parent == nil {
		return false
	}
	// The time that the network needs for the difference in work.
	age := new(big.Int).Sub(tip.Work(), b.Work())
	age.Mul(age, big.NewInt(int64(s.cfg.Network.Params.TargetTimePerBlock.Seconds())))
	perBlock := new(big.Int).Sub(tip.Work(), tip.Parent.Work())
	return perBlock.Sign() > 0 && age.Cmp(perBlock.Mul(perBlock, big.NewInt(staleAge))) < 0
}

// filterOf reads a filter.
func (s *server) filterOf(read func(*chainhash.Hash) (segment.Entry, error), b *chainview.Block) (segment.Entry, bool) {
	e, err := read(&b.Hash)
	if damage := new(segment.DamagedError); errors.As(err, &damage) {
		s.damaged = &b.Hash
		return e, false
	}
	if err != nil {
		s.debugf("Failed to find block filter in index: filter_type=basic, block_hash=%v", b.Hash)
	}
	return e, err == nil
}
