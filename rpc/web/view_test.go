package web

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// A fakeNode is a viewer whose calls are answered from a table of results in JSON. A method that is not in it
// may not be called; a result that begins with "error:" is an error.
type fakeNode map[string]string

func (n fakeNode) Has(method string) bool { _, ok := n[method]; return ok }

func (n fakeNode) Call(_ context.Context, wallet *string, method string, params ...any) (json.RawMessage, error) {
	key := method
	if wallet != nil {
		key = *wallet + "/" + method
	}
	text, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{key + string(text), key, method} {
		if reply, ok := n[name]; ok {
			if refused, is := strings.CutPrefix(reply, "error:"); is {
				return nil, errors.New(refused)
			}
			return json.RawMessage(reply), nil
		}
	}
	return nil, errors.New("unexpected call of " + key)
}

// asks makes an asker for templates that may call what the node has.
func (n fakeNode) asks() *asker {
	return &asker{User: "ana", Base: "./", Methods: slices.Sorted(maps.Keys(n))}
}

// page makes the part of a page that a template is.
func (n fakeNode) page(t *testing.T, name, query string) string {
	t.Helper()
	values, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	v := newView(slog.New(slog.DiscardHandler))
	page, ok := v.routes[name]
	if !ok {
		t.Fatalf("there is no page %q", name)
	}
	data, err := page.model(t.Context(), n, values)
	if err != nil {
		t.Fatal(err)
	}
	html, err := v.render(page.template, "BTC", shown{asker: n.asks(), Page: page.template, Base: "./", Data: data})
	if err != nil {
		t.Fatal(err)
	}
	return string(html)
}

const hostile = `<img src=x onerror=alert(1)>"'`

// TestMarkupIsText: whatever names others give, a page shows them as text.
func TestMarkupIsText(t *testing.T) {
	quoted, _ := json.Marshal(hostile)
	name := string(quoted)
	node := fakeNode{
		"getblockchaininfo": `{"chain":` + name + `,"blocks":1,"headers":1,"bestblockhash":` + name + `,"warnings":[` + name + `]}`,
		"getnetworkinfo":    `{"subversion":` + name + `,"connections":1,"networkactive":true}`,
		"getpeerinfo":       `[{"id":1,"addr":` + name + `,"subver":` + name + `,"connection_type":` + name + `}]`,
		"getattachinfo":     `{"state":` + name + `,"reason":` + name + `,"node":{"subversion":` + name + `}}`,
		"getindexinfo":      `{` + name + `:{"synced":false,"best_block_height":0}}`,
		"listsearches":      `[{"id":` + name + `,"name":` + name + `,"state":"running","error":` + name + `}]`,
		"getsearch":         `{"id":` + name + `,"name":` + name + `,"state":"failed","error":` + name + `}`,
		"getsearchentries": `{"entries":[{"type":"receive","amount":1,"blockhash":` + name + `,"txid":` + name +
			`,"output_spk":{"address":` + name + `}}],"cursor":` + name + `}`,
		"abortsearch":           `true`,
		"removesearch":          `true`,
		"listwallets":           `[` + name + `]`,
		"listwalletdir":         `{"wallets":[{"name":"x` + name[1:] + `}]}`,
		"loadwallet":            `{}`,
		"getwalletinfo":         `{"walletname":` + name + `,"scanning":{"duration":1,"progress":0.5}}`,
		"getbalances":           `{"mine":{"trusted":1.5}}`,
		"abortrescan":           `true`,
		"listreceivedbyaddress": `[{"address":` + name + `,"amount":1,"label":` + name + `,"txids":[]}]`,
		"listtransactions":      `[{"category":` + name + `,"amount":-1,"address":` + name + `,"label":` + name + `}]`,
	}
	for _, part := range []string{"index", "searches", "search/", "wallets", "wallet/", "peers"} {
		html := node.page(t, part, "about="+url.QueryEscape(hostile))
		if strings.Contains(html, "<img") || !strings.Contains(html, "&lt;img") {
			t.Errorf("%s shows a name as markup, or not at all:\n%s", part, html)
		}
	}
}

