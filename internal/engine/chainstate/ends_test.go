package chainstate_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/engine/chainstate"
	"github.com/seed61375155/trawl/messages"
)

// A miner may leave the nonce out that a coinbase commits with, where witnesses are
// active and where the rest is right.
func TestSubmitWithoutNonce(t *testing.T) {
	chain := genesis(t).chainOn(1)
	e := opened(t, quick(t), chain...)
	segwit := func(b *wire.MsgBlock) { commit(b); b.Transactions[0].TxIn[0].Witness = nil }
	b := chain[0].on(nil, remake(segwit))
	if reason, _ := refused(t, e.Accept(b.raw)); reason != "bad-witness-nonce-size" {
		t.Errorf("from a peer: %q", reason)
	}
	wantSubmit(t, e, "from a miner", b, "")
	wantSubmit(t, e, "again", b, "duplicate")
	raw, err := e.Reader().Raw(&b.hash)
	must(t, err)
	var stored wire.MsgBlock
	must(t, stored.Deserialize(bytes.NewReader(raw)))
	if w := stored.Transactions[0].TxIn[0].Witness; len(w) != 1 || !bytes.Equal(w[0], make([]byte, 32)) {
		t.Errorf("stored with the nonce %x", w)
	}
	for name, raw := range map[string][]byte{
		"nothing": {}, "a header": b.raw[:80], "a part": b.raw[:100], "more": append(bytes.Clone(b.raw), 0),
	} {
		if reason, _ := refused(t, e.Submit(raw)); reason != "bad-block" {
			t.Errorf("%s: %q", name, reason)
		}
	}
	unknown := chain[0].on(nil).on(nil, remake(segwit))
	if reason, _ := refused(t, e.Submit(unknown.raw)); reason != chainstate.ReasonNoParent {
		t.Errorf("on an unknown parent: %q", reason)
	}
}

// A right proposal gets no error, any other its reason; a proposal changes nothing.
func TestPropose(t *testing.T) {
	chain := genesis(t).chainOn(3)
	e := opened(t, quick(t), chain...)
	tip := chain[2]
	before := unspent(t, e)
	cut := spending(chain[0].txs[0], []byte{0x4c}, 0)
	old := func(b *wire.MsgBlock) { b.Header.Timestamp = time.Unix(1, 0) }
	for _, test := range []struct {
		name  string
		block *made
		want  string
	}{
		{"right", tip.on([]*wire.MsgTx{spending(chain[0].txs[0], trueScript, 0)}), ""},
		{"no work", &made{raw: unsolved(tip.on(nil).raw)}, ""},
		{"an output that does not parse", tip.on([]*wire.MsgTx{cut}), ""},
		{"not on the tip", chain[1].on(nil), "inconclusive-not-best-prevblk"},
		{"another root", tip.on(nil, func(b *wire.MsgBlock) { b.Header.MerkleRoot[0] ^= 1 }), "bad-txnmrklroot"},
		{"too old", tip.on(nil, old), "time-too-old"},
		{"lock time", tip.on(nil, remake(func(b *wire.MsgBlock) {
			b.Transactions[0].LockTime, b.Transactions[0].TxIn[0].Sequence = 500, 0
		})), "bad-txns-nonfinal"},
		{"too much", tip.on(nil, greedy), "bad-cb-amount"},
		{"a part", &made{raw: tip.on(nil).raw[:90]}, "bad-block"},
	} {
		if got, _ := refused(t, e.Propose(test.block.raw)); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
		if n := chainstate.OddInMemory(e); n != 0 {
			t.Errorf("%s: %d outputs stay in memory", test.name, n)
		}
		if got := unspent(t, e); got != before {
			t.Fatalf("%s: it changes the unspent outputs", test.name)
		}
	}
	wantTip(t, e, "at the end", tip)
	if got := len(e.Reader().Tips()); got != 1 {
		t.Errorf("%d tips", got)
	}
}

// A stored block that proves to break a rule when its turn comes is told once.
func TestLateRefusals(t *testing.T) {
	root := genesis(t)
	good := root.on(nil)
	e := opened(t, quick(t), good)
	if late := e.Late(); len(late) != 0 {
		t.Errorf("%d in a chain that is right", len(late))
	}
	bad := root.on(nil, greedy)
	wantSubmit(t, e, "beside the chain", bad, "inconclusive")
	wantSubmit(t, e, "its child", bad.on(nil), "inconclusive")
	late := e.Late()
	if len(late) != 1 || late[0].Hash != bad.hash || late[0].Reason.Reason != "bad-cb-amount" {
		t.Errorf("got %+v", late)
	}
	if late := e.Late(); len(late) != 0 {
		t.Errorf("told again: %+v", late)
	}
	wantTip(t, e, "at the end", good)
}

