package forkchoice_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/engine/forkchoice"
)

// A node is a block as the oracle knows it.
type node struct {
	block   *chainview.Block
	parent  *node
	work    int64 // of the whole chain
	arrived int   // when it was stored; 0: it was not
	first   int   // the lower goes before, among equal work; 0: not linked
	bad     bool
	pruned  bool
}

// An oracle looks at all blocks each time.
type oracle struct {
	nodes []*node // parents first
	order int     // of the block that is linked next
	front int     // of the block that is preferred next
}

func (o *oracle) on(b, ancestor *node) bool {
	for ; b != nil; b = b.parent {
		if b == ancestor {
			return true
		}
	}
	return false
}

// lacks reports whether a block of the chain was pruned.
func (n *node) lacks() bool {
	return n != nil && (n.pruned || n.parent.lacks())
}

// best is the block that should be the tip.
func (o *oracle) best() (best *node) {
	for _, n := range o.nodes {
		if n.first == 0 || n.bad || n.lacks() {
			continue
		}
		if best == nil || n.work > best.work || n.work == best.work && n.first < best.first {
			best = n
		}
	}
	return best
}

// header is the most work of a header that may be valid.
func (o *oracle) header() (most int64) {
	for _, n := range o.nodes {
		if !n.bad {
			most = max(most, n.work)
		}
	}
	return most
}

// store links a block and what has waited for it: the nearest first, and those that
// came first.
func (o *oracle) store(n *node, now int) (linked []*node) {
	n.arrived = now
	if n.parent.first == 0 {
		return nil
	}
	linked = []*node{n}
	for i := 0; i < len(linked); i++ {
		o.order++
		linked[i].first = o.order
		var children []*node
		for _, c := range o.nodes {
			if c.parent == linked[i] && c.arrived != 0 {
				children = append(children, c)
			}
		}
		slices.SortFunc(children, func(a, b *node) int { return a.arrived - b.arrived })
		linked = append(linked, children...)
	}
	return linked
}

// A world is a tree whose changes are told to the choice and to the oracle.
type world struct {
	*oracle

	t      *testing.T
	r      *rand.Rand
	tree   *chainview.Tree
	choice *forkchoice.Choice
	tip    *node
	log    []string
}

func newWorld(t *testing.T, seed uint64) *world {
	t.Helper()
	genesis := &wire.BlockHeader{Version: 1}
	tree := chainview.NewTree(genesis, big.NewInt(1))
	root := &node{block: tree.Active().Tip(), work: 1, arrived: 1, first: 1}
	w := &world{
		oracle: &oracle{nodes: []*node{root}, order: 10}, t: t, r: rand.New(rand.NewPCG(seed, 21)),
		tree: tree, tip: root,
	}
	w.choice = forkchoice.New(tree, root.block, tree.SetStatus)
	return w
}

func (w *world) any(may func(*node) bool) *node {
	var found []*node
	for _, n := range w.nodes {
		if may(n) {
			found = append(found, n)
		}
	}
	if len(found) == 0 {
		return nil
	}
	return found[w.r.IntN(len(found))]
}

func (w *world) node(b *chainview.Block) *node {
	return w.nodes[slices.IndexFunc(w.nodes, func(n *node) bool { return n.block == b })]
}

func (w *world) note(format string, args ...any) { w.log = append(w.log, fmt.Sprintf(format, args...)) }

// addHeader adds a header on a block that is not known to be bad.
func (w *world) addHeader() {
	parent := w.any(func(n *node) bool { return !n.bad })
	if w.r.IntN(2) == 0 && !w.tip.bad {
		parent = w.tip
	}
	work := int64(1 + w.r.IntN(3))
	b, err := w.tree.Add(
		&wire.BlockHeader{PrevBlock: parent.block.Hash, Nonce: uint32(len(w.nodes))}, big.NewInt(work), 0,
	)
	if err != nil {
		w.t.Fatal(err)
	}
	w.nodes = append(w.nodes, &node{block: b, parent: parent, work: parent.work + work})
	w.choice.AddHeader(b)
	w.note("header %d on %d, work %d", len(w.nodes)-1, slices.Index(w.nodes, parent), parent.work+work)
}

