package match_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
	"pgregory.net/rapid"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/match"
)

// drawChain draws a chain of blocks that pay to few scripts, some of which no filter has, and spend
// outputs of the blocks before.
func drawChain(t *rapid.T, s *source, most int) {
	odd := [][]byte{{}, {0x6a, 1}, {0x6a}, {0x51}}
	drawScript := func() []byte {
		n := rapid.IntRange(0, 20).Draw(t, "script")
		if n < len(odd) {
			return odd[n]
		}
		return script(int32(n))
	}
	var coins []wire.OutPoint
	for range rapid.IntRange(1, most).Draw(t, "blocks") {
		tx := wire.NewMsgTx(2)
		for range rapid.IntRange(0, 2).Draw(t, "inputs") {
			if len(coins) > 0 {
				at := rapid.IntRange(0, len(coins)-1).Draw(t, "coin")
				tx.AddTxIn(wire.NewTxIn(&coins[at], nil, nil))
				coins = slices.Delete(coins, at, at+1)
			}
		}
		template := chaintest.Template{Script: drawScript()}
		if len(tx.TxIn) > 0 {
			for range rapid.IntRange(1, 3).Draw(t, "outputs") {
				tx.AddTxOut(wire.NewTxOut(1, drawScript()))
			}
			template.Txs = []*wire.MsgTx{tx}
		}
		block, err := s.chain.Block(&s.chain.Mine(template).Hash)
		if err != nil {
			t.Fatal(err)
		}
		for _, tx := range block.Transactions {
			for i, out := range tx.TxOut {
				if len(out.PkScript) > 0 && out.PkScript[0] != 0x6a {
					coins = append(coins, wire.OutPoint{Hash: tx.TxHash(), Index: uint32(i)})
				}
			}
		}
	}
}

// wholeSource has filters with what blocks spend, made before anything is damaged.
type wholeSource struct {
	*source
	filters map[chainhash.Hash][]byte
}

func newWholeSource(t *rapid.T, s *source) *wholeSource {
	w := &wholeSource{s, map[chainhash.Hash][]byte{}}
	for b := s.chain.Active().Tip(); b != nil; b = b.Parent {
		raw, err := s.chain.Raw(&b.Hash)
		if err != nil {
			t.Fatal(err)
		}
		spent, err := s.chain.SpentScripts(&b.Hash)
		if err != nil {
			t.Fatal(err)
		}
		w.filters[b.Hash], err = new(filters.Builder).BuildBlock(&b.Hash, raw, filters.HeaderLen, spent)
		if err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func (s *wholeSource) View() match.View { return &wholeView{view{source: s.source}, s} }

type wholeView struct {
	view
	whole *wholeSource
}

func (v *wholeView) Filters(_ int32, _ bool, dst []filters.Filter) error {
	for i := range dst {
		dst[i].Data = v.whole.filters[dst[i].Block]
	}
	return nil
}

func (*wholeView) Release() {}

// looker is what looks into candidates as a scan does, and what it was asked about.
type looker struct {
	chain *chaintest.Chain
	query *filters.Query
	asked []chainhash.Hash
}

func (l *looker) keep(_ context.Context, block *chainhash.Hash) (bool, error) {
	l.asked = append(l.asked, *block)
	raw, err := l.chain.Raw(block)
	if err != nil {
		return false, err
	}
	spent, err := l.chain.SpentScripts(block)
	if err != nil {
		return false, err
	}
	return l.query.InBlock(raw, filters.HeaderLen, spent)
}

// Blocks that are looked into without their filters are hits as by these, whatever the chain is,
// whatever is looked for, and whatever cannot be read.
func TestBothWaysAreEqual(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &source{chain: chaintest.New(&chaincfg.RegressionNetParams)}
		drawChain(t, s, 60)
		tip := s.chain.Active().Tip()
		whole := newWholeSource(t, s)
		for range rapid.IntRange(0, 2).Draw(t, "unreadable") {
			b := s.chain.Active().At(rapid.Int32Range(0, tip.Height).Draw(t, "at"))
			why := rapid.SampledFrom([]error{chainview.ErrPruned, errBroken}).Draw(t, "why")
			err := fmt.Errorf("block %d: %w", b.Height, why)
			if rapid.Bool().Draw(t, "undo") {
				s.chain.FailUndo(b, err)
			} else {
				s.chain.Fail(b, err)
			}
		}
		var sought [][]byte
		for range rapid.IntRange(0, 6).Draw(t, "sought") {
			sought = append(sought, script(rapid.Int32Range(0, 25).Draw(t, "number")))
		}
		odd := [][]byte{{}, {0x6a, 1}, {0x6a}}
		sought = append(sought, odd[:rapid.IntRange(0, 3).Draw(t, "odd")]...)
		for i := range rapid.SampledFrom([]int{0, 0, 30_000}).Draw(t, "others") { // so that filters match by chance
			sought = append(sought, binary.BigEndian.AppendUint32([]byte{0x51, 0x20}, uint32(i)))
		}
		query := filters.NewQuery(sought)
		first := rapid.Int32Range(0, tip.Height).Draw(t, "first")
		run := func(way match.Way, keepAll bool) ([]match.Hit, []chainhash.Hash, error) {
			l := looker{s.chain, query, nil}
			pass := match.New(match.Config{
				Source: whole, Query: query, First: first, Stop: tip, Exact: true, Keep: l.keep, Way: way,
				KeepAll: keepAll,
				Blocks:  &match.Blocks{Reader: s.chain, HeaderLen: func([]byte) int { return filters.HeaderLen }},
			})
			left, err := pass.Work(t.Context(), match.Heights{})
			if hits, frontier := pass.Hits(); err == nil {
				if !left.Empty() || frontier != tip.Height+1 {
					t.Fatalf("left %v, up to %d", left, frontier)
				}
				return hits, l.asked, nil
			}
			return nil, nil, err
		}
		want, _, wantErr := run(match.WayFilters, false)
		for _, keepAll := range []bool{false, true} {
			got, asked, err := run(match.WayBlocks, keepAll)
			if fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Fatalf("by blocks %v, by filters %v", err, wantErr)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("by blocks %v, by filters %v", heights(got), heights(want))
			}
			for _, hit := range got {
				if keepAll && !slices.Contains(asked, hit.Block) {
					t.Fatalf("block %d was not asked about", hit.Height)
				}
			}
		}
	})
}

