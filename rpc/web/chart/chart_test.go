package chart

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A scale includes its values, has few round labels, and each label is exactly the value of its line.
func TestScales(t *testing.T) {
	for _, test := range []struct {
		low, high float64
		want      int
		whole     bool
		labels    string
	}{
		{0, 9.8, 4, false, "10.0 7.5 5.0 2.5 0.0"},
		{0, 3, 3, true, "3 2 1 0"},
		{0, 1, 3, true, "1 0"},
		{0, 0, 4, false, "1.00 0.75 0.50 0.25 0.00"},
		{0, 2.2, 4, false, "3 2 1 0"},
		{0, 250_000, 4, true, "300,000 200,000 100,000 0"},
		{-5, 10, 3, false, "10 5 0 −5"},
		{0, 0.00000001, 2, false, "0.000000010 0.000000005 0.000000000"},
		{0, math.NaN(), 1, false, "1 0"},
		{0, math.Inf(1), 1, true, "1 0"},
		{0, 21, 1, true, "25 0"},
		{5, 7, 2, true, "10 5 0"},
	} {
		s := NewScale(test.low, test.high, test.want, test.whole)
		if got := strings.Join(s.Labels(), " "); got != test.labels {
			t.Errorf("%v to %v by %d: %s, want %s", test.low, test.high, test.want, got, test.labels)
		}
		lines := s.Grid()
		axis := slices.ContainsFunc(lines, func(l Line) bool { return l.Axis })
		if len(lines) != len(s.Labels()) || !axis {
			t.Errorf("%v to %v: %v", test.low, test.high, lines)
		}
	}
}

func FuzzScale(f *testing.F) {
	f.Add(0.0, 1.0, 4, false)
	f.Add(-1e-9, 1e15, 3, true)
	f.Add(math.NaN(), math.Inf(-1), 0, true)
	f.Fuzz(func(t *testing.T, low, high float64, want int, whole bool) {
		if math.Abs(low) > 1e17 || math.Abs(high) > 1e17 {
			return // more than there is of anything
		}
		s := NewScale(low, high, min(max(want, -3), 20), whole)
		if !(s.Step > 0) || s.Low > min(finite(low), 0) || s.High < max(finite(high), 0)*(1-1e-9) || s.High <= s.Low {
			t.Fatalf("%v to %v: %+v", low, high, s)
		}
		for _, text := range s.Labels() {
			v, err := strconv.ParseFloat(strings.NewReplacer(",", "", "−", "-").Replace(text), 64)
			if err != nil || whole && v != math.Trunc(v) {
				t.Fatalf("%v to %v: %q", low, high, text)
			}
			if n := (v - s.Low) / s.Step; math.Abs(n-math.Round(n)) > 1e-6 {
				t.Fatalf("%v to %v by %v: %q is not where its line is", low, high, s.Step, text)
			}
		}
		inside(t, func(v float64) string { return Coord(s.Y(v)) }, s.Low, s.High)
	})
}

// inside checks that values of a scale lie on the plot.
func inside(t *testing.T, y func(float64) string, values ...float64) {
	t.Helper()
	for _, v := range values {
		at, err := strconv.ParseFloat(y(v), 64)
		if err != nil || at < -0.1 || at > Height+0.1 {
			t.Fatalf("%v lies at %s", v, y(v))
		}
	}
}

// checkPath checks that a path has finite numbers alone, and commands that there are.
func checkPath(t *testing.T, path string) {
	t.Helper()
	for _, text := range strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune("MHVCQTLhvz ", r) }) {
		if v, err := strconv.ParseFloat(text, 64); err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			t.Fatalf("%q in %s", text, path)
		}
	}
}

func TestSteps(t *testing.T) {
	s := NewScale(0, 10, 2, false)
	line, area := Steps([]Point{{100, 5}, {150, 10}}, 100, 200, s)
	if line != "M0.0 200.0H0.0V100.0H500.0V0.0H1000.0" || area != line+"V200.0H0.0z" {
		t.Errorf("%s, %s", line, area)
	}
	line, _ = Steps([]Point{{7, 5}}, 7, 7, s)
	checkPath(t, line)
	line, area = Steps(nil, 0, 0, s)
	checkPath(t, line+area)
}