// receive stores a block, in any order.
func (w *world) receive(now int) {
	n := w.any(func(n *node) bool { return n.arrived == 0 && !n.bad })
	if n == nil {
		return
	}
	w.note("block %d", slices.Index(w.nodes, n))
	w.tree.SetStatus(n.block, n.block.Status()|chainview.HasData)
	want := w.store(n, now)
	linked := w.choice.Received(n.block)
	if !slices.EqualFunc(linked, want, func(b *chainview.Block, n *node) bool { return b == n.block }) {
		w.t.Fatalf("linked are %v, want %v\n%v", linked, want, w.log)
	}
	w.moveTo(w.choice.Better(w.tip.block, linked))
}

// moveTo makes a block the tip and holds it against the oracle.
func (w *world) moveTo(tip *chainview.Block) {
	w.t.Helper()
	want := w.best()
	if w.tip = w.node(tip); w.tip != want {
		w.t.Fatalf("the tip is %d, want %d\n%v", slices.Index(w.nodes, w.tip), slices.Index(w.nodes, want), w.log)
	}
	if again := w.choice.Best(tip); again != tip {
		w.t.Fatalf("looked for in the whole tree it is another\n%v", w.log)
	}
	for _, n := range w.nodes {
		if n.block.Status().Invalid() != n.bad || forkchoice.Linked(n.block) != (n.first != 0) {
			w.t.Fatalf("block %d: status %b, order %d, but bad %v\n%v", slices.Index(
				w.nodes, n,
			), n.block.Status(), n.block.Order, n.bad, w.log)
		}
	}
	if h := w.choice.Header(); h.Work().Int64() != w.header() || h.Status().Invalid() {
		w.t.Fatalf("the best header has work %v, want %d\n%v", h.Work(), w.header(), w.log)
	}
}

func (w *world) invalidate() {
	n := w.any(func(n *node) bool { return n.parent != nil })
	if n == nil {
		return
	}
	w.note("invalidate %d", slices.Index(w.nodes, n))
	for _, at := range w.nodes {
		at.bad = at.bad || w.on(at, n)
	}
	if w.r.IntN(2) == 0 {
		w.choice.Fail(n.block, w.tip.block)
	} else {
		w.choice.Invalidate(n.block, w.tip.block)
	}
	w.moveTo(w.choice.Best(w.tip.block))
}

func (w *world) reconsider() {
	n := w.any(func(*node) bool { return true })
	w.note("reconsider %d", slices.Index(w.nodes, n))
	for _, at := range w.nodes {
		at.bad = at.bad && !w.on(at, n) && !w.on(n, at)
	}
	w.choice.Reconsider(n.block, w.tip.block)
	w.moveTo(w.choice.Best(w.tip.block))
}

func (w *world) prefer() {
	n := w.any(func(n *node) bool { return n.first != 0 && !n.bad })
	w.note("prefer %d", slices.Index(w.nodes, n))
	wanted := n.work >= w.tip.work
	if wanted {
		w.front--
		n.first = w.front
	}
	if got := w.choice.Prefer(n.block, w.tip.block); got != wanted {
		w.t.Fatalf("preferred: %v, want %v\n%v", got, wanted, w.log)
	}
	w.moveTo(w.choice.Best(w.tip.block))
}

// Blocks come, are invalidated, reconsidered, preferred, pruned and stored again in any
// order. The tip is the block with the most work that may be the tip, the first of
// several.
func TestChoice(t *testing.T) {
	t.Parallel()
	moves := 0
	for seed := range uint64(400) {
		w := newWorld(t, seed)
		for now := 2; now < 80; now++ {
			before := w.tip
			switch k := w.r.IntN(24); {
			case k < 7:
				w.addHeader()
			case k < 14:
				w.receive(now)
			case k < 16:
				w.invalidate()
			case k < 18:
				w.reconsider()
			case k < 20:
				w.prefer()
			case k < 22:
				w.prune()
			default:
				w.restore()
			}
			if w.tip != before {
				moves++
			}
		}
	}
	if moves < 1000 {
		t.Errorf("the tip moved %d times: the test shows little", moves)
	}
}

