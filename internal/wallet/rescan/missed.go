package rescan

import (
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/messages"
)

// A CatchUp says which blocks a wallet has to look through when it is loaded.
type CatchUp struct {
	Tip  *chainview.Block // of the active chain
	From int32
	Scan bool // false: nothing to look through
}

// ErrPruned refuses a wallet that needs deleted blocks.
var ErrPruned = codes.Errorf(codes.Wallet, "Wallet loading failed. Prune: last wallet synchronisation goes "+
	"beyond pruned data. You need to -reindex (download the whole blockchain again in case of a pruned node)")

// Missed finds the blocks that a wallet has not seen and that may concern it. The wallet is set to the tip. With
// everything the best block does not count. A wallet that may lag follows blocks that are still to come.
//
// Errors: [*messages.WalletError].
func Missed(w *wallet.Wallet, chain ActiveChain, everything, mayLag bool) (CatchUp, error) {
	c := CatchUp{Tip: chain.Active.Tip()}
	if !everything {
		c.From = chain.ForkHeight(w.Txs().BestBlock())
	}
	w.Txs().SetTip(messages.Tip{Hash: c.Tip.Hash, Height: c.Tip.Height})
	if c.From == c.Tip.Height {
		return c, nil
	}
	c.Scan = true
	var birth *int64
	if at, born := w.BirthTime(); born {
		birth = &at
	}
	first := chain.FirstToScan(c.From, birth)
	if assumed := chainview.AssumedOf(chain.Reader); assumed != nil {
		return c, c.behind(w, chain, first, mayLag)
	}
	c.From = first
	for b := c.Tip; b.Height > 0 && b.Height >= first; b = b.Parent {
		if b.Status()&chainview.HasData == 0 {
			return c, ErrPruned
		}
	}
	return c, nil
}

// behind plans the catching up over a chain that begins with a snapshot. A wallet that needs
// earlier blocks is refused, unless the node loads it at its start: then it was already loaded when the
// snapshot came. Such a wallet follows the earlier blocks as they are validated.
func (c *CatchUp) behind(w *wallet.Wallet, chain ActiveChain, first int32, mayLag bool) error {
	at := chain.Active.Tip()
	for at.Height > first && at.Parent.Status()&chainview.HasData != 0 {
		at = at.Parent
	}
	switch {
	case at.Height == first:
		c.From = first
	case mayLag:
		b := chain.Active.At(c.From)
		c.Scan = false
		w.Txs().SetTip(messages.Tip{Hash: b.Hash, Height: b.Height})
	default:
		return tooOld(at.Height)
	}
	return nil
}

// FirstToScan returns the first block from a height on that may concern a wallet whose oldest key is of
// birth, in seconds; the tip, if none may. A wallet without keys has no birth.
func (c ActiveChain) FirstToScan(from int32, birth *int64) int32 {
	if birth != nil {
		if first, found := FirstSince(c.Active, from, *birth-Window); found {
			return first
		}
	}
	return c.Active.Height()
}

// Window is how far, in seconds, the time of a block may be before that
// of the keys it pays to (Core's TIMESTAMP_WINDOW).
const Window = 2 * 60 * 60

// tooOld is the refusal of a wallet that needs blocks before a snapshot, while
// these are still to come.
func tooOld(height int32) error {
	return codes.Errorf(codes.Wallet, "Wallet loading failed. Error loading wallet. Wallet requires blocks to be "+
		"downloaded, and software does not currently support loading wallets while blocks are being downloaded out of "+
		"order when using assumeutxo snapshots. Wallet should be able to load successfully after node sync reaches "+
		"height %d", height)
}
