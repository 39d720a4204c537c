package web

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/seed61375155/trawl/rpc/web/chart"
)

// A txData is a transaction as getrawtransaction has it.
type txData struct {
	TxID          string
	Hash          string
	Version       int64
	Size, VSize   int64
	Weight        int64
	LockTime      int64
	Vin           []txInput
	Vout          []txOutput
	Hex           string
	BlockHash     string
	InChain       *bool `json:"in_active_chain"`
	Confirmations int64
	BlockTime     int64
	Fee           *amount
}

type txInput struct {
	Coinbase string
	TxID     string
	Vout     int64
	Sequence uint32
	Prevout  *struct {
		Height int64
		Value  amount
		Script script `json:"scriptPubKey"`
	}
}

type txOutput struct {
	Value  amount
	N      int64
	Script script `json:"scriptPubKey"`
	State  string // unspent or spent; empty: not known
	By     string // the transaction that spends it
}

// Words is what the script of an output without an address says to people.
func (o *txOutput) Words() string {
	if o.Script.Type == "nulldata" {
		return readable(o.Script.Hex)
	}
	return ""
}

// A waiting is a transaction of the memory pool.
type waiting struct {
	Time            int64
	AncestorCount   int64
	AncestorSize    int64
	DescendantCount int64
	Replaceable     bool `json:"bip125-replaceable"`
	Depends         []string
	Fees            struct{ Ancestor amount }
}

// Others is how many ancestors there are.
func (w *waiting) Others() int64 { return w.AncestorCount - 1 }

// Later is how many descendants there are.
func (w *waiting) Later() int64 { return w.DescendantCount - 1 }

// Together is the rate of the transaction with its ancestors.
func (w *waiting) Together() string {
	return rateText(float64(w.Fees.Ancestor) / float64(max(w.AncestorSize, 1)))
}

const (
	txRows    = 100  // inputs and outputs that a page lists
	flowBands = 12   // of each side
	askedOuts = 50   // outputs whose state is asked for
	shownHex  = 4000 // digits of a transaction that a page shows
)

// A txPage is the data of the page of a transaction.
type txPage struct {
	Asked, Block string
	Problem      string
	Tx           *txData
	Height       int64 // of its block; 0: not known
	Waiting      *waiting
	Inputs       []txInput
	Outputs      []txOutput
	From         int
	Newer, Older string
	In, Out      amount
}

// PageTitle implements titled.
func (p *txPage) PageTitle() string { return "Transaction " + short(clean(p.Asked)) }

// PageStatus implements statused.
func (p *txPage) PageStatus() int {
	if p.Tx == nil {
		return http.StatusNotFound
	}
	return http.StatusOK
}

// Seconds is after how long the page asks again without events.
func (p *txPage) Seconds() int {
	if p.Waiting != nil {
		return 10
	}
	return 60
}

// Where names the block of the transaction.
func (p *txPage) Where() string {
	if p.Height > 0 {
		return "Block " + number(p.Height)
	}
	return "Its block"
}

// IsCoinbase reports whether the transaction creates coins.
func (p *txPage) IsCoinbase() bool { return len(p.Tx.Vin) > 0 && p.Tx.Vin[0].Coinbase != "" }

// Gone reports whether the transaction's block is not in the chain.
func (p *txPage) Gone() bool { return p.Tx.InChain != nil && !*p.Tx.InChain }

// Rate is the fee rate in words.
func (p *txPage) Rate() string {
	if p.Tx.Fee == nil {
		return ""
	}
	return rateText(4 * float64(*p.Tx.Fee) / float64(max(p.Tx.Weight, 1)))
}

// Raw is the serialized transaction; empty where it is too long to be shown.
func (p *txPage) Raw() string {
	if len(p.Tx.Hex) > shownHex {
		return ""
	}
	return p.Tx.Hex
}

// LockWords says until when the transaction had to wait.
func (p *txPage) LockWords() string {
	const times = 500_000_000 // smaller ones are heights
	switch {
	case p.Tx.LockTime == 0:
		return "none"
	case p.Tx.LockTime < times:
		return number(p.Tx.LockTime) + ", a block"
	default:
		return utc(p.Tx.LockTime)
	}
}

