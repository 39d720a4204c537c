// Package chart computes the plots of the page: scales with their labels, and the shapes of lines, bars and bands as
// SVG path data. It knows neither units nor the node. Coordinates are always finite numbers with one decimal.
package chart

import (
	"math"
	"strconv"
	"strings"
)

// Width and Height are the size of a plot's drawing area, which is stretched to its place on the page.
const (
	Width  = 1000
	Height = 200
)

// A Plot is all that a template needs to draw one.
type Plot struct {
	Label string   // the plot in words
	Size  string   // class of its height: low, mid, or empty
	Y     []string // labels of the vertical axis, the highest first
	X     []string // labels of the horizontal axis, evenly spaced
	Cols  bool     // each label of X stands below a column of its own
	Grid  []Line
	Paths []Path
	Bars  []Bar
	Tips  string // JSON for scripts: what is told of each place
}

// A Line is a horizontal line of the grid.
type Line struct {
	Y    string
	Axis bool // the line of zero
}

// A Path is a shape with the class that colours it.
type Path struct{ Class, D string }

// A Bar is a rectangle with the class that colours it.
type Bar struct{ Class, X, Y, W, H string }

// A Point is a value from a place on the horizontal axis on.
type Point struct{ At, Value float64 }

// Coord writes a coordinate with one decimal. Infinity and NaN become 0.
func Coord(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		v = 0
	}
	text := strconv.FormatFloat(v, 'f', 1, 64)
	if text == "-0.0" {
		return "0.0"
	}
	return text
}

// A Scale is a vertical axis.
type Scale struct {
	Low, High float64
	Step      float64 // between two labels
	decimals  int
}

// maxSteps bounds the labels of a scale.
const maxSteps = 12

// NewScale returns a scale from low to high, which includes both and 0, with about want steps of a round length. Whole
// scales have no decimals.
func NewScale(low, high float64, want int, whole bool) Scale {
	low, high = math.Min(finite(low), 0), math.Max(finite(high), 0)
	if high <= low {
		high = low + 1
	}
	s := Scale{}
	s.Step, s.decimals = round((high-low)/float64(max(want, 1)), whole)
	s.Low = math.Floor(low/s.Step) * s.Step
	s.High = math.Max(math.Ceil(high/s.Step)*s.Step, s.Low+s.Step)
	return s
}

// finite returns a number that is one.
func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}

// round returns the smallest round step that is not less than a raw one, and how many decimals its multiples have.
func round(raw float64, whole bool) (step float64, decimals int) {
	if whole {
		raw = math.Max(raw, 1)
	}
	exponent := math.Floor(math.Log10(raw))
	power := math.Pow(10, exponent)
	for _, factor := range []float64{1, 2, 2.5, 5, 10} {
		step = factor * power
		fraction := factor == 2.5
		if step < raw*(1-1e-9) || whole && fraction && exponent < 1 {
			continue
		}
		decimals = max(0, -int(exponent))
		switch {
		case fraction:
			decimals = max(0, 1-int(exponent))
		case factor == 10:
			decimals = max(0, -int(exponent)-1)
		}
		return step, decimals
	}
	return step, decimals
}

// steps is how many steps a scale has.
func (s Scale) steps() int { return min(int(math.Round((s.High-s.Low)/s.Step)), maxSteps) }

// Y returns where a value lies, 0 at the top.
func (s Scale) Y(v float64) float64 {
	return Height - Height*(finite(v)-s.Low)/(s.High-s.Low)
}

// Labels returns the labels of the scale, the highest first.
func (s Scale) Labels() (labels []string) {
	for i := s.steps(); i >= 0; i-- {
		text := strconv.FormatFloat(s.Low+float64(i)*s.Step, 'f', s.decimals, 64)
		if strings.Trim(text, "-0.") == "" {
			text = strings.TrimPrefix(text, "-")
		}
		labels = append(labels, grouped(text))
	}
	return labels
}

// Grid returns the lines of the labels.
func (s Scale) Grid() (lines []Line) {
	for i := range s.steps() + 1 {
		v := s.Low + float64(i)*s.Step
		lines = append(lines, Line{Coord(s.Y(v)), math.Abs(v) < s.Step/1e6})
	}
	return lines
}

// grouped puts commas between the thousands of a decimal number.
func grouped(text string) string {
	sign := ""
	if strings.HasPrefix(text, "-") {
		sign, text = "−", text[1:]
	}
	whole, fraction, hasFraction := strings.Cut(text, ".")
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + "," + whole[at:]
	}
	if hasFraction {
		whole += "." + fraction
	}
	return sign + whole
}

// Steps draws values that stay until the next one, over places from low to high: the line, and the area below it.
func Steps(points []Point, low, high float64, s Scale) (line, area string) {
	if high <= low {
		high = low + 1
	}
	x := func(at float64) string {
		return Coord(Width * math.Min(math.Max((at-low)/(high-low), 0), 1))
	}
	zero := Coord(s.Y(0))
	var b strings.Builder
	b.WriteString("M0.0 " + zero)
	for _, p := range points {
		b.WriteString("H" + x(p.At) + "V" + Coord(s.Y(p.Value)))
	}
	b.WriteString("H" + Coord(Width))
	return b.String(), b.String() + "V" + zero + "H0.0z"
}

// UpDown draws two values of each column from the middle: up upwards, down downwards, so that most reaches the edge.
func UpDown(up, down []float64, most float64) (bars []Bar) {
	if most <= 0 {
		most = 1
	}
	const half, gap = Height / 2.0, 0.14
	width := float64(Width) / float64(max(len(up), 1))
	for i := range up {
		x, w := Coord(float64(i)*width+width*gap), Coord(width*(1-2*gap))
		if h := half * math.Min(finite(up[i])/most, 1); h > 0 {
			bars = append(bars, Bar{Class: "c-in", X: x, W: w, Y: Coord(half - h), H: Coord(h)})
		}
		if h := half * math.Min(finite(down[i])/most, 1); h > 0 {
			bars = append(bars, Bar{Class: "c-out", X: x, W: w, Y: Coord(half), H: Coord(h)})
		}
	}
	return bars
}

// Columns draws values as bars of equal width from the bottom.
func Columns(values []float64, s Scale) (bars []Bar) {
	const gap = 0.14
	width := float64(Width) / float64(max(len(values), 1))
	for i, v := range values {
		if y := s.Y(v); v > 0 {
			bars = append(bars, Bar{
				Class: "c-in", X: Coord(float64(i)*width + width*gap), W: Coord(width * (1 - 2*gap)),
				Y: Coord(y), H: Coord(max(Height-y, 1)),
			})
		}
	}
	return bars
}