// TestScanStages: the page says how far a scan is, and what it does, from its reservation on.
func TestScanStages(t *testing.T) {
	for status, want := range map[string]string{
		`{"progress":40,"current_height":9}`:                            "scanblocks, at block 9<",
		`{"progress":41,"current_height":0,"stage":"deriving scripts"}`: "scanblocks, deriving scripts<",
		`{"progress":42,"current_height":9,"stage":"reading result"}`:   "scanblocks, reading result<",
	} {
		html := fakeNode{"scanblocks": status}.page(t, "index", "")
		if !strings.Contains(html, want) || !strings.Contains(html, status[12:14]+" %") {
			t.Errorf("%s: no %q in\n%s", status, want, html)
		}
	}
	html := fakeNode{"scantxoutset": `{"progress":7,"stage":"deriving scripts"}`}.page(t, "index", "")
	if !strings.Contains(html, "scantxoutset, deriving scripts<") {
		t.Error(html)
	}
}

// TestOnlyWhatMayBeCalled: each part of a page is there for viewers with the right to the calls that it
// shows.
func TestOnlyWhatMayBeCalled(t *testing.T) {
	all := fakeNode{
		"getblockchaininfo": `{"chain":"main","blocks":800000,"headers":800000}`,
		"getmempoolinfo":    `{"size":3}`,
		"getnetworkinfo":    `{"connections":8}`,
		"listsearches":      `[{"id":"00","name":"shop","state":"running","height":7,"progress":1}]`,
		"abortsearch":       `true`,
		"createsearch":      `{}`,
		"listwallets":       `["w"]`,
		"getwalletinfo":     `{"scanning":false}`,
		"getbalances":       `{"mine":{"trusted":1}}`,
		"previewrestore":    `{}`,
		"getpeerinfo":       `[]`,
		"scanblocks":        `{"progress":40,"current_height":9}`,
	}
	for method, shows := range map[string]string{
		"getblockchaininfo": "800,000", "getmempoolinfo": "Memory pool", "getnetworkinfo": "Version</div>",
		"listsearches": ">shop<", "abortsearch": "data-call=\"abortsearch\"", "createsearch": "ui/new",
		"listwallets": "Wallets</a>", "getbalances": `data-sat="100000000"`, "previewrestore": "ui/restore",
		"getpeerinfo": "connected to no peer", "scanblocks": "Scan of block filters",
	} {
		if html := all.page(t, "index", ""); !strings.Contains(html, shows) {
			t.Errorf("with %s there is no %q:\n%s", method, shows, html)
		}
		without := maps.Clone(all)
		delete(without, method)
		if html := without.page(t, "index", ""); strings.Contains(html, shows) {
			t.Errorf("without %s there is %q", method, shows)
		}
	}
	if html := (fakeNode{}).page(t, "index", ""); !strings.Contains(html, "Nothing to see for this login") {
		t.Errorf("without rights the page does not say so:\n%s", html)
	}
}

// TestFirstVisit: where there is nothing yet the page says what there could be.
func TestFirstVisit(t *testing.T) {
	node := fakeNode{
		"listsearches": `[]`, "createsearch": `{}`, "listwallets": `[]`, "listwalletdir": `{"wallets":[]}`,
		"previewrestore": `{}`, "getpeerinfo": `[]`,
	}
	html := node.page(t, "index", "")
	for _, words := range []string{"There is no search yet", "start your first search", "No wallet is loaded"} {
		if !strings.Contains(html, words) {
			t.Errorf("no %q in\n%s", words, html)
		}
	}
	delete(node, "listsearches")
	node["listsearches"] = `error:Index is not enabled`
	if html := node.page(t, "index", ""); !strings.Contains(html, "-blockfilterindex") {
		t.Errorf("a node without index does not say so:\n%s", html)
	}
}
