package chainstate_test

import (
	"bytes"
	"crypto/sha256"
	"sync"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/engine/bitcoin"
)

// offered are blocks in the order in which they come, right and wrong ones: children
// before parents, twice, changed on their way, with another witness.
func offered(tb testing.TB) (list [][]byte) {
	tb.Helper()
	blocks := genesis(tb).chainOn(110)
	hash := sha256.Sum256(trueScript)
	pay := spending(blocks[0].txs[0], append([]byte{0, sha256.Size}, hash[:]...), 1000)
	tip := blocks[len(blocks)-1].on([]*wire.MsgTx{pay})
	spend := tip.on([]*wire.MsgTx{witnessed(pay, trueScript)})
	for _, b := range append(blocks, tip, spend, spend.on(nil, greedy)) {
		list = append(list, b.raw)
	}
	changed := func(b *made, at int) []byte {
		raw := bytes.Clone(b.raw)
		if at < 0 {
			at += len(raw)
		}
		raw[at] ^= 1
		return raw
	}
	list = append(list,
		spend.raw, changed(spend, -1), changed(spend, 4), changed(spend, 40),
		nil, spend.raw[:80], spend.raw[:len(spend.raw)-1], append(bytes.Clone(spend.raw), 0), spend.on(nil).on(nil).raw,
	)
	for _, change := range []change{
		remake(func(b *wire.MsgBlock) { b.Transactions[0].TxOut[1].PkScript[10] ^= 1 }),
		remake(func(b *wire.MsgBlock) { b.Transactions[0].TxIn[0].Witness[0] = []byte{1} }),
		remake(func(b *wire.MsgBlock) { b.Transactions = append(b.Transactions, b.Transactions[1]) }),
		remake(func(b *wire.MsgBlock) { b.Transactions = b.Transactions[1:] }),
		remake(func(b *wire.MsgBlock) { b.Transactions = nil }),
		remake(func(b *wire.MsgBlock) {
			b.Transactions[0].TxOut, b.Transactions[0].TxIn[0].Witness = b.Transactions[0].TxOut[:1], nil
		}),
	} {
		list = append(list, tip.on([]*wire.MsgTx{witnessed(blocks[1].txs[0], nil)}, change).raw)
	}
	return append(list, spend.on(nil).raw)
}

// The reason for which a block is refused does not depend on the time of its Prepare,
// on the caller, or on other calls meanwhile.
func TestPreparedEarly(t *testing.T) {
	list := offered(t)
	inTurn, early := fresh(t), fresh(t)
	accepts := make([]func() error, len(list))
	var group sync.WaitGroup
	for part := range 4 {
		group.Go(func() { // while the other engine, and this one, are used
			for i := part; i < len(list); i += 4 {
				accepts[i] = early.Prepare(list[i])
			}
		})
	}
	want := make([][2]string, len(list))
	found := map[string]bool{}
	for i, raw := range list {
		reason, debug := refused(t, inTurn.Accept(raw))
		want[i], found[reason] = [2]string{reason, debug}, true
		_ = early.Reader().Active().Tip()
	}
	group.Wait()
	for i := range list {
		if reason, debug := refused(t, accepts[i]()); reason != want[i][0] || debug != want[i][1] {
			t.Errorf("block %d: %q, %q, want %q", i, reason, debug, want[i])
		}
	}
	for _, reason := range []string{
		"", "duplicate", "bad-block", "bad-txnmrklroot", "bad-witness-merkle-match", "bad-witness-nonce-size",
		"unexpected-witness", "bad-blk-length", "bad-cb-missing", "bad-cb-amount", "prev-blk-not-found",
	} {
		if !found[reason] {
			t.Errorf("no block is refused for %q", reason)
		}
	}
	if a, b := inTurn.Reader().Active().Tip(), early.Reader().Active().Tip(); a.Hash != b.Hash || a.Height != 113 {
		t.Errorf("tips at %d and %d", a.Height, b.Height)
	}
}

// A block may be prepared by an engine that is closed: nothing of it is asked for.
func TestPrepareAfterClose(t *testing.T) {
	var e *bitcoin.Engine
	t.Run("opened", func(t *testing.T) { e = fresh(t) })
	e.Prepare(genesis(t).on(nil).raw)
}
