package web

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// TestExhausted warns of ranges that are used up, some by name.
func TestExhausted(t *testing.T) {
	descriptor := func(n int, exhausted bool) string {
		const form = `{"desc":"wpkh(<%d>)","range":[0,%d],"highest_used":%d,"exhausted":%v}`
		return fmt.Sprintf(form, n, n+9, n, exhausted)
	}
	page := func(descriptors ...string) string {
		list := strings.Join(descriptors, ",")
		node := fakeNode{"getsearch": `{"id":"00","state":"done","descriptors":[` + list + `]}`, "extendsearch": `{}`}
		return node.page(t, "search/", "about=00")
	}
	if got := page(descriptor(1, false), `{"desc":"d","range":[0,9]}`); strings.Contains(got, "nearly used up") {
		t.Errorf("warned without a reason:\n%s", got)
	}
	got := page(descriptor(1, false), descriptor(7, true))
	for _, want := range []string{"0 to 16", "<code>wpkh(&lt;7&gt;)</code>", "index 7 is used", `data-call="extendsearch"`} {
		if !strings.Contains(got, want) {
			t.Errorf("without %q:\n%s", want, got)
		}
	}
	const other = "wpkh(&lt;1&gt;)"
	alone := page(descriptor(1, false))
	if strings.Count(got, other) != strings.Count(alone, other) || strings.Contains(got, "more range") {
		t.Errorf("warned of others:\n%s", got)
	}
	var many []string
	for n := range maxExhausted + 2 {
		many = append(many, descriptor(n, true))
	}
	if got := page(many...); !strings.Contains(got, "Nearly used up, too: 2 more ranges.") {
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
