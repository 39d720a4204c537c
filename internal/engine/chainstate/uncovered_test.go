package chainstate

import (
	"bytes"
	"log/slog"
	"math/big"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/engine/forkchoice"
)

// A chain state is rebuilt from stripped blocks where the block that is assumed to be valid covers them, in the best
// chain of headers with the least work. Else the node says why not.
func TestUncovered(t *testing.T) {
	net, err := dialect.Bitcoin("regtest")
	if err != nil {
		t.Fatal(err)
	}
	tree, chain := treeOf(t, 9)
	side := grow(t, tree, chain[3], 7)
	choice := forkchoice.New(tree, chain[0], func(*chainview.Block, chainview.Status) {})
	choice.AddHeader(chain[9])
	for _, test := range []struct {
		name     string
		assumed  chainhash.Hash
		work     int64
		stripped int // blocks from 1 on
		want     string
	}{
		{"nothing assumed", chainhash.Hash{}, 0, 2, "without -assumevalid=<hash>"},
		{"too little work", chain[5].Hash, 21, 2, "does not satisfy nMinimumChainWork"},
		{"just the work", chain[5].Hash, 20, 2, ""},
		{"an unknown block", chainhash.Hash{9}, 0, 2, "with unknown -assumevalid block"},
		{"another chain", side.Hash, 0, 2, "is not on the best-header chain"},
		{"the same block", chain[5].Hash, 0, 5, ""},
		{"a later block", chain[5].Hash, 0, 6, "does not cover witness-pruned block"},
		{"the tip", chain[5].Hash, 0, 9, "at height 9. Pass"},
		{"none", chain[5].Hash, 0, 0, ""},
	} {
		e := &Engine{choice: choice, tree: tree, minWork: big.NewInt(test.work)}
		e.net = net
		net.AssumeValid = test.assumed
		for i := 1; i <= 9; i++ {
			tree.SetStatus(chain[i], chainview.HasData|chainview.Valid)
			if i <= test.stripped {
				tree.SetStatus(chain[i], chainview.HasData|chainview.Valid|chainview.Stripped)
			}
		}
		got := uncovered(e)
		if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
		if got != "" && test.work == 0 && !strings.Contains(got, "fresh sync") {
			t.Errorf("%s: %q does not say what to do", test.name, got)
		}
		for i, b := range chain[1:] {
			below := map[chainhash.Hash]int{chain[5].Hash: 5, side.Hash: 3}[test.assumed]
			want := i+1 <= below && test.work <= 20
			if isAssumedAncestor(e, b) != want {
				t.Errorf("%s: block %d is assumed: %v", test.name, i+1, !want)
			}
		}
		if isAssumedAncestor(e, side) {
			t.Errorf("%s: a block beside the chain is assumed", test.name)
		}
	}
}

// The log says why scripts of blocks are executed, in the words of the version spoken as, and when that changes.
func TestWhyScripts(t *testing.T) {
	tree, chain := treeOf(t, 9)
	side := grow(t, tree, chain[3], 7)
	choice := forkchoice.New(tree, chain[0], func(*chainview.Block, chainview.Status) {})
	choice.AddHeader(chain[9])
	for _, test := range []struct {
		assumed chainhash.Hash
		at      *chainview.Block
		work    int64
		want    string
	}{
		{chainhash.Hash{}, chain[1], 0, "assumevalid=0 (always verify)"},
		{chainhash.Hash{9}, chain[1], 0, "assumevalid hash not in headers"},
		{chain[5].Hash, chain[6], 0, "block height above assumevalid height"},
		{side.Hash, chain[4], 0, "block not in assumevalid chain"},
		{side.Hash, side, 0, "block not in best header chain"},
		{chain[5].Hash, chain[5], 1000, "best header chainwork below minimumchainwork"},
		{chain[5].Hash, chain[5], 0, "block too recent relative to best header"},
	} {
		for _, reference := range []int{dialect.Core30, dialect.Core32} {
			net, err := dialect.Named("", "regtest", dialect.Choices{Reference: reference})
			if err != nil {
				t.Fatal(err)
			}
			net.AssumeValid = test.assumed
			var log bytes.Buffer
			e := &Engine{
				choice: choice, tree: tree, minWork: big.NewInt(test.work), scripts: noBlockYet,
				log: slog.New(slog.NewTextHandler(&log, nil)),
			}
			e.net = net
			c := &connecting{Engine: e, at: test.at, b: &block{Header: new(Header)}}
			why := c.whyScripts()
			if why != test.want {
				t.Errorf("%d: %q, want %q", test.at.Height, why, test.want)
			}
			c.logScripts(why)
			c.logScripts(why)
			c.logScripts("")
			c.logScripts(why)
			said := "Enabling script verification at block"
			want := map[int]int{dialect.Core30: 0, dialect.Core32: 2}[reference]
			if strings.Count(log.String(), said) != want || strings.Contains(log.String(), why+".") != (want > 0) ||
				strings.Count(log.String(), "Disabling ") != 1 {
				t.Errorf("as %d: %s", reference, &log)
			}
		}
	}
}
