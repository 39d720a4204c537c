package coinselect

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
)

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

func coin(n int, value int64, size int, depth int32) Coin {
	var id chainhash.Hash
	binary.LittleEndian.PutUint64(id[:], uint64(n)+1)
	return Coin{
		At: wire.OutPoint{Hash: id}, Value: value, Size: size, Depth: depth, Kind: Bech32,
		Script: binary.LittleEndian.AppendUint64(nil, uint64(n)),
	}
}

func params(target int64, rate FeeRate) Params {
	return Params{
		Target: target, Rate: rate, LongTermRate: 10_000, FixedSize: 42, ChangeSize: 31, ChangeFee: rate.Fee(31),
		ChangeCost: rate.Fee(31) + 680, ChangeTarget: 50_000, MinChange: 1000, MaxWeight: 400_000,
		MaxAncestors: 25, MaxDescendants: 25, MaxChildWeight: 4000, Scale: 4,
	}
}

// subsets calls back with every subset of some groups.
func subsets(pool []*group, visit func(some []*group)) {
	for mask := range 1 << len(pool) {
		var some []*group
		for i, g := range pool {
			if mask>>i&1 == 1 {
				some = append(some, g)
			}
		}
		visit(some)
	}
}

func sum(some []*group) (amount, waste int64, weight int) {
	for _, g := range some {
		amount += g.amount
		waste += g.waste()
		weight += g.weight
	}
	return amount, waste, weight
}

// few returns some random coins, often of equal values.
func few(r *rand.Rand) []Coin {
	coins := make([]Coin, 1+r.IntN(11))
	for i := range coins {
		value := int64(10_000 + r.IntN(20)*7_000)
		coins[i] = coin(i, value, []int{58, 68, 91, 148}[r.IntN(4)], 100)
	}
	return coins
}

// TestExactIsBest holds the search without change against all subsets: where one exists
// that needs no change, it finds one, and none wastes less of those that have no coin too
// many.
func TestExactIsBest(t *testing.T) {
	found := 0
	for seed := range uint64(1000) {
		r := random(seed)
		rate := FeeRate(1000 + r.IntN(60_000))
		p := params(int64(10_000+r.IntN(300_000)), rate)
		p.ChangeCost = int64(r.IntN(5000))
		pool := groupsOf(&p, few(r)).positive
		maxWeight := 200 + r.IntN(4000)
		if seed%2 == 0 { // sums meet the bounds
			p, maxWeight = evenParams(r)
			pool = even(r, &p, 9)
		}
		best, reachable, any, exists := int64(math.MaxInt64), false, false, false
		subsets(pool, func(some []*group) {
			amount, waste, weight := sum(some)
			if amount < p.Target || amount > p.Target+p.ChangeCost {
				return
			}
			exists = true
			if weight > maxWeight {
				return
			}
			any = true
			least := int64(math.MaxInt64)
			for _, g := range some {
				least = min(least, g.amount)
			}
			if amount-least < p.Target {
				reachable, best = true, min(best, waste+amount-p.Target)
			}
		})
		got, err := searchExact(&p, pool, maxWeight)
		if (got != nil) != reachable || any != reachable {
			t.Fatalf("seed %d: found %v (%v), exists %v, without a coin too many %v",
				seed, got != nil, err, any, reachable)
		}
		if got == nil {
			if exists && !errors.Is(err, ErrWeight) {
				t.Fatalf("seed %d: what there is is too heavy, but %v", seed, err)
			}
			continue
		}
		found++
		if err := got.weigh(); err != nil {
			t.Fatal(err)
		}
		if waste := got.wasted + got.amount - p.Target; waste != best || got.weight > maxWeight {
			t.Fatalf("seed %d: waste %d of weight %d, best %d of %d", seed, waste, got.weight, best, maxWeight)
		}
	}
	if found < 100 {
		t.Fatalf("only %d cases had a solution", found)
	}
}

// TestLightestIsBest holds the lightest choice against all subsets.
func TestLightestIsBest(t *testing.T) {
	found, heavyOnly := 0, 0
	for seed := range uint64(1000) {
		r := random(seed)
		p := params(int64(10_000+r.IntN(400_000)), 40_000)
		p.ChangeTarget = int64(r.IntN(60_000))
		pool := groupsOf(&p, few(r)).positive
		maxWeight := 200 + r.IntN(4000)
		if seed%2 == 0 { // sums meet the bounds
			p, maxWeight = evenParams(r)
			pool = even(r, &p, 9)
		}
		bestWeight, bestAmount, exists := math.MaxInt, int64(math.MaxInt64), false
		subsets(pool, func(some []*group) {
			amount, _, weight := sum(some)
			if amount < p.Target+p.ChangeTarget {
				return
			}
			exists = true
			if weight <= maxWeight && (weight < bestWeight || weight == bestWeight && amount < bestAmount) {
				bestWeight, bestAmount = weight, amount
			}
		})
		got, err := searchLightest(&p, pool, maxWeight)
		switch {
		case got == nil && bestWeight != math.MaxInt:
			t.Fatalf("seed %d: not found (%v): weight %d", seed, err, bestWeight)
		case got == nil && exists != errors.Is(err, ErrWeight):
			t.Fatalf("seed %d: exists %v, but %v", seed, exists, err)
		case got == nil && exists:
			heavyOnly++
		case got == nil:
		case got.weight != bestWeight || got.amount != bestAmount:
			t.Fatalf("seed %d: weight %d of %d, best %d of %d", seed, got.weight, got.amount, bestWeight, bestAmount)
		default:
			found++
		}
	}
	if found < 100 || heavyOnly < 20 {
		t.Fatalf("%d solutions, %d too heavy ones", found, heavyOnly)
	}
}

