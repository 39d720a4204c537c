package p2mr

import (
	"fmt"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus/target"
	"github.com/seed61375155/trawl/internal/p2mr/pow"
	"github.com/seed61375155/trawl/messages"
)

func reject(reason, debug string) error {
	return &messages.RejectError{Reason: reason, Debug: debug}
}

// checkWork checks what a header proves by itself.
func (e *Engine) checkWork(h *pow.Header) error {
	switch reason := e.rules.CheckWork(h); reason {
	case "":
		return nil
	case "high-hash":
		return reject(reason, "proof of work failed")
	default:
		return reject(reason, "")
	}
}

// checkPlace checks a header as a child of its parent.
func (e *Engine) checkPlace(h *pow.Header, parent *chainview.Block) error {
	height, time := parent.Height+1, h.Timestamp.Unix()
	if h.Bits != e.requiredBits(parent, h.Lane(), time) {
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
	if !h.MergeMined() {
		return nil
	}
	as := pow.DisplayOrder
	if height < e.rules.DisplayOrder {
		as = pow.ByteOrder
	}
	if reason := e.rules.CheckAuxPoW(h, as); reason != "" {
		return reject(reason, "")
	}
	return nil
}

// reasonFuture is the reject reason of a block that may be right later.
const reasonFuture = "time-too-new"

// checkVersion checks the layout of the version: three bits on top, the chain, four
// reserved bits, the mark of merge-mined blocks, eight bits of signals.
func (e *Engine) checkVersion(h *pow.Header, height int32) error {
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
		if h.MergeMined() {
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
		var h *pow.Header
		var size int
		if h, size, err = pow.ReadHeader(one); err != nil || size != len(one) {
			err = reject("bad-header", "malformed header")
			break
		}
		var b *chainview.Block
		known := e.tree.Lookup(&h.Hash) != nil
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
func (e *Engine) acceptHeader(c *change, h *pow.Header) (*chainview.Block, error) {
	known := e.tree.Lookup(&h.Hash)
	if known != nil && known.Height == 0 {
		return known, nil
	}
	if err := e.checkWork(h); err != nil {
		return nil, err
	}
	if known != nil && known.Status().Invalid() {
		return nil, reject("duplicate-invalid", fmt.Sprintf("block %v was previously marked invalid", h.Hash))
	}
	parent := e.tree.Lookup(&h.PrevBlock)
	if parent == nil {
		return nil, reject("prev-blk-not-found", "")
	}
	if parent.Status().Invalid() {
		return nil, reject("bad-prevblk", "")
	}
	if known != nil && !h.MergeMined() {
		return known, nil
	}
	if err := e.checkPlace(h, parent); err != nil {
		return nil, err
	}
	if known != nil {
		return known, nil
	}
	b, err := e.tree.AddWithPayload(&h.BlockHeader, h.Payload, target.Work(h.Bits), 0)
	if err != nil {
		return nil, err
	}
	e.settle(b, h.Lane())
	c.touch(b)
	return b, nil
}

// A place is what is kept of a block beside the tree.
type place struct {
	pow.Place
	taken int64 // how many blocks came before it; less than 0: preferred
}

// requiredBits returns the compact target of a block of a lane on top of parent.
func (e *Engine) requiredBits(parent *chainview.Block, of pow.Lane, time int64) uint32 {
	return e.rules.Bits(parent, &e.places[parent].Place, of, time)
}

// settle notes the place of a block of the tree.
func (e *Engine) settle(b *chainview.Block, of pow.Lane) {
	p := new(place)
	if parent := e.places[b.Parent]; parent != nil {
		p.Place = parent.Place
	}
	p.Place = p.After(b, of)
	e.taken++
	p.taken = e.taken
	e.places[b] = p
}
