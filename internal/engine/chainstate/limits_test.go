package chainstate_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/engine/bitcoin"
	"github.com/seed61375155/trawl/messages"
)

// quick is a regtest whose coinbases may be spent by the next block.
func quick(tb testing.TB) *dialect.Network {
	tb.Helper()
	net := network(tb, "regtest")
	net.Rules.Maturity = 1
	return net
}

// opened opens an engine of a network that is closed with the test.
func opened(tb testing.TB, net *dialect.Network, blocks ...*made) *bitcoin.Engine {
	tb.Helper()
	e := open(tb, tb.TempDir(), net)
	tb.Cleanup(func() { must(tb, e.Close()) })
	for _, b := range blocks {
		must(tb, e.Accept(b.raw))
	}
	return e
}

// refused returns the reason and the details for which a block is refused, "" twice for
// an accepted block.
func refused(tb testing.TB, err error) (reason, debug string) {
	tb.Helper()
	var rejected *messages.RejectError
	if errors.As(err, &rejected) {
		return rejected.Reason, rejected.Debug
	}
	must(tb, err)
	return "", ""
}

// try submits a block, holds the answer against what is wanted, and takes the chain back
// to where it was.
func try(tb testing.TB, e *bitcoin.Engine, what string, b *made, reason, debug string) {
	tb.Helper()
	gotReason, gotDebug := refused(tb, e.Submit(b.raw))
	if gotReason != reason || !strings.Contains(gotDebug, debug) {
		tb.Errorf("%s: %q, %q; want %q, %q", what, gotReason, gotDebug, reason, debug)
	}
	if gotReason == "" {
		must(tb, e.Invalidate(&b.hash))
	}
}

// pays adds an output to the coinbase.
func pays(scripts ...[]byte) change {
	return remake(func(b *wire.MsgBlock) {
		for _, s := range scripts {
			b.Transactions[0].AddTxOut(wire.NewTxOut(0, s))
		}
	})
}

// Signature operations count four times outside of witnesses and once in them; each kind
// at the limit and one above it.
func TestLimitOfSigOps(t *testing.T) {
	checks := func(n int) []byte { return bytes.Repeat([]byte{0xac}, n) }
	guarded := func(n int) []byte { // checks that are not executed
		return append(append([]byte{0x00, 0x63}, checks(n)...), 0x68, 0x51)
	}
	chain := genesis(t).chainOn(2)
	e := opened(t, quick(t), chain...)
	tip := chain[1]
	const early, late = "out-of-bounds SigOpCount", "too many sigops"
	// nested spends an output to a script's hash, segwit one to a witness script.
	nested := func(n int) []*wire.MsgTx {
		redeem := guarded(n)
		pay := append(append([]byte{0xa9, 20}, btcutil.Hash160(redeem)...), 0x87)
		first := spending(chain[0].txs[0], pay, 0)
		second := spending(first, trueScript, 0)
		second.TxIn[0].SignatureScript = append([]byte{byte(len(redeem))}, redeem...)
		return []*wire.MsgTx{first, second}
	}
	segwit := func(n int) []*wire.MsgTx {
		redeem := guarded(n)
		hash := sha256.Sum256(redeem)
		first := spending(chain[1].txs[0], append([]byte{0, 32}, hash[:]...), 0)
		second := spending(first, trueScript, 0)
		second.TxIn[0].Witness = wire.TxWitness{redeem}
		return []*wire.MsgTx{first, second}
	}
	both := append(nested(2), segwit(4)...)
	for _, test := range []struct {
		name          string
		legacy        int
		txs           []*wire.MsgTx
		reason, debug string
	}{
		{"legacy", 20_000, nil, "", ""},
		{"legacy, one more", 20_001, nil, "bad-blk-sigops", early},
		{"of a script's hash", 19_998, nested(2), "", ""},
		{"of a script's hash, one more", 19_998, nested(3), "bad-blk-sigops", late},
		{"in a witness", 19_999, segwit(4), "", ""},
		{"in a witness, one more", 19_999, segwit(5), "bad-blk-sigops", late},
		{"all", 19_997, both, "", ""},
		{"all, one more", 19_998, both, "bad-blk-sigops", late},
	} {
		try(t, e, test.name, tip.on(test.txs, pays(checks(test.legacy))), test.reason, test.debug)
	}
}

