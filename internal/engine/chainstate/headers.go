package chainstate

import (
	"fmt"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus"
)

// ReasonNoParent is the reject reason of a block whose parent is unknown: it
// may be offered again later.
const ReasonNoParent = "prev-blk-not-found"

// AcceptHeaders makes headers part of the tree without their blocks, and
// returns the block of the last one and how many were new. Added headers are
// found again after a restart. The error is a [*messages.RejectError] for the
// first header that is refused; those before it stay.
func (e *Engine) AcceptHeaders(raw [][]byte) (last *chainview.Block, added int, err error) {
	if e.broken != nil {
		return nil, 0, e.broken
	}
	for _, one := range raw {
		h, size, malformed := e.kind.Headers.Read(one)
		if malformed != nil || size != len(one) {
			err = reject("bad-header", "malformed header")
			break
		}
		var b *chainview.Block
		var isNew bool
		if b, isNew, err = e.acceptHeader(h); err != nil {
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
// AcceptBlockHeader). A known header is checked again if it has a payload: it may
// have come with another payload.
func (e *Engine) acceptHeader(h *Header) (b *chainview.Block, isNew bool, err error) {
	known := e.tree.Lookup(&h.Hash)
	switch {
	case known != nil && known.Status().Invalid():
		return nil, false, reject("duplicate-invalid", fmt.Sprintf("block %v was previously marked invalid", h.Hash))
	case known != nil && (h.Payload == nil || known.Parent == nil):
		return known, false, nil
	case known != nil:
		return known, false, e.kind.Headers.CheckAgain(h, known.Height)
	}
	if err := e.kind.Headers.CheckWork(h, true); err != nil {
		return nil, false, err
	}
	parent := e.tree.Lookup(&h.PrevBlock)
	if parent == nil {
		return nil, false, reject(ReasonNoParent, "")
	}
	if parent.Status().Invalid() {
		return nil, false, reject("bad-prevblk", "")
	}
	if err := e.kind.Headers.Check(h, parent); err != nil {
		return nil, false, err
	}
	if b, err = e.tree.AddWithPayload(&h.BlockHeader, h.Payload, consensus.TargetWork(h.Bits), 0); err != nil {
		return nil, false, err
	}
	e.kind.Headers.Added(b, h)
	e.choice.AddHeader(b)
	e.pending.markDirty(b)
	return b, true, nil
}
