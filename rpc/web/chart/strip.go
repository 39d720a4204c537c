package chart

import "strings"

// stripCells is how many cells a strip has at most.
const stripCells = 250

// stripHeight is that of a strip whose width is [Width].
const stripHeight = "18"

// A Strip tells of a range of indices which are used.
type Strip struct {
	Used string // path of the used cells
	Edge string // path of the unused cells behind the highest used one, where they are too few
}

// NewStrip draws the indices 0 to count-1 in cells, of which each has one or several. used reports whether one of the
// indices from one to before another is. Where warn is set the cells behind the highest used index are the edge.
func NewStrip(count int, used func(from, to int) bool, highest int, warn bool) Strip {
	count = max(count, 1)
	cells := min(count, stripCells)
	width := float64(Width) / float64(cells)
	var marked, edge strings.Builder
	for cell := range cells {
		from, to := cell*count/cells, (cell+1)*count/cells
		at := "M" + Coord(float64(cell)*width+width*0.12) + " 0h" + Coord(width*0.76) + "v" + stripHeight +
			"H" + Coord(float64(cell)*width+width*0.12) + "z"
		switch {
		case used(from, to):
			marked.WriteString(at)
		case warn && from > highest:
			edge.WriteString(at)
		}
	}
	return Strip{marked.String(), edge.String()}
}

// A Flow draws how the value of inputs goes to outputs, in a place of 200 × 300: bands from the left into the middle,
// and from there to the right.
type Flow struct{ In, Out []string }

// NewFlow draws values, which are not negative.
func NewFlow(in, out []float64) Flow {
	const height = 300.0
	sum := 0.0
	for _, v := range in {
		sum += v
	}
	total := 0.0
	for _, v := range out {
		total += v
	}
	sum = max(sum, total)
	if sum <= 0 {
		return Flow{}
	}
	scale := height * 0.6 / sum
	for _, side := range [][]float64{in, out} {
		for _, v := range side {
			if v > 0 {
				scale = min(scale, height*0.8/(v*float64(len(side))))
			}
		}
	}
	return Flow{bands(in, scale, sum, height, 0), bands(out, scale, sum, height, 200)}
}

// bands draws one side, whose edge is at x = edge, and whose middle is at 100.
func bands(values []float64, scale, sum, height, edge float64) (paths []string) {
	y := (height - sum*scale) / 2
	near, far := Coord(100+(edge-100)*0.6), Coord(100+(edge-100)*0.3)
	for i, v := range values {
		h := v * scale
		c := (float64(i)+0.5)*height/float64(len(values)) - h/2
		paths = append(paths, "M"+Coord(edge)+" "+Coord(c)+"C"+far+" "+Coord(c)+" "+near+" "+Coord(y)+" 100 "+Coord(y)+
			"V"+Coord(y+h)+"C"+near+" "+Coord(y+h)+" "+far+" "+Coord(c+h)+" "+Coord(edge)+" "+Coord(c+h)+"z")
		y += h
	}
	return paths
}

// Spark draws a small line of values in a place of 120 × 32.
func Spark(points []Point, low, high float64) (line, area string) {
	if len(points) == 0 {
		return "", ""
	}
	if high <= low {
		high = low + 1
	}
	least, most := 0.0, 0.0
	for _, p := range points {
		least, most = min(least, p.Value), max(most, p.Value)
	}
	if most <= least {
		most = least + 1
	}
	y := func(v float64) string { return Coord(30 - 28*(finite(v)-least)/(most-least)) }
	var b strings.Builder
	b.WriteString("M0.0 " + y(0))
	for _, p := range points {
		b.WriteString("H" + Coord(120*min(max((p.At-low)/(high-low), 0), 1)) + "V" + y(p.Value))
	}
	b.WriteString("H120.0")
	return b.String(), b.String() + "V32H0z"
}
