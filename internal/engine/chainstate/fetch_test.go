package chainstate_test

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/engine/chainstate"
)

// paysMany spends the first output of a transaction to n outputs.
func paysMany(tx *wire.MsgTx, n int) *wire.MsgTx {
	out := spending(tx, trueScript, 0)
	each := out.TxOut[0].Value / int64(n)
	out.TxOut = nil
	for range n {
		out.AddTxOut(wire.NewTxOut(each, trueScript))
	}
	return out
}

// pairs spends the outputs of a transaction, two by each.
func pairs(tx *wire.MsgTx) (list []*wire.MsgTx) {
	hash := tx.TxHash()
	for i := uint32(0); int(i) < len(tx.TxOut); i += 2 {
		out := wire.NewMsgTx(2)
		for k := i; k < i+2; k++ {
			out.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: hash, Index: k}, Sequence: math.MaxUint32})
		}
		out.AddTxOut(wire.NewTxOut(2*tx.TxOut[0].Value, trueScript))
		list = append(list, out)
	}
	return list
}

// The outputs that a block spends are read from the disk once, for any block, and
// outputs of the block itself are not looked for there. The block is judged as if it
// were read one by one.
func TestFetch(t *testing.T) {
	net := quick(t)
	chain := genesis(t).chainOn(3)
	for _, n := range []int{chainstate.MinFetched - 2, chainstate.MinFetched, 400} {
		many := paysMany(chain[0].txs[0], n)
		id := many.TxHash()
		before := chain[2].on([]*wire.MsgTx{many})
		txs := pairs(many)
		txs = append(txs, spending(txs[0], trueScript, 0))
		own := txs[0].TxHash()
		twice := append(slices.Clone(txs), spending(txs[0], trueScript, 1))
		unknown := append(slices.Clone(txs), spending(spending(chain[1].txs[0], trueScript, 7), trueScript, 0))
		for name, b := range map[string]struct {
			block  *made
			reason string
		}{
			"valid":   {before.on(txs), ""},
			"twice":   {before.on(twice), "bad-txns-inputs-missingorspent"},
			"unknown": {before.on(unknown), "bad-txns-inputs-missingorspent"},
			"greedy":  {before.on(txs, greedy), "bad-cb-amount"},
		} {
			dir := t.TempDir()
			e := open(t, dir, net)
			for _, b := range append(chain[:3:3], before) {
				must(t, e.Accept(b.raw))
			}
			must(t, e.Close())
			e = open(t, dir, net)
			var mu sync.Mutex
			reads := map[string]int{}
			must(t, chainstate.WatchReads(e, func(key []byte) error {
				mu.Lock()
				defer mu.Unlock()
				switch {
				case bytes.HasPrefix(key, id[:]):
					reads[string(key)]++
				case bytes.HasPrefix(key, own[:]) && name == "valid":
					t.Errorf("%d inputs: an output of the block itself was looked for", n)
				}
				return nil
			}))
			was := unspent(t, e)
			if reason, _ := refused(t, e.Accept(b.block.raw)); reason != b.reason {
				t.Errorf("%s, %d inputs: %q", name, n, reason)
			}
			total := 0
			for _, times := range reads {
				total += times
			}
			if n >= chainstate.MinFetched && (len(reads) != n || total != n) {
				t.Errorf("%s: %d of %d inputs were read %d times", name, len(reads), n, total)
			}
			must(t, e.Sync())
			if b.reason == "" {
				must(t, e.Invalidate(&b.block.hash))
				clear(reads)
				must(t, e.Reconsider(&b.block.hash))
				must(t, e.Invalidate(&b.block.hash))
				if len(reads) > 0 {
					t.Errorf("%d inputs: %d outputs in memory were read", n, len(reads))
				}
			}
			must(t, chainstate.Rest(e))
			if now := unspent(t, e); now != was {
				t.Errorf("%s, %d inputs: other outputs after it was taken back", name, n)
			}
			must(t, e.Close())
		}
	}
}

// A read that fails makes a block neither right nor wrong, whichever of many it is.
func TestFetchFails(t *testing.T) {
	broken := errors.New("input/output error")
	chain := genesis(t).chainOn(3)
	many := paysMany(chain[0].txs[0], 100)
	before := chain[2].on([]*wire.MsgTx{many})
	block := before.on(pairs(many))
	dir := t.TempDir()
	e := open(t, dir, quick(t))
	for _, b := range append(chain[:3:3], before) {
		must(t, e.Accept(b.raw))
	}
	must(t, e.Close())
	e = open(t, dir, quick(t))
	var once sync.Once
	must(t, chainstate.FailReads(e, func() (err error) {
		once.Do(func() { err = broken })
		return err
	}))
	if err := e.Accept(block.raw); !errors.Is(err, broken) {
		t.Errorf("with a failing read: %v", err)
	}
	if b := e.Reader().Lookup(&block.hash); b != nil && b.Status().Invalid() {
		t.Error("the block is known as bad")
	}
	must(t, e.Close())
	e = open(t, dir, quick(t))
	if got := e.Reader().Active().Height(); got < 4 {
		t.Errorf("at height %d after the start", got)
	}
	if err := e.Accept(block.raw); err != nil && e.Reader().Active().Height() != 5 {
		t.Errorf("after the start: %v", err)
	}
	must(t, e.Close())
}
