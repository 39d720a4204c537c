package web

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/seed61375155/trawl/rpc/web/chart"
)

const (
	maxColumns  = 240 // of the balance, so that the page stays small
	flowColumns = 42
	tableRows   = 24
	ticksBelow  = 6 // labels of the horizontal axis, without the first
)

// A column is a span with the balance at its end.
type column struct {
	span

	Balance amount
}

// columns joins the points into at most so many columns: spans of equal width in heights, or in time.
func (b *book) columns(most int, byTime bool) (all []column) {
	if len(b.Points) == 0 {
		return nil
	}
	at := func(s *span) int64 {
		if byTime {
			return s.Time
		}
		return s.Last
	}
	points := slices.Clone(b.Points)
	if byTime {
		slices.SortStableFunc(points, func(x, y span) int { return int(min(max(x.Time-y.Time, -1), 1)) })
	}
	low, high := at(&points[0]), at(&points[0])
	for i := range points {
		low, high = min(low, at(&points[i])), max(high, at(&points[i]))
	}
	var sum amount
	last := int64(-1)
	for i := range points {
		n := int64(i)
		if len(points) > most {
			n = (at(&points[i]) - low) * int64(most) / (high - low + 1)
		}
		sum += points[i].Received - points[i].Spent
		if n != last {
			all = append(all, column{})
			last = n
		}
		c := &all[len(all)-1]
		c.add(&points[i])
		c.Balance = sum
	}
	return all
}

// Table returns the plots as rows, the newest first.
func (b *book) Table() []column {
	all := b.columns(tableRows, false)
	slices.Reverse(all)
	return all
}

// An extent is what the horizontal axis of a plot covers.
type extent struct {
	byTime    bool
	low, high float64
}

func (b *book) extent(axis string) extent {
	e := extent{byTime: axis == "time"}
	for i := range b.Points {
		at := e.at(&b.Points[i])
		if i == 0 || at < e.low {
			e.low = at
		}
		if i == 0 || at > e.high {
			e.high = at
		}
	}
	if !e.byTime { // the balance stays up to there
		e.high = max(e.high, float64(b.end))
	}
	if e.high <= e.low {
		e.high = e.low + 1
	}
	return e
}

// at returns the place of a span: its end.
func (e extent) at(s *span) float64 {
	if e.byTime {
		return float64(s.Time)
	}
	return float64(s.Last)
}

// labels are those of the axis, evenly spaced.
func (e extent) labels() (labels []string) {
	const day = 24 * 60 * 60
	layout := "Jan 2006"
	switch span := e.high - e.low; {
	case !e.byTime:
	case span < 3*day:
		layout = "02 Jan 15:04"
	case span < 300*day:
		layout = "2 Jan 2006"
	}
	for i := range ticksBelow + 1 {
		v := e.low + (e.high-e.low)*float64(i)/ticksBelow
		if e.byTime {
			labels = append(labels, time.Unix(int64(v), 0).UTC().Format(layout))
			continue
		}
		labels = append(labels, number(int64(v)))
	}
	return slices.Compact(labels)
}

// inUnit returns an amount as a number of the unit.
func inUnit(a amount, unit string) float64 {
	if unit == "sat" {
		return float64(a)
	}
	return float64(a) / coin
}

// tips is what a script tells of the place under the pointer.
type tips struct {
	Axis   string     `json:"axis"`
	Low    float64    `json:"lo"`
	High   float64    `json:"hi"`
	Unit   string     `json:"unit"`
	Points [][6]int64 `json:"pts"` // first and last height, time, received, spent, balance
}

// balancePlot draws the balance.
func balancePlot(b *book, axis, unit string) *chart.Plot {
	e := b.extent(axis)
	columns := b.columns(maxColumns, e.byTime)
	var points []chart.Point
	least, most := 0.0, 0.0
	told := tips{Axis: axis, Low: e.low, High: e.high, Unit: unit}
	for i := range columns {
		c := &columns[i]
		v := inUnit(c.Balance, unit)
		least, most = min(least, v), max(most, v)
		points = append(points, chart.Point{At: e.at(&c.span), Value: v})
		told.Points = append(told.Points, [6]int64{
			c.First, c.Last, c.Time, int64(c.Received), int64(c.Spent), int64(c.Balance),
		})
	}
	scale := chart.NewScale(least, most, 4, unit == "sat")
	line, area := chart.Steps(points, e.low, e.high, scale)
	text, _ := json.Marshal(told) // numbers can always be written
	p := &chart.Plot{
		Y: scale.Labels(), X: e.labels(), Grid: scale.Grid(), Tips: string(text),
		Paths: []chart.Path{{Class: "area", D: area}, {Class: "line", D: line}},
	}
	if n := len(columns); n > 0 {
		p.Label = fmt.Sprintf("Balance in %s from block %s to %s, at the end %s", unit,
			number(columns[0].First), number(columns[n-1].Last), amountIn(unit, columns[n-1].Balance, false).whole())
	}
	return p
}

// whole is the amount in one text, without its unit.
func (t amountText) whole() string { return t.Text + t.Zeros }

// flowPlot draws what was received and spent in spans of equal width, or the blocks with hits of a search that knows
// no amounts.
func flowPlot(b *book, axis, unit string) *chart.Plot {
	e := b.extent(axis)
	received, spent, hits := make([]float64, flowColumns), make([]float64, flowColumns), make([]float64, flowColumns)
	most, mostHits := 0.0, 0.0
	for i := range b.Points {
		s := &b.Points[i]
		n := min(int((e.at(s)-e.low)/(e.high-e.low)*flowColumns), flowColumns-1)
		received[n] += inUnit(s.Received, unit)
		spent[n] += inUnit(s.Spent, unit)
		hits[n] += float64(s.Blocks)
		most, mostHits = max(most, received[n], spent[n]), max(mostHits, hits[n])
	}
	width := strconv.Itoa(flowColumns)
	if !b.Amounts() {
		scale := chart.NewScale(0, mostHits, 3, true)
		return &chart.Plot{
			Size: "mid", Label: "Blocks with hits in " + width + " equal spans", Y: scale.Labels(), X: e.labels(),
			Grid: scale.Grid(), Bars: chart.Columns(hits, scale),
		}
	}
	scale := chart.NewScale(0, most, 2, unit == "sat")
	top := scale.Labels()[0]
	return &chart.Plot{
		Size: "mid", Label: "Received and spent in " + width + " equal spans",
		Y: []string{"+" + top, "0", "−" + top}, X: e.labels(),
		Grid: []chart.Line{{Y: "0.0"}, {Y: "200.0"}, {Y: "100.0", Axis: true}},
		Bars: chart.UpDown(received, spent, scale.High),
	}
}
