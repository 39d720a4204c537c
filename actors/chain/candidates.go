package chain

import (
	"bytes"
	"container/list"
	"time"
	"unique"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/nodemsg"
)

// candidates are the blocks that wait for the work of another chain. The zero value has none.
type candidates struct {
	nodemsg.AuxBlocks
	byHash map[chainhash.Hash]*list.Element // of order
	order  list.List                        // of *candidate, that which was made first in front
}

// A candidate is a block without its payload. Candidates of one tip have most transactions in common, so the
// bytes of each are kept once.
type candidate struct {
	hash     chainhash.Hash
	parent   chainhash.Hash
	header   []byte
	coinbase []byte
	txs      []unique.Handle[string] // the others
	made     int64                   // seconds since 1970
}

func newCandidate(header *wire.BlockHeader, txs []*wire.MsgTx) *candidate {
	c := &candidate{parent: header.PrevBlock, header: headerBytes(header)}
	for i, tx := range txs {
		raw := serialized(func(b *bytes.Buffer) error { return tx.Serialize(b) })
		if i == 0 {
			c.coinbase = raw
			continue
		}
		c.txs = append(c.txs, unique.Make(string(raw)))
	}
	return c
}

// with returns the serialized block with its payload.
func (c *candidate) with(payload []byte) []byte {
	return serialized(func(b *bytes.Buffer) error {
		b.Write(c.header)
		b.Write(payload)
		if err := wire.WriteVarInt(b, 0, uint64(1+len(c.txs))); err != nil {
			return err
		}
		b.Write(c.coinbase)
		for _, tx := range c.txs {
			b.WriteString(tx.Value())
		}
		return nil
	})
}

// keep keeps a block that is made now, also where it was kept before.
func (s *candidates) keep(hash chainhash.Hash, c *candidate, now time.Time) {
	s.drop(hash)
	c.hash, c.made = hash, now.Unix()
	if s.byHash == nil {
		s.byHash = make(map[chainhash.Hash]*list.Element)
	}
	s.byHash[hash] = s.order.PushBack(c)
	if s.Limit > 0 && int64(len(s.byHash)) > s.Limit {
		s.remove(s.order.Front())
	}
}

// get returns a block, nil where it is not kept.
func (s *candidates) get(hash chainhash.Hash) *candidate {
	if e := s.byHash[hash]; e != nil {
		return candidateOf(e)
	}
	return nil
}

// drop forgets a block.
func (s *candidates) drop(hash chainhash.Hash) {
	if e := s.byHash[hash]; e != nil {
		s.remove(e)
	}
}

// prune forgets the blocks that are not on the tip, and those that are too old.
func (s *candidates) prune(tip chainhash.Hash, now time.Time) {
	for e := s.order.Front(); e != nil; {
		next, c := e.Next(), candidateOf(e)
		if c.parent != tip || s.Expiry > 0 && now.Unix()-c.made > int64(s.Expiry/time.Second) {
			s.remove(e)
		}
		e = next
	}
}

func (s *candidates) remove(e *list.Element) {
	delete(s.byHash, candidateOf(e).hash)
	s.order.Remove(e)
}

func candidateOf(e *list.Element) *candidate {
	c, _ := e.Value.(*candidate) // nothing else is put there
	return c
}
