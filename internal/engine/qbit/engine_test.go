package qbit

import (
	"crypto/sha256"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/p2mr"
	"github.com/seed61375155/trawl/messages"
)

// The branches of a tree may come in any order: the unspent outputs are those of
// an engine that has seen only the active chain.
func TestBranchesLeaveNothingBehind(t *testing.T) {
	t.Parallel()
	const blocks = 120
	random := rand.New(rand.NewPCG(1, 2))
	e := fresh(t, dialect.Choices{})
	e.net.Rules.Maturity = 1
	b := &builder{tb: t, e: e}
	known := []*chainview.Block{e.tree.Active().Tip()}
	for range blocks {
		parent := known[len(known)-1-random.IntN(min(len(known), 6))]
		var txs []*wire.MsgTx
		if parent.Height > 0 {
			out, value := b.coinbaseOf(parent)
			first := spend(out, value)
			txs = append(txs, first)
			if random.IntN(2) == 0 { // a transaction that spends another of its block
				txs = append(txs, spend(wire.OutPoint{Hash: first.TxHash()}, value/2))
			}
		}
		known = append(known, b.add(parent, txs...))
		if best := heaviest(known); best.CompareWork(e.tree.Active().Tip()) != 0 {
			t.Fatalf("tip at height %d, best at %d", e.tree.Active().Height(), best.Height)
		}
	}
	if e.tree.Active().Height() == blocks {
		t.Fatal("there was one branch")
	}
	compare(t, e)

	// Invalidating and reconsidering leads away and back.
	tip := e.tree.Active().Tip()
	middle := e.tree.Active().At(tip.Height / 2)
	if err := e.Invalidate(&middle.Hash); err != nil {
		t.Fatal(err)
	}
	if e.tree.Active().Contains(middle) || !middle.Status().Invalid() || tip.Status()&chainview.FailedAncestor == 0 {
		t.Error("the block is still there")
	}
	compare(t, e)
	if got := reason(t, e.Accept(b.build(tip, nil, nil))); got != "bad-prevblk" {
		t.Errorf("on top of an invalid block: %q", got)
	}
	if err := e.Reconsider(&tip.Hash); err != nil {
		t.Fatal(err)
	}
	if now := e.tree.Active().Tip(); now.CompareWork(tip) != 0 {
		t.Errorf("back at height %d, want %d", now.Height, tip.Height)
	}
	compare(t, e)
	for _, change := range []func(*chainhash.Hash) error{e.Invalidate, e.Reconsider} {
		if err := change(&chainhash.Hash{1}); !errors.Is(err, messages.ErrBlockNotFound) {
			t.Errorf("unknown block: %v", err)
		}
	}
}

func heaviest(blocks []*chainview.Block) *chainview.Block {
	best := blocks[0]
	for _, b := range blocks {
		if b.CompareWork(best) > 0 {
			best = b
		}
	}
	return best
}

// compare feeds the active chain to a new engine.
func compare(t *testing.T, e *rig) {
	t.Helper()
	other := fresh(t, dialect.Choices{})
	other.net.Rules.Maturity = e.net.Rules.Maturity
	active := e.tree.Active()
	for height := int32(1); height <= active.Height(); height++ {
		raw, err := e.db.Block(&active.At(height).Hash)
		if err != nil {
			t.Fatal(err)
		}
		if err := other.Accept(raw); err != nil {
			t.Fatal(err)
		}
	}
	n, sum, hash := unspent(t, e)
	wantN, wantSum, want := unspent(t, other)
	if n != wantN || sum != wantSum || hash != want {
		t.Errorf("%d unspent outputs of %d, want %d of %d", n, sum, wantN, wantSum)
	}
}

// A branch with more work that breaks a rule in its middle is left alone, and what
// builds on the breach is refused from then on.
func TestBadBranch(t *testing.T) {
	t.Parallel()
	e := fresh(t, dialect.Choices{})
	e.net.Rules.Maturity = 1
	b := &builder{tb: t, e: e}
	root := b.chain(e.tree.Active().Tip(), 3)
	tip := b.chain(root, 2)
	side := b.add(root)
	out, value := b.coinbaseOf(root)
	wrong := spend(out, value)
	wrong.TxIn[0].Witness[0] = []byte{txscript.OP_FALSE}
	bad := b.add(side, wrong) // not more work than the tip: not looked into yet
	next := b.build(bad, nil, nil)
	if err := e.Accept(next); err != nil {
		t.Fatalf("it is another block that is wrong: %v", err)
	}
	if e.tree.Active().Tip() != tip || bad.Status()&chainview.Failed == 0 {
		t.Errorf("at height %d, status %b", e.tree.Active().Height(), bad.Status())
	}
	if got := reason(t, e.Accept(next)); got != "duplicate-invalid" {
		t.Errorf("again: %q", got)
	}
	if got := reason(t, e.Submit(b.build(bad, nil, nil))); got != "bad-prevblk" {
		t.Errorf("on top of it: %q", got)
	}
	if got := reason(t, e.Submit(b.build(root, nil, nil))); got != "inconclusive" {
		t.Errorf("beside the chain: %q", got)
	}
	compare(t, e)
}

