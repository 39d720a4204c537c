package web

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/seed61375155/trawl/rpc/web/chart"
)

const (
	// maxPooled is how many transactions of the memory pool are looked at one by one. Of more there are sums alone.
	maxPooled = 10_000
	fewPooled = 2000 // the same, for the overview, which is looked at more often
	poolRows  = 50
	// poolTime is how long what was seen of the memory pool is good.
	poolTime = 5 * time.Second
)

// A pooled is a transaction of the memory pool, in a list.
type pooled struct {
	TxID  string
	VSize int64
	Time  int64
	Fees  struct{ Base amount }

	Rate float64
}

// RateText is the fee rate in words.
func (p *pooled) RateText() string { return rateText(p.Rate) }

// Step is the step of the fee rate.
func (p *pooled) Step() int { return chart.FeeStep(p.Rate) }

// A poolView is the memory pool by fee rates. It is not changed.
type poolView struct {
	at     time.Time
	Sizes  [chart.FeeSteps]int64 // virtual bytes of each step
	Counts [chart.FeeSteps]int64
	Top    []pooled // with the highest rates
	Next   []chart.Path
	Median string // rate of the next block
	Txs    int    // of the next block
	Bytes  int64
}

// poolCache keeps the last view of the memory pool.
type poolCache struct {
	mu   sync.Mutex
	last *poolView
}

// A poolPage is the data of the page of the memory pool.
type poolPage struct {
	Info   *poolInfo
	Fees   []feeFor
	View   *poolView // nil: too many transactions, or not for the viewer
	Failed []string
}

// Seconds is after how long the page asks again without events.
func (*poolPage) Seconds() int { return 5 }

func (v *view) poolModel(ctx context.Context, viewer viewer, _ url.Values) (any, error) {
	n := &noting{viewer: viewer}
	p := &poolPage{}
	together(
		func() { p.Info = get[poolInfo](ctx, n, nil, "getmempoolinfo") },
		func() { p.Fees = fees(ctx, n) },
	)
	p.View = v.pool(ctx, n, p.Info, maxPooled)
	p.Failed = n.words()
	return p, nil
}

// pool returns the memory pool by fee rates, nil where it has more transactions than most, or is not for the viewer.
func (v *view) pool(ctx context.Context, viewer viewer, info *poolInfo, most int64) *poolView {
	if info == nil || info.Size > most || !viewer.Has("getrawmempool") {
		return nil
	}
	v.pooled.mu.Lock()
	last := v.pooled.last
	v.pooled.mu.Unlock()
	if last != nil && time.Since(last.at) < poolTime {
		return last
	}
	all := get[map[string]pooled](ctx, viewer, nil, "getrawmempool", true)
	if all == nil {
		return nil
	}
	seen := poolOf(*all)
	seen.at = time.Now()
	v.pooled.mu.Lock()
	defer v.pooled.mu.Unlock()
	v.pooled.last = seen
	return seen
}

// poolOf sums up the memory pool. The next block is what has the highest rates, which is near what would be mined.
func poolOf(all map[string]pooled) *poolView {
	p := &poolView{}
	list := make([]pooled, 0, len(all))
	for id, t := range all {
		t.TxID = id
		t.Rate = float64(t.Fees.Base) / float64(max(t.VSize, 1))
		step := t.Step()
		p.Sizes[step] += t.VSize
		p.Counts[step]++
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b pooled) int {
		return cmp.Or(cmp.Compare(b.Rate, a.Rate), cmp.Compare(a.TxID, b.TxID))
	})
	p.Top = slices.Clone(list[:min(len(list), poolRows)])
	var shares [chart.FeeSteps]float64
	for i := range list {
		if p.Bytes+list[i].VSize > fullWeight/4 {
			break
		}
		p.Bytes += list[i].VSize
		p.Txs++
		shares[list[i].Step()] += float64(list[i].VSize)
	}
	var layers []chart.Layer
	for step, share := range shares {
		if share > 0 {
			layers = append(layers, chart.Layer{Step: step, Share: share})
		}
	}
	p.Next = chart.Cube(4*float64(p.Bytes)/fullWeight, layers)
	half := int64(0)
	for i := range list[:p.Txs] {
		if half += list[i].VSize; half*2 >= p.Bytes {
			p.Median = list[i].RateText()
			break
		}
	}
	return p
}

// stepWords are the rates of the steps.
var stepWords = [chart.FeeSteps]string{
	"below 1", "1 to 2", "2 to 4", "4 to 8", "8 to 16", "16 to 32", "32 to 64", "64 to 128", "128 and more",
}

// Plot draws the sizes by fee rates.
func (p *poolView) Plot() *chart.Plot {
	most := int64(0)
	var words []string
	for step, size := range p.Sizes {
		most = max(most, size)
		if size > 0 {
			count := plural(p.Counts[step], "transaction", "transactions")
			words = append(words, fmt.Sprintf("%s in %s of %s", bytesOf(size), count, stepWords[step]))
		}
	}
	scale := chart.NewScale(0, float64(most)/1e6, 4, false)
	plot := &chart.Plot{
		Size: "mid", Cols: true, Y: scale.Labels(), X: []string{"<1", "1", "2", "4", "8", "16", "32", "64", "128"},
		Grid:  scale.Grid(),
		Label: "Virtual megabytes that wait, by satoshi per virtual byte: " + strings.Join(words, ", "),
	}
	const width = chart.Width / chart.FeeSteps
	for step, size := range p.Sizes {
		if size == 0 {
			continue
		}
		y := math.Min(scale.Y(float64(size)/1e6), chart.Height-2)
		plot.Bars = append(plot.Bars, chart.Bar{
			Class: "f" + strconv.Itoa(step),
			X:     strconv.Itoa(step*chart.Width/chart.FeeSteps + 12), W: strconv.Itoa(width - 24),
			Y: chart.Coord(y), H: chart.Coord(chart.Height - y),
		})
	}
	return plot
}

// bytesOf writes virtual bytes.
func bytesOf(n int64) string { return number(n) + " virtual bytes" }

// Lowest is the lowest rate that is taken, in words.
func (p *poolInfo) Lowest() string { return rateText(float64(p.MempoolMinFee) / 1000) }

// Blocks is how many blocks what waits would fill.
func (p *poolInfo) Blocks() int64 { return (4*p.Bytes + fullWeight - 1) / fullWeight }
