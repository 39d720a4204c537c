package web

import (
	"context"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/seed61375155/trawl/rpc/web/chart"
)

// A digest is what a block is in short. It never changes.
type digest struct {
	BlockHash    string
	Height, Time int64
	Txs          int64
	TotalSize    int64    `json:"total_size"`
	TotalWeight  int64    `json:"total_weight"`
	TotalFee     int64    `json:"totalfee"`
	Percentiles  [5]int64 `json:"feerate_percentiles"` // that 10, 25, 50, 75 and 90 % of the weight do not exceed
}

// digestStats are the figures that a digest is made of.
var digestStats = []string{
	"blockhash", "height", "time", "txs", "total_size", "total_weight", "totalfee", "feerate_percentiles",
}

// fullWeight is the weight that a block may have.
const fullWeight = 4_000_000

// Full is the share of the possible weight.
func (d *digest) Full() float64 { return min(float64(d.TotalWeight)/fullWeight, 1) }

// Fee is the rate that half of the weight does not exceed.
func (d *digest) Fee() string { return number(d.Percentiles[2]) }

// Step is the step of that rate on the scale of fees.
func (d *digest) Step() int { return chart.FeeStep(float64(d.Percentiles[2])) }

// Paid reports whether somebody has paid a fee in the block.
func (d *digest) Paid() bool { return d.Txs > 1 && d.TotalFee > 0 }

// Megabytes is the size in words.
func (d *digest) Megabytes() string {
	if d.TotalSize < 10_000 {
		return number(d.TotalSize) + " B"
	}
	return strconv.FormatFloat(float64(d.TotalSize)/1e6, 'f', 2, 64) + " MB"
}

// Cube draws the block.
func (d *digest) Cube() []chart.Path {
	var layers []chart.Layer
	for i, share := range [...]float64{10, 15, 25, 25, 25} { // the last is of 90 % and above
		step := chart.FeeStep(float64(d.Percentiles[i]))
		if n := len(layers) - 1; n >= 0 && layers[n].Step == step {
			layers[n].Share += share
			continue
		}
		layers = append(layers, chart.Layer{Step: step, Share: share})
	}
	return chart.Cube(d.Full(), layers)
}

// A car is a block of the train; its digest is nil where it is not known yet, or not for the viewer.
type car struct {
	Height int64
	Hash   string
	Digest *digest

	asked bool // for the digest
}

const (
	maxDigests = 4096
	trainCars  = 10
	// digestTime is how long a page waits for the digests of blocks. Missing digests come with the next part.
	digestTime = 300 * time.Millisecond
)

// A bounded store keeps what never changes, up to a number of things; it forgets any when it is full. Its methods are
// safe for concurrent use.
type store[T any] struct {
	most int

	mu   sync.Mutex
	kept map[string]T
}

func (s *store[T]) get(key string) (value T, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	value, ok = s.kept[key]
	return value, ok
}

func (s *store[T]) put(key string, value T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil {
		s.kept = map[string]T{}
	}
	for other := range s.kept {
		if len(s.kept) < s.most {
			break
		}
		delete(s.kept, other)
	}
	s.kept[key] = value
}

// cars returns the blocks from a height downwards.
func (v *view) cars(ctx context.Context, viewer viewer, top int64, count int) []car {
	if !viewer.Has("getblockhash") || top < 0 {
		return nil
	}
	all := make([]car, min(int64(count), top+1))
	end := time.Now().Add(digestTime)
	var looks []func()
	for i := range all {
		all[i].Height = top - int64(i)
		looks = append(looks, func() { v.couple(ctx, viewer, &all[i], end) })
	}
	together(looks...)
	for i := range all {
		if all[i].Hash == "" { // the chain has become shorter meanwhile
			return all[:i]
		}
	}
	return all
}

// couple reads a block of the train.
func (v *view) couple(ctx context.Context, viewer viewer, c *car, end time.Time) {
	if read(ctx, viewer, nil, &c.Hash, "getblockhash", c.Height) != nil {
		return
	}
	if found, ok := v.digests.get(c.Hash); ok {
		if viewer.Has("getblockstats") {
			c.Digest = found
		}
		return
	}
	if time.Now().After(end) {
		return
	}
	c.asked = true
	if d := get[digest](ctx, viewer, nil, "getblockstats", c.Hash, digestStats); d != nil {
		v.digests.put(c.Hash, d)
		c.Digest = d
	}
}

// missing reports whether digests of blocks are to come, for which there was no time.
func missing(cars []car, viewer viewer) bool {
	for i := range cars {
		if cars[i].Digest == nil && !cars[i].asked && viewer.Has("getblockstats") {
			return true
		}
	}
	return false
}

// A blockList is the data of the page of blocks.
type blockList struct {
	Cars         []car
	Newer, Older string // addresses; empty: there are none
	First        bool   // the newest blocks are shown
	Fees         []feeFor
	Missing      bool
	Failed       []string
}

// listedBlocks is how many blocks a page lists.
const listedBlocks = 20

// Seconds is after how long the page asks again without events.
func (l *blockList) Seconds() int {
	if l.Missing {
		return 1
	}
	return 30
}

// On are the events that change the page.
func (l *blockList) On() string {
	if l.First {
		return "tip"
	}
	return ""
}

func (v *view) blocksModel(ctx context.Context, viewer viewer, query url.Values) (any, error) {
	n := &noting{viewer: viewer}
	l := &blockList{}
	var tip int64
	if err := read(ctx, n, nil, &tip, "getblockcount"); err != nil {
		info := get[chainInfo](ctx, n, nil, "getblockchaininfo")
		if info == nil {
			return nil, err
		}
		tip = info.Blocks
	}
	top := tip
	if before, err := strconv.ParseInt(query.Get("before"), 10, 64); err == nil && before > 0 && before <= tip {
		top = before - 1
	}
	l.First = top == tip
	l.Cars = v.cars(ctx, n, top, listedBlocks)
	if !l.First {
		l.Newer = "?before=" + strconv.FormatInt(top+listedBlocks+1, 10)
	}
	if next := top - listedBlocks; next >= 0 {
		l.Older = "?before=" + strconv.FormatInt(next+1, 10)
	}
	l.Missing = missing(l.Cars, n)
	l.Failed = n.words()
	return l, nil
}
