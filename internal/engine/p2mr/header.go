package p2mr

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/messages"
)

// A fullHeader is a header with its payload.
type fullHeader struct {
	wire.BlockHeader
	hash    chainhash.Hash
	payload []byte  // nil where the version asks for none
	aux     *auxPoW // the payload as it was read
}

var errHeader = errors.New("malformed header")

// readHeader reads the header that a block begins with, or that stands alone.
func (e *Engine) readHeader(raw []byte) (h *fullHeader, size int, err error) {
	size = e.net.HeaderLen(raw)
	if size < 0 || size > len(raw) {
		return nil, 0, errHeader
	}
	h = &fullHeader{hash: chainhash.DoubleHashH(raw[:wire.MaxBlockHeaderPayload])}
	if err := h.Deserialize(bytes.NewReader(raw)); err != nil {
		return nil, 0, errHeader
	}
	if e.rules.IsAuxPoW(&h.BlockHeader) {
		h.payload = bytes.Clone(raw[wire.MaxBlockHeaderPayload:size])
		if h.aux, err = parseAuxPoW(h.payload); err != nil {
			return nil, 0, err
		}
	}
	return h, size, nil
}

func (h *fullHeader) lane() lane {
	if h.aux != nil {
		return mergeMined
	}
	return permissionless
}

func reject(reason, debug string) error {
	return &messages.RejectError{Reason: reason, Debug: debug}
}

// checkWork checks what a header proves by itself.
func (e *Engine) checkWork(h *fullHeader) error {
	if h.aux == nil {
		if !e.enough(&h.hash, h.Bits) {
			return reject("high-hash", "proof of work failed")
		}
		return nil
	}
	if chainID(&h.BlockHeader) != e.rules.ChainID {
		return reject("bad-auxpow-chainid", "")
	}
	return e.checkAuxPoW(h, eitherOrder)
}

func (e *Engine) checkAuxPoW(h *fullHeader, as order) error {
	enough := func(parent *chainhash.Hash) bool { return e.enough(parent, h.Bits) }
	if reason := h.aux.check(&h.hash, e.rules.ChainID, as, enough); reason != "" {
		return reject(reason, "")
	}
	return nil
}

// Proves reports whether a serialized header of a network has the work that its bits
// ask for, by itself or by the block that it was merge-mined with.
func Proves(net *dialect.Network, raw []byte) bool {
	e := &Engine{net: net, rules: net.P2MR}
	h, size, err := e.readHeader(raw)
	return err == nil && size == len(raw) && e.checkWork(h) == nil
}

// enough reports whether a hash is at most the compact target, and the target one
// that can be.
func (e *Engine) enough(hash *chainhash.Hash, bits uint32) bool {
	target := blockchain.CompactToBig(bits)
	return target.Sign() > 0 && target.Cmp(e.net.Params.PowLimit) <= 0 && blockchain.HashToBig(hash).Cmp(target) <= 0
}

// chainID is that in a version.
func chainID(h *wire.BlockHeader) uint16 { return uint16(uint32(h.Version) >> 13) }

// checkPlace checks a header as a child of its parent.
func (e *Engine) checkPlace(h *fullHeader, parent *chainview.Block) error {
	height, time := parent.Height+1, h.Timestamp.Unix()
	if h.Bits != e.requiredBits(parent, h.lane(), time) {
		return reject("bad-diffbits", "incorrect proof of work")
	}
	if time <= parent.MedianTimePast() {
		return reject("time-too-old", "block's timestamp is too early")
	}
	if time > e.clock.Now().Unix()+e.rules.MaxFuture(height) {
		return reject(reasonFuture, "block timestamp too far in the future")
	}
	if err := e.checkVersion(h, height); err != nil {
		return err
	}
	if h.aux == nil {
		return nil
	}
	as := displayOrder
	if height < e.rules.DisplayOrder {
		as = byteOrder
	}
	return e.checkAuxPoW(h, as)
}

// reasonFuture is the reject reason of a block that may be right later.
const reasonFuture = "time-too-new"

// checkVersion checks the layout of the version: three bits on top, the chain, four
// reserved bits, the mark of merge-mined blocks, eight bits of signals.
func (e *Engine) checkVersion(h *fullHeader, height int32) error {
	version := uint32(h.Version)
	bad := func(kind string) error {
		return reject(fmt.Sprintf("bad-version%s(0x%08x)", kind, version), fmt.Sprintf("rejected nVersion=0x%08x block", version))
	}
	for _, old := range []struct {
		below int32
		rule  string
	}{{2, "bip34"}, {3, "bip66"}, {4, "bip65"}} {
		if h.Version < old.below && e.net.Active(old.rule, height) {
			return bad("")
		}
	}
	if height < e.rules.Cadence {
		if h.aux != nil {
			return reject("bad-cadence-inactive", "")
		}
		return nil
	}
	const signals, reserved = 0xff, 0xf << 9
	top := version >> 29
	switch {
	case version&^signals != 0 && top != 1:
		return bad("-topbits")
	case top == 1 && version&reserved != 0:
		return bad("-reserved")
	}
	return nil
}

// AcceptHeaders makes headers part of the tree without their blocks, and
// returns the block of the last one and how many were new. What it adds is found
// again after a restart. The error is a [*messages.RejectError] for the first
// header that is refused; those before it stay.
func (e *Engine) AcceptHeaders(raw [][]byte) (last *chainview.Block, added int, err error) {
	c := begin()
	for _, one := range raw {
		var h *fullHeader
		var size int
		if h, size, err = e.readHeader(one); err != nil || size != len(one) {
			err = reject("bad-header", "malformed header")
			break
		}
		var b *chainview.Block
		known := e.tree.Lookup(&h.hash) != nil
		if b, err = e.acceptHeader(c, h); err != nil {
			break
		}
		if last = b; !known {
			added++
		}
	}
	if failed := e.commit(c); failed != nil {
		return nil, 0, failed
	}
	return last, added, err
}

// acceptHeader checks a header and puts it into the tree. One that is known is
// looked at again: it may have come with another payload.
func (e *Engine) acceptHeader(c *change, h *fullHeader) (*chainview.Block, error) {
	known := e.tree.Lookup(&h.hash)
	if known != nil && known.Height == 0 {
		return known, nil
	}
	if err := e.checkWork(h); err != nil {
		return nil, err
	}
	if known != nil && known.Status().Invalid() {
		return nil, reject("duplicate-invalid", fmt.Sprintf("block %v was previously marked invalid", h.hash))
	}
	parent := e.tree.Lookup(&h.PrevBlock)
	if parent == nil {
		return nil, reject("prev-blk-not-found", "")
	}
	if parent.Status().Invalid() {
		return nil, reject("bad-prevblk", "")
	}
	if known != nil && h.aux == nil {
		return known, nil
	}
	if err := e.checkPlace(h, parent); err != nil {
		return nil, err
	}
	if known != nil {
		return known, nil
	}
	b, err := e.tree.AddWithPayload(&h.BlockHeader, h.payload, blockchain.CalcWork(h.Bits), 0)
	if err != nil {
		return nil, err
	}
	e.settle(b, h.lane())
	c.touch(b)
	return b, nil
}

// settle notes the place of a block of the tree.
func (e *Engine) settle(b *chainview.Block, of lane) {
	p := placeOf(b, e.places[b.Parent], of)
	e.taken++
	p.taken = e.taken
	e.places[b] = p
}