// Blocks of the greatest size and weight are taken, and those of a byte more are not.
func TestLimitOfSize(t *testing.T) {
	chain := genesis(t).chainOn(1)
	e := opened(t, quick(t), chain...)
	sized := func(size int) *made { // without witnesses
		b := chain[0].on(nil, pays(make([]byte, size-300)))
		return chain[0].on(nil, pays(make([]byte, size-300+size-len(b.raw))))
	}
	try(t, e, "a million bytes", sized(1_000_000), "", "")
	try(t, e, "one more", sized(1_000_001), "bad-blk-length", "size limits failed")
	program := sha256.Sum256([]byte{0x75, 0x51}) // OP_DROP
	first := spending(chain[0].txs[0], append([]byte{0, 32}, program[:]...), 0)
	heavy := func(weight int) *made {
		second := spending(first, trueScript, 0)
		second.TxIn[0].Witness = wire.TxWitness{make([]byte, 500), {0x75, 0x51}}
		build := func(pad int) *made {
			return chain[0].on([]*wire.MsgTx{first, second}, pays(make([]byte, pad)))
		}
		weightOf := func(b *made) int {
			stripped := 80 + 1
			for _, tx := range b.txs {
				stripped += tx.SerializeSizeStripped()
			}
			return 3*stripped + len(b.raw)
		}
		pad := 900_000
		if pad += (weight - weightOf(build(pad))) / 4; pad < 0 {
			t.Fatal("no room")
		}
		for extra := 0; weightOf(build(pad)) < weight; extra++ {
			second.TxIn[0].Witness[0] = make([]byte, 501+extra)
		}
		if b := build(pad); weightOf(b) == weight {
			return b
		}
		t.Fatalf("no block of weight %d", weight)
		return nil
	}
	try(t, e, "four million", heavy(4_000_000), "", "")
	try(t, e, "one unit more", heavy(4_000_001), "bad-blk-weight", "ContextualCheckBlock : weight limit failed")
}

// A coinbase may take the subsidy and the fees, all of which together are money.
func TestLimitOfFees(t *testing.T) {
	chain := genesis(t).chainOn(2)
	net := quick(t)
	e := opened(t, net, chain...)
	takes := func(more int64) change {
		return remake(func(b *wire.MsgBlock) { b.Transactions[0].TxOut[0].Value += more })
	}
	fees := []*wire.MsgTx{spending(chain[0].txs[0], trueScript, 1000), spending(chain[1].txs[0], trueScript, 234)}
	try(t, e, "subsidy and fees", chain[1].on(fees, takes(1234)), "", "")
	try(t, e, "a satoshi more", chain[1].on(fees, takes(1235)), "bad-cb-amount",
		"coinbase pays too much (actual=5000001235 vs limit=5000001234)")
	all := []*wire.MsgTx{spending(chain[0].txs[0], trueScript, 50*coin), spending(chain[1].txs[0], trueScript, 50*coin)}
	net.Rules.MaxMoney = 100 * coin
	try(t, e, "all money is fees", chain[1].on(all), "", "")
	net.Rules.MaxMoney = 100*coin - 1
	try(t, e, "fees of more than all money", chain[1].on(all), "bad-txns-accumulated-fee-outofrange",
		"accumulated fee in the block out of range")
}

// Lock times that are times are held against the median time of the blocks before, where
// relative ones hold too, and against the block's own time before that.
func TestLockTimes(t *testing.T) {
	for _, active := range []bool{true, false} {
		choices := dialect.Choices{}
		if !active {
			choices.Activation = map[string]int32{"csv": 1000}
		}
		net, err := dialect.Named("", "regtest", choices)
		must(t, err)
		net.Rules.Maturity = 1
		chain := genesis(t).chainOn(20)
		e := opened(t, net, chain...)
		tip := chain[19]
		median := uint32(e.Reader().Active().Tip().MedianTimePast())
		locked := func(at uint32) *made {
			tx := spending(chain[0].txs[0], trueScript, 0)
			tx.LockTime, tx.TxIn[0].Sequence = at, 0xfffffffe
			return tip.on([]*wire.MsgTx{tx})
		}
		waits := func(sequence uint32, version int32) *made {
			tx := spending(chain[10].txs[0], trueScript, 0)
			tx.TxIn[0].Sequence, tx.Version = sequence, version
			return tip.on([]*wire.MsgTx{tx})
		}
		cutoff := median
		if !active {
			cutoff = tip.time + 60
		}
		relative := func(reason string) string {
			if active {
				return reason
			}
			return ""
		}
		const nonfinal = "bad-txns-nonfinal"
		try(t, e, "before the cutoff", locked(cutoff-1), "", "")
		try(t, e, "at it", locked(cutoff), nonfinal, "non-final transaction")
		try(t, e, "a height", locked(20), "", "")
		try(t, e, "the block's own height", locked(21), nonfinal, "non-final transaction")
		try(t, e, "relative, reached", waits(10, 2), "", "")
		try(t, e, "relative, not reached", waits(11, 2), relative(nonfinal), relative("contains a non-BIP68-final transaction"))
		try(t, e, "relative, of an old version", waits(11, 1), "", "")
	}
}

