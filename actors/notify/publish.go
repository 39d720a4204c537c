package notify

import (
	"bytes"
	"context"
	"encoding/binary"
	"log/slog"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/messages"
)

// The topics, as Bitcoin Core names them.
const (
	hashBlock = "hashblock"
	hashTx    = "hashtx"
	rawBlock  = "rawblock"
	rawTx     = "rawtx"
	sequence  = "sequence"
)

var topics = []string{hashBlock, hashTx, rawBlock, rawTx, sequence}

// A Publisher sends messages to the subscribers of their topics. Its methods never wait for a
// subscriber.
type Publisher interface {
	// Has reports whether a topic is published.
	Has(topic string) bool

	// Publish sends a message, whose body is not changed any more.
	Publish(topic string, body []byte)

	// Skip counts messages that could not be made, so that subscribers see that they are
	// missing.
	Skip(topic string, messages int)
}

// A stream makes messages of the events of the memory pool: its changes, and the blocks that it
// has seen meanwhile. One worker at a time uses it.
type stream struct {
	to      Publisher
	view    *chainview.Current
	initial *chainview.InitialDownload
	log     *slog.Logger

	at   *chainview.Block // the end of the chain as it was published; nil: not known
	left *chainview.Block // that the next best block has more work than; nil: any
}

// publish publishes events in their order, as far as there is time.
func (s *stream) publish(ctx context.Context, waiting []messages.PoolChanged) {
	for i := range waiting {
		if ctx.Err() != nil {
			return
		}
		s.one(&waiting[i])
	}
}

func (s *stream) one(m *messages.PoolChanged) {
	if m.Reset {
		s.gap()
	}
	published := 0
	for i := range m.Blocks {
		step := &m.Blocks[i]
		for ; published < step.After; published++ {
			s.change(&m.Changes[published])
		}
		if !step.Leap {
			s.block(step, i == len(m.Blocks)-1)
		}
	}
	for ; published < len(m.Changes); published++ {
		s.change(&m.Changes[published])
	}
}

// gap shows subscribers that something is missing.
func (s *stream) gap() {
	s.at, s.left = nil, nil
	for _, topic := range topics {
		s.to.Skip(topic, 1)
	}
}

// change publishes a transaction that came into the pool, or left it otherwise than by a block.
func (s *stream) change(c *messages.PoolChange) {
	switch {
	case c.Added:
		s.tx(c.Tx, c.ID)
		s.sequence(c.ID, 'A', c.Number)
	case c.Reason != messages.PoolBlock:
		s.sequence(c.ID, 'R', c.Number)
	}
}

// tx publishes a transaction that came into the pool, or is in a block that joined the chain or
// left it.
func (s *stream) tx(tx *wire.MsgTx, id chainhash.Hash) {
	if s.to.Has(hashTx) {
		s.to.Publish(hashTx, reversed(id))
	}
	if s.to.Has(rawTx) {
		var raw bytes.Buffer
		raw.Grow(tx.SerializeSize())
		_ = tx.Serialize(&raw) // into memory
		s.to.Publish(rawTx, raw.Bytes())
	}
}

// sequence publishes a step of the chain or of the pool, which alone has a number.
func (s *stream) sequence(hash chainhash.Hash, label byte, number ...uint64) {
	if !s.to.Has(sequence) {
		return
	}
	body := append(make([]byte, 0, len(hash)+1+8), reversed(hash)...)
	body = append(body, label)
	for _, n := range number {
		body = binary.LittleEndian.AppendUint64(body, n)
	}
	s.to.Publish(sequence, body)
}

// reversed returns the bytes of a hash as they are read and written by people.
func reversed(hash chainhash.Hash) []byte {
	slices.Reverse(hash[:])
	return hash[:]
}

// block publishes a block that joined the chain or left it. last says that no other is known of
// after it.
func (s *stream) block(step *messages.PoolStep, last bool) {
	reader := s.view.Open()
	b := lookup(reader, &step.Hash)
	if b == nil {
		s.gap()
		return
	}
	if before := b; s.at != nil {
		if step.Connected {
			before = b.Parent
		}
		if before == nil || before.Hash != s.at.Hash {
			s.gap()
		}
	}
	s.txs(reader, b)
	if !step.Connected {
		s.sequence(b.Hash, 'D')
		s.leave(b)
		return
	}
	s.at = b
	s.sequence(b.Hash, 'C')
	if last || s.left == nil || b.CompareWork(s.left) > 0 {
		s.left = nil
		s.best(reader, b)
	}
}

func lookup(reader chainview.Reader, hash *chainhash.Hash) *chainview.Block {
	if reader == nil {
		return nil
	}
	return reader.Lookup(hash)
}

// leave notes that a block has left the chain: the next best block has more work than the old
// tip, unless blocks left because they are invalid.
func (s *stream) leave(b *chainview.Block) {
	s.at = b.Parent
	switch {
	case b.Status().Invalid():
		s.left = b.Parent
	case s.left == nil:
		s.left = b
	}
}

// txs publishes the transactions of a block.
func (s *stream) txs(reader chainview.Reader, b *chainview.Block) {
	if !s.to.Has(hashTx) && !s.to.Has(rawTx) {
		return
	}
	block, err := reader.Block(&b.Hash)
	if err == nil {
		for _, tx := range block.Transactions {
			s.tx(tx, tx.TxHash())
		}
		return
	}
	n, countErr := b.TxCount(reader)
	if countErr != nil {
		n = 1 // there is one at least
	}
	s.to.Skip(hashTx, n)
	s.to.Skip(rawTx, n)
	s.unreadable(b, err)
}

// best publishes a new best block, where the initial download is over.
func (s *stream) best(reader chainview.Reader, b *chainview.Block) {
	if s.initial.Lasts(b) {
		return
	}
	if s.to.Has(hashBlock) {
		s.to.Publish(hashBlock, reversed(b.Hash))
	}
	if !s.to.Has(rawBlock) {
		return
	}
	raw, err := reader.Raw(&b.Hash)
	if err != nil {
		s.to.Skip(rawBlock, 1)
		s.unreadable(b, err)
		return
	}
	s.to.Publish(rawBlock, raw)
}

func (s *stream) unreadable(b *chainview.Block, err error) {
	s.log.Warn("zmq: a block is not published", "block", b.Hash, "err", err)
}