// A tree that was stored is chosen from as before. The active chain goes before others
// with as much work, blocks on an invalid block are invalid, and a block without its
// parent waits for the parent.
func TestLoad(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		w := newWorld(t, seed)
		for now := 2; now < 60; now++ {
			switch k := w.r.IntN(10); {
			case k < 4:
				w.addHeader()
			case k < 8:
				w.receive(now)
			default:
				w.invalidate()
			}
		}
		choice := forkchoice.New(w.tree, w.nodes[0].block, w.tree.SetStatus)
		waiting := false
		for _, n := range w.nodes[1:] {
			n.block.Order = 0
			if n.parent.bad { // the mark may not have been written
				w.tree.SetStatus(n.block, n.block.Status()&^chainview.FailedAncestor)
			}
			if linked := choice.Load(n.block); linked != (n.first != 0) {
				t.Fatalf("seed %d: linked %v, order was %d", seed, linked, n.first)
			}
			waiting = waiting || n.arrived != 0 && n.first == 0
		}
		choice.Loaded(w.tip.block)
		w.choice = choice
		w.moveTo(choice.Best(w.tip.block))
		for now := 100; waiting && now < 160; now++ {
			w.receiveLoaded(now)
		}
	}
}

// receiveLoaded is receive where blocks with the same work may come in any order.
func (w *world) receiveLoaded(now int) {
	n := w.any(func(n *node) bool { return n.arrived == 0 && !n.bad })
	if n == nil {
		return
	}
	w.tree.SetStatus(n.block, n.block.Status()|chainview.HasData)
	want := w.store(n, now)
	if linked := w.choice.Received(n.block); len(linked) != len(want) {
		w.t.Fatalf("linked are %d blocks, want %d\n%v", len(linked), len(want), w.log)
	}
	best := w.node(w.choice.Best(w.tip.block))
	if want := w.best(); best.work != want.work || best.bad || best.first == 0 {
		w.t.Fatalf("the tip has work %d, want %d\n%v", best.work, want.work, w.log)
	}
	w.tip = best
}

// A branch whose way is pruned is never moved to, and pruned blocks are not left.
func TestPruned(t *testing.T) {
	t.Parallel()
	tree := chainview.NewTree(&wire.BlockHeader{Version: 1}, big.NewInt(1))
	root := tree.Active().Tip()
	choice := forkchoice.New(tree, root, tree.SetStatus)
	nonce := uint32(0)
	add := func(parent *chainview.Block, status chainview.Status) *chainview.Block {
		nonce++
		b, err := tree.Add(&wire.BlockHeader{PrevBlock: parent.Hash, Nonce: nonce}, big.NewInt(1), status)
		if err != nil {
			t.Fatal(err)
		}
		choice.AddHeader(b)
		choice.Received(b)
		return b
	}
	const stored, pruned = chainview.HasData, chainview.HasData | chainview.Pruned
	a1 := add(root, pruned)
	a2 := add(a1, stored)
	b3 := add(add(add(root, stored), stored), stored)
	if got := choice.Best(a2); got != a2 {
		t.Errorf("left a chain that cannot be taken back, for height %d", got.Height)
	}
	c4 := add(add(a2, pruned), stored)
	if got := choice.Best(a2); got != a2 {
		t.Errorf("moved over a pruned block, to height %d", got.Height)
	}
	tree.SetStatus(c4.Parent, stored)
	if got := choice.Best(a2); got != c4 {
		t.Errorf("at height %d, want the whole branch", got.Height)
	}
	tree.SetStatus(a1, stored)
	choice.Invalidate(c4.Parent, c4)
	if got := choice.Best(c4); got != b3 {
		t.Errorf("at height %d, want the other branch", got.Height)
	}
}