// TestSearchesReach checks that the searches that use chance reach the target within the
// weight.
func TestSearchesReach(t *testing.T) {
	for seed := range uint64(1500) {
		r := random(seed)
		p := params(int64(10_000+r.IntN(400_000)), 5_000)
		all := groupsOf(&p, few(r))
		maxWeight := 200 + r.IntN(4000)
		if got, _ := approximate(&p, all.mixed, maxWeight, r); got != nil &&
			(got.amount < p.Target || got.weight > maxWeight) {
			t.Fatalf("seed %d: %d of %d, weight %d of %d", seed, got.amount, p.Target, got.weight, maxWeight)
		}
		got, _ := draw(&p, all.positive, maxWeight, r)
		if got != nil && (got.amount < p.Target+minChangeTarget+p.ChangeFee || got.weight > maxWeight) {
			t.Fatalf("seed %d: drawn %d, weight %d of %d", seed, got.amount, got.weight, maxWeight)
		}
		amount, _, weight := sum(all.positive)
		if got == nil && amount >= p.Target+minChangeTarget+p.ChangeFee && weight <= maxWeight {
			t.Fatalf("seed %d: nothing drawn although all of it would do", seed)
		}
	}
}

// TestChoosePays checks what every choice has to hold: the coins are different ones of
// those there are, and pay for target, their own inputs and the change.
func TestChoosePays(t *testing.T) {
	chosen := 0
	for seed := range uint64(2000) {
		r := random(seed)
		p := params(int64(5_000+r.IntN(300_000)), FeeRate(1000+r.IntN(50_000)))
		p.AvoidPartial, p.SubtractFee = r.IntN(2) == 0, r.IntN(3) == 0
		p.MaxWeight = []int{400_000, 500 + r.IntN(2000)}[r.IntN(2)]
		coins := few(r)
		for i := range coins {
			coins[i].Kind = Kind(r.IntN(4))
			coins[i].Script = []byte{byte(r.IntN(5)), byte(coins[i].Kind)}
		}
		preset := coins[:r.IntN(min(3, len(coins)))]
		got, err := Choose(p, preset, coins[len(preset):], r.IntN(5) > 0, r)
		if err != nil {
			continue
		}
		chosen++
		seen := make(map[wire.OutPoint]bool)
		var amount, value int64
		for _, c := range got.Coins {
			if seen[c.At] {
				t.Fatalf("seed %d: a coin twice", seed)
			}
			seen[c.At] = true
			amount += p.amount(&c)
			value += c.Value
		}
		for _, c := range preset {
			if !seen[c.At] {
				t.Fatalf("seed %d: a given coin is missing", seed)
			}
		}
		others := p.FixedSize
		if got.Change > 0 && len(preset) == 0 { // as in Core beside given coins change is not counted
			others += p.ChangeSize
		}
		weight := others * p.Scale
		for _, c := range got.Coins {
			weight += c.Size * p.Scale
		}
		if weight > p.MaxWeight && got.Algorithm != Given {
			t.Fatalf("seed %d: a transaction of weight %d of %d", seed, weight, p.MaxWeight)
		}
		need := p.Target + got.Change
		if got.Change > 0 && !p.SubtractFee {
			need += p.ChangeFee
		}
		if amount < need || value != got.Value || got.Change != 0 && got.Change < p.MinChange {
			t.Fatalf("seed %d: %d for %d, change %d", seed, amount, need, got.Change)
		}
		if p.AvoidPartial {
			wholeScripts(t, seed, &p, coins[len(preset):], seen)
		}
	}
	if chosen < 500 {
		t.Fatalf("only %d chosen", chosen)
	}
}

// wholeScripts fails where of a script some coins are spent that are worth it, and others
// not.
func wholeScripts(t *testing.T, seed uint64, p *Params, coins []Coin, seen map[wire.OutPoint]bool) {
	t.Helper()
	spent, left := make(map[string]bool), make(map[string]bool)
	for _, c := range coins {
		if seen[c.At] {
			spent[string(c.Script)] = true
		} else if c.Effective(p.Rate) > 0 {
			left[string(c.Script)] = true
		}
	}
	for script := range spent {
		if left[script] {
			t.Fatalf("seed %d: only some coins of a script are spent", seed)
		}
	}
}

func TestPreset(t *testing.T) {
	p := params(50_000, 1000)
	small, large := coin(1, 20_000, 68, 1), coin(2, 90_000, 68, 1)
	if _, err := Choose(p, []Coin{small}, []Coin{large}, false, random(1)); !errors.Is(err, ErrPreset) {
		t.Errorf("got %v, want %v", err, ErrPreset)
	}
	got, err := Choose(p, []Coin{large}, []Coin{small}, true, random(1))
	if err != nil || got.Algorithm != Given || len(got.Coins) != 1 {
		t.Errorf("got %v, %v", got, err)
	}
	got, err = Choose(p, []Coin{small}, []Coin{large}, true, random(1))
	if err != nil || len(got.Coins) != 2 || got.Value != 110_000 {
		t.Errorf("got %v, %v", got, err)
	}
	p.MaxWeight = 42*4 + 68*4 + 31*4 + 8
	if _, err = Choose(p, []Coin{small}, []Coin{large}, true, random(1)); !errors.Is(err, ErrPresetWeight) {
		t.Errorf("got %v, want %v", err, ErrPresetWeight)
	}
}

func TestChangeTarget(t *testing.T) {
	r := random(3)
	if got := ChangeTarget(25_000, 31, r); got != 50_031 {
		t.Errorf("got %d", got)
	}
	for range 1000 {
		if got := ChangeTarget(1<<40, 31, r); got < 50_031 || got >= 1_000_031 {
			t.Fatalf("got %d", got)
		}
	}
}
