package chainstate_test

import (
	"bytes"
	"cmp"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/engine/bitcoin"
)

// An oracle says what an engine is to make of a tree of blocks, by looking at all of
// them anew each time.
type oracle struct {
	all      []*node // parents first; the first is the genesis block
	tip      *node
	next     int // order of the block that comes next
	precious int
	preferAt int32
}

// A node is a block of an oracle.
type node struct {
	*made

	parent    *node
	bad       bool // it breaks a rule, which shows when it is connected
	known     bool // its header is
	data      bool
	order     int // 0: it or one before it has not come
	flagged   bool
	connected bool
	tried     bool // since the last question
}

func (n *node) under(a *node) bool {
	for ; n != nil && n.height > a.height; n = n.parent {
	}
	return n == a
}

func (o *oracle) receive(n *node) {
	n.data = true
	if n.parent.order == 0 {
		return
	}
	for queue := []*node{n}; len(queue) > 0; queue = queue[1:] {
		queue[0].order = o.next
		o.next++
		queue = append(queue, o.waiting(queue[0])...)
	}
}

// waiting returns the children that came before a block, as they came.
func (o *oracle) waiting(n *node) (list []*node) {
	for _, c := range o.all {
		if c.parent == n && c.data && c.order == 0 {
			list = append(list, c)
		}
	}
	return list
}

func (o *oracle) flag(n *node) {
	for _, d := range o.all {
		if d.under(n) && d.known {
			d.flagged = true
		}
	}
}

// settle moves to the best chain.
func (o *oracle) settle() {
	for _, n := range o.all {
		n.tried = false
	}
	for {
		best := o.all[0]
		for _, n := range o.all {
			if n.order == 0 || n.flagged {
				continue
			}
			c := cmp.Or(cmp.Compare(
				best.height, n.height,
			), cmp.Compare(n.order, best.order), bytes.Compare(n.hash[:], best.hash[:]))
			if c < 0 {
				best = n
			}
		}
		wanting := o.connect(best)
		if wanting == nil {
			o.tip = best
			return
		}
		o.flag(wanting)
	}
}

// connect connects what leads to a block, up to the first that breaks a rule.
func (o *oracle) connect(n *node) (wanting *node) {
	if n.parent != nil {
		if wanting = o.connect(n.parent); wanting != nil {
			return wanting
		}
	}
	n.tried = n.tried || n.bad || !n.connected
	if n.bad {
		return n
	}
	n.connected = true
	return nil
}

func (o *oracle) submit(n *node) string {
	switch {
	case n.known && n.flagged:
		return "duplicate-invalid"
	case n.data:
		return "duplicate"
	case !n.parent.known:
		return "prev-blk-not-found"
	case !n.known && n.parent.flagged:
		return "bad-prevblk"
	}
	n.known = true
	o.receive(n)
	o.settle()
	switch {
	case n.tried && n.bad:
		return "bad-cb-amount"
	case n.tried:
		return ""
	}
	return "inconclusive"
}

func (o *oracle) header(n *node) string {
	switch {
	case n.known && n.flagged:
		return "duplicate-invalid"
	case !n.parent.known:
		return "prev-blk-not-found"
	case !n.known && n.parent.flagged:
		return "bad-prevblk"
	}
	n.known = true
	return ""
}

func (o *oracle) invalidate(n *node) {
	o.flag(n)
	o.settle()
}

func (o *oracle) reconsider(n *node) {
	for _, other := range o.all {
		if other.under(n) || n.under(other) {
			other.flagged = false
		}
	}
	o.settle()
}

func (o *oracle) prefer(n *node) {
	if n.height < o.tip.height {
		return
	}
	if o.tip.height > o.preferAt {
		o.precious = -1
	}
	o.preferAt = o.tip.height
	if n.order != 0 {
		n.order = o.precious
	}
	o.precious--
	o.settle()
}

// soak returns how many rounds a property is tried for.
func soak(few int) int {
	if n, err := strconv.Atoi(os.Getenv("TRAWL_SOAK")); err == nil {
		return max(few, n)
	}
	return few
}

