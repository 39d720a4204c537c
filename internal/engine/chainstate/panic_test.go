package chainstate_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/engine/bitcoin"
	"github.com/seed61375155/trawl/internal/engine/chainstate"
	"github.com/seed61375155/trawl/messages"
)

// trap is an output script over which a rule of the network panics while it is set.
var trap = []byte{0x53}

// trapped is a network whose rule about outputs panics over trap while *set is true.
func trapped(tb testing.TB, set *bool) *dialect.Network {
	tb.Helper()
	net := quick(tb)
	net.Rules.MayPayTo = func(script []byte, _ int32) bool {
		if *set && bytes.Equal(script, trap) {
			panic("trap")
		}
		return true
	}
	return net
}

// panics reports whether do panics.
func panics(do func()) (yes bool) {
	defer func() { yes = recover() != nil }()
	do()
	return false
}

// A panic in the middle of a block, or between two blocks of one move of the tip, leaves nothing on the disk. The next
// engine has the unspent outputs of the tip, and accepts the block.
func TestPanicWhileConnecting(t *testing.T) {
	base := genesis(t).chainOn(4)
	one := spending(base[0].txs[0], trueScript, 1000)
	two := spending(base[1].txs[0], trap, 1000)
	bad := base[3].on([]*wire.MsgTx{one, two})
	branch := base[2].on([]*wire.MsgTx{one})
	longer := branch.on([]*wire.MsgTx{two})
	longest := longer.on(nil)
	for name, try := range map[string]struct {
		before []*made // accepted without a move of the tip
		do     func(e *bitcoin.Engine) error
		after  []*made
	}{
		"in a block": {nil, func(e *bitcoin.Engine) error { return e.Submit(bad.raw) }, []*made{bad}},
		"in the second block of a branch": {
			[]*made{branch}, func(e *bitcoin.Engine) error { return e.Submit(longer.raw) }, []*made{longer, longest},
		},
		"in a proposal": {nil, func(e *bitcoin.Engine) error { return e.Propose(bad.raw) }, []*made{bad}},
	} {
		t.Run(name, func(t *testing.T) {
			dir, set := t.TempDir(), false
			e := open(t, dir, trapped(t, &set))
			for _, b := range append(base, try.before...) {
				must(t, e.Accept(b.raw))
			}
			set = true
			if !panics(func() { _ = try.do(e) }) {
				t.Fatal("there is no panic")
			}
			must(t, e.Close())
			set = false
			again := open(t, dir, trapped(t, &set))
			wantTip(t, again, "opened again", base[3])
			wantSums(t, again, base...)
			for _, b := range try.after {
				wantSubmit(t, again, "after the panic", b, "")
			}
			wantTip(t, again, "in the end", try.after[len(try.after)-1])
			must(t, again.Close())
		})
	}
}

// A panic or an error in the middle of taking a block back leaves nothing on the disk either.
func TestFailureWhileDisconnecting(t *testing.T) {
	base := genesis(t).chainOn(3)
	one, two := spending(base[0].txs[0], trueScript, 1000), spending(base[1].txs[0], trueScript, 1000)
	tip := base[2].on([]*wire.MsgTx{one, two})
	branch := base[2].on(nil)
	longer := branch.on(nil)
	short := one.Copy()
	short.TxIn = append(short.TxIn, one.TxIn[0]) // so that the undo data lacks a coin
	for name, tx := range map[string]*wire.MsgTx{"panic": nil, "error": short} {
		for by, do := range map[string]func(e *bitcoin.Engine) error{
			"invalidated":    func(e *bitcoin.Engine) error { return e.Invalidate(&tip.hash) },
			"a longer chain": func(e *bitcoin.Engine) error { return e.Submit(longer.raw) },
			"verified":       func(e *bitcoin.Engine) error { return e.Verify(t.Context(), 3, 0) },
		} {
			t.Run(name+" "+by, func(t *testing.T) {
				dir := t.TempDir()
				e := open(t, dir, quick(t))
				for _, b := range append(base, tip, branch) {
					must(t, e.Accept(b.raw))
				}
				must(t, chainstate.Spoil(e, &tip.hash, tx))
				var err error
				if panicked := panics(func() { err = do(e) }); panicked != (tx == nil) || !panicked && err == nil {
					t.Fatalf("panics: %v, error: %v", panicked, err)
				}
				must(t, e.Close())
				again := open(t, dir, quick(t))
				wantTip(t, again, "opened again", tip)
				wantSums(t, again, append(base, tip)...)
				must(t, again.Close())
			})
		}
	}
}

// wantSums checks that the unspent outputs are those of a new engine with the same blocks.
func wantSums(t *testing.T, e *bitcoin.Engine, blocks ...*made) {
	t.Helper()
	fresh := opened(t, quick(t), blocks...)
	for _, b := range blocks {
		for _, tx := range b.txs {
			out := wire.OutPoint{Hash: tx.TxHash()}
			if got, want := isUnspent(t, e, &out), isUnspent(t, fresh, &out); got != want {
				t.Errorf("output %v: unspent is %v, want %v", out, got, want)
			}
		}
	}
}

func isUnspent(t *testing.T, e *bitcoin.Engine, out *wire.OutPoint) bool {
	t.Helper()
	_, err := e.Coin(*out)
	if errors.Is(err, messages.ErrNoCoin) {
		return false
	}
	must(t, err)
	return true
}

// An engine that panics anywhere, again and again, is in the end where an engine is that never did.
func TestPanicsAnywhere(t *testing.T) {
	for round := range soak(8) {
		seed := rand.Uint64()
		t.Logf("round %d: seed %d", round, seed)
		panicAnywhere(t, rand.New(rand.NewPCG(seed, 2)))
		if t.Failed() {
			return
		}
	}
}

func panicAnywhere(t *testing.T, r *rand.Rand) {
	t.Helper()
	tree := genesis(t).chainOn(3)
	highest := tree[2]
	for len(tree) < 30 {
		parent := tree[len(tree)-1-r.IntN(min(len(tree)-2, 5))]
		b := parent.on(nil)
		if r.IntN(4) > 0 {
			one := spending(parent.txs[0], trueScript, 1000)
			b = parent.on([]*wire.MsgTx{one, spending(one, trueScript, 1000)})
		}
		if tree = append(tree, b); b.height > highest.height {
			highest = b
		}
	}
	tree = append(tree, highest.on(nil))
	highest = tree[len(tree)-1]

	left := -1 // outputs until the rule panics; negative: it does not
	net := quick(t)
	net.Rules.MayPayTo = func([]byte, int32) bool {
		if left--; left == 0 {
			panic("anywhere")
		}
		return true
	}
	dir := t.TempDir()
	e := open(t, dir, net)
	count := 0
	try := func(do func()) {
		left = r.IntN(12)
		if panics(do) {
			count++
			left = -1
			must(t, e.Close())
			e = open(t, dir, net)
		}
		left = -1
	}
	for _, b := range tree {
		if b.height > 3 && r.IntN(3) == 0 {
			some := tree[3+r.IntN(20)]
			try(func() { _ = e.Invalidate(&some.hash) })
			try(func() { _ = e.Reconsider(&some.hash) })
			_ = e.Reconsider(&some.hash) // which stays undone after a panic
		}
		try(func() { _ = e.Submit(b.raw) })
		_ = e.Submit(b.raw)
	}
	if count == 0 {
		t.Error("there was no panic")
	}
	wantTip(t, e, "in the end", highest)
	wantSums(t, e, tree...)
	must(t, e.Close())
	e = open(t, dir, net)
	wantSums(t, e, tree...)
	must(t, e.Close())
}
