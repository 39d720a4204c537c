package qbit

import (
	"fmt"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/clock"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/engine/chainstate"
	"github.com/seed61375155/trawl/internal/p2mr/pow"
	"github.com/seed61375155/trawl/messages"
)

// rules implements chainstate.Headers and chainstate.Scripts.
type rules struct {
	*dialect.P2MR

	net    *dialect.Network
	clock  *clock.Clock
	places map[*chainview.Block]*pow.Place
}

func reject(reason, debug string) error {
	return &messages.RejectError{Reason: reason, Debug: debug}
}

// Read implements chainstate.Headers.
func (*rules) Read(raw []byte) (h *chainstate.Header, size int, err error) {
	read, size, err := pow.ReadHeader(raw)
	if err != nil {
		return nil, 0, err
	}
	return header(read), size, nil
}

func header(h *pow.Header) *chainstate.Header {
	return &chainstate.Header{BlockHeader: h.BlockHeader, Hash: h.Hash, Payload: h.Payload, Proof: h}
}

// proof is the header as it was read; that of the genesis block was not.
func proof(h *chainstate.Header) *pow.Header {
	if p, ok := h.Proof.(*pow.Header); ok {
		return p
	}
	return &pow.Header{BlockHeader: h.BlockHeader, Hash: h.Hash}
}

// CheckWork implements chainstate.Headers.
func (r *rules) CheckWork(h *chainstate.Header, work bool) error {
	if work {
		return refused(r.Params.CheckWork(proof(h)))
	}
	return refused(r.CheckAuxPoW(proof(h), pow.EitherOrder, false))
}

// CheckAgain implements chainstate.Headers.
func (r *rules) CheckAgain(h *chainstate.Header, height int32) error {
	return refused(r.CheckAuxPoW(proof(h), r.orderAt(height), true))
}

// orderAt is the order in which a merge-mined block at a height is named.
func (r *rules) orderAt(height int32) pow.Order {
	if height < r.DisplayOrder {
		return pow.ByteOrder
	}
	return pow.DisplayOrder
}

func refused(reason string) error {
	switch reason {
	case "":
		return nil
	case "high-hash":
		return reject(reason, "proof of work failed")
	default:
		return reject(reason, "")
	}
}

// Check implements chainstate.Headers.
func (r *rules) Check(h *chainstate.Header, parent *chainview.Block) error {
	height, time, read := parent.Height+1, h.Timestamp.Unix(), proof(h)
	if h.Bits != r.requiredBits(parent, read.Lane(), time) {
		return reject("bad-diffbits", "incorrect proof of work")
	}
	if time <= parent.MedianTimePast() {
		return reject("time-too-old", "block's timestamp is too early")
	}
	if r.net.TooEarly(parent, time) {
		return reject("time-timewarp-attack", "block's timestamp is too early on diff adjustment block")
	}
	if time > r.clock.Now().Unix()+r.MaxFuture(height) {
		return reject("time-too-new", "block timestamp too far in the future")
	}
	if err := r.checkVersion(read, height); err != nil {
		return err
	}
	return refused(r.CheckAuxPoW(read, r.orderAt(height), false))
}

// checkVersion checks the layout of the version: three bits on top, the chain, four
// reserved bits, the mark of merge-mined blocks, eight bits of signals.
func (r *rules) checkVersion(h *pow.Header, height int32) error {
	version := uint32(h.Version)
	bad := func(kind string) error {
		return reject(
			fmt.Sprintf("bad-version%s(0x%08x)", kind, version), fmt.Sprintf("rejected nVersion=0x%08x block", version),
		)
	}
	if r.net.OldVersion(h.Version, height) {
		return bad("")
	}
	if height < r.Cadence {
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

// requiredBits returns the compact target of a block of a lane on top of parent.
func (r *rules) requiredBits(parent *chainview.Block, of pow.Lane, time int64) uint32 {
	return r.Bits(parent, r.places[parent], of, time)
}

// Added implements chainstate.Headers.
func (r *rules) Added(b *chainview.Block, h *chainstate.Header) {
	var before pow.Place
	if b.Parent != nil {
		before = *r.places[b.Parent]
	}
	at := before.After(b, proof(h).Lane())
	r.places[b] = &at
}
