package chainview_test

import (
	"encoding/binary"
	"math/big"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
)

var one = big.NewInt(1)

func header(prev chainhash.Hash, salt uint32) *wire.BlockHeader {
	h := &wire.BlockHeader{PrevBlock: prev, Nonce: salt, Timestamp: unix(0)}
	binary.LittleEndian.PutUint32(h.MerkleRoot[:], salt)
	return h
}

// grow adds n blocks on top of b.
func grow(tb testing.TB, t *chainview.Tree, b *chainview.Block, n int, salt uint32) *chainview.Block {
	tb.Helper()
	for range n {
		next, err := t.Add(header(b.Hash, salt), one, chainview.HasData)
		if err != nil {
			tb.Fatal(err)
		}
		b = next
	}
	return b
}

func newTree() *chainview.Tree { return chainview.NewTree(header(chainhash.Hash{}, 0), one) }

// Ancestor agrees with walking back one by one, from anywhere to anywhere.
func TestAncestor(t *testing.T) {
	tree := newTree()
	tip := grow(t, tree, tree.Active().Tip(), 3000, 1)
	all := make([]*chainview.Block, tip.Height+1)
	for b := tip; b != nil; b = b.Parent {
		all[b.Height] = b
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		from := all[rng.IntN(len(all))]
		to := rng.Int32N(from.Height + 1)
		if got := from.Ancestor(to); got != all[to] {
			t.Fatalf("ancestor %d of %d: wrong block", to, from.Height)
		}
	}
	if tip.Ancestor(-1) != nil || tip.Ancestor(tip.Height+1) != nil {
		t.Error("a block outside the chain has an ancestor")
	}
}

// A chain that was handed out never changes, whatever happens to the tree.
func TestChainIsImmutable(t *testing.T) {
	tree := newTree()
	common := grow(t, tree, tree.Active().Tip(), 50, 1)
	a := grow(t, tree, common, 30, 2)
	b := grow(t, tree, common, 40, 3)

	tree.SetActive(a)
	onA := tree.Active()
	tree.SetActive(b)
	onB := tree.Active()
	longer := grow(t, tree, a, 60, 4)
	tree.SetActive(longer)

	for _, test := range []struct {
		name  string
		chain *chainview.Chain
		tip   *chainview.Block
	}{{"a", onA, a}, {"b", onB, b}, {"a grown", tree.Active(), longer}} {
		if test.chain.Tip() != test.tip {
			t.Errorf("%s: tip is at height %d", test.name, test.chain.Tip().Height)
		}
		for h := range test.chain.Height() + 1 {
			if got := test.chain.At(h); got != test.tip.Ancestor(h) {
				t.Fatalf("%s: wrong block at height %d", test.name, h)
			}
		}
	}
	if got := tree.Active().ForkHeight(b); got != common.Height {
		t.Errorf("fork at height %d, want %d", got, common.Height)
	}
	if !tree.Active().Contains(common) || tree.Active().Contains(b) {
		t.Error("Contains is wrong")
	}
	if got := len(tree.Tips()); got != 2 {
		t.Errorf("%d tips, want 2", got)
	}
}

// ForkHeight agrees with walking back block by block, for blocks of one tree and of two trees. A
// tree that was opened again has the same blocks in other places of memory.
func TestForkHeight(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const seed = 7
	trees := [2]*chainview.Tree{newTree(), newTree()}
	var blocks [2][]*chainview.Block
	for i, tree := range trees {
		same := rand.New(rand.NewPCG(seed, 0))
		blocks[i] = []*chainview.Block{tree.Active().Tip()}
		for salt := range uint32(60) {
			on := blocks[i][same.IntN(len(blocks[i]))]
			for range 1 + same.IntN(40) {
				on = grow(t, tree, on, 1, salt)
				blocks[i] = append(blocks[i], on)
			}
		}
		tree.SetActive(blocks[i][len(blocks[i])-1])
	}
	walk := func(a, b *chainview.Block) int32 {
		for ; a != nil; a = a.Parent {
			for at := b; at != nil; at = at.Parent {
				if at.Hash == a.Hash {
					return at.Height
				}
			}
		}
		return -1
	}
	for range 5000 {
		a := blocks[0][rng.IntN(len(blocks[0]))]
		list := blocks[rng.IntN(2)]
		b := list[rng.IntN(len(list))]
		want := walk(a, b)
		if got := a.ForkHeight(b); got != want || b.ForkHeight(a) != want {
			t.Fatalf("%d and %d part at %d, want %d", a.Height, b.Height, got, want)
		}
		active := trees[0].Active()
		if got := active.Contains(b); got != (active.ForkHeight(b) == b.Height) {
			t.Fatalf("contains %d: %v", b.Height, got)
		}
		if a.Is(b) != (a.Hash == b.Hash) {
			t.Fatal("Is does not compare the hashes")
		}
	}
	other := chainview.NewTree(header(chainhash.Hash{}, 99), one)
	if got := trees[0].Active().ForkHeight(grow(t, other, other.Active().Tip(), 7, 1)); got != -1 {
		t.Errorf("chains without a common block part at %d", got)
	}
	if none := (*chainview.Block)(nil); none.Is(blocks[0][0]) || blocks[0][0].Is(none) || !none.Is(nil) {
		t.Error("nil is a block")
	}
}

func TestAddRefusesOrphans(t *testing.T) {
	if _, err := newTree().Add(header(chainhash.Hash{9}, 1), one, 0); err == nil {
		t.Error("an orphan was added")
	}
}

// The highest time never falls along a chain, and is that of one of its blocks.
func TestMaxTime(t *testing.T) {
	tree := newTree()
	b := tree.Active().Tip()
	for i, sec := range []int64{50, 10, 60, 20, 59, 61} {
		h := header(b.Hash, uint32(i))
		h.Timestamp = unix(sec)
		next, err := tree.Add(h, one, 0)
		if err != nil {
			t.Fatal(err)
		}
		b = next
		if want := []int64{50, 50, 60, 60, 60, 61}[i]; b.MaxTime() != want {
			t.Errorf("highest time after %d blocks: %d, want %d", i+1, b.MaxTime(), want)
		}
	}
}

func TestMedianTimePast(t *testing.T) {
	tree := newTree()
	b := tree.Active().Tip()
	for i, sec := range []int64{50, 10, 40, 20, 30} {
		h := header(b.Hash, uint32(i))
		h.Timestamp = unix(sec)
		b, _ = tree.Add(h, one, 0)
	}
	// The genesis header's time is before all others.
	if got := b.MedianTimePast(); got != 30 {
		t.Errorf("got %d, want 30", got)
	}
}

func unix(sec int64) time.Time { return time.Unix(sec, 0) }

// Peers can have a node keep as many headers as they have work for: one needs few
// bytes.
func TestMemoryOfHeaders(t *testing.T) {
	const n = 25_000
	tree := newTree()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	grow(t, tree, tree.Active().Tip(), n, 1)
	runtime.GC()
	runtime.ReadMemStats(&after)
	per := (after.HeapAlloc - before.HeapAlloc) / n
	t.Logf("%d bytes a header", per)
	if per > 220 {
		t.Errorf("%d bytes a header", per)
	}
	runtime.KeepAlive(tree)
}
