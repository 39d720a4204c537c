// Package pow has the proof of work of chains that pay to P2MR outputs: two lanes of
// blocks with targets of their own, and merge mining with another chain (AuxPoW). It
// knows no network: [Params] has what differs between networks.
package pow

import (
	"bytes"
	"errors"
	"math/big"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus"
)

// Params are what differs between networks.
type Params struct {
	ChainID uint16 // in the version of merge-mined blocks
	Cadence int32  // height of the first block that is of a lane

	Difficulty    Difficulty
	PeriodBits    PeriodBits // where the difficulty is [Periodic]
	MinDifficulty bool       // a block long after its parent may be easy
	Anchors       Anchors    // targets to begin with

	Limit     *big.Int // the highest target
	LimitBits uint32   // of blocks that may be easy
	Start     int64    // time of the genesis block, in seconds since 1970
}

// Difficulty says how the target of a block is found.
type Difficulty uint8

// The ways.
const (
	FixedDifficulty Difficulty = iota // that of the parent
	ASERT                             // exponential, by lane
	Periodic                          // anew after so many blocks, as on Bitcoin's chains
)

// PeriodBits returns the compact target of a block on parent; late says that it comes so long after parent that it
// may be easy.
type PeriodBits func(parent *chainview.Block, late bool) uint32

// Anchors are the compact targets that each lane begins with.
type Anchors struct{ Permissionless, AuxPoW uint32 }

// A Header is a header with its payload.
type Header struct {
	wire.BlockHeader
	Hash    chainhash.Hash
	Payload []byte  // nil where the version asks for none
	aux     *auxPoW // the payload as it was read
}

// ErrHeader reports bytes that do not begin with a header.
var ErrHeader = errors.New("malformed header")

// ReadHeader reads the header that raw begins with, and returns its length with its
// payload. It shares no memory with raw.
func ReadHeader(raw []byte) (h *Header, size int, err error) {
	size = HeaderLen(raw)
	if size < 0 || size > len(raw) {
		return nil, 0, ErrHeader
	}
	h = &Header{Hash: chainhash.DoubleHashH(raw[:wire.MaxBlockHeaderPayload])}
	if err := h.Deserialize(bytes.NewReader(raw)); err != nil {
		return nil, 0, ErrHeader
	}
	if IsAuxPoW(&h.BlockHeader) {
		h.Payload = bytes.Clone(raw[wire.MaxBlockHeaderPayload:size])
		if h.aux, err = parseAuxPoW(h.Payload); err != nil {
			return nil, 0, err
		}
	}
	return h, size, nil
}

// auxPoWVersion tells from a block's version whether it is merge-mined.
func auxPoWVersion(version uint32) bool { return version>>29 == 1 && version&(1<<8) != 0 }

// IsAuxPoWVersion is IsAuxPoW for the version alone.
func IsAuxPoWVersion(version int32) bool { return auxPoWVersion(uint32(version)) }

// IsAuxPoW reports whether a block is merge-mined, so that a payload follows its
// header wherever that is serialized.
func IsAuxPoW(h *wire.BlockHeader) bool { return auxPoWVersion(uint32(h.Version)) }

// MergeMined reports whether the header has the payload of a merge-mined block.
func (h *Header) MergeMined() bool { return h.aux != nil }

// Lane is the lane that the block is of.
func (h *Header) Lane() Lane {
	if h.aux != nil {
		return MergeMined
	}
	return Permissionless
}

// chainID is that in a version.
func chainID(h *wire.BlockHeader) uint16 { return uint16(uint32(h.Version) >> 13) }

// CheckWork checks what a header proves by itself. It returns the reject reason, empty
// for a right one.
func (p *Params) CheckWork(h *Header) (reason string) {
	if h.aux == nil && !p.enough(&h.Hash, h.Bits) {
		return "high-hash"
	}
	return p.CheckAuxPoW(h, EitherOrder, true)
}

// CheckAuxPoW checks the payload of a merge-mined block, whose commitment is in an order, with or without the
// work of its parent. It returns the reject reason, empty for a right one, and for a block without a payload.
func (p *Params) CheckAuxPoW(h *Header, as Order, work bool) (reason string) {
	switch {
	case h.aux == nil:
		return ""
	case chainID(&h.BlockHeader) != p.ChainID:
		return "bad-auxpow-chainid"
	}
	return h.aux.check(&h.Hash, p.ChainID, as, func(parent *chainhash.Hash) bool {
		return !work || p.enough(parent, h.Bits)
	})
}

// Proves reports whether a serialized header has the work that its bits ask for, by
// itself or by the block that it was merge-mined with.
func (p *Params) Proves(raw []byte) bool {
	h, size, err := ReadHeader(raw)
	return err == nil && size == len(raw) && p.CheckWork(h) == ""
}

// enough reports whether a hash is at most the compact target, and whether this
// is a valid target, not above the limit.
func (p *Params) enough(hash *chainhash.Hash, bits uint32) bool {
	return consensus.MeetsTarget(hash, bits, p.Limit)
}