// Flow draws how the value goes; nil where the values of the inputs are not known.
func (p *txPage) Flow() *chart.Flow {
	if p.In == 0 || len(p.Inputs) != len(p.Tx.Vin) || len(p.Outputs) != len(p.Tx.Vout) {
		return nil
	}
	var in, out []float64
	for i := range p.Inputs {
		in = append(in, float64(p.Inputs[i].Prevout.Value))
	}
	for i := range p.Outputs {
		out = append(out, float64(p.Outputs[i].Value))
	}
	if len(in) > flowBands || len(out) > flowBands {
		return nil
	}
	flow := chart.NewFlow(in, out)
	return &flow
}

func (*view) txModel(ctx context.Context, viewer viewer, query url.Values) (any, error) {
	p := &txPage{Asked: strings.ToLower(query.Get(about)), Block: strings.TrimSpace(query.Get("block"))}
	params := []any{p.Asked, 2}
	if p.Block != "" {
		params = append(params, p.Block)
	}
	t := &txData{}
	if err := read(ctx, viewer, nil, t, "getrawtransaction", params...); err != nil {
		_, p.Problem = failure(err)
		return p, nil
	}
	p.Tx = t
	if t.BlockHash == "" {
		p.Waiting = get[waiting](ctx, viewer, nil, "getmempoolentry", t.TxID)
	} else {
		var header struct{ Height, Confirmations int64 }
		if read(ctx, viewer, nil, &header, "getblockheader", t.BlockHash) == nil {
			p.Height = header.Height
		}
	}
	p.sums()
	p.choose(query.Get("from"))
	p.states(ctx, viewer)
	return p, nil
}

// sums adds up both sides. The inputs have no sum where one of them is not known.
func (p *txPage) sums() {
	for i := range p.Tx.Vout {
		p.Out += p.Tx.Vout[i].Value
	}
	for i := range p.Tx.Vin {
		if p.Tx.Vin[i].Prevout == nil {
			p.In = 0
			return
		}
		p.In += p.Tx.Vin[i].Prevout.Value
	}
}

// choose takes the inputs and outputs of one page.
func (p *txPage) choose(from string) {
	most := max(len(p.Tx.Vin), len(p.Tx.Vout))
	p.From, _ = strconv.Atoi(from)
	if p.From < 0 || p.From >= most {
		p.From = 0
	}
	p.Inputs = p.Tx.Vin[min(p.From, len(p.Tx.Vin)):min(p.From+txRows, len(p.Tx.Vin))]
	p.Outputs = p.Tx.Vout[min(p.From, len(p.Tx.Vout)):min(p.From+txRows, len(p.Tx.Vout))]
	at := func(from int) string {
		next := url.Values{}
		if p.Block != "" {
			next.Set("block", p.Block)
		}
		if from > 0 {
			next.Set("from", strconv.Itoa(from))
		}
		return "?" + next.Encode()
	}
	if p.From > 0 {
		p.Newer = at(max(p.From-txRows, 0))
	}
	if p.From+txRows < most {
		p.Older = at(p.From + txRows)
	}
}

// states asks whether outputs are spent, and by what.
func (p *txPage) states(ctx context.Context, v viewer) {
	if !v.Has("gettxout") || p.Gone() {
		return
	}
	outs := p.Outputs[:min(len(p.Outputs), askedOuts)]
	var looks []func()
	for i := range outs {
		o := &outs[i]
		if o.Script.Type == "nulldata" {
			continue
		}
		looks = append(looks, func() {
			var found *struct{ Confirmations int64 }
			if read(ctx, v, nil, &found, "gettxout", p.Tx.TxID, o.N) != nil {
				return
			}
			o.State = "spent"
			if found != nil {
				o.State = "unspent"
			}
		})
	}
	together(looks...)
	var asked []map[string]any
	for i := range outs {
		if outs[i].State == "spent" {
			asked = append(asked, map[string]any{"txid": p.Tx.TxID, "vout": outs[i].N})
		}
	}
	if asked == nil {
		return
	}
	spenders := get[[]struct {
		Vout int64
		By   string `json:"spendingtxid"`
	}](ctx, v, nil, "gettxspendingprevout", asked)
	if spenders == nil {
		return
	}
	for _, s := range *spenders {
		for i := range outs {
			if outs[i].N == s.Vout {
				outs[i].By = s.By
			}
		}
	}
}

// To returns the address of an output, or its script.
func (s *script) To() string { return cmp.Or(s.Address, s.Hex) }