func TestUpDown(t *testing.T) {
	got := UpDown([]float64{10, 0, math.NaN()}, []float64{0, 5, 20}, 10)
	want := []Bar{
		{Class: "c-in", X: "46.7", W: "240.0", Y: "0.0", H: "100.0"},
		{Class: "c-out", X: "380.0", W: "240.0", Y: "100.0", H: "50.0"},
		{Class: "c-out", X: "713.3", W: "240.0", Y: "100.0", H: "100.0"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
	if got := UpDown(nil, nil, 0); got != nil {
		t.Errorf("%+v", got)
	}
}

func TestColumns(t *testing.T) {
	got := Columns([]float64{0, 2, 0.0001}, NewScale(0, 2, 2, true))
	want := []Bar{
		{Class: "c-in", X: "380.0", W: "240.0", Y: "0.0", H: "200.0"},
		{Class: "c-in", X: "713.3", W: "240.0", Y: "200.0", H: "1.0"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}

func TestFeeSteps(t *testing.T) {
	for rate, want := range map[float64]int{
		-1: 0, 0: 0, 0.99: 0, 1: 1, 1.99: 1, 2: 2, 3.9: 2, 4: 3, 8: 4, 16: 5, 32: 6, 64: 7, 127.9: 7, 128: 8, 1e9: 8,
		math.Inf(1): 8,
	} {
		if got := FeeStep(rate); got != want {
			t.Errorf("%v is step %d, want %d", rate, got, want)
		}
	}
	if FeeStep(math.NaN()) != 0 {
		t.Error("no number has a step")
	}
}

func TestCube(t *testing.T) {
	got := Cube(1, []Layer{{1, 3}, {4, 1}})
	if len(got) != 2 || got[0].Class != "f4" || got[1].Class != "f1" || !strings.HasPrefix(got[0].D, "M0 0.0Q") {
		t.Errorf("%+v", got)
	}
	for _, full := range []float64{-1, 0, 0.5, 1, 2, math.NaN()} {
		for _, p := range Cube(full, []Layer{{-3, 1}, {20, math.Inf(1)}, {3, 2}}) {
			checkPath(t, p.D)
		}
	}
	if got := Cube(1, nil); got != nil {
		t.Errorf("%+v", got)
	}
}

// The bars of a profile cover the weight of all transactions, from the highest rate, and are not too many.
func TestProfile(t *testing.T) {
	var txs []Rated
	all := 0.0
	for i := range 8000 {
		w := int64(400 + i%7*100)
		txs = append(txs, Rated{w, float64(i%3000) / 10})
		all += float64(w)
	}
	bars, median := Profile(txs, 4_000_000)
	end, last := 0.0, 1e9
	for _, b := range bars {
		x, _ := strconv.ParseFloat(b.X, 64)
		w, _ := strconv.ParseFloat(b.W, 64)
		h, _ := strconv.ParseFloat(b.H, 64)
		if math.Abs(x-end) > 0.6 || h > last+0.1 {
			t.Fatalf("%+v after %v, %v", b, end, last)
		}
		end, last = x+w-0.4, h
	}
	if want := Width * all / max(all, 4_000_000); math.Abs(end-want) > 1 || len(bars) > maxProfile+FeeSteps+2 {
		t.Errorf("%d bars up to %v, want %v", len(bars), end, want)
	}
	if math.Abs(median-133.3) > 0.1 {
		t.Errorf("the median is %v", median)
	}
	if bars, median := Profile(nil, 0); bars != nil || median != 0 {
		t.Errorf("%v, %v", bars, median)
	}
	if bars, median := Profile([]Rated{{4, 1024}}, 4); len(bars) != 1 || bars[0].H != "200.0" || median != 1024 {
		t.Errorf("%v, %v", bars, median)
	}
	for rate, want := range map[float64]string{1: "200.0", 32: "100.0", 1024: "0.0", 5000: "0.0", 0: "200.0"} {
		if got := ProfileY(rate); got != want {
			t.Errorf("%v lies at %s, want %s", rate, got, want)
		}
	}
	if len(ProfileGrid()) != len(ProfileLabels()) {
		t.Error("the labels have other lines")
	}
}

func TestStrip(t *testing.T) {
	used := func(set ...int) func(int, int) bool {
		return func(from, to int) bool {
			return slices.ContainsFunc(set, func(i int) bool { return i >= from && i < to })
		}
	}
	cells := func(path string) int { return strings.Count(path, "M") }
	for _, test := range []struct {
		count, highest int
		set            []int
		warn           bool
		used, edge     int
	}{
		{10, 4, []int{0, 4}, true, 2, 5}, {10, 4, []int{0, 4}, false, 2, 0}, {10, -1, nil, true, 0, 10},
		{1000, 3, []int{0, 1, 2, 3}, false, 1, 0}, {1000, 999, []int{999}, true, 1, 0}, {0, -1, nil, false, 0, 0},
	} {
		s := NewStrip(test.count, used(test.set...), test.highest, test.warn)
		checkPath(t, s.Used+s.Edge)
		if cells(s.Used) != test.used || cells(s.Edge) != test.edge {
			t.Errorf("%+v: %d used, %d at the edge", test, cells(s.Used), cells(s.Edge))
		}
	}
}

func TestFlow(t *testing.T) {
	got := NewFlow([]float64{60, 40}, []float64{99})
	if len(got.In) != 2 || len(got.Out) != 1 || !strings.HasPrefix(got.Out[0], "M200.0 ") {
		t.Errorf("%+v", got)
	}
	for _, d := range slices.Concat(got.In, got.Out) {
		checkPath(t, d)
	}
	if got := NewFlow([]float64{0}, nil); got.In != nil || got.Out != nil {
		t.Errorf("%+v", got)
	}
}

func TestSpark(t *testing.T) {
	line, area := Spark([]Point{{10, 1}, {20, 3}}, 10, 20)
	if line != "M0.0 30.0H0.0V20.7H120.0V2.0H120.0" || !strings.HasPrefix(area, line) {
		t.Errorf("%s, %s", line, area)
	}
	line, area = Spark([]Point{{1, 0}}, 1, 1)
	checkPath(t, line+area)
	if line, area = Spark(nil, 0, 1); line+area != "" {
		t.Error(line, area)
	}
}

func TestCoord(t *testing.T) {
	for v, want := range map[float64]string{0: "0.0", -0.01: "0.0", 1.25: "1.2", 1e3: "1000.0", math.Inf(1): "0.0"} {
		if got := Coord(v); got != want {
			t.Errorf("%v is %s, want %s", v, got, want)
		}
	}
	if Coord(math.NaN()) != "0.0" {
		t.Error("no number")
	}
}
