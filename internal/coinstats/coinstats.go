// Package coinstats counts and hashes a set of unspent outputs as Bitcoin Core
// does for gettxoutsetinfo.
//
// A [Sum] takes the outputs of whole transactions; sums of parts of the set are
// joined, but for the serialized hash, which wants all of it in order. The
// package is pure.
//
// Source: Bitcoin Core 30.2, src/kernel/coinstats.cpp.
package coinstats

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
)

// Mode is what is hashed besides counting.
type Mode int

// The modes of a [Sum].
const (
	Count  Mode = iota // nothing
	Serial             // SHA256d of all outputs, in the order of their ids and indices
	Set                // MuHash3072 of all outputs
)

// nominal is what an output counts in the bogo size, without its script: id,
// index, height with flag, amount, length of the script.
const nominal = 32 + 4 + 4 + 8 + 2

// A Coin is an unspent output.
type Coin struct {
	Out      wire.OutPoint
	Height   int32
	Coinbase bool
	Amount   int64
	Script   []byte
}

// A Sum describes the outputs that were added. Make one with [New]; it is used by
// one goroutine at a time.
type Sum struct {
	Txs      int64 // transactions with an output
	Outputs  int64
	BogoSize int64
	Amount   int64 // satoshis

	mode   Mode
	serial hash.Hash
	set    MuHash

	tx      chainhash.Hash // whose outputs wait in pending
	pending []row
	buffer  []byte
}

// row is one output of the transaction at hand, encoded in buffer.
type row struct {
	index    uint32
	from, to int
}

// New returns the sum of no outputs.
func New(mode Mode) *Sum {
	s := &Sum{mode: mode}
	if mode == Serial {
		s.serial = sha256.New()
	}
	return s
}

// Add adds an output. Outputs of one transaction come together, in any order;
// for [Serial], ids ascend in internal byte order. Nothing of c is kept.
func (s *Sum) Add(c *Coin) {
	if len(s.pending) > 0 && s.tx != c.Out.Hash {
		s.endTx()
	}
	s.tx = c.Out.Hash
	s.Outputs++
	s.BogoSize += nominal + int64(len(c.Script))
	s.Amount += c.Amount
	from := len(s.buffer)
	if s.mode != Count {
		s.buffer = AppendCoin(s.buffer, c)
	}
	s.pending = append(s.pending, row{c.Out.Index, from, len(s.buffer)})
}

// AppendCoin appends an output in the form that is hashed (Core's TxOutSer).
func AppendCoin(dst []byte, c *Coin) []byte {
	le := binary.LittleEndian
	dst = append(dst, c.Out.Hash[:]...)
	dst = le.AppendUint32(dst, c.Out.Index)
	code := uint32(c.Height) << 1
	if c.Coinbase {
		code |= 1
	}
	dst = le.AppendUint32(dst, code)
	dst = le.AppendUint64(dst, uint64(c.Amount))
	switch n := len(c.Script); {
	case n < 0xfd:
		dst = append(dst, byte(n))
	case n <= 0xffff:
		dst = le.AppendUint16(append(dst, 0xfd), uint16(n))
	default: // as of no output that can be spent
		dst = le.AppendUint32(append(dst, 0xfe), uint32(n))
	}
	return append(dst, c.Script...)
}

// endTx hashes the outputs of the transaction at hand.
func (s *Sum) endTx() {
	if len(s.pending) == 0 {
		return
	}
	s.Txs++
	slices.SortFunc(s.pending, func(a, b row) int { return cmp.Compare(a.index, b.index) })
	for _, r := range s.pending {
		switch encoded := s.buffer[r.from:r.to]; s.mode {
		case Serial:
			s.serial.Write(encoded)
		case Set:
			s.set.Insert(encoded)
		case Count:
		}
	}
	s.pending, s.buffer = s.pending[:0], s.buffer[:0]
}

// Join adds a sum of other transactions. It is not for [Serial].
func (s *Sum) Join(other *Sum) {
	s.endTx()
	other.endTx()
	s.Txs += other.Txs
	s.Outputs += other.Outputs
	s.BogoSize += other.BogoSize
	s.Amount += other.Amount
	s.set.Join(&other.set)
}

// Hash ends the sum and returns its hash in internal byte order, zero for
// [Count].
func (s *Sum) Hash() chainhash.Hash {
	s.endTx()
	switch s.mode {
	case Serial:
		return sha256.Sum256(s.serial.Sum(nil))
	case Set:
		return s.set.Sum()
	case Count:
	}
	return chainhash.Hash{}
}
