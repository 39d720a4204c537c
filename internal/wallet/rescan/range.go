// Package rescan finds the blocks that a wallet has to look through: missed blocks, the blocks of a rescan, and
// blocks that exclude late payments. It puts into words why some could not be read.
//
// The package is pure: its callers hand in how to read blocks, and times.
package rescan

import (
	"slices"

	"github.com/seed61375155/trawl/internal/chainview"
)

// A Range is the way of a rescan through the blocks of a range, which it looks through for what concerns the wallet, in
// ascending height. The result is the same with and without filters, and for every
// order in which the wallet's addresses were paid to.
//
// It goes by windows. The filters of a window are matched with all the
// scripts that the wallet has; then the blocks that match are read and handed to the
// ledger, lowest first. When one of them tops the key pool up, the blocks after it
// were tested with too few scripts: their filters are matched again with the new ones
// before anything else happens. The blocks before it were, too: further passes look
// through these, for the new scripts alone, until a pass brings no new scripts.
//
// Each window is pinned to the chain that the ledger is on when it begins. If
// that chain is left, the rescan goes on from the last common block.
type Range struct {
	from, next int32  // next: first height that is not done in this pass
	stop       *int32 // last height; nil: the tip, which is followed
	last       int32  // as known now
	pass       passes

	end        *chainview.Block   // of the window; nil: none has begun
	left       []*chainview.Block // of the window, to be read
	scripts    int                // of the ledger, that its filters were matched with
	unfiltered bool               // its filters cannot be had: all blocks are read
}

// NewRange begins a rescan up to a height, nil for the tip, of a wallet that has so many scripts.
func NewRange(from int32, stop *int32, scripts int) *Range {
	return &Range{from: from, next: from, stop: stop, scripts: scripts, pass: passes{began: scripts, reached: from - 1}}
}

// ToTip reports whether the rescan goes up to the tip.
func (r *Range) ToTip() bool { return r.stop == nil }

// Next pins the next window, of at most so many blocks, to the chain of a tip. It reports false where the rescan is
// done.
func (r *Range) Next(tip *chainview.Block, scripts int, blocks int32) bool {
	if r.end != nil {
		r.next = max(min(r.next, tip.ForkHeight(r.end)+1), r.from)
	}
	r.last = tip.Height
	if r.stop != nil {
		r.last = min(r.last, *r.stop)
	}
	r.Grown(scripts)
	for r.next > r.pass.last(r.last) {
		if !r.pass.next(r.from, r.next, r.scripts) {
			return false
		}
		r.next = r.from
	}
	r.end = tip.Ancestor(min(r.next+blocks-1, r.pass.last(r.last)))
	r.left, r.unfiltered = nil, false
	return true
}

// Grown notes how many scripts the wallet has. It may have got some since a window was matched, by news
// of the tip or the pool. The blocks below the next height were not tested with these
// scripts.
func (r *Range) Grown(scripts int) {
	if scripts > r.scripts {
		r.pass.grown(r.next)
		r.scripts = scripts
	}
}

// Skip leaves out the first scripts, which the blocks were looked through for already. It comes before the first
// window.
func (r *Range) Skip(scripts int) { r.pass.known = scripts }

// Scripts returns how many scripts the blocks have been looked through for, once the rescan is done.
func (r *Range) Scripts() int { return r.scripts }

// Window returns what is left of the window.
func (r *Range) Window() (first int32, end *chainview.Block) { return r.next, r.end }

// Wanted returns the scripts that this pass looks for.
func (r *Range) Wanted(all [][]byte) [][]byte { return all[r.pass.known:] }

// Found has blocks of the window read besides those that are to be read already.
func (r *Range) Found(heights []int32) {
	for _, height := range heights {
		r.left = append(r.left, r.end.Ancestor(height))
	}
	slices.SortFunc(r.left, func(a, b *chainview.Block) int { return int(a.Height - b.Height) })
	r.left = slices.CompactFunc(r.left, (*chainview.Block).Is)
}

// FoundAll has all blocks of the window read, from the next on.
func (r *Range) FoundAll() {
	r.unfiltered = true
	r.left = make([]*chainview.Block, max(r.end.Height-r.next+1, 0))
	for b, i := r.end, len(r.left)-1; i >= 0; b, i = b.Parent, i-1 {
		r.left[i] = b
	}
}

// Left returns the blocks of the window that are to be read, lowest first.
func (r *Range) Left() []*chainview.Block { return r.left }

// Taken notes that the first of these blocks was taken in. It returns the scripts that have come since the window was
// matched, if filters are left to match with these scripts. They came with the block, or after the blocks below were
// tested.
func (r *Range) Taken(all [][]byte) (fresh [][]byte) {
	height := r.left[0].Height
	r.left, r.next = r.left[1:], height+1
	fresh = all[r.scripts:]
	r.scripts = len(all)
	if len(fresh) > 0 {
		r.pass.grown(height)
	}
	if r.unfiltered || r.next > r.end.Height {
		return nil
	}
	return fresh
}

// Unread passes over the first of these blocks, and over the blocks behind while neither can be read. It returns the
// last unreadable block.
func (r *Range) Unread(neither func(*chainview.Block) bool) (failed *chainview.Block) {
	for more := true; more; more = len(r.left) > 0 && neither(r.left[0]) {
		failed, r.left = r.left[0], r.left[1:]
	}
	r.next = failed.Height + 1
	return failed
}

// Done notes that the window is looked through.
func (r *Range) Done() { r.next = r.end.Height + 1 }

// Last returns the last height as it is known now.
func (r *Range) Last() int32 { return r.last }

// Height returns the first height that is not done in this pass.
func (r *Range) Height() int32 { return r.next }

// Reached returns the highest block that was looked at, nil for none.
func (r *Range) Reached() *int32 {
	if last := max(r.next-1, r.pass.reached); last >= r.from {
		return &last
	}
	return nil
}

// Progress is the part that is done, 0 to 1. The filters of the window are matched up to a height.
func (r *Range) Progress(matched int32) float64 {
	if r.last <= r.from {
		return 0
	}
	return r.pass.progress(min(float64(max(matched, r.next)-r.from)/float64(r.last-r.from+1), 1))
}

// Frontier is the first height that is not done.
func (r *Range) Frontier() int32 {
	if r.pass.more(r.from) {
		return r.from
	}
	return r.next
}