// Coinbases name their height from where that rule holds on.
func TestHeightOfCoinbase(t *testing.T) {
	net, err := dialect.Named("", "regtest", dialect.Choices{Activation: map[string]int32{"bip34": 3}})
	must(t, err)
	other := func(m *wire.MsgBlock) {
		remake(func(b *wire.MsgBlock) { b.Transactions[0].TxIn[0].SignatureScript = []byte{0x51, 0x51, 0x51} })(m)
	}
	one := genesis(t).on(nil, other)
	two := one.on(nil, remake(func(b *wire.MsgBlock) {
		b.Transactions[0].TxIn[0].SignatureScript = []byte{0x51, 0x52, 0x51}
	}))
	e := opened(t, net, one, two)
	try(t, e, "another height", two.on(nil, other), "bad-cb-height", "block height mismatch in coinbase")
	exact := remake(func(b *wire.MsgBlock) { b.Transactions[0].TxIn[0].SignatureScript = []byte{0x53, 0x00} })
	try(t, e, "its height", two.on(nil, exact), "", "")
}

// No transaction has the id of one with unspent outputs, which is looked at before all
// that blocks may break; where nothing is left of the other it may.
func TestRepeatedTransactions(t *testing.T) {
	const repeated = "bad-txns-BIP30"
	same := func(pay []byte) change {
		return remake(func(b *wire.MsgBlock) {
			b.Transactions[0].TxIn[0].SignatureScript = []byte{0x51, 0x51, 0x51}
			b.Transactions[0].TxOut[0].PkScript = pay
			b.Transactions[0].TxOut[0].Value = coin
		})
	}
	net, err := dialect.Named("", "regtest", dialect.Choices{Activation: map[string]int32{"bip34": 1000}})
	must(t, err)
	net.Rules.Maturity = 1
	for _, pay := range [][]byte{trueScript, {0x4c}} { // the other does not parse
		one := genesis(t).on(nil, same(pay))
		e := opened(t, net, one)
		try(t, e, "a coinbase again", one.on(nil, same(pay)), repeated, "tried to overwrite transaction")
		if pay[0] != 0x51 {
			continue
		}
		spent := one.on([]*wire.MsgTx{spending(one.txs[0], trueScript, 0)})
		wantSubmit(t, e, "its output is spent", spent, "")
		again := spent.on(nil, same(pay))
		wantSubmit(t, e, "a coinbase of which nothing is left", again, "")
		try(t, e, "and once more", again.on(nil, same(pay)), repeated, "")
		if got, err := e.Coin(wire.OutPoint{Hash: again.txs[0].TxHash()}); err != nil || got.Height != 3 {
			t.Errorf("its output: %+v, %v", got, err)
		}
		must(t, e.Invalidate(&again.hash))
		if got, err := e.Coin(wire.OutPoint{Hash: again.txs[0].TxHash()}); !errors.Is(err, messages.ErrNoCoin) {
			t.Errorf("taken back, its output is there: %+v, %v", got, err)
		}
	}
	// Where all coinbases name their heights the reason is the same.
	chain := genesis(t).chainOn(2)
	tx := spending(chain[0].txs[0], trueScript, 0)
	with := chain[1].on([]*wire.MsgTx{tx})
	e := opened(t, quick(t), append(chain, with)...)
	try(t, e, "a transaction again", with.on([]*wire.MsgTx{tx}), repeated, "tried to overwrite transaction")
	try(t, e, "among other faults", with.on([]*wire.MsgTx{tx}, greedy), repeated, "")
	gone := with.on([]*wire.MsgTx{spending(tx, trueScript, 0)})
	wantSubmit(t, e, "its output is spent", gone, "")
	try(t, e, "again, of which nothing is left", gone.on([]*wire.MsgTx{tx}), "bad-txns-inputs-missingorspent",
		"CheckTxInputs: inputs missing/spent in transaction "+tx.TxHash().String())
	missing := spending(tx, trueScript, 0)
	missing.TxIn[0].PreviousOutPoint.Hash = chainhash.Hash{5}
	good := spending(with.txs[0], trueScript, 0)
	try(t, e, "the transaction that lacks something is named", gone.on([]*wire.MsgTx{good, missing}),
		"bad-txns-inputs-missingorspent", missing.TxHash().String())
}
