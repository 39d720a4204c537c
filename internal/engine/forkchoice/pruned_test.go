package forkchoice_test

import (
	"slices"

	"github.com/seed61375155/trawl/internal/chainview"
)

// prune removes a block that is not in the active chain.
func (w *world) prune() {
	n := w.any(func(n *node) bool { return n.arrived != 0 && !n.pruned && !w.on(w.tip, n) })
	if n == nil {
		return
	}
	w.note("prune %d", slices.Index(w.nodes, n))
	n.pruned = true
	w.tree.SetStatus(n.block, n.block.Status()|chainview.Pruned)
	w.moveTo(w.choice.Best(w.tip.block))
}

// restore stores a pruned block again.
func (w *world) restore() {
	n := w.any(func(n *node) bool { return n.pruned })
	if n == nil {
		return
	}
	w.note("restore %d", slices.Index(w.nodes, n))
	n.pruned = false
	w.tree.SetStatus(n.block, n.block.Status()&^chainview.Pruned)
	if n.first != 0 {
		var later []*node
		for _, at := range w.nodes {
			if at.first != 0 && w.on(at, n) {
				later = append(later, at)
			}
		}
		slices.SortFunc(later, func(a, b *node) int {
			if a.block.Height != b.block.Height {
				return int(a.block.Height - b.block.Height)
			}
			return a.first - b.first
		})
		for _, at := range later {
			w.order++
			at.first = w.order
		}
	}
	w.moveTo(w.choice.Restored(n.block, w.tip.block))
}
