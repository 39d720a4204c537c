package qbit

import (
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
)

// Among blocks with the same work the first is the tip, unless another is preferred.
func TestTies(t *testing.T) {
	e := fresh(t, dialect.Choices{})
	b := &builder{tb: t, e: e}
	root := e.tree.Active().Tip()
	blocks := []*chainview.Block{b.add(root), b.add(root), b.add(root)}
	check := func(when string, want *chainview.Block) {
		t.Helper()
		if got := e.tree.Active().Tip(); got != want {
			t.Errorf("%s: the tip is %v, want %v", when, got.Hash, want.Hash)
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check("the first", blocks[0])
	must(e.Invalidate(&blocks[0].Hash))
	check("the first is gone", blocks[1])
	must(e.Precious(&blocks[2].Hash))
	check("the last is preferred", blocks[2])
	must(e.Precious(&blocks[1].Hash))
	check("the other is preferred", blocks[1])
	must(e.Reconsider(&blocks[0].Hash))
	check("preferred over the first", blocks[1])
	must(e.Precious(&root.Hash))
	check("less work is never preferred", blocks[1])
	must(e.Precious(&blocks[2].Hash))
	must(e.Precious(&blocks[0].Hash))
	check("preferred last", blocks[0])

	longer := b.chain(blocks[1], 2)
	check("more work", longer)
	must(e.Precious(&blocks[2].Hash))
	check("what has less work by now is not preferred", longer)
	other := b.chain(blocks[2], 2)
	check("as much work, but later", longer)
	must(e.Precious(&other.Hash))
	check("preferred after the chain has grown", other)
	must(e.Invalidate(&other.Hash))
	check("preferred, but invalid", longer)
	must(e.Precious(&other.Hash))
	check("an invalid one cannot be preferred", longer)
	if err := e.Precious(&unknownHash); err == nil {
		t.Error("a block that nobody knows is preferred")
	}
}

var unknownHash = (&wire.BlockHeader{Nonce: 99}).BlockHash()

// Branches of headers are there after a restart as they were, invalidated
// blocks included. A mutated block does not make its header invalid.
func TestHeadersSurviveRestart(t *testing.T) {
	dir := t.TempDir()
	net := regtest(t, dialect.Choices{})
	source := fresh(t, dialect.Choices{})
	b := &builder{tb: t, e: source}
	root := source.tree.Active().Tip()
	var branches [2][][]byte
	for i := range branches {
		at := root
		for range 4 + i {
			raw := b.build(at, nil, nil)
			if err := source.Accept(raw); err != nil {
				t.Fatal(err)
			}
			read, err := readBlock(raw)
			if err != nil {
				t.Fatal(err)
			}
			at = source.tree.Lookup(&read.Hash)
			branches[i] = append(branches[i], raw)
		}
	}
	e := openIn(t, dir, net)
	for _, branch := range branches {
		headers := make([][]byte, len(branch))
		for i, raw := range branch {
			headers[i] = raw[:net.HeaderLen(raw)]
		}
		if _, added, err := e.AcceptHeaders(headers); err != nil || added != len(branch) {
			t.Fatalf("%d headers, %v", added, err)
		}
	}
	mutated, err := readBlock(branches[0][0])
	if err != nil {
		t.Fatal(err)
	}
	mutated.txs[0].MsgTx().TxIn[0].Witness = wire.TxWitness{make([]byte, 31)}
	if got := reason(t, e.Accept(mutated.serialize())); got != "bad-witness-nonce-size" {
		t.Fatalf("a mutated block: %q", got)
	}
	bad, err := readBlock(branches[1][2])
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Invalidate(&bad.Hash); err != nil {
		t.Fatal(err)
	}
	check := func(when string) {
		t.Helper()
		if got := len(e.tree.Tips()); got != 2 {
			t.Errorf("%s: %d tips", when, got)
		}
		for i, branch := range branches {
			for j, raw := range branch {
				read, err := readBlock(raw)
				if err != nil {
					t.Fatal(err)
				}
				known := e.tree.Lookup(&read.Hash)
				if known == nil {
					t.Fatalf("%s: header %d of branch %d is unknown", when, j, i)
				}
				if wantBad := i == 1 && j >= 2; known.Status().Invalid() != wantBad ||
					known.Status()&chainview.HasData != 0 {
					t.Errorf("%s: header %d of branch %d has status %b", when, j, i, known.Status())
				}
			}
		}
	}
	check("before")
	for range 2 {
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		e = openIn(t, dir, net)
		check("after a restart")
	}
	defer func() { _ = e.Close() }()
	feed(t, e, branches[0])
	if got := e.tree.Active().Height(); got != 4 {
		t.Errorf("at height %d", got)
	}
	if err := e.Reconsider(&bad.Hash); err != nil {
		t.Fatal(err)
	}
	feed(t, e, branches[1])
	if got := e.tree.Active().Height(); got != 5 {
		t.Errorf("at height %d after the other branch", got)
	}
}
