package web

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
)

type search struct {
	ID, Name, State string
	StartHeight     int64  `json:"start_height"`
	StopHeight      *int64 `json:"stop_height"`
	Follow, Entries bool
	Mempool         bool
	Scripts         int64
	Height          int64
	Progress        float64
	Found, Blocks   int64
	Error           string
	Created         int64
	Updated         int64
	Rate            *float64
	ETA             *float64
	Descriptors     []searchDescriptor
}

type searchDescriptor struct {
	Desc        string
	Range       [2]int64
	HighestUsed *int64 `json:"highest_used"` // nil: none
	Gap         int64  // 0: the range does not widen
	Exhausted   bool
}

// Widens reports whether the search has yet to widen the range: then it is not used up.
func (d *searchDescriptor) Widens(s *search) bool {
	return d.Gap > 0 && !s.Ended() && s.State != "paused"
}

// maxShown bounds the descriptors that are shown with their ranges.
const maxShown = 20

// Shown returns the first descriptors.
func (s *search) Shown() []searchDescriptor { return s.Descriptors[:min(len(s.Descriptors), maxShown)] }

// NotShown returns how many others there are.
func (s *search) NotShown() int64 { return int64(len(s.Descriptors) - len(s.Shown())) }

// maxExhausted bounds the descriptors that a warning names.
const maxExhausted = 5

// exhausted are the descriptors whose range is used up: some, and how many more.
type exhausted struct {
	Some []searchDescriptor
	More int64
}

// Exhausted returns the descriptors whose range is used up; nil: there are none.
func (s *search) Exhausted() *exhausted {
	var e exhausted
	for _, d := range s.Descriptors {
		switch {
		case !d.Exhausted || d.Widens(s):
		case len(e.Some) < maxExhausted:
			e.Some = append(e.Some, d)
		default:
			e.More++
		}
	}
	if e.Some == nil {
		return nil
	}
	return &e
}

// Ended reports whether nothing of the search will change any more.
func (s *search) Ended() bool {
	return s.State == "done" || s.State == "aborted" || s.State == "failed"
}

// Looks reports whether the search looks at blocks, or waits for its turn.
func (s *search) Looks() bool { return s.State == "running" || s.State == "queued" }

// Begun reports whether the search has looked at a block.
func (s *search) Begun() bool { return s.Height >= s.StartHeight }

type searchPage struct {
	Search  search
	Problem string
}

// Seconds is after how long the page asks again without events.
func (p *searchPage) Seconds() int {
	if p.Search.Looks() {
		return 2
	}
	return 15
}

func searchModel(ctx context.Context, v viewer, query url.Values) (any, error) {
	p := &searchPage{}
	if err := read(ctx, v, nil, &p.Search, "getsearch", query.Get("id")); err != nil {
		p.Problem = err.Error()
	}
	return p, nil
}

type script struct{ Address, Hex, Desc string }

// An entry is one of a search, as getsearchentries has it.
type entry struct {
	Type        string
	Amount      amount
	BlockHash   string
	Height      int64
	Time        int64
	TxID        string
	Vout        uint32
	Output      *script `json:"output_spk"`
	SpendTxID   string  `json:"spend_txid"`
	SpendVin    uint32  `json:"spend_vin"`
	PrevoutTxID string  `json:"prevout_txid"`
	PrevoutVout uint32  `json:"prevout_vout"`
	Prevout     *script `json:"prevout_spk"`
	Desc        string
	Index       *int64
}

// Signed is what the entry does to the balance.
func (e *entry) Signed() amount {
	if e.Type == "spend" {
		return -e.Amount
	}
	return e.Amount
}

// Whose returns the address of the output, or its script where it has none.
func (e *entry) Whose() string {
	s := e.Output
	if e.Type == "spend" {
		s = e.Prevout
	}
	if s == nil {
		return ""
	}
	return cmp.Or(s.Address, s.Hex)
}

// Tx is the transaction that receives or spends.
func (e *entry) Tx() string { return cmp.Or(e.SpendTxID, e.TxID) }

// A pageOfEntries is what getsearchentries answers.
type pageOfEntries struct {
	Entries     []json.RawMessage
	Cursor      string
	More        bool
	Height      int64
	State       string
	Error       string
	Unconfirmed []json.RawMessage
}

// entriesLimit is how many entries are read at a time.
const entriesLimit = 5000

func readEntries(ctx context.Context, v viewer, id, cursor string) (*pageOfEntries, error) {
	p := &pageOfEntries{}
	return p, read(ctx, v, nil, p, "getsearchentries", id, cursor, entriesLimit)
}

// parseEntries reads entries that the node wrote.
func parseEntries(raw []json.RawMessage) ([]entry, error) {
	all := make([]entry, len(raw))
	for i, text := range raw {
		if err := json.Unmarshal(text, &all[i]); err != nil {
			return nil, fmt.Errorf("entry of a search: %w", err)
		}
	}
	return all, nil
}

// A point is what a block has for a search, in the plots.
type point struct {
	Block    string `json:"block"`
	Height   int64  `json:"height"`
	Time     int64  `json:"time"`
	Hits     int    `json:"hits"`
	Received int64  `json:"received"` // of the smallest unit
	Spent    int64  `json:"spent"`
	Gone     bool   `json:"gone,omitempty"` // it left the chain, and what came before of it has to be taken back
}

// points sums up entries by their blocks, in their order.
func points(entries []entry) []point {
	all := []point{}
	for i := range entries {
		e := &entries[i]
		last := len(all) - 1
		if last < 0 || all[last].Block != e.BlockHash || all[last].Gone || e.Type == "disconnect" {
			all = append(all, point{Block: e.BlockHash, Height: e.Height, Time: e.Time, Gone: e.Type == "disconnect"})
			last++
		}
		p := &all[last]
		switch e.Type {
		case "receive":
			p.Received += int64(e.Amount)
			p.Hits++
		case "spend":
			p.Spent += int64(e.Amount)
			p.Hits++
		case "block":
			p.Hits++
		}
	}
	return all
}

// newEntries are those behind a cursor.
type newEntries struct {
	Points      []point
	Rows        []entry // the last of them, the newest first
	Count       int
	Unconfirmed []entry
	Cursor      string
	More        bool
	State       string
}

func entriesModel(ctx context.Context, v viewer, query url.Values) (any, error) {
	p, err := readEntries(ctx, v, query.Get("id"), query.Get("cursor"))
	if err != nil {
		return nil, err
	}
	entries, err := parseEntries(p.Entries)
	if err != nil {
		return nil, err
	}
	unconfirmed, err := parseEntries(p.Unconfirmed)
	if err != nil {
		return nil, err
	}
	rows := slices.Clone(entries[max(0, len(entries)-maxRows):])
	slices.Reverse(rows)
	slices.Reverse(unconfirmed)
	return &newEntries{
		points(entries), rows, len(entries), unconfirmed[:min(len(unconfirmed), maxRows)], p.Cursor, p.More, p.State,
	}, nil
}