// The transactions of the chain are counted forward, back and over restarts.
func TestTotals(t *testing.T) {
	dir, net := t.TempDir(), quick(t)
	e := open(t, dir, net)
	want := func(what string, txs uint64) {
		t.Helper()
		if got := e.Totals().Txs; got != txs {
			t.Errorf("%s: %d transactions, want %d", what, got, txs)
		}
	}
	want("at the beginning", 1)
	chain := genesis(t).chainOn(3)
	for _, b := range chain {
		must(t, e.Accept(b.raw))
	}
	want("coinbases", 4)
	first := spending(chain[0].txs[0], trueScript, 0)
	three := chain[2].on([]*wire.MsgTx{first, spending(first, trueScript, 0)})
	must(t, e.Accept(three.raw))
	want("a block of three", 7)
	must(t, e.Invalidate(&chain[2].hash))
	want("taken back", 3)
	must(t, e.Reconsider(&three.hash))
	want("and forth", 7)
	wantSubmit(t, e, "a block that breaks a rule", three.on(nil, greedy), "bad-cb-amount")
	want("after a refusal", 7)
	side := chain[2].chainOn(2)
	must(t, e.Accept(side[0].raw))
	must(t, e.Accept(side[1].raw))
	want("of another branch", 6)
	must(t, e.Close())
	e = open(t, dir, quick(t))
	want("opened again", 6)
	if got := e.Totals(); got.CachedBytes <= 0 {
		t.Errorf("%+v", got)
	}
	must(t, e.Close())
}

// After a write has failed no call does anything any more, and each says why.
func TestNothingAfterFailedWrite(t *testing.T) {
	full := errors.New("disk is full")
	chain := genesis(t).chainOn(3)
	e := open(t, t.TempDir(), quick(t))
	must(t, e.Accept(chain[0].raw))
	fails := false
	must(t, chainstate.FailWrites(e, 8<<20, func() error {
		if fails {
			return full
		}
		return nil
	}))
	must(t, e.Accept(chain[1].raw))
	fails = true
	if err := e.Accept(chain[2].raw); !errors.Is(err, full) {
		t.Errorf("the first: %v", err)
	}
	fails = false
	hash := &chain[0].hash
	_, _, headers := e.AcceptHeaders([][]byte{chain[2].raw[:80]})
	for name, err := range map[string]error{
		"accept": e.Accept(chain[2].raw), "submit": e.Submit(chain[2].raw), "headers": headers,
		"invalidate": e.Invalidate(hash), "reconsider": e.Reconsider(hash), "precious": e.Precious(hash),
		"restore": e.Restore(chain[1].raw), "propose": e.Propose(chain[2].raw), "sync": e.Sync(),
		"rest": chainstate.Rest(e),
	} {
		if !errors.Is(err, full) {
			t.Errorf("%s: %v", name, err)
		}
	}
	wantTip(t, e, "what readers see", chain[1])
	other := chain[1].on(nil)
	if _, _, err := e.AcceptHeaders([][]byte{other.raw[:80]}); !errors.Is(err, full) {
		t.Errorf("another header: %v", err)
	}
	if e.Reader().Lookup(&other.hash) != nil {
		t.Error("readers see a header that was not taken")
	}
	must(t, e.Close())
}

// A read that fails makes a block neither right nor wrong, whichever it is, and whether
// those after it fail too.
func TestEveryReadFails(t *testing.T) {
	broken := errors.New("input/output error")
	net, err := dialect.Named("", "regtest", dialect.Choices{Activation: map[string]int32{"bip34": 1000}})
	must(t, err) // repeated coinbases are looked for
	net.Rules.Maturity = 1
	chain := genesis(t).chainOn(3)
	spends := chain[2].on([]*wire.MsgTx{
		spending(chain[0].txs[0], trueScript, 0), spending(chain[1].txs[0], trueScript, 0),
	})
	for _, alone := range []bool{false, true} {
		dir := t.TempDir()
		e := open(t, dir, net)
		for _, b := range chain {
			must(t, e.Accept(b.raw))
		}
		must(t, e.Close())
		reads := 0
		for failed := true; failed; reads++ {
			e := open(t, dir, net)
			n := 0
			failed = false
			must(t, chainstate.FailReads(e, func() error {
				if n++; n <= reads || alone && failed {
					return nil
				}
				failed = true
				return broken
			}))
			err := e.Accept(spends.raw)
			if failed != errors.Is(err, broken) {
				t.Fatalf("read %d, alone: %t: %v", reads, alone, err)
			}
			if b := e.Reader().Lookup(&spends.hash); failed && b != nil && b.Status().Invalid() {
				t.Fatalf("read %d, alone: %t: the block is known as bad", reads, alone)
			}
			must(t, e.Close())
		}
		if reads < 6 {
			t.Errorf("only %d reads", reads)
		}
	}
}

// Requests for unknown blocks and outputs fail with ErrBlockNotFound and ErrNoCoin.
func TestUnknownBlocks(t *testing.T) {
	e := opened(t, quick(t), genesis(t).chainOn(1)...)
	unknown := &chainhash.Hash{9}
	for name, err := range map[string]error{
		"invalidate": e.Invalidate(unknown), "reconsider": e.Reconsider(unknown), "precious": e.Precious(unknown),
	} {
		if !errors.Is(err, messages.ErrBlockNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := e.Coin(wire.OutPoint{Hash: *unknown}); !errors.Is(err, messages.ErrNoCoin) {
		t.Errorf("coin: %v", err)
	}
	if reason, _ := refused(t, e.Restore(genesis(t).on(nil).raw)); reason != "duplicate" {
		t.Errorf("restore: %q", reason)
	}
}