// Acknowledged changes are found in a copy of the files that was made while the
// engine ran, as a kill leaves them.
func TestKill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := openIn(t, dir, regtest(t, dialect.Choices{}))
	defer func() { _ = e.Close() }()
	e.net.Rules.Maturity = 1
	b := &builder{tb: t, e: e}
	blocks := chainBlocks(t)
	feed(t, e, blocks[1:30])
	b.chain(e.tree.Active().Tip(), 10)
	fork := e.tree.Active().At(36)
	out, value := b.coinbaseOf(fork)
	for i := range 6 {
		if i == 0 {
			fork = b.add(fork, spend(out, value))
		} else {
			fork = b.add(fork)
		}
		copied := t.TempDir()
		if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		net := regtest(t, dialect.Choices{})
		net.Rules.Maturity = 1
		again := openIn(t, copied, net)
		if got, want := again.tree.Active().Tip().Hash, e.tree.Active().Tip().Hash; got != want {
			t.Fatalf("after %d blocks at %v, want %v", i, got, want)
		}
		if b := again.tree.Lookup(&fork.Hash); b == nil || b.Status()&chainview.HasData == 0 {
			t.Fatalf("block %v is lost", fork.Hash)
		}
		n, sum, hash := unspent(t, again)
		if wantN, wantSum, want := unspent(t, e); n != wantN || sum != wantSum || hash != want {
			t.Errorf("after %d blocks: other unspent outputs", i)
		}
		if err := again.Close(); err != nil {
			t.Error(err)
		}
	}
	if e.tree.Active().Tip() != fork {
		t.Error("the branch did not win")
	}
}

