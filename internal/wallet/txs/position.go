package txs

import "github.com/seed61375155/trawl/messages"

// position is the block that confirmations are counted from.
type position struct {
	tip      messages.Tip
	maturity int32
}

// depth returns how many blocks confirm the transaction. It is negative for a
// transaction in conflict with a block that deep.
func (p *position) depth(t *tx) int32 {
	switch t.state.kind {
	case confirmed:
		return p.blockDepth(t.state.block)
	case conflicted:
		return -p.blockDepth(t.state.block)
	default:
		return 0
	}
}

// blockDepth returns how deep a block is: 1 for the tip.
func (p *position) blockDepth(b BlockRef) int32 { return p.tip.Height - b.Height + 1 }

// immature reports whether the outputs of a coinbase cannot be spent yet.
func (p *position) immature(t *tx) bool {
	return t.coinbase() && p.depth(t) <= p.maturity
}
