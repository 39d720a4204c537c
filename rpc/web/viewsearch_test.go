package web

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"testing"
)

const (
	receivedHit = `{"type":"receive","amount":1.50000000,"blockhash":"aa","height":7,"txid":"t1","vout":2,` +
		`"output_spk":{"address":"bc1q","hex":"0014"},"time":1600000000,"desc":"addr(bc1q)#x"}`
	spent = `{"type":"spend","amount":0.25,"blockhash":"aa","height":7,"spend_txid":"t2","spend_vin":1,` +
		`"prevout_txid":"t0","prevout_vout":0,"prevout_spk":{"hex":"6a"},"time":1600000000,"desc":"raw(6a)#y","index":4}`
	gone     = `{"type":"disconnect","height":7,"blockhash":"aa"}`
	blockHit = `{"type":"block","height":9,"blockhash":"bb","time":1600000600}`
)

func entriesOf(t *testing.T, texts ...string) []entry {
	t.Helper()
	raw := make([]json.RawMessage, len(texts))
	for i, text := range texts {
		raw[i] = json.RawMessage(text)
	}
	all, err := parseEntries(raw)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestPoints(t *testing.T) {
	got := points(entriesOf(t, receivedHit, spent, gone, receivedHit, blockHit))
	want := []point{
		{Block: "aa", Height: 7, Time: 1600000000, Hits: 2, Received: 150000000, Spent: 25000000},
		{Block: "aa", Height: 7, Gone: true},
		{Block: "aa", Height: 7, Time: 1600000000, Hits: 1, Received: 150000000},
		{Block: "bb", Height: 9, Time: 1600000600, Hits: 1},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v", got)
	}
}

// TestNewEntries: the newest come first, and only so many.
func TestNewEntries(t *testing.T) {
	texts := make([]string, maxRows+5)
	for i := range texts {
		texts[i] = fmt.Sprintf(`{"type":"block","height":%d,"blockhash":"b%d"}`, i, i)
	}
	node := fakeNode{
		"getsearchentries": "error:another cursor",
		`getsearchentries["id","c",5000]`: `{"entries":[` + strings.Join(texts, ",") + `],"cursor":"d","more":true,` +
			`"state":"running","unconfirmed":[` + receivedHit + `,` + spent + `]}`,
	}
	data, err := entriesModel(t.Context(), node, url.Values{"id": {"id"}, "cursor": {"c"}})
	if err != nil {
		t.Fatal(err)
	}
	got := data.(*newEntries)
	if len(got.Rows) != maxRows || got.Rows[0].Height != maxRows+4 || len(got.Points) != maxRows+5 ||
		got.Count != maxRows+5 ||
		got.Cursor != "d" || !got.More || len(got.Unconfirmed) != 2 || got.Unconfirmed[0].Type != "spend" {
		t.Errorf("got %d rows, %d points, %+v", len(got.Rows), len(got.Points), got.Unconfirmed)
	}
}

// TestExhausted warns of ranges that are used up, some by name.
func TestExhausted(t *testing.T) {
	descriptor := func(n int, exhausted bool) string {
		const form = `{"desc":"wpkh(<%d>)","range":[0,%d],"highest_used":%d,"exhausted":%v}`
		return fmt.Sprintf(form, n, n+9, n, exhausted)
	}
	page := func(descriptors ...string) string {
		list := strings.Join(descriptors, ",")
		node := fakeNode{"getsearch": `{"id":"00","state":"done","descriptors":[` + list + `]}`}
		got := node.page(t, "search", "id=00")
		if table := strings.Count(got, "<td><code title="); table != len(descriptors) {
			t.Errorf("%d descriptors in the table, want %d", table, len(descriptors))
		}
		warnings, _, _ := strings.Cut(got, "<dl ")
		return warnings
	}
	if got := page(descriptor(1, false), `{"desc":"d","range":[0,9]}`); strings.Contains(got, "used up") {
		t.Errorf("warned without a reason:\n%s", got)
	}
	got := page(descriptor(1, false), descriptor(7, true))
	for _, want := range []string{"0 to 16", "<code>wpkh(&lt;7&gt;)</code>", "index 7 is used"} {
		if !strings.Contains(got, want) {
			t.Errorf("without %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "wpkh(&lt;1&gt;)") || strings.Contains(got, "more range") {
		t.Errorf("warned of others:\n%s", got)
	}
	var many []string
	for n := range maxExhausted + 2 {
		many = append(many, descriptor(n, true))
	}
	if got := page(many...); !strings.Contains(got, "Used up, too: 2 more ranges.") {
		t.Errorf("not told of the rest:\n%s", got)
	}
}

// exports returns what an export of a search with two pages writes.
func exports(t *testing.T, node fakeNode, format string) (string, bool, error) {
	t.Helper()
	var b bytes.Buffer
	begun := false
	err := export(t.Context(), node, "id", format, &b, func() { begun = true })
	return b.String(), begun, err
}

func twoPages() fakeNode {
	return fakeNode{
		`getsearchentries["id","",5000]`:  `{"entries":[` + receivedHit + `,` + spent + `],"cursor":"c","more":true}`,
		`getsearchentries["id","c",5000]`: `{"entries":[` + gone + `],"cursor":"d","more":false}`,
		"getsearchentries":                "error:gone",
	}
}

func TestExport(t *testing.T) {
	text, begun, err := exports(t, twoPages(), "json")
	if err != nil || !begun {
		t.Fatal(begun, err)
	}
	var list []json.RawMessage
	if err := json.Unmarshal([]byte(text), &list); err != nil || len(list) != 3 || string(list[1]) != spent {
		t.Errorf("%v: %s", err, text)
	}
	text, _, err = exports(t, twoPages(), "csv")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	want := [][]string{
		columns,
		{"receive", "7", "aa", "1600000000", "1.50000000", "t1", "2", "", "", "bc1q", "0014", "addr(bc1q)#x", ""},
		{"spend", "7", "aa", "1600000000", "0.25000000", "t0", "0", "t2", "1", "", "6a", "raw(6a)#y", "4"},
		{"disconnect", "7", "aa", "", "", "", "", "", "", "", "", "", ""},
	}
	if err != nil || !slices.EqualFunc(rows, want, slices.Equal) {
		t.Errorf("%v:\n%q", err, rows)
	}
	empty := fakeNode{"getsearchentries": `{"entries":[],"cursor":"","more":false}`}
	if text, _, err := exports(t, empty, "json"); err != nil || strings.Join(strings.Fields(text), "") != "[]" {
		t.Errorf("nothing is %q, %v", text, err)
	}
}

// The history is what exportsearch answers; its error is told before anything is written.
func TestExportHistory(t *testing.T) {
	node := fakeNode{"exportsearch": `"time,category\n1,receive"`}
	text, begun, err := exports(t, node, historyFormat)
	if err != nil || !begun || text != "time,category\n1,receive\n" {
		t.Errorf("%q, %t, %v", text, begun, err)
	}
	node = fakeNode{"exportsearch": "error:not yet"}
	if text, begun, err := exports(t, node, historyFormat); err == nil || begun || text != "" {
		t.Errorf("%q, %t, %v", text, begun, err)
	}
}

// A range that is being widened is not used up.
func TestWideningRanges(t *testing.T) {
	used := int64(7)
	for _, c := range []struct {
		state   string
		d       searchDescriptor
		warned  bool
		widened bool
	}{
		{"running", searchDescriptor{Gap: 20, Exhausted: true, HighestUsed: &used}, false, true},
		{"following", searchDescriptor{Gap: 20, Exhausted: true}, false, true},
		{"paused", searchDescriptor{Gap: 20, Exhausted: true}, true, false},
		{"done", searchDescriptor{Gap: 20, Exhausted: true}, true, false},
		{"running", searchDescriptor{Exhausted: true}, true, false},
		{"done", searchDescriptor{Gap: 20}, false, false},
	} {
		s := &search{State: c.state, Descriptors: []searchDescriptor{c.d}}
		if (s.Exhausted() != nil) != c.warned || c.d.Widens(s) != c.widened {
			t.Errorf("%s: %+v", c.state, c.d)
		}
	}
	many := &search{Descriptors: make([]searchDescriptor, maxShown+3)}
	if len(many.Shown()) != maxShown || many.NotShown() != 3 || (&search{}).NotShown() != 0 {
		t.Error("others are shown")
	}
}

// TestExportIsWhole: an export that lacks entries is an error, and one of a search that is not
// there has not begun.
func TestExportIsWhole(t *testing.T) {
	for _, format := range []string{"csv", "json"} {
		cut := twoPages()
		delete(cut, `getsearchentries["id","c",5000]`)
		if _, begun, err := exports(t, cut, format); !errors.Is(err, errUnfinished) || !begun {
			t.Errorf("half of a search is exported as %s: %v", format, err)
		}
		none := fakeNode{"getsearchentries": "error:no such search"}
		if text, begun, err := exports(t, none, format); err == nil || begun || text != "" {
			t.Errorf("no search is exported as %q, %v", text, err)
		}
		if err := export(t.Context(), twoPages(), "id", format, &brokenPipe{}, func() {}); err == nil {
			t.Errorf("what cannot be written is no error of %s", format)
		}
	}
}

type brokenPipe struct{}

func (*brokenPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
