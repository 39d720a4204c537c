package coinselect

import (
	"errors"
	"testing"
)

// Inputs have to fit beside what is fixed, and beside change unless the choice needs none.
func TestRoomForInputs(t *testing.T) {
	const input, fixed, change = 68 * 4, 42 * 4, 31 * 4
	exactly, more := coin(1, 50_068, 68, 10), coin(2, 200_000, 68, 10)
	for _, c := range []struct {
		name       string
		coin       Coin
		maxWeight  int
		changeSize int
		want       error
	}{
		{"no room", exactly, fixed, 31, ErrOutputWeight},
		{"room for nothing", exactly, fixed + 1, 31, ErrChangeWeight},
		{"room for change alone, or half an input", exactly, fixed + change, 31, ErrWeight},
		{"not for an input without change", exactly, fixed + input - 1, 31, ErrWeight},
		{"for an input without change", exactly, fixed + input, 31, nil},
		{"for an input, less than for change", exactly, fixed + input, 1000, nil},
		{"not for an input and change", more, fixed + input + change - 1, 31, ErrWeight},
		{"for an input and change", more, fixed + input + change, 31, nil},
		{"not for change", more, fixed + change - 1, 31, ErrChangeWeight},
	} {
		p := params(50_000, 1000)
		p.MaxWeight, p.ChangeSize = c.maxWeight, c.changeSize
		got, err := Choose(p, nil, []Coin{c.coin}, true, random(1))
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		if err == nil && len(got.Coins) != 1 {
			t.Errorf("%s: %d coins", c.name, len(got.Coins))
		}
	}
}

// Coins that are given have to fit together with those that are chosen; given alone, they are not weighed.
func TestRoomBesideGivenCoins(t *testing.T) {
	const fixed, input, change = 42 * 4, 68 * 4, 31 * 4
	small, large := coin(1, 20_000, 68, 1), coin(2, 200_000, 68, 1)
	for _, c := range []struct {
		name      string
		preset    []Coin
		maxWeight int
		want      error
	}{
		{"both", []Coin{small}, fixed + 2*input, nil},
		{"not both", []Coin{small}, fixed + 2*input - 1, ErrPresetWeight},
		{"not even one", []Coin{small}, fixed + input + change - 1, ErrWeight},
		{"given alone", []Coin{large}, 1, nil},
	} {
		p := params(50_000, 1000)
		p.MaxWeight = c.maxWeight
		if _, err := Choose(p, c.preset, []Coin{large}, true, random(1)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

// Given coins that come to the target exactly suffice, and a satoshi less does not; what is chosen beside
// them comes to the rest, and waste and change are those of all.
func TestGivenCoinsCount(t *testing.T) {
	p := params(50_000, 1000)
	if got, err := Choose(p, []Coin{coin(1, 50_068, 68, 1)}, nil, false, random(1)); err != nil ||
		got.Algorithm != Given || got.Change != 0 || got.Waste != 68-680 {
		t.Errorf("to the satoshi: %+v, %v", got, err)
	}
	short := []Coin{coin(1, 50_067, 68, 1)}
	if _, err := Choose(p, short, nil, false, random(1)); !errors.Is(err, ErrPreset) {
		t.Errorf("a satoshi less: %v", err)
	}
	if _, err := Choose(p, short, nil, true, random(1)); !errors.Is(err, ErrFunds) {
		t.Errorf("a satoshi less, and no other coins: %v", err)
	}
	others := []Coin{coin(2, 69, 68, 1)} // worth a satoshi
	if got, err := Choose(p, short, others, true, random(1)); err != nil || got.Change != 0 ||
		got.Waste != 2*(68-680) || got.Value != 50_067+69 {
		t.Errorf("with a satoshi: %+v, %v", got, err)
	}
	others[0].Value--
	if _, err := Choose(p, short, others, true, random(1)); !errors.Is(err, ErrFunds) {
		t.Errorf("with what is worth nothing: %v", err)
	}
	others[0].Value = 100_000
	got, err := Choose(p, []Coin{coin(1, 20_068, 68, 1)}, others, true, random(1))
	want := int64(100_000 - 68 - 30_000 - 31)
	if err != nil || got.Change != want || got.Waste != 2*(68-680)+p.ChangeCost {
		t.Errorf("with change: %+v, %v; want change %d", got, err, want)
	}
}

// The lightest choice is looked for above three times the long term rate, and a choice without change
// only where the payments do not bear the fee.
func TestSearchesByRate(t *testing.T) {
	for _, c := range []struct {
		name            string
		rate            FeeRate
		subtract        bool
		lightest, exact bool
	}{
		{"low", 5000, false, false, true},
		{"three times the long term rate", 30_000, false, false, true},
		{"more", 30_001, false, true, true},
		{"low, the payments bear the fee", 5000, true, false, false},
		{"more, the payments bear the fee", 30_001, true, true, false},
	} {
		found := make(map[Algorithm]int)
		for seed := range uint64(200) {
			r := random(seed)
			p := params(int64(10_000+r.IntN(200_000)), c.rate)
			p.SubtractFee, p.ChangeCost = c.subtract, 5000
			got, err := Choose(p, nil, few(r), true, r)
			if err == nil {
				found[got.Algorithm]++
			}
		}
		if (found[Lightest] > 0) != c.lightest || (found[Exact] > 0) != c.exact {
			t.Errorf("%s: found %v", c.name, found)
		}
	}
}

// Of choices that waste the same the search for one without change takes the one of smaller coins.
func TestExactTakesSmallerCoins(t *testing.T) {
	p := params(50_000, 10_000) // the long term rate: inputs waste nothing
	coins := []Coin{coin(1, 50_680, 68, 10), coin(2, 30_680, 68, 10), coin(3, 20_680, 68, 10)}
	got, err := searchExact(&p, groupsOf(&p, coins).positive, 400_000)
	if err != nil || len(got.coins) != 2 {
		t.Errorf("got %v, %v", got, err)
	}
}
