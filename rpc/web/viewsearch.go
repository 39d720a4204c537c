package web

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"github.com/seed61375155/trawl/rpc/web/chart"
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
	Sum             *searchSum `json:"-"` // in a list; nil: not known, or not for the viewer
}

type searchDescriptor struct {
	Desc        string
	Range       [2]int64
	HighestUsed *int64 `json:"highest_used"`
	Gap         int64
	Exhausted   bool
}

// Widens reports whether the search has yet to widen the range: then it is not used up.
func (d *searchDescriptor) Widens(s *search) bool {
	return d.Gap > 0 && !s.Ended() && s.State != "paused"
}

// Highest is the highest used index, -1 where none is known.
func (d *searchDescriptor) Highest() int64 {
	if d.HighestUsed == nil {
		return -1
	}
	return *d.HighestUsed
}

const (
	widening = 1000    // indices that are added at a time
	lastOf   = 999_999 // highest index of a range
)

// WiderLast is the last index of a wider range.
func (d *searchDescriptor) WiderLast() int64 { return min(d.Range[1]+widening, lastOf) }

// MayWiden reports whether there can be a wider range.
func (d *searchDescriptor) MayWiden() bool { return d.Range[1] < lastOf }

// Wider is a scan object with a wider range.
func (d *searchDescriptor) Wider() map[string]any {
	return map[string]any{"desc": d.Desc, "range": [2]int64{d.Range[0], d.WiderLast()}}
}

// maxExhausted bounds the descriptors that a warning names.
const maxExhausted = 5

// exhausted are the descriptors whose range is used up: some, and how many more.
type exhausted struct {
	Some []*searchDescriptor
	More int64
}

// Exhausted returns the descriptors whose range is used up; nil: there are none.
func (s *search) Exhausted() *exhausted {
	var e exhausted
	for i := range s.Descriptors {
		switch {
		case !s.Descriptors[i].Exhausted || s.Descriptors[i].Widens(s):
		case len(e.Some) < maxExhausted:
			e.Some = append(e.Some, &s.Descriptors[i])
		default:
			e.More++
		}
	}
	if e.Some == nil {
		return nil
	}
	return &e
}

// Warned is a warning for a list of searches; empty: there is none.
func (s *search) Warned() string {
	if s.Exhausted() != nil {
		return "few unused addresses are left"
	}
	return ""
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
	Search         search
	Problem        string
	Axis           string       // of the plots: height or time
	Book           *book        // nil: the entries are not for the viewer, or not known
	Ranges, Unused []shownRange // descriptors with a range, by whether one of its indices is used
	MoreRanges     int          // that are not shown
	Rows           []*entry
	Pager          *pager
	Unconfirmed    []*entry
	EntriesProblem string
}

// PageTitle implements titled.
func (p *searchPage) PageTitle() string { return cmp.Or(p.Search.Name, "Search") }

// Pending is what the unconfirmed entries do to the balance.
func (p *searchPage) Pending() (sum amount) {
	for i := range p.Unconfirmed {
		sum += p.Unconfirmed[i].Signed()
	}
	return sum
}

// Seconds is after how long the page asks again without events.
func (p *searchPage) Seconds() int {
	if p.Search.Looks() || p.Book != nil && !p.Book.Whole {
		return 2
	}
	return 15
}

// A pager tells which entries a page shows, and where the others are.
type pager struct {
	From, To, All int64
	Newer, Older  string // addresses; empty: there are none
}

// pageRows is how many entries a page shows.
const pageRows = 50

// searchModel reads the page of a search.
func (v *view) searchModel(ctx context.Context, viewer viewer, query url.Values) (any, error) {
	p := &searchPage{Axis: "height"}
	if query.Get("axis") == "time" {
		p.Axis = "time"
	}
	if err := read(ctx, viewer, nil, &p.Search, "getsearch", query.Get(about)); err != nil {
		p.Problem = err.Error()
		return p, nil //nolint:nilerr // the page says it
	}
	if viewer.Has("getsearchentries") {
		l := v.ledgerOf(&p.Search)
		if err := p.look(ctx, viewer, l, query); err != nil {
			p.EntriesProblem = err.Error()
		}
	}
	p.ranges()
	return p, nil
}