// Headers may come before their blocks, and blocks before those that they build
// on.
func TestOutOfOrder(t *testing.T) {
	dir := t.TempDir()
	e := openIn(t, dir, regtest(t, dialect.Choices{}))
	blocks := chainBlocks(t)[1:31]
	headers := make([][]byte, len(blocks))
	for i, raw := range blocks {
		headers[i] = raw[:e.net.HeaderLen(raw)]
	}
	if _, _, err := e.AcceptHeaders(headers[1:]); reason(t, err) != "prev-blk-not-found" {
		t.Errorf("without parent: %v", err)
	}
	last, added, err := e.AcceptHeaders(headers)
	if err != nil || added != len(headers) || last.Height != 30 || e.tree.Active().Height() != 0 {
		t.Fatalf("%d headers, %v", added, err)
	}
	if _, added, err := e.AcceptHeaders(headers); err != nil || added != 0 {
		t.Errorf("again: %d headers, %v", added, err)
	}
	// A merge-mined header with a payload that is wrong.
	wrong := append([]byte(nil), headers[4]...)
	wrong[len(wrong)-1] ^= 1
	if _, _, err := e.AcceptHeaders([][]byte{wrong}); reason(t, err) == "" {
		t.Error("a payload that proves nothing is taken")
	}
	for i := len(blocks) - 1; i > 5; i-- {
		if err := e.Accept(blocks[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = openIn(t, dir, regtest(t, dialect.Choices{}))
	defer func() { _ = e.Close() }()
	if e.tree.Active().Height() != 0 || len(e.tree.Tips()) != 1 {
		t.Errorf("at height %d", e.tree.Active().Height())
	}
	for i, raw := range blocks[:6] {
		if err := e.Accept(raw); err != nil {
			t.Fatal(err)
		}
		want := int32(i + 1)
		if i == 5 {
			want = 30
		}
		if got := e.tree.Active().Height(); got != want {
			t.Errorf("at height %d after block %d", got, i)
		}
	}
	if got := reason(t, e.Accept(blocks[3])); got != "duplicate" {
		t.Errorf("again: %q", got)
	}
}

func TestMine(t *testing.T) {
	e := fresh(t, dialect.Choices{})
	e.net.Rules.Maturity = 1
	tries := ^uint64(0)
	mine := func(script []byte, txs ...[]byte) error {
		raw, err := e.Mine(t.Context(), script, txs, 0, &tries)
		if err != nil {
			return err
		}
		return e.Submit(raw)
	}
	for range 5 {
		if err := mine(anyoneScript()); err != nil {
			t.Fatal(err)
		}
	}
	b := &builder{tb: t, e: e}
	out, value := b.coinbaseOf(e.tree.Active().At(2))
	if err := mine(anyoneScript(), serialized(t, spend(out, value))); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Coin(out); !errors.Is(err, messages.ErrNoCoin) {
		t.Errorf("a spent output: %v", err)
	}
	for want, err := range map[string]error{
		"bad-txns-output-not-p2mr":             mine([]byte{txscript.OP_TRUE}),
		"bad-txns-inputs-missingorspent":       mine(anyoneScript(), serialized(t, spend(out, value-1))),
		"bad-tx":                               mine(anyoneScript(), []byte{1}),
		"bad-txns-in-belowout":                 mine(anyoneScript(), serialized(t, spend(first(b, 3), 22e9))),
		"bad-txns-premature-spend-of-coinbase": premature(e, b, mine),
	} {
		if got := reason(t, err); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	coin, err := e.Coin(first(b, 3))
	if err != nil || coin.Height != 3 || !coin.Coinbase || coin.Output.Value != 21e9 {
		t.Errorf("%+v, %v", coin, err)
	}
	none := uint64(0)
	if raw, err := e.Mine(t.Context(), anyoneScript(), nil, 0, &none); raw != nil || err != nil {
		t.Errorf("without tries: %d bytes, %v", len(raw), err)
	}
}

func first(b *builder, height int32) wire.OutPoint {
	out, _ := b.coinbaseOf(b.e.tree.Active().At(height))
	return out
}

func premature(e *rig, b *builder, mine func([]byte, ...[]byte) error) error {
	e.net.Rules.Maturity = 1000
	defer func() { e.net.Rules.Maturity = 1 }()
	out, value := b.coinbaseOf(e.tree.Active().At(3))
	return mine(anyoneScript(), serialized(b.tb, spend(out, value)))
}

func serialized(tb testing.TB, tx *wire.MsgTx) []byte {
	tb.Helper()
	var raw sink
	if err := tx.Serialize(&raw); err != nil {
		tb.Fatal(err)
	}
	return raw
}

type sink []byte

func (s *sink) Write(b []byte) (int, error) {
	*s = append(*s, b...)
	return len(b), nil
}

// Regtests without restriction take any output, under the rules of old scripts.
func TestAnyOutput(t *testing.T) {
	e := fresh(t, dialect.Choices{AnyOutput: true})
	e.net.Rules.Maturity = 1
	tries := ^uint64(0)
	mine := func(script []byte, txs ...[]byte) error {
		raw, err := e.Mine(t.Context(), script, txs, 0, &tries)
		if err != nil {
			return err
		}
		return e.Submit(raw)
	}
	b := &builder{tb: t, e: e}
	wrong := []byte{txscript.OP_0} // a script that fails
	wrongHash := sha256.Sum256(wrong)
	for _, script := range [][]byte{
		{txscript.OP_TRUE},
		{txscript.OP_FALSE},
		{p2mr.OpCheckSigPQC, txscript.OP_TRUE},
		{0x53, 2, 1, 1},
		{txscript.OP_0, txscript.OP_IF, p2mr.OpCheckSigPQC, txscript.OP_ELSE, txscript.OP_1, txscript.OP_ENDIF},
		slices.Concat([]byte{txscript.OP_HASH160, 20}, btcutil.Hash160(wrong), []byte{txscript.OP_EQUAL}),
		slices.Concat([]byte{txscript.OP_0, 32}, wrongHash[:]),
		slices.Concat([]byte{txscript.OP_1, 32}, wrongHash[:]),
		{txscript.OP_1, txscript.OP_CHECKLOCKTIMEVERIFY},
		{txscript.OP_1, txscript.OP_CHECKSEQUENCEVERIFY},
		{0, 1, 0x30, txscript.OP_1, 1, 2, txscript.OP_1, txscript.OP_CHECKMULTISIG, txscript.OP_NOT},
		{1, 1, 0, 0, txscript.OP_CHECKMULTISIG},
	} {
		if err := mine(script); err != nil {
			t.Fatal(err)
		}
	}
	for height, want := range map[int32]string{
		1: "", 2: "Script evaluated without error but finished with a false/empty top stack element",
		3: "Opcode missing or not understood", 4: "", 5: "",
		6:  "Script evaluated without error but finished with a false/empty top stack element",
		7:  "Script evaluated without error but finished with a false/empty top stack element",
		8:  "Witness program was passed an empty witness",
		9:  "Locktime requirement not satisfied",
		10: "Locktime requirement not satisfied",
		11: "Non-canonical DER signature",
		12: "Dummy CHECKMULTISIG argument must be zero",
	} {
		out, value := b.coinbaseOf(e.tree.Active().At(height))
		tx := spend(out, value)
		switch tx.TxIn[0].Witness = nil; height {
		case 6:
			tx.TxIn[0].SignatureScript = append([]byte{1}, wrong...)
		case 7:
			tx.TxIn[0].Witness = wire.TxWitness{wrong}
		}
		if want != "" {
			want = "block-script-verify-flag-failed (" + want + ")"
		}
		if got := reason(t, mine(anyoneScript(), serialized(t, tx))); got != want {
			t.Errorf("output of block %d: %q, want %q", height, got, want)
		}
	}
}