// An engine makes of trees of blocks what the oracle makes of them, whatever comes
// when, is invalidated, reconsidered and preferred, and over restarts.
func TestTreesLikeOracle(t *testing.T) {
	for round := range soak(6) {
		seed := rand.Uint64()
		t.Logf("round %d: seed %d", round, seed)
		checkTree(t, rand.New(rand.NewPCG(seed, 1)))
		if t.Failed() {
			return
		}
	}
}

func checkTree(t *testing.T, random *rand.Rand) {
	t.Helper()
	dir := t.TempDir()
	e := open(t, dir, network(t, "regtest"))
	defer func() { _ = e.Close() }()
	root := &node{made: genesis(t), known: true, data: true, order: 1, connected: true}
	o := &oracle{all: []*node{root}, tip: root, next: 2, precious: -1}
	pick := func() *node { return o.all[random.IntN(len(o.all))] }
	for range 120 {
		parent := pick()
		if random.IntN(2) == 0 {
			parent = o.tip
		}
		fresh := &node{parent: parent, bad: random.IntN(6) == 0}
		if fresh.made = parent.on(nil); fresh.bad {
			fresh.made = parent.on(nil, greedy)
		}
		n := pick()
		switch what := random.IntN(20); {
		case what == 0:
			must(t, invalidate(e, n, o))
		case what == 1:
			must(t, e.Reconsider(&n.hash))
			if n.known {
				o.reconsider(n)
			}
		case what == 2:
			must(t, e.Precious(&n.hash))
			o.prefer(n)
		case what <= 5:
			o.all = append(o.all, fresh)
			_, _, err := e.AcceptHeaders([][]byte{fresh.raw[:80]})
			compare(t, "header", answer(t, err), o.header(fresh))
			if !fresh.known {
				o.all = o.all[:len(o.all)-1]
			}
		case what <= 9 && n != root:
			compare(t, "block again", submit(t, e, n.made), o.submit(n))
		case what == 10 && random.IntN(4) == 0:
			// Orders are forgotten; all that count are those with the most work.
			must(t, e.Close())
			e = open(t, dir, network(t, "regtest"))
			o.forget()
		default:
			o.all = append(o.all, fresh)
			compare(t, "block", submit(t, e, fresh.made), o.submit(fresh))
			if !fresh.known {
				o.all = o.all[:len(o.all)-1]
			}
		}
		look(t, e, o)
		if t.Failed() {
			return
		}
	}
	if got, want := unspent(t, e), recomputed(t, e); got != want {
		t.Error("other unspent outputs than those of the chain")
	}
}

func invalidate(e *bitcoin.Engine, n *node, o *oracle) error {
	if n.parent != nil {
		o.invalidate(n)
	}
	return e.Invalidate(&n.hash)
}

// forget is a restart: all blocks count as if they had come at once, the tip before
// the others.
func (o *oracle) forget() {
	for _, n := range o.all {
		if n.order != 0 {
			n.order = 2
		}
	}
	for n := o.tip; n != nil; n = n.parent {
		n.order = 1
	}
	o.next, o.precious, o.preferAt = 3, -1, 0
}

func compare(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func look(t *testing.T, e *bitcoin.Engine, o *oracle) {
	t.Helper()
	if tip := e.Reader().Active().Tip(); tip.Hash != o.tip.hash {
		t.Errorf("tip is at height %d, want %d", tip.Height, o.tip.height)
	}
	for _, n := range o.all {
		b := e.Reader().Lookup(&n.hash)
		if b == nil {
			t.Fatalf("a block at height %d is not known", n.height)
		}
		s := b.Status()
		if s.Invalid() != n.flagged || (s&chainview.HasData != 0) != n.data || (s&chainview.Valid != 0) != n.connected {
			t.Errorf("block at height %d: status %b, want flagged %v, data %v, connected %v", n.height, s, n.flagged, n.data, n.connected)
		}
	}
}