// look has the entries added up, and reads those of the page.
func (p *searchPage) look(ctx context.Context, v viewer, l *ledger, query url.Values) error {
	unconfirmed, err := l.advance(ctx, v, p.Search.ID)
	if err != nil {
		return err
	}
	slices.Reverse(unconfirmed)
	p.Unconfirmed = pointers(unconfirmed[:min(len(unconfirmed), maxRows)])
	for i := range p.Unconfirmed {
		p.Unconfirmed[i].Key = "waiting-" + strconv.Itoa(i)
	}
	p.Book = l.book()
	p.Book.end = p.Search.Height
	all := p.Book.Read
	to, err := strconv.ParseInt(query.Get("to"), 10, 64)
	if err != nil || to > all || to < 1 {
		to = all
	}
	from := max(to-pageRows, 0)
	rows, known := l.last(from, to)
	if !known {
		if rows, err = entriesFrom(ctx, v, l, p.Search.ID, from, to); err != nil {
			return err
		}
	}
	for i := range rows {
		rows[i].Key = strconv.FormatInt(from+int64(i), 10)
	}
	slices.Reverse(rows)
	p.Rows = pointers(rows)
	p.Pager = &pager{From: all - to + 1, To: all - from, All: all}
	if to < all {
		p.Pager.Newer = p.at(query, min(to+pageRows, all), all)
	}
	if from > 0 {
		p.Pager.Older = p.at(query, from, all)
	}
	return nil
}

// pointers returns where elements are.
func pointers[T any](all []T) []*T {
	at := make([]*T, len(all))
	for i := range all {
		at[i] = &all[i]
	}
	return at
}

// at is the address of the page whose last entry is at a place, from the page itself.
func (p *searchPage) at(query url.Values, to, all int64) string {
	next := url.Values{}
	if query.Get("axis") != "" {
		next.Set("axis", p.Axis)
	}
	if to < all {
		next.Set("to", strconv.FormatInt(to, 10))
	}
	return "?" + next.Encode()
}

// entriesFrom reads some entries by their places.
func entriesFrom(ctx context.Context, v viewer, l *ledger, id string, from, to int64) ([]entry, error) {
	m := l.before(from)
	p, err := readEntries(ctx, v, id, m.cursor, int(min(to-m.at, maxEntries)))
	if err != nil {
		return nil, err
	}
	entries, err := parseEntries(p.Entries)
	if err != nil {
		return nil, err
	}
	entries = entries[:min(int(to-m.at), len(entries))]
	return entries[min(int(from-m.at), len(entries)):], nil
}

// A shownRange is a descriptor with a range, and which of its indices are used.
type shownRange struct {
	Desc        string
	First, Last int64
	Strip       *chart.Strip
	Words       string
}

// maxShownRanges is how many descriptors a page shows of each kind.
const maxShownRanges = 8

// ranges makes what is shown of the descriptors.
func (p *searchPage) ranges() {
	for i := range p.Search.Descriptors {
		d := &p.Search.Descriptors[i]
		list := &p.Ranges
		if d.HighestUsed == nil {
			list = &p.Unused
		}
		if len(*list) == maxShownRanges {
			p.MoreRanges++
			continue
		}
		*list = append(*list, p.rangeOf(d))
	}
}

func (p *searchPage) rangeOf(d *searchDescriptor) shownRange {
	r := shownRange{Desc: d.Desc, First: d.Range[0], Last: d.Range[1]}
	count := d.Range[1] - d.Range[0] + 1
	words := "none is used"
	if d.HighestUsed != nil {
		words = "the highest used one is " + number(*d.HighestUsed) + "; " + number(d.Range[1]-*d.HighestUsed) + " left"
	}
	if p.Book != nil {
		used := p.Book.used[d.Desc]
		if len(used) > 0 {
			words = number(int64(len(used))) + " of " + number(count) + " used, " + words
		}
		strip := chart.NewStrip(int(count), func(from, to int) bool {
			at, found := slices.BinarySearch(used, d.Range[0]+int64(from))
			return found || at < len(used) && used[at] < d.Range[0]+int64(to)
		}, int(d.Highest()-d.Range[0]), d.Exhausted)
		r.Strip = &strip
	}
	if d.Gap > 0 {
		words += "; the range widens until " + number(d.Gap) + " unused ones follow"
	}
	r.Words = words
	return r
}

type script struct{ Address, Hex, Desc, Type string }

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
	Key         string `json:"-"` // in the page
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

// Address returns the address of the output; empty where it has none.
func (e *entry) Address() string {
	s := e.Output
	if e.Type == "spend" {
		s = e.Prevout
	}
	if s == nil {
		return ""
	}
	return s.Address
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

const (
	entriesLimit = 5000   // entries that an export reads at a time
	maxEntries   = 10_000 // that the node returns at most
)

func readEntries(ctx context.Context, v viewer, id, cursor string, limit int) (*pageOfEntries, error) {
	p := &pageOfEntries{}
	return p, read(ctx, v, nil, p, "getsearchentries", id, cursor, limit)
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
