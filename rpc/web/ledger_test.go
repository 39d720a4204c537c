package web

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// searchOf reads the page of a search, whose own state is known.
func searchOf(t *testing.T, node fakeNode, query string) *searchPage {
	t.Helper()
	if node["getsearch"] == "" {
		node["getsearch"] = `{"id":"id","name":"x","state":"following"}`
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	data, err := newView(slog.New(slog.DiscardHandler)).searchModel(t.Context(), node, values)
	if err != nil {
		t.Fatal(err)
	}
	return data.(*searchPage)
}

// A ledger has the sums of the blocks that are still in the chain, however blocks come, go and are read.
func TestLedgerIsTheSum(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 40 {
		l := newLedger()
		blocks := map[string][]entry{}
		var log []entry
		height := int64(0)
		for range 300 {
			if random.IntN(6) == 0 && len(blocks) > 0 {
				hash := fmt.Sprint("b", height)
				if blocks[hash] != nil {
					log = append(log, entry{Type: "disconnect", BlockHash: hash, Height: height})
					delete(blocks, hash)
				}
				height--
				continue
			}
			height += 1 + int64(random.IntN(3))
			hash := fmt.Sprint("b", height)
			if blocks[hash] != nil {
				continue
			}
			for range 1 + random.IntN(3) {
				sum := amount(random.IntN(1000))
				e := entry{Type: "receive", Amount: sum, BlockHash: hash, Height: height, Time: height}
				if random.IntN(3) == 0 {
					e.Type = "spend"
				}
				blocks[hash] = append(blocks[hash], e)
				log = append(log, e)
			}
		}
		for at := 0; at < len(log); {
			n := min(1+random.IntN(40), len(log)-at)
			l.take(log[at:at+n], strconv.Itoa(at+n), at+n < len(log))
			at += n
		}
		want := book{Whole: true, Read: int64(len(log))}
		for _, all := range blocks {
			for _, e := range all {
				if e.Type == "spend" {
					want.Spent += e.Amount
					want.Spends++
				} else {
					want.Received += e.Amount
					want.Receives++
				}
			}
		}
		got := l.book()
		if got.Received != want.Received || got.Spent != want.Spent || got.Receives != want.Receives ||
			got.Spends != want.Spends || got.Coins != want.Receives-want.Spends || !got.Whole ||
			got.Read != want.Read || len(got.Points) != len(blocks) {
			t.Fatalf("round %d: %+v, want %+v", round, got, want)
		}
		for _, columns := range [][]column{got.columns(7, false), got.columns(1000, true), got.Table()} {
			var received, spent amount
			balances := []amount{}
			for _, c := range columns {
				received, spent = received+c.Received, spent+c.Spent
				balances = append(balances, c.Balance)
			}
			if received != want.Received || spent != want.Spent || !slices.Contains(balances, got.Balance()) {
				t.Fatalf("round %d: the columns have %v and %v", round, received, spent)
			}
		}
	}
}

// The memory of a ledger is bounded; its sums stay whole.
func TestLedgerFolds(t *testing.T) {
	l := newLedger()
	const many = 5*maxSpans + 7
	var all []entry
	index := int64(0)
	for h := range int64(many) {
		index = h
		all = append(all, entry{
			Type: "receive", Amount: 3, BlockHash: strconv.FormatInt(h, 10), Height: h, Time: h, Desc: "d",
			Index: &index,
		})
	}
	for part := range slices.Chunk(all, 2000) {
		l.take(part, "c", true)
		if len(l.blocks) > maxSpans+2000 || len(l.older) > maxSpans || len(l.tail) != pageRows {
			t.Fatalf("%d blocks, %d spans, %d entries", len(l.blocks), len(l.older), len(l.tail))
		}
	}
	b := l.book()
	blocks, first, last := int64(0), b.Points[0].First, b.Points[len(b.Points)-1].Last
	for _, s := range b.Points {
		blocks += s.Blocks
	}
	if b.Received != 3*many || blocks != many || first != 0 || last != many-1 || b.Whole {
		t.Errorf("%v received in %d blocks from %d to %d", b.Received, blocks, first, last)
	}
	if len(l.marks) < many/2000-1 || l.before(0).at != 0 || l.before(4001).at != 4000 || l.before(many).at > many {
		t.Errorf("%d marks, %v", len(l.marks), l.before(4001))
	}
}

// The pages of a search's entries go from the newest to the oldest and back. Each entry is on one page.
func TestPagesOfEntries(t *testing.T) {
	const many = 2*pageRows + 7
	var texts []string
	for i := range many {
		const form = `{"type":"receive","amount":0.00000001,"height":%d,"blockhash":"b%d","txid":"t%d"}`
		texts = append(texts, fmt.Sprintf(form, i, i, i))
	}
	all := "[" + strings.Join(texts, ",") + "]"
	node := fakeNode{
		"getsearchentries": `{"entries":` + all + `,"cursor":"end","more":false}`,
	}
	seen := map[string]bool{}
	query := ""
	for n := range 3 {
		p := searchOf(t, node, query)
		if p.EntriesProblem != "" || p.Book.Received != many || p.Pager.All != many {
			t.Fatalf("%s: %+v", query, p)
		}
		for i, e := range p.Rows {
			if seen[e.TxID] || i > 0 && e.Height != p.Rows[i-1].Height-1 {
				t.Errorf("%s: %s again, or out of order", query, e.TxID)
			}
			seen[e.TxID] = true
		}
		if (p.Pager.Newer == "") != (n == 0) || (p.Pager.Older == "") != (n == 2) {
			t.Errorf("%s: %+v", query, p.Pager)
		}
		query = strings.TrimPrefix(p.Pager.Older, "?")
	}
	if len(seen) != many {
		t.Errorf("%d entries of %d", len(seen), many)
	}
	if p := searchOf(t, node, "to=57&axis=time"); p.Pager.Newer != "?axis=time" || p.Pager.Older != "?axis=time&to=7" {
		t.Errorf("%+v", p.Pager)
	}
	for _, query := range []string{"to=0", "to=-1", "to=x", "to=9999999999999999999", "to=100000"} {
		if p := searchOf(t, node, query); p.Pager.From != 1 || len(p.Rows) != pageRows {
			t.Errorf("%s: %+v", query, p.Pager)
		}
	}
}

// The words and the strip of a range tell which indices are used.
func TestRanges(t *testing.T) {
	highest := int64(4)
	index := int64(3)
	l := newLedger()
	l.take([]entry{{Type: "receive", BlockHash: "b", Desc: "d", Index: &index}}, "", false)
	p := &searchPage{Book: l.book(), Search: search{Descriptors: []searchDescriptor{
		{Desc: "d", Range: [2]int64{0, 9}, HighestUsed: &highest, Exhausted: true},
		{Desc: "e", Range: [2]int64{2, 5}, Gap: 7},
	}}}
	p.ranges()
	first, second := p.Ranges[0], p.Unused[0]
	if first.Words != "1 of 10 used, the highest used one is 4; 5 left" || strings.Count(first.Strip.Used, "M") != 1 ||
		strings.Count(first.Strip.Edge, "M") != 5 {
		t.Errorf("%+v, %+v", first, first.Strip)
	}
	if second.Words != "none is used; the range widens until 7 unused ones follow" ||
		second.Strip.Used+second.Strip.Edge != "" {
		t.Errorf("%+v, %+v", second, second.Strip)
	}
	for range maxShownRanges {
		p.Search.Descriptors = append(p.Search.Descriptors, searchDescriptor{})
	}
	p.Ranges, p.Unused = nil, nil
	if p.ranges(); len(p.Ranges) != 1 || len(p.Unused) != maxShownRanges || p.MoreRanges != 1 {
		t.Errorf("%d, %d unused and %d more", len(p.Ranges), len(p.Unused), p.MoreRanges)
	}
}

// Each point of a plot tells the true amounts of its block.
func TestTipsTellTheTruth(t *testing.T) {
	l := newLedger()
	l.take(entriesOf(t, receivedHit, spent), "", false)
	l.take([]entry{{Type: "receive", Amount: 5, BlockHash: "c", Height: 12, Time: 1600000900}}, "", false)
	for axis, low := range map[string]float64{"height": 7, "time": 1600000000} {
		p := balancePlot(l.book(), axis, "BTC")
		var got tips
		if err := json.Unmarshal([]byte(p.Tips), &got); err != nil {
			t.Fatal(err)
		}
		want := [][6]int64{
			{7, 7, 1600000000, 150000000, 25000000, 125000000}, {12, 12, 1600000900, 5, 0, 125000005},
		}
		if !slices.Equal(got.Points, want) || got.Low != low || got.Unit != "BTC" || got.Axis != axis {
			t.Errorf("%s: %+v", axis, got)
		}
		if !strings.Contains(p.Label, "1.25000005") || len(p.Y) < 3 {
			t.Errorf("%q, %q", p.Label, p.Y)
		}
	}
}

// The first searches of a list have their balances, which are those of their entries.
func TestSumsInLists(t *testing.T) {
	var listed []string
	for i := range summed + 2 {
		listed = append(listed, fmt.Sprintf(`{"id":"s%d","name":"n","state":"following","entries":%v,"height":20}`, i, i != 1))
	}
	node := fakeNode{
		"listsearches":                   "[" + strings.Join(listed, ",") + "]",
		`getsearchentries["s0","",2000]`: `{"entries":[` + receivedHit + `,` + spent + `]}`,
		"getsearchentries":               `{"entries":[],"more":false}`, `getsearchentries["s2","",2000]`: "error:gone",
	}
	for name, list := range map[string]func() []search{
		"searches": func() []search {
			data, err := newView(slog.New(slog.DiscardHandler)).searchesModel(t.Context(), node, nil)
			if err != nil {
				t.Fatal(err)
			}
			return *data.(*searchList).Searches
		},
		"overview": func() []search {
			data, err := newView(slog.New(slog.DiscardHandler)).homeModel(t.Context(), node, nil)
			if err != nil {
				t.Fatal(err)
			}
			return *data.(*home).Searches
		},
	} {
		got := list()
		first := got[0].Sum
		if first == nil || first.Balance != 125_000_000 || !first.Whole || !strings.HasPrefix(first.Line, "M0.0 ") {
			t.Errorf("%s: %+v", name, first)
		}
		if got[1].Sum != nil || got[2].Sum != nil || got[3].Sum == nil || got[summed].Sum != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
	html := node.page(t, "searches", "")
	if !strings.Contains(html, `data-sat="125000000"`) || !strings.Contains(html, `class="spark"`) {
		t.Error(html)
	}
}
