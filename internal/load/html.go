package load

import (
	_ "embed" // for the template
	"fmt"
	"html/template"
	"io"
	"math"
	"time"
)

//go:embed page.html.tmpl
var pageText string

var page = template.Must(template.New("page").Parse(pageText))

// The drawing area of a histogram, in the units of its SVG. Time runs from
// left to right, a decade of it every decadeWidth units, from 10 µs to 1,000 s.
const (
	decadeWidth  = 90
	barsPerTen   = 20 // bars in a decade
	barWidth     = decadeWidth * 1.0 / barsPerTen
	height       = 100
	shortest     = 10 * time.Microsecond
	decades      = 8
	width        = decades * decadeWidth
	barCount     = decades * barsPerTen
	visibleLeast = 1 // height of the bar of a single call among millions
)

// pageModel is what the template shows.
type pageModel struct {
	Facts     []fact
	Quantiles []string
	Rows      []rowModel
	Findings  []findingDocument
	Width     int
	Height    int
	Marks     []chartMark
}

type rowModel struct {
	Name     string
	All      bool // of all outcomes
	Count    uint64
	PerSec   float64
	Times    []string
	Bars     []bar
	P50, P99 float64 // where they lie
}

// bar is a rectangle of a histogram, and what to say when it is pointed at.
type bar struct {
	X, Y, Width, Height float64
	Title               string
}

// mark is a line for a round time.
type chartMark struct {
	X    int
	Text string
}

var chartMarks = []chartMark{
	{0, "10 µs"},
	{1 * decadeWidth, "100 µs"},
	{2 * decadeWidth, "1 ms"},
	{3 * decadeWidth, "10 ms"},
	{4 * decadeWidth, "100 ms"},
	{5 * decadeWidth, "1 s"},
	{6 * decadeWidth, "10 s"},
	{7 * decadeWidth, "100 s"},
}

// WriteHTML writes a page with the table and a histogram of each row.
func (r *Report) WriteHTML(w io.Writer) error {
	m := pageModel{Facts: r.facts(), Findings: r.findings(), Width: width, Height: height, Marks: chartMarks}
	for _, q := range quantiles {
		m.Quantiles = append(m.Quantiles, q.Name)
	}
	for _, row := range r.Result.Rows {
		m.Rows = append(m.Rows, r.rowModel(&row))
	}
	return page.Execute(w, m)
}

func (r *Report) rowModel(row *Row) rowModel {
	m := rowModel{
		Name: rowName(row), All: row.Outcome == "", Count: row.Times.Count(),
		PerSec: math.Round(r.perSecond(row.Times.Count())),
		Bars:   bars(row.Times), P50: position(row.Times.Quantile(0.5)), P99: position(row.Times.Quantile(0.99)),
	}
	for _, q := range quantiles {
		m.Times = append(m.Times, shown(row.Times.Quantile(q.Q)))
	}
	return m
}

// position is where a time lies in the drawing.
func position(d time.Duration) float64 {
	return min(max(math.Log10(float64(d)/float64(shortest))*decadeWidth, 0), width)
}

// bars draws a histogram.
func bars(h *Histogram) []bar {
	var counts [barCount]uint64
	most := uint64(0)
	for b := range h.Buckets() {
		i := min(int(position(b.From)/barWidth), barCount-1)
		counts[i] += b.Count
		most = max(most, counts[i])
	}
	var all []bar
	for i, n := range counts {
		if n == 0 {
			continue
		}
		tall := max(float64(n)/float64(most)*height, visibleLeast)
		all = append(all, bar{
			X: float64(i) * barWidth, Y: height - tall, Width: barWidth, Height: tall, Title: title(i, n),
		})
	}
	return all
}

// title says what a bar stands for.
func title(bar int, count uint64) string {
	from := float64(shortest) * math.Pow(10, float64(bar)/barsPerTen)
	return fmt.Sprintf("%d from %s ms", count, shown(time.Duration(from)))
}
