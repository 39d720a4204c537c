package bitcoin

import (
	"fmt"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus/target"
)

// ReasonNoParent is the reject reason of a block whose parent is unknown: it
// may be offered again later.
const ReasonNoParent = "prev-blk-not-found"

// maxFuture is how many seconds a block may be ahead of the clock.
const maxFuture = 2 * 60 * 60

var errHighHash = reject("high-hash", "proof of work failed")

// solves reports whether a hash is at most the compact target, and the target one
// that can be.
func (e *Engine) solves(hash *chainhash.Hash, bits uint32) bool {
	return target.Meets(hash, bits, e.net.Params.PowLimit)
}

// AcceptHeaders makes headers part of the tree without their blocks, and
// returns the block of the last one and how many were new. What it adds is found
// again after a restart. The error is a [*messages.RejectError] for the first
// header that is refused; those before it stay.
func (e *Engine) AcceptHeaders(raw [][]byte) (last *chainview.Block, added int, err error) {
	if e.broken != nil {
		return nil, 0, e.broken
	}
	for _, one := range raw {
		header := new(wire.BlockHeader)
		if len(one) != wire.MaxBlockHeaderPayload || !readHeader(header, one) {
			err = reject("bad-header", "malformed header")
			break
		}
		var b *chainview.Block
		var isNew bool
		hash := chainhash.DoubleHashH(one)
		if b, isNew, err = e.acceptHeader(&hash, header); err != nil {
			break
		}
		if last = b; isNew {
			added++
		}
	}
	if failed := e.commit(); failed != nil {
		return nil, 0, failed
	}
	return last, added, err
}

// acceptHeader checks a header and puts it into the tree, if it is not there (Core's
// AcceptBlockHeader).
func (e *Engine) acceptHeader(hash *chainhash.Hash, header *wire.BlockHeader) (b *chainview.Block, isNew bool, err error) {
	if b := e.tree.Lookup(hash); b != nil {
		if b.Status().Invalid() {
			return nil, false, reject("duplicate-invalid", fmt.Sprintf("block %v was previously marked invalid", hash))
		}
		return b, false, nil
	}
	if !e.solves(hash, header.Bits) {
		return nil, false, errHighHash
	}
	parent := e.tree.Lookup(&header.PrevBlock)
	if parent == nil {
		return nil, false, reject(ReasonNoParent, "")
	}
	if parent.Status().Invalid() {
		return nil, false, reject("bad-prevblk", "")
	}
	if err := e.checkHeader(header, parent); err != nil {
		return nil, false, err
	}
	if b, err = e.tree.Add(header, target.Work(header.Bits), 0); err != nil {
		return nil, false, err
	}
	e.choice.AddHeader(b)
	e.pending.touch(b)
	return b, true, nil
}

// checkHeader checks a header as a child of its parent (Core's
// ContextualCheckBlockHeader).
func (e *Engine) checkHeader(h *wire.BlockHeader, parent *chainview.Block) error {
	height, time := parent.Height+1, h.Timestamp.Unix()
	switch {
	case h.Bits != e.net.NextBits(parent, time):
		return reject("bad-diffbits", "incorrect proof of work")
	case time <= parent.MedianTimePast():
		return reject("time-too-old", "block's timestamp is too early")
	case e.net.TooEarly(parent, time):
		return reject("time-timewarp-attack", "block's timestamp is too early on diff adjustment block")
	case time > e.clock.Now().Unix()+maxFuture:
		return reject("time-too-new", "block timestamp too far in the future")
	}
	for _, old := range []struct {
		below int32
		rule  string
	}{{2, "bip34"}, {3, "bip66"}, {4, "bip65"}} {
		if h.Version < old.below && e.net.Active(old.rule, height) {
			return reject(fmt.Sprintf("bad-version(0x%08x)", uint32(h.Version)), fmt.Sprintf("rejected nVersion=0x%08x block", uint32(h.Version)))
		}
	}
	return nil
}
