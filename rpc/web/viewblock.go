package web

import (
	"cmp"
	"context"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/seed61375155/trawl/rpc/web/chart"
)

// A blockData is what a block is, apart from its place in the chain. It never changes.
type blockData struct {
	Hash          string
	Height        int64
	Version       int64
	Time          int64
	Nonce         uint64
	Bits          string
	Difficulty    float64
	Size          int64
	StrippedSize  int64
	Weight        int64
	MerkleRoot    string
	Previous      string `json:"previousblockhash"`
	Tx            []blockTx
	order         []int // of the transactions by their rates
	Bars          []chart.Bar
	Median        float64
	Lowest, Above float64 // rates
	Fees, Moved   amount
	Income        amount // of the miner
	NoFees        bool   // the fees are not known
	Coinbase      string // what the miner has written into the block
}

// A blockTx is a transaction in the list of its block.
type blockTx struct {
	TxID   string
	VSize  int64
	Weight int64
	Fee    *amount
	Vin    []struct{ Coinbase string }
	Vout   []struct{ Value amount }

	Out  amount
	Rate float64
}

// IsCoinbase reports whether the transaction creates coins.
func (t *blockTx) IsCoinbase() bool { return t.Fee == nil && len(t.Vin) > 0 && t.Vin[0].Coinbase != "" }

// RateText is the fee rate in words; empty where it is not known.
func (t *blockTx) RateText() string {
	if t.Fee == nil {
		return ""
	}
	return rateText(t.Rate)
}

// read adds up what the page of the block shows.
func (b *blockData) read() {
	var rated []chart.Rated
	for i := range b.Tx {
		t := &b.Tx[i]
		for _, o := range t.Vout {
			t.Out += o.Value
		}
		b.Moved += t.Out
		switch {
		case i == 0:
			b.Income = t.Out
			if len(t.Vin) > 0 {
				b.Coinbase = readable(t.Vin[0].Coinbase)
			}
		case t.Fee == nil:
			b.NoFees = true
		default:
			b.Fees += *t.Fee
			t.Rate = 4 * float64(*t.Fee) / float64(max(t.Weight, 1))
			rated = append(rated, chart.Rated{Weight: t.Weight, Rate: t.Rate})
			if len(rated) == 1 || t.Rate < b.Lowest {
				b.Lowest = t.Rate
			}
			b.Above = max(b.Above, t.Rate)
		}
		t.Vout = nil
		if i > 0 {
			t.Vin = nil
		}
		b.order = append(b.order, i)
	}
	slices.SortStableFunc(b.order, func(x, y int) int {
		if x == 0 || y == 0 { // the first creates coins
			return cmp.Compare(x, y)
		}
		return cmp.Compare(b.Tx[y].Rate, b.Tx[x].Rate)
	})
	b.Bars, b.Median = chart.Profile(rated, fullWeight)
}

// readable keeps of a script in hex what people can read.
func readable(script string) string {
	raw, err := hex.DecodeString(script)
	if err != nil {
		return ""
	}
	var parts []string
	for _, part := range strings.FieldsFunc(strings.ToValidUTF8(string(raw), "\x00"), func(r rune) bool {
		return unicode.IsControl(r)
	}) {
		if len(part) >= 4 {
			parts = append(parts, part)
		}
	}
	return clean(strings.Join(parts, " "))
}

// A blockPage is the data of the page of a block.
type blockPage struct {
	Asked         string
	Problem       string
	Block         *blockData
	Confirmations int64
	Next          string
	Rows          []blockRow
	ByRate        bool
	From, To      int
	Newer, Older  string
}

// A blockRow is a transaction with its place in the block.
type blockRow struct {
	*blockTx

	At int
}

// PageTitle implements titled.
func (p *blockPage) PageTitle() string {
	if p.Block == nil {
		return "Block"
	}
	return "Block " + number(p.Block.Height)
}

// PageStatus implements statused.
func (p *blockPage) PageStatus() int {
	if p.Block == nil {
		return http.StatusNotFound
	}
	return http.StatusOK
}

// Seconds is after how long the page asks again without events.
func (*blockPage) Seconds() int { return 60 }

