package chainstate_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/engine/bitcoin"
	"github.com/seed61375155/trawl/internal/engine/chainstate"
)

// weekly is a regtest where a block takes a week, so that three make more than two weeks,
// and whose coinbases may be spent by the next block.
func weekly(tb testing.TB) *dialect.Network {
	tb.Helper()
	net := quick(tb)
	net.Params.TargetTimePerBlock, net.Params.TargetTimespan = 7*24*time.Hour, 7*24*time.Hour
	return net
}

func giveHeaders(tb testing.TB, e *bitcoin.Engine, blocks ...*made) {
	tb.Helper()
	var raw [][]byte
	for _, b := range blocks {
		raw = append(raw, b.raw[:80])
	}
	_, _, err := e.AcceptHeaders(raw)
	must(tb, err)
}

// The scripts of a block are executed if any condition for leaving them out fails, while
// all others hold.
func TestAssumedBlocks(t *testing.T) {
	chain := genesis(t).chainOn(2)
	bad := chain[1].on([]*wire.MsgTx{neverSpent(chain[0].txs[0])})
	after := bad.chainOn(5)
	side := chain[1].chainOn(8)
	const executed = "block-script-verify-flag-failed (OP_RETURN was encountered)"
	work := func(blocks int) string { return fmt.Sprintf("%064x", 2*(blocks+1)) } // with the genesis block
	for _, test := range []struct {
		name    string
		assumed chainhash.Hash
		minimum string
		headers []*made
		want    string
	}{
		{"the block itself", bad.hash, "", after[:3], ""},
		{"one after it", after[1].hash, "", after[:3], ""},
		{"two weeks after it", bad.hash, "", after[:2], executed},
		{"one before it", chain[1].hash, "", after, executed},
		{"one beside it", side[0].hash, "", append(side[:1:1], after...), executed},
		{"one that is not known", chainhash.Hash{7}, "", after, executed},
		{"nothing", chainhash.Hash{}, "", after, executed},
		{"another chain has more work", bad.hash, "", append(side[:8:8], after[:4]...), executed},
		{"just enough work", bad.hash, work(6), after[:3], ""},
		{"too little work", bad.hash, work(7), after[:3], executed},
	} {
		net := weekly(t)
		net.AssumeValid, net.MinimumChainWork = test.assumed, test.minimum
		e := opened(t, net, chain...)
		giveHeaders(t, e, bad)
		giveHeaders(t, e, test.headers...)
		wantSubmit(t, e, test.name, bad, test.want)
	}
}

// Outputs that an assumed block spends come back when the block is taken back,
// except for unspendable outputs, which were never gone.
func TestAssumedBlockIsTakenBack(t *testing.T) {
	chain := genesis(t).chainOn(3)
	maker := spending(chain[0].txs[0], []byte{0x4c}, 3*coin) // it does not parse
	maker.AddTxOut(wire.NewTxOut(coin, trueScript))
	maker.AddTxOut(wire.NewTxOut(coin, []byte{0x6a}))
	maker.AddTxOut(wire.NewTxOut(coin, []byte{0x51, 0x51}))
	creates := chain[2].on([]*wire.MsgTx{maker})
	taker := spending(maker, trueScript, 0)
	for _, out := range []wire.OutPoint{{Hash: maker.TxHash(), Index: 1}, {Hash: chain[1].txs[0].TxHash()}} {
		taker.AddTxIn(&wire.TxIn{PreviousOutPoint: out})
	}
	takes := creates.on([]*wire.MsgTx{taker})
	net := weekly(t)
	net.AssumeValid = takes.hash
	e := opened(t, net, chain...)
	giveHeaders(t, e, append([]*made{creates, takes}, takes.chainOn(3)...)...)
	without := unspent(t, e)
	wantSubmit(t, e, "what creates it", creates, "")
	with := unspent(t, e)
	wantSubmit(t, e, "what spends it", takes, "")
	after := unspent(t, e)
	if with == without || after == with {
		t.Fatal("the blocks change nothing")
	}
	for range 2 {
		must(t, e.Invalidate(&takes.hash))
		if got := unspent(t, e); got != with {
			t.Errorf("taken back there are\n%s, want\n%s", got, with)
		}
		must(t, e.Invalidate(&creates.hash))
		if got := unspent(t, e); got != without {
			t.Errorf("both taken back there are\n%s, want\n%s", got, without)
		}
		must(t, e.Reconsider(&takes.hash))
		if got := unspent(t, e); got != after {
			t.Errorf("reconsidered there are\n%s, want\n%s", got, after)
		}
	}
}

// Each input of a block is verified once, with the outputs that its transaction spends.
func TestInputsAreVerifiedOnce(t *testing.T) {
	chain := genesis(t).chainOn(40)
	var txs []*wire.MsgTx
	want := map[string]int{}
	for i := 0; i+3 < len(chain); i += 3 {
		tx := spending(chain[i].txs[0], trueScript, 0)
		for j := range (i / 3) % 3 {
			tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: chain[i+1+j].txs[0].TxHash()}})
		}
		txs = append(txs, tx, spending(tx, []byte{0x51, 0x51, byte(0x51 + i%10)}, 0))
	}
	spends := chain[39].on(txs)
	e := opened(t, quick(t), chain...)
	for _, tx := range txs {
		for i := range tx.TxIn {
			want[fmt.Sprint(tx.TxHash(), i)] = 1
		}
	}
	seen := make(chan string, 1000)
	outputs := map[wire.OutPoint]*wire.TxOut{}
	for _, b := range append(chain[:40:40], spends) {
		for _, tx := range b.txs {
			for i, out := range tx.TxOut {
				outputs[wire.OutPoint{Hash: tx.TxHash(), Index: uint32(i)}] = out
			}
		}
	}
	watch(t, e, outputs, seen)
	wantSubmit(t, e, "many inputs", spends, "")
	close(seen)
	for name := range seen {
		if want[name]--; want[name] != 0 {
			t.Errorf("%s is verified too often, or is none", name)
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("%d inputs are not verified", len(want))
	}
}

// watch has the names of inputs sent to a channel as they are verified.
func watch(
	t *testing.T, e *bitcoin.Engine, outputs map[wire.OutPoint]*wire.TxOut, seen chan<- string,
) {
	t.Helper()
	chainstate.OnVerify(e, func(tx *wire.MsgTx, i int, spent []*wire.TxOut) {
		out := outputs[tx.TxIn[i].PreviousOutPoint]
		if len(spent) != len(tx.TxIn) || spent[i].Value != out.Value || !bytes.Equal(spent[i].PkScript, out.PkScript) {
			t.Errorf("input %d of %v spends another output", i, tx.TxHash())
		}
		seen <- fmt.Sprint(tx.TxHash(), i)
	})
}
