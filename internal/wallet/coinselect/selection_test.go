package coinselect

import (
	"errors"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/wire"
)

// A selection has change if the change is worth an output. Its waste is the cost of its inputs above
// that at the long term rate, plus the cost of change, or the excess without change.
func TestChangeAndWaste(t *testing.T) {
	// At 2 satoshis a byte an input of 100 bytes costs 200 now and 1000 in the long term; change 62.
	const inputs, changeCost = 200 - 1000, 62 + 680
	for _, c := range []struct {
		name     string
		value    int64
		subtract bool
		bump     int64
		together int64
		change   int64
		waste    int64
	}{
		{name: "exactly", value: 50_200, waste: inputs},
		{name: "the last satoshi that is no change", value: 50_200 + 62 + 999, waste: inputs + 62 + 999},
		{name: "the least change", value: 50_200 + 62 + 1000, change: 1000, waste: inputs + changeCost},
		{
			name: "the payments bear the fee, the last that is no change", value: 50_999, subtract: true,
			waste: inputs + 999,
		},
		{
			name: "the payments bear the fee, the least change", value: 51_000, subtract: true, change: 1000,
			waste: inputs + changeCost,
		},
		{name: "with ancestors", value: 50_700, bump: 500, together: 500, waste: inputs + 500},
		{name: "ancestors cost less together", value: 50_700, bump: 500, together: 200, waste: inputs + 200 + 300},
		{
			name: "what ancestors cost less becomes change", value: 50_500 + 62 + 1000, bump: 500, together: 300,
			change: 1000, waste: inputs + 300 + changeCost,
		},
		{
			name: "ancestors with a surplus", value: 50_400, bump: 200, together: -100,
			waste: inputs - 100 + 300,
		},
		{
			name: "the payments bear what ancestors cost", value: 50_300, subtract: true, bump: 500, together: 200,
			waste: inputs + 200 + 300,
		},
	} {
		p := params(50_000, 2000)
		p.SubtractFee = c.subtract
		p.Combined = func([]wire.OutPoint) (int64, bool) { return c.together, true }
		one := coin(1, c.value, 100, 0)
		one.Bump = c.bump
		s := newSelection(&p, Drawn)
		s.add(&one)
		if err := s.weigh(); err != nil {
			t.Fatal(err)
		}
		got := s.result()
		if got.Change != c.change || got.Waste != c.waste || got.Bump != c.together || got.Value != c.value {
			t.Errorf("%s: change %d, waste %d, ancestors %d of %d; want %d, %d, %d of %d", c.name,
				got.Change, got.Waste, got.Bump, got.Value, c.change, c.waste, c.together, c.value)
		}
	}
}

// The common cost of ancestors is asked for if coins are unconfirmed, and for these coins only.
func TestAncestorsOfUnconfirmedTogether(t *testing.T) {
	p := params(50_000, 2000)
	var asked [][]wire.OutPoint
	p.Combined = func(coins []wire.OutPoint) (int64, bool) {
		asked = append(asked, coins)
		return 0, len(coins) < 3
	}
	confirmed := coin(1, 60_000, 68, 1)
	unconfirmed := []Coin{coin(2, 60_000, 68, 0), coin(3, 60_000, 68, 0), coin(4, 60_000, 68, 0)}
	s := newSelection(&p, Drawn)
	s.add(&confirmed)
	if err := s.weigh(); err != nil || len(asked) != 0 {
		t.Errorf("a confirmed coin: %v, asked for %v", err, asked)
	}
	s.add(&unconfirmed[0])
	s.add(&unconfirmed[1])
	want := []wire.OutPoint{unconfirmed[0].At, unconfirmed[1].At}
	if err := s.weigh(); err != nil || len(asked) != 1 || !slices.Equal(asked[0], want) {
		t.Errorf("two unconfirmed coins: %v, asked for %v", err, asked)
	}
	s.add(&unconfirmed[2])
	if err := s.weigh(); !errors.Is(err, ErrCluster) {
		t.Errorf("too many to tell: %v", err)
	}
	p.Combined = nil
	if err := s.weigh(); err != nil {
		t.Errorf("nobody to ask: %v", err)
	}
}

// A choice fails where nobody can tell what its ancestors cost.
func TestChooseOfEnormousCluster(t *testing.T) {
	p := params(50_000, 2000)
	p.Combined = func([]wire.OutPoint) (int64, bool) { return 0, false }
	change := coin(1, 200_000, 68, 0)
	change.Own, change.Ancestors, change.Descendants = true, 1, 1
	if _, err := Choose(p, nil, []Coin{change}, true, random(1)); !errors.Is(err, ErrCluster) {
		t.Errorf("got %v", err)
	}
	if _, err := Choose(p, nil, []Coin{coin(1, 200_000, 68, 1)}, true, random(1)); err != nil {
		t.Errorf("a confirmed coin: %v", err)
	}
}

// The choice with less waste is better; at the same waste the choice that spends more coins.
func TestBetter(t *testing.T) {
	of := func(waste int64, coins int) *selection { return &selection{waste: waste, coins: make([]*Coin, coins)} }
	for _, c := range []struct {
		name     string
		a, b     *selection
		better   bool
		opposite bool
	}{
		{"than none", of(1000, 1), nil, true, false},
		{"less waste", of(9, 1), of(10, 5), true, false},
		{"the same waste, more coins", of(10, 3), of(10, 2), true, false},
		{"the same", of(10, 3), of(10, 3), false, false},
	} {
		if got := c.a.better(c.b); got != c.better {
			t.Errorf("%s: %v", c.name, got)
		}
		if c.b == nil {
			continue
		}
		if got := c.b.better(c.a); got != c.opposite {
			t.Errorf("%s, the other way round: %v", c.name, got)
		}
	}
}