// First is the number of the first transaction of the list, counted from 1.
func (p *blockPage) First() int { return min(p.From+1, p.To) }

// Gone reports whether the block is not in the chain.
func (p *blockPage) Gone() bool { return p.Confirmations < 0 }

// Full is the share of the possible weight.
func (p *blockPage) Full() float64 { return min(float64(p.Block.Weight)/fullWeight, 1) }

// Version is the block's version in hex.
func (p *blockPage) Version() string {
	return "0x" + strconv.FormatUint(uint64(uint32(p.Block.Version)), 16)
}

// Subsidy is what the block has created.
func (p *blockPage) Subsidy() amount { return p.Block.Income - p.Block.Fees }

// Plot is the profile of the fees.
func (p *blockPage) Plot() *chart.Plot {
	middle := chart.ProfileY(p.Block.Median)
	return &chart.Plot{
		Label: "Fee rates of the transactions in satoshi per virtual byte, from the highest, over their weight; " +
			"the middle is " + rateText(p.Block.Median),
		Y: chart.ProfileLabels(), X: []string{"0", "1", "2", "3", "4 MWU"}, Grid: chart.ProfileGrid(),
		Bars:  p.Block.Bars,
		Paths: []chart.Path{{Class: "mark", D: "M0 " + middle + "H1000"}},
	}
}

const (
	maxBlocks = 32 // that are kept
	blockRows = 50 // transactions that a page lists
)

func (v *view) blockModel(ctx context.Context, viewer viewer, query url.Values) (any, error) {
	p := &blockPage{Asked: query.Get(about), ByRate: query.Get("order") != "block"}
	hash := strings.ToLower(p.Asked)
	if height, err := strconv.ParseInt(p.Asked, 10, 64); err == nil && len(p.Asked) < 10 {
		if err := read(ctx, viewer, nil, &hash, "getblockhash", height); err != nil {
			p.Problem = err.Error()
			return p, nil //nolint:nilerr // the page says it
		}
	}
	b, err := v.block(ctx, viewer, hash)
	if err != nil {
		if _, refused := failure(err); refused != "" {
			p.Problem = refused
		}
		return p, nil
	}
	p.Block, p.Confirmations = b, 0
	var header struct {
		Confirmations int64
		Next          string `json:"nextblockhash"`
	}
	if read(ctx, viewer, nil, &header, "getblockheader", hash) == nil {
		p.Confirmations, p.Next = header.Confirmations, header.Next
	}
	from, err := strconv.Atoi(query.Get("from"))
	if err != nil || from < 0 || from >= len(b.Tx) {
		from = 0
	}
	p.From, p.To = from, min(from+blockRows, len(b.Tx))
	for i := p.From; i < p.To; i++ {
		at := i
		if p.ByRate {
			at = b.order[i]
		}
		p.Rows = append(p.Rows, blockRow{&b.Tx[at], at})
	}
	if p.From > 0 {
		p.Newer = p.at(max(p.From-blockRows, 0))
	}
	if p.To < len(b.Tx) {
		p.Older = p.at(p.To)
	}
	return p, nil
}

// at is the address of the page whose list begins at a place, from the page itself.
func (p *blockPage) at(from int) string {
	next := url.Values{}
	if !p.ByRate {
		next.Set("order", "block")
	}
	if from > 0 {
		next.Set("from", strconv.Itoa(from))
	}
	return "?" + next.Encode()
}

// block reads a block, one at a time: it may be megabytes.
func (v *view) block(ctx context.Context, viewer viewer, hash string) (*blockData, error) {
	if !viewer.Has("getblock") {
		return nil, errHidden
	}
	if found, ok := v.blocks.get(hash); ok {
		return found, nil
	}
	select {
	case v.large <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-v.large }()
	if found, ok := v.blocks.get(hash); ok { // it was read meanwhile
		return found, nil
	}
	b := &blockData{}
	if err := read(ctx, viewer, nil, b, "getblock", hash, 2); err != nil {
		return nil, err
	}
	b.read()
	v.blocks.put(hash, b)
	return b, nil
}
