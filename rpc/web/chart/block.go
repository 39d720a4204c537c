package chart

import (
	"math"
	"slices"
	"strconv"
)

// FeeSteps is how many steps the scale of fee rates has.
const FeeSteps = 9

// FeeStep returns the step of a fee rate in the smallest unit per virtual byte: 0 below 1, then one more with each
// doubling, up to 8 from 128 on.
func FeeStep(rate float64) int {
	if math.IsNaN(rate) || rate < 1 {
		return 0
	}
	if rate >= 128 {
		return FeeSteps - 1
	}
	return int(math.Floor(math.Log2(rate))) + 1
}

// A Layer is a part of a block with fee rates of one step, as a share of its weight.
type Layer struct {
	Step  int
	Share float64
}

// Cube draws a block of 100 × 60 as layers, the lowest fee at the bottom. full is its share of the possible weight.
// Shapes that come first are covered by those that follow.
func Cube(full float64, layers []Layer) (paths []Path) {
	const width, height, wave = 100, 60, 1.6
	full = math.Min(math.Max(finite(full), 0), 1)
	all := 0.0
	for _, l := range layers {
		all += math.Max(finite(l.Share), 0)
	}
	if all <= 0 {
		return nil
	}
	y := float64(height)
	for i, l := range layers {
		y -= height * full * math.Max(finite(l.Share), 0) / all
		top, swing := math.Max(y, 0), wave
		if i == len(layers)-1 && full > 0.97 {
			swing = 0
		}
		left, right := top-swing, top+swing
		if i%2 == 1 {
			left, right = right, left
		}
		paths = append(paths, Path{
			Class: "f" + strconv.Itoa(min(max(l.Step, 0), FeeSteps-1)),
			D: "M0 " + Coord(left) + "Q25 " + Coord(top-swing) + " 50 " + Coord(top) + "T" + Coord(width) + " " +
				Coord(right) + "V" + Coord(height) + "H0z",
		})
	}
	slices.Reverse(paths)
	return paths
}

// A Rated is a transaction of a block: its weight, and its fee rate per virtual byte.
type Rated struct {
	Weight int64
	Rate   float64
}

// maxProfile is how many bars a profile has at most, more or less.
const maxProfile = 240

// profileTop is the exponent of 2 of the highest rate that a profile tells from higher ones.
const profileTop = 10

// Profile draws the transactions of a block from the highest rate on. The width of a bar is its share of the weight
// capacity. The height is its rate on a scale that doubles from 1 to 1024. Too many neighbours of the same step are
// joined. At most half of the weight has a rate above the median.
func Profile(txs []Rated, capacity int64) (bars []Bar, median float64) {
	sorted := slices.Clone(txs)
	slices.SortFunc(sorted, func(a, b Rated) int {
		switch {
		case a.Rate > b.Rate:
			return -1
		case a.Rate < b.Rate:
			return 1
		}
		return 0
	})
	all := int64(0)
	for _, t := range sorted {
		all += t.Weight
	}
	capacity = max(capacity, all, 1)
	at, from, sum, found := int64(0), int64(0), 0.0, false
	for i, t := range sorted {
		at += t.Weight
		sum += t.Rate * float64(t.Weight)
		if !found && at*2 >= all {
			median, found = t.Rate, true
		}
		last := i == len(sorted)-1
		if !last && (at-from)*maxProfile < capacity && FeeStep(sorted[i+1].Rate) == FeeStep(t.Rate) {
			continue
		}
		if at > from {
			bars = append(bars, profileBar(from, at, capacity, sum/float64(at-from)))
		}
		from, sum = at, 0
	}
	return bars, median
}

func profileBar(from, to, capacity int64, rate float64) Bar {
	h := Height * math.Min(math.Max(math.Log2(math.Max(finite(rate), 1)), 0)/profileTop, 1)
	h = math.Max(h, 2)
	return Bar{
		Class: "f" + strconv.Itoa(FeeStep(rate)),
		X:     Coord(Width * float64(from) / float64(capacity)),
		W:     Coord(Width*float64(to-from)/float64(capacity) + 0.4),
		Y:     Coord(Height - h), H: Coord(h),
	}
}

// ProfileY returns where a rate lies on the scale of a profile.
func ProfileY(rate float64) string {
	return Coord(Height - Height*math.Min(math.Log2(math.Max(finite(rate), 1))/profileTop, 1))
}

// ProfileLabels are those of the scale of a profile, the highest first.
func ProfileLabels() []string { return []string{"1,024", "256", "64", "16", "4", "1"} }

// ProfileGrid are the lines of these labels.
func ProfileGrid() (lines []Line) {
	for i := range 6 {
		lines = append(lines, Line{Coord(Height - Height*float64(i)/5), i == 0})
	}
	return lines
}
