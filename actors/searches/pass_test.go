package searches

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/search"
	"github.com/seed61375155/trawl/store/searchdb"
)

// lookingFor returns a member that looks for some scripts, up to a block.
func lookingFor(n int, last *chainview.Block, scripts ...string) *member {
	m := memberOf(jobAt(n, 0, -1, 0), last)
	for i, s := range scripts {
		m.scripts = append(m.scripts, searchdb.Script{Script: []byte(s), Index: int32(i)})
	}
	m.ranges = [][2]uint32{{0, uint32(len(scripts))}}
	return m
}

// Entries found in a block are given to all members with their scripts, under the members' own numbers. Members that
// are not in the round or end below get none.
func TestSharedBlock(t *testing.T) {
	_, chain := alone(t, 9)
	b := chain.Active().At(5)
	absent, one := lookingFor(1, b, "a"), lookingFor(2, b, "x", "a", "b")
	below, two := lookingFor(3, b.Parent, "a"), lookingFor(4, chain.Active().Tip(), "b", "a")
	p := &pass{mergedQuery: newMergedQuery([]*member{absent, one, below, two})}
	p.members = p.mergedQuery.numbered([]*member{one, below, two})
	number := func(s string) uint32 {
		n, ok := p.mergedQuery.Find([]byte(s))
		if !ok {
			t.Fatalf("%s is not looked for", s)
		}
		return uint32(n)
	}
	p.share(b, []search.Entry{
		{Kind: search.Spend, Script: number("a"), N: 1}, {Kind: search.Receive, Script: number("b"), N: 2},
	})
	for _, test := range []struct {
		m    *member
		want [][2]uint32 // script, N
	}{{absent, nil}, {one, [][2]uint32{{1, 1}, {2, 2}}}, {below, nil}, {two, [][2]uint32{{1, 1}, {0, 2}}}} {
		var got [][2]uint32
		for _, e := range test.m.found {
			got = append(got, [2]uint32{e.Script, e.N})
			if e.Height != 5 || e.Block != b.Hash || e.Time != uint32(b.Time().Unix()) {
				t.Errorf("it is in %+v", e)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%d has %v, want %v", test.m.Number, got, test.want)
		}
	}
	if one.used[0] != 2 || two.used[0] != 1 {
		t.Errorf("used are %v, %v", one.used, two.used)
	}
}

// A block counts where the filter can have one of its scripts; of a search for blocks it is one entry, whatever is in
// it.
func TestGivenBlock(t *testing.T) {
	_, chain := alone(t, 9)
	b := chain.Active().At(5)
	list := func(scripts ...uint32) (l []search.Entry) {
		for _, s := range scripts {
			l = append(l, search.Entry{Kind: search.Receive, Script: s, TxID: chainhash.Hash{byte(s)}, Amount: 5})
		}
		return l
	}
	m := lookingFor(1, b, "a", "\x6areturn")
	m.known = &outputs{of: map[wire.OutPoint]chainview.Coin{}}
	give(m, b, list(1))
	give(m, b, nil)
	if len(m.found) > 0 || len(m.used) > 0 {
		t.Errorf("found is %+v of what no filter has", m.found)
	}
	give(m, b, list(1, 0))
	give(m, b, list(0))
	if len(m.found) != 3 || m.used[0] != 1 || len(m.known.of) != 2 {
		t.Errorf("found are %+v, used %v, known %v", m.found, m.used, m.known.of)
	}
	blocks := lookingFor(2, b, "a", "b")
	blocks.BlocksOnly = true
	give(blocks, b, list(0, 1))
	want := search.Entry{Kind: search.Hit, Height: 5, Block: b.Hash, Time: uint32(b.Time().Unix())}
	if !slices.Equal(blocks.found, []search.Entry{want}) || blocks.used[0] != 1 {
		t.Errorf("found are %+v, used %v", blocks.found, blocks.used)
	}
}

// out is the outpoint of an output of a transaction.
func out(tx *wire.MsgTx, n uint32) wire.OutPoint { return wire.OutPoint{Hash: tx.TxHash(), Index: n} }

// paying returns a transaction with some inputs that pays to some scripts.
func paying(ins []wire.OutPoint, scripts ...string) *wire.MsgTx {
	tx := wire.NewMsgTx(2)
	for _, in := range ins {
		tx.AddTxIn(&wire.TxIn{PreviousOutPoint: in})
	}
	for n, s := range scripts {
		tx.AddTxOut(wire.NewTxOut(int64(100+n), []byte(s)))
	}
	return tx
}

// Of a pruned block's inputs, those that spend found outputs or the block's own outputs are known; all others are the
// rest.
func TestSpentByPruned(t *testing.T) {
	before, unknown := wire.OutPoint{Index: 7}, wire.OutPoint{Index: 8}
	coinbase := paying([]wire.OutPoint{{Index: 0xffffffff}}, "a")
	first := paying([]wire.OutPoint{unknown, before}, "b", "c")
	second := paying([]wire.OutPoint{out(first, 1), out(coinbase, 0), unknown}, "d")
	block := &wire.MsgBlock{Transactions: []*wire.MsgTx{coinbase, first, second}}
	o := &outputs{of: map[wire.OutPoint]chainview.Coin{before: {Value: 5, Script: []byte("x")}}}
	spent, rest := o.spentBy(block)
	coin := func(value int, script string) chainview.Coin {
		return chainview.Coin{Value: btcutil.Amount(value), Script: []byte(script)}
	}
	want := fmt.Sprint([][]chainview.Coin{{{}, coin(5, "x")}, {coin(101, "c"), coin(100, "a"), {}}})
	if got := fmt.Sprint(spent); got != want {
		t.Errorf("spent are %s, want %s", got, want)
	}
	if len(rest.Transactions) != 3 || rest.Transactions[0] != coinbase || len(block.Transactions) != 3 {
		t.Fatalf("%d transactions have others", len(rest.Transactions))
	}
	for n, tx := range rest.Transactions[1:] {
		if len(tx.TxIn) != 1 || tx.TxIn[0].PreviousOutPoint != unknown {
			t.Errorf("others of %d are %+v", n, tx.TxIn)
		}
	}
	if len(o.of) != 1 {
		t.Errorf("%d outputs are known then", len(o.of))
	}
}

// The outputs of a search are read once, with those that the round has found, and a list that cannot be read is no
// short one.
func TestKnownOutputs(t *testing.T) {
	_, chain := alone(t, 9)
	lost := errors.New("lost")
	m := lookingFor(1, chain.Active().Tip(), "a", "b")
	l := entriesAt(m.ID, 1, 2, 3)
	l.entries[1].Kind = search.Spend
	for i := range l.entries {
		e := &l.entries[i].Entry
		e.TxID, e.N, e.Script, e.Amount = chainhash.Hash{byte(i)}, uint32(i), uint32(i%2), int64(i)
	}
	m.found = []search.Entry{{Kind: search.Receive, TxID: chainhash.Hash{9}, N: 1, Script: 1, Amount: 77}}
	p := &pass{cfg: &Config{Lists: listOf{entries: l.entries, err: lost}}}
	if err := p.readKnown(m); !errors.Is(err, lost) || m.known != nil {
		t.Errorf("known are %v, %v", m.known, err)
	}
	p.cfg.Lists = l
	if err := p.readKnown(m); err != nil {
		t.Fatal(err)
	}
	p.cfg.Lists = listOf{err: lost}
	if err := p.readKnown(m); err != nil {
		t.Errorf("read again: %v", err)
	}
	want := fmt.Sprint(map[wire.OutPoint]chainview.Coin{
		{}: {Script: []byte("a")}, {Hash: chainhash.Hash{2}, Index: 2}: {Value: 2, Script: []byte("a")},
		{Hash: chainhash.Hash{9}, Index: 1}: {Value: 77, Script: []byte("b")},
	})
	if got := fmt.Sprint(m.known.of); got != want {
		t.Errorf("known are %s, want %s", got, want)
	}
}

// A pruned block is looked into for each member by itself: a member that fails, has failed or ends below keeps no
// other member from its entries.
func TestSharedPrunedBlock(t *testing.T) {
	_, chain := alone(t, 9)
	b := chain.Active().At(5)
	lost, earlier := errors.New("lost"), errors.New("earlier")
	known := func() *outputs { return &outputs{of: map[wire.OutPoint]chainview.Coin{}} }
	failed, fails := lookingFor(1, b, "a"), lookingFor(2, b, "a")
	below, some := lookingFor(3, b.Parent, "a"), lookingFor(4, b, "x", "b", "a", "a")
	failed.err, failed.known, below.known, some.known = earlier, known(), known(), known()
	some.ranges = [][2]uint32{{1, 4}}
	p := &pass{cfg: &Config{Lists: listOf{err: lost}}}
	p.round = &round{members: []*member{failed, fails, below, some}}
	block := &wire.MsgBlock{Transactions: []*wire.MsgTx{paying([]wire.OutPoint{{Index: 0xffffffff}}, "b", "x", "a")}}
	p.sharePruned(b, chainview.Fetched{Block: block})
	if !errors.Is(failed.err, earlier) || !errors.Is(fails.err, lost) || below.err != nil || some.err != nil {
		t.Errorf("errors are %v, %v, %v, %v", failed.err, fails.err, below.err, some.err)
	}
	if len(failed.found)+len(fails.found)+len(below.found) > 0 || len(some.found) != 2 ||
		some.found[0].Script != 1 || some.found[0].Amount != 100 || some.found[1].Script != 2 || some.found[1].N != 2 {
		t.Errorf("found are %+v", some.found)
	}
	if len(some.known.of) != 2 {
		t.Errorf("%d outputs are known", len(some.known.of))
	}
}

// A fetched block weighs as much as its bytes, and a block that cannot be fetched is not looked into.
func TestFetchedBlock(t *testing.T) {
	_, chain := alone(t, 9)
	lost := errors.New("lost")
	var err error
	raw := make([]byte, bytesAnEntry*7)
	fetch := func(context.Context, *chainhash.Hash) (chainview.Fetched, error) {
		return chainview.Fetched{Raw: raw}, err
	}
	one := lookingFor(1, chain.Active().Tip(), "a")
	p := &pass{cfg: &Config{Fetch: fetch}, pruned: map[chainhash.Hash]chainview.Fetched{}}
	p.round = &round{stop: chain.Active().Tip(), members: []*member{one}}
	if keep, err := p.fetch(t.Context(), &chainhash.Hash{1}); !keep || err != nil || p.weight != 7 || p.blocks != 1 {
		t.Errorf("kept %v, weighs %d, %v", keep, p.weight, err)
	}
	err = lost
	if keep, err := p.fetch(t.Context(), &chainhash.Hash{2}); keep || !errors.Is(err, lost) {
		t.Errorf("kept %v, %v", keep, err)
	}
	if _, has := p.pruned[chainhash.Hash{1}]; !has || len(p.pruned) != 1 {
		t.Errorf("%d blocks are kept", len(p.pruned))
	}
}

// badUndo is a chain whose undo data cannot be read: none of it, or only its scripts can.
type badUndo struct {
	chainview.Reader

	scripts, coins error
}

func (b badUndo) SpentScripts(hash *chainhash.Hash) ([][]byte, error) {
	if b.scripts != nil {
		return nil, b.scripts
	}
	return [][]byte{[]byte("a")}, nil
}

func (b badUndo) Spent(*chainhash.Hash) ([][]chainview.Coin, error) { return nil, b.coins }

// Where it cannot be read what a block spends, nothing is found in it but the error.
func TestUndoIsNotRead(t *testing.T) {
	_, chain := alone(t, 9)
	pays := chain.Mine(chaintest.Template{Script: []byte("b")})
	lost := errors.New("lost")
	for _, reader := range []badUndo{{chain, lost, nil}, {chain, nil, lost}, {chain, nil, nil}} {
		m, other := lookingFor(1, pays, "a", "b"), lookingFor(2, pays, "b")
		p := &pass{
			cfg: &Config{HeaderLen: func([]byte) int { return filters.HeaderLen }}, reader: reader,
			round: &round{stop: pays, members: []*member{m, other}}, mergedQuery: newMergedQuery([]*member{m, other}),
			found: map[chainhash.Hash][]search.Entry{},
		}
		p.buffers.New = func() any { return new([]byte) }
		keep, err := p.keep(t.Context(), &pays.Hash)
		want := errors.Join(reader.scripts, reader.coins)
		if keep != (want == nil) || want != nil && !errors.Is(err, lost) || want == nil && err != nil {
			t.Errorf("%+v: kept %v, %v", reader, keep, err)
		}
		found := len(p.found[pays.Hash])
		if keep && (found != 1 || p.weight != 2 || p.blocks != 1) || !keep && found > 0 {
			t.Errorf("%+v: %d entries, which weigh %d", reader, found, p.weight)
		}
		if keep, err = p.keep(t.Context(), &pays.Parent.Hash); keep || (want == nil) != (err == nil) {
			t.Errorf("%+v: kept %v of a block that has nothing, %v", reader, keep, err)
		}
	}
}