// A damaged filter is noticed where it decides, and nowhere else.
func TestBlocksAndDamagedFilters(t *testing.T) {
	s := newSource(40)
	damaged := map[int32]bool{}
	s.fault = func(height int32) error {
		if damaged[height] {
			return &match.DamagedError{Block: s.chain.Active().At(height).Hash, Err: errBroken}
		}
		return nil
	}
	query := filters.NewQuery([][]byte{script(3), script(4)})
	pass := func() *match.Pass {
		l := &looker{chain: s.chain, query: query}
		return match.New(match.Config{
			Source: s, Query: query, First: 1, Stop: s.chain.Active().Tip(), Exact: true, Keep: l.keep,
			Way:    match.WayBlocks,
			Blocks: &match.Blocks{Reader: s.chain, HeaderLen: func([]byte) int { return filters.HeaderLen }},
		})
	}
	damaged[13], damaged[20] = true, true
	p := pass()
	if left, err := p.Work(t.Context(), match.Heights{}); err != nil || !left.Empty() {
		t.Fatal(left, err)
	}
	want := []int32{3, 4, 13, 14, 23, 24, 33, 34}
	if hits, _ := p.Hits(); !slices.Equal(heights(hits), want) {
		t.Errorf("got %v, want %v", heights(hits), want)
	}
	s.chain.FailUndo(s.chain.Active().At(20), errBroken) // so that its filter decides
	p = pass()
	left, err := p.Work(t.Context(), match.Heights{})
	var damage *match.DamagedError
	if !errors.As(err, &damage) || damage.Block != s.chain.Active().At(20).Hash || p.Frontier() != left.From ||
		left.From > 20 || left.To <= 20 {
		t.Fatalf("left %v, %v", left, err)
	}
	damaged[20] = false
	if left, err = p.Work(t.Context(), left); err != nil || !left.Empty() || !p.Complete() {
		t.Fatal(left, err)
	}
	if hits, _ := p.Hits(); !slices.Equal(heights(hits), want) {
		t.Errorf("after the repair %v, want %v", heights(hits), want)
	}
}

// A reader that panics ends the pass, and its worker.
func TestBlocksPanic(t *testing.T) {
	s := newSource(40)
	sched := match.NewScheduler(match.SchedulerConfig{Source: s, Workers: 2, Way: match.WayBlocks})
	query := filters.NewQuery([][]byte{script(3)})
	defer func() {
		if value := recover(); value == nil {
			t.Error("no panic")
		}
		if n := s.views.Load(); n != 0 {
			t.Errorf("%d views are held", n)
		}
	}()
	err := sched.Run(t.Context(), sched.NewPass(match.Config{
		Query: query, First: 1, Stop: s.chain.Active().Tip(), Exact: true,
		Blocks: &match.Blocks{Reader: s.chain, HeaderLen: func([]byte) int { panic("broken") }},
	}))
	t.Errorf("returned %v", err)
}

// watchedReader tells when a block is read.
type watchedReader struct {
	*chaintest.Chain
	read func()
}

func (r watchedReader) Raw(hash *chainhash.Hash) ([]byte, error) {
	r.read()
	return r.Chain.Raw(hash)
}

// The end of a pass ends its worker and readers at the next block, and what is below the frontier is whole.
func TestBlocksAbort(t *testing.T) {
	s := newSource(200)
	ctx, cancel := context.WithCancel(t.Context())
	var n atomic.Int32
	reader := watchedReader{s.chain, func() {
		if n.Add(1) == 50 {
			cancel()
		}
	}}
	query := filters.NewQuery([][]byte{script(3)})
	p := match.New(match.Config{
		Source: s, Query: query, First: 1, Stop: s.chain.Active().Tip(), Exact: true, Way: match.WayBlocks,
		Blocks: &match.Blocks{Reader: reader, HeaderLen: func([]byte) int { return filters.HeaderLen }},
	})
	if _, err := p.Work(ctx, match.Heights{}); err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	hits, frontier := p.Hits()
	if frontier < 17 || frontier > 65 || p.Complete() {
		t.Errorf("up to %d", frontier)
	}
	for _, hit := range hits {
		if hit.Height%10 != 3 {
			t.Errorf("hit at %d", hit.Height)
		}
	}
	if want := int(frontier+6) / 10; len(hits) != want {
		t.Errorf("%d hits below %d, want %d", len(hits), frontier, want)
	}
}
