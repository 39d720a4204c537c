package chainstate_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/engine/bitcoin"
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

// A panic in the middle of a block, or between the blocks of a move of the tip, leaves nothing on the disk: the engine
// that is opened next has the unspent outputs of the tip, and accepts the block.
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
