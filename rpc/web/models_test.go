package web

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The overview asks again sooner while anything runs, and while the node does not know the chain.
func TestBusyOverview(t *testing.T) {
	chain := &chainInfo{Blocks: 9, Headers: 9}
	searches := func(state string) *[]search { return &[]search{{ID: "a", State: "done"}, {ID: "b", State: state}} }
	wallets := []wallet{{Name: "a", Info: &walletInfo{}}, {Name: "b", Info: &walletInfo{Scanning: scanning{is: true}}}}
	for name, test := range map[string]struct {
		h       home
		busy    bool
		seconds int
	}{
		"nothing":         {home{Chain: chain, Searches: searches("done"), Wallets: wallets[:1]}, false, 10},
		"no chain":        {home{}, false, 2},
		"a download":      {home{Chain: &chainInfo{InitialBlockDownload: true}}, false, 2},
		"a scan":          {home{Chain: chain, Scan: &scanStatus{}}, true, 2},
		"a scan of coins": {home{Chain: chain, CoinScan: &scanStatus{}}, true, 2},
		"a search":        {home{Chain: chain, Searches: searches("running")}, true, 2},
		"one that waits":  {home{Chain: chain, Searches: searches("queued")}, true, 2},
		"a rescan":        {home{Chain: chain, Wallets: wallets}, true, 2},
	} {
		if got := test.h.Busy(); got != test.busy || test.h.Seconds() != test.seconds {
			t.Errorf("%s: busy %v, %d s", name, got, test.h.Seconds())
		}
	}
	h := home{Searches: searches("queued"), Wallets: wallets}
	if r := h.Running(); len(r) != 1 || r[0].ID != "b" {
		t.Errorf("running: %+v", r)
	}
	if r := h.Rescans(); len(r) != 1 || r[0].Name != "b" {
		t.Errorf("rescans: %+v", r)
	}
	for _, test := range []struct {
		chain  chainInfo
		synced bool
	}{
		{chainInfo{Blocks: 9, Headers: 9}, true}, {chainInfo{Blocks: 8, Headers: 9}, false},
		{chainInfo{Blocks: 9, Headers: 8}, true}, {chainInfo{Blocks: 9, Headers: 9, InitialBlockDownload: true}, false},
	} {
		if test.chain.Synced() != test.synced {
			t.Errorf("%+v", test.chain)
		}
	}
}

// Indexes have a share of the chain only where the chain is known, and names in the page's words.
func TestIndexes(t *testing.T) {
	node := fakeNode{"getindexinfo": `{"txindex":{"synced":false,"best_block_height":4},"x":{"best_block_height":9},` +
		`"basic block filter index":{"best_block_height":19},"coinstatsindex":{"best_block_height":0}}`}
	shares := func() (all []string) {
		data, err := new(view).homeModel(t.Context(), node, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range data.(*home).Indexes {
			all = append(all, fmt.Sprintf("%s %.2f", i.Name, i.Share))
		}
		return all
	}
	const form = "Block filter index %s, Index of sums %s, Transaction index %s, x %s"
	want := fmt.Sprintf(form, "0.00", "0.00", "0.00", "0.00")
	if got := strings.Join(shares(), ", "); got != want {
		t.Error(got)
	}
	node["getblockchaininfo"] = `{"blocks":9,"headers":9}`
	want = fmt.Sprintf(form, "1.00", "0.10", "0.50", "1.00")
	if got := strings.Join(shares(), ", "); got != want {
		t.Error(got)
	}
}

// The form of a new search knows the chain, the index of filters among all, and whether descriptors can be checked.
func TestNewForm(t *testing.T) {
	model := func(node fakeNode) *form {
		data, err := newModel(t.Context(), node, nil)
		if err != nil {
			t.Fatal(err)
		}
		return data.(*form)
	}
	got := model(fakeNode{
		"getblockchaininfo": `{"blocks":9}`, "getdescriptorinfo": "{}",
		"getindexinfo": `{"a":{"best_block_height":1},"basic block filter index":{"best_block_height":2},"z":{}}`,
	})
	if got.Tip == nil || got.Tip.Blocks != 9 || got.Filters == nil || got.Filters.Height != 2 || !got.Checks {
		t.Errorf("%+v", got)
	}
	if got := model(fakeNode{"getindexinfo": `{"a":{}}`}); got.Tip != nil || got.Filters != nil || got.Checks {
		t.Errorf("%+v", got)
	}
}

// A search tells of itself.
func TestSearchStates(t *testing.T) {
	for state, want := range map[string][2]bool{ // whether it looks, and has ended
		"running": {true, false}, "queued": {true, false}, "following": {false, false}, "done": {false, true},
		"aborted": {false, true}, "failed": {false, true},
	} {
		p := searchPage{Search: search{State: state}}
		if s := p.Search; s.Looks() != want[0] || s.Ended() != want[1] || (p.Seconds() == 2) != want[0] {
			t.Errorf("%s: looks %v, ended %v, %d s", state, s.Looks(), s.Ended(), p.Seconds())
		}
	}
	for height, want := range map[int64]bool{4: false, 5: true, 6: true} {
		if s := (search{StartHeight: 5, Height: height}); s.Begun() != want {
			t.Errorf("at %d: %v", height, s.Begun())
		}
	}
	var exhausted []searchDescriptor
	for n := range maxExhausted + 1 {
		exhausted = append(exhausted, searchDescriptor{Desc: strconv.Itoa(n), Exhausted: true}, searchDescriptor{})
		e := (&search{Descriptors: exhausted}).Exhausted()
		if e == nil || len(e.Some) != min(n+1, maxExhausted) || e.More != int64(max(0, n+1-maxExhausted)) {
			t.Errorf("%d: %+v", n+1, e)
		}
	}
}

// An entry that spends is of the output that it spends, and takes from the balance.
func TestEntries(t *testing.T) {
	for _, test := range []struct {
		entry  entry
		signed amount
		whose  string
		tx     string
	}{
		{entry{Type: "receive", Amount: 5, TxID: "t", Output: &script{Address: "a", Hex: "h"}}, 5, "a", "t"},
		{entry{Type: "receive", Amount: 5, TxID: "t", Output: &script{Hex: "h"}}, 5, "h", "t"},
		{entry{Type: "spend", Amount: 5, SpendTxID: "s", TxID: "t", Prevout: &script{Address: "p"}}, -5, "p", "s"},
		{entry{Type: "spend", Amount: 5, SpendTxID: "s", Output: &script{Address: "a"}}, -5, "", "s"},
		{entry{Type: "block"}, 0, "", ""},
	} {
		e := test.entry
		if e.Signed() != test.signed || e.Whose() != test.whose || e.Tx() != test.tx {
			t.Errorf("%+v: %d, %s, %s", e, e.Signed(), e.Whose(), e.Tx())
		}
	}
	many := strings.Repeat(`{"type":"block"},`, maxRows+4) + `{"type":"receive","amount":2}`
	got := searchOf(t, fakeNode{"getsearchentries": `{"entries":[],"unconfirmed":[` + many + `]}`}, "")
	if len(got.Unconfirmed) != maxRows || got.Unconfirmed[0].Type != "receive" || len(got.Rows) != 0 ||
		got.Pending() != 2*coin {
		t.Errorf("%d unconfirmed, %d rows", len(got.Unconfirmed), len(got.Rows))
	}
	for _, reply := range []string{
		`{"entries":[{"height":"x"}]}`, `{"unconfirmed":[{"height":"x"}]}`, `{"entries":7}`, "error:no such search",
	} {
		if got := searchOf(t, fakeNode{"getsearchentries": reply}, ""); got.EntriesProblem == "" || len(got.Rows) != 0 {
			t.Errorf("%s: %+v", reply, got)
		}
	}
	if _, _, err := exports(t, fakeNode{"getsearchentries": `{"entries":[{"height":"x"}]}`}, "csv"); err == nil {
		t.Error("an entry that cannot be read is exported")
	}
	unconfirmed := entry{Type: "receive", Height: 7, Time: 9, TxID: "t"}
	if row := unconfirmed.columns(); row[1] != "" || row[2] != "" || row[3] != "" || row[5] != "t" {
		t.Errorf("%q", row)
	}
}

// The page of a wallet has its largest addresses, its latest transactions first, and asks the node for these.
func TestWalletPage(t *testing.T) {
	var addresses []string
	for n := range maxRows + 3 {
		addresses = append(addresses, fmt.Sprintf(`{"address":"a%d","amount":%d}`, n, n))
	}
	node := fakeNode{
		"w/getwalletinfo": `{"walletname":"w","scanning":false}`, "getwalletinfo": "error:another wallet",
		"w/getbalances": `{"mine":{"trusted":1}}`, "getbalances": "error:another wallet",
		"w/listreceivedbyaddress[0]": "[" + strings.Join(addresses, ",") + "]", "listreceivedbyaddress": "error:others",
		`w/listtransactions["*",20]`: `[{"txid":"old"},{"txid":"new"}]`, "listtransactions": "error:others",
	}
	data, err := walletModel(t.Context(), node, url.Values{about: {"w"}})
	if err != nil {
		t.Fatal(err)
	}
	p := data.(*walletPage)
	if len(p.Received) != maxRows || p.All != maxRows+3 || p.Received[0].Address != fmt.Sprintf("a%d", maxRows+2) ||
		len(p.Recent) != 2 || p.Recent[0].TxID != "new" || p.Balances == nil || len(p.Failed) != 0 || p.Problem != "" ||
		p.Seconds() != 15 {
		t.Errorf("%d addresses of %d, %+v, failed %v", len(p.Received), p.All, p.Recent, p.Failed)
	}
	node["w/getwalletinfo"] = `{"walletname":"w","scanning":{"progress":0.5}}`
	data, err = walletModel(t.Context(), node, url.Values{about: {"w"}})
	if p := data.(*walletPage); err != nil || p.Seconds() != 2 || !p.Rescans() {
		t.Errorf("a rescan: %d s, %v", p.Seconds(), err)
	}
	if (&wallet{}).Rescans() {
		t.Error("an unknown wallet looks through the chain")
	}
}

// Of many wallets all have their names, and some their state.
func TestManyWallets(t *testing.T) {
	var names []string
	for n := range maxRows + 2 {
		names = append(names, fmt.Sprintf("%q", fmt.Sprint("w", n)))
	}
	node := fakeNode{
		"listwallets": "[" + strings.Join(names, ",") + "]", "getwalletinfo": `{"scanning":false}`,
		"listwalletdir": `{"wallets":[{"name":"w0"},{"name":"other"}]}`,
	}
	loaded, unloaded := wallets(t.Context(), node)
	known := 0
	for _, w := range loaded {
		if w.Info != nil {
			known++
		}
	}
	if len(loaded) != maxRows+2 || known != maxRows || !slices.Equal(unloaded, []string{"other"}) {
		t.Errorf("%d wallets, %d known, %v", len(loaded), known, unloaded)
	}
	loaded, unloaded = wallets(t.Context(), fakeNode{"listwalletdir": node["listwalletdir"]})
	if loaded != nil || unloaded != nil {
		t.Errorf("%v, %v", loaded, unloaded)
	}
}

// A preview shows some descriptors, wherever it comes from, and names a wallet only where a name is given.
func TestPreviewOfMany(t *testing.T) {
	reply := `{"descriptors":[` + strings.Repeat(`{"desc":"d"},`, maxPreviewed) + `{"desc":"last"}]}`
	for _, p := range []*preview{
		look(t.Context(), fakeNode{`previewrestore["/b"]`: reply, "previewrestore": "error:a name"}, "/b", ""),
		look(t.Context(), fakeNode{`previewrestore["/b","w"]`: reply, "previewrestore": "error:no name"}, "/b", "w"),
		uploaded(fakeNode{}, "/b", reply),
	} {
		if len(p.Descriptors) != maxPreviewed || p.CallProblem != "" || p.File != "/b" || p.MayRestore {
			t.Errorf("%d descriptors, %s", len(p.Descriptors), p.CallProblem)
		}
	}
}

// Pairs make a map for templates; a key has to be text.
func TestPairs(t *testing.T) {
	if m, err := pairs("a", 1, "b", 2); err != nil || len(m) != 2 || m["a"] != 1 || m["b"] != 2 {
		t.Errorf("%v, %v", m, err)
	}
	if m, err := pairs("a", 1, 2, "b"); err == nil {
		t.Errorf("%v", m)
	}
	if m, err := pairs("a", 1, "b"); err != nil || len(m) != 1 {
		t.Errorf("%v, %v", m, err)
	}
}

// A result of another form than expected is an error, and nothing of the result is shown.
func TestResultOfAnotherForm(t *testing.T) {
	node := fakeNode{"getsearch": "[]"}
	data, err := new(view).searchModel(t.Context(), node, url.Values{about: {"1"}})
	if p := data.(*searchPage); err != nil || !strings.Contains(p.Problem, "result of getsearch") {
		t.Errorf("%+v, %v", p, err)
	}
	if got := get[search](t.Context(), node, nil, "getsearch"); got != nil {
		t.Errorf("%+v", got)
	}
}

// Of the choices for a line that are all refused, the problem of the first is shown.
func TestFirstProblem(t *testing.T) {
	node := fakeNode{
		`getdescriptorinfo["pkh(` + aKey + `/0/*)"]`: "error:the first", "getdescriptorinfo": "error:another",
	}
	if got := checkLines(t, node, aKey+"/0/*").Lines[0]; got.Problem != "the first" {
		t.Errorf("%+v", got)
	}
	for line, kind := range map[string]string{
		strings.Repeat("ab", 32): "Address", strings.Repeat("ab", 31): "Script", strings.Repeat("ab", 33): "Script",
		strings.Repeat("z", 13): "", strings.Repeat("z", 14): "Address",
	} {
		if got := checkLines(t, knows, line).Lines[0]; got.Kind != kind || (got.Problem == "") != (kind != "") {
			t.Errorf("%s is %+v", line, got)
		}
	}
}

// Texts at the edges of their forms.
func TestMoreTexts(t *testing.T) {
	now := time.Now().Unix()
	for _, test := range []struct{ got, want string }{
		{number(999.96), "1,000"}, {number(1000.0), "1,000"}, {number(1000.4), "1,000"}, {number(1.0), "1"},
		{number(1.26), "1.3"}, {number(-1.26), "-1.3"}, {number(-2000.7), "-2,001"}, {number(0.987654), "0.987654"},
		{number(int64(100000)), "100,000"}, {number(int64(-999)), "-999"}, {bytesText(0), "0 B"},
		{bytesText(1 << 30), "1.0 GiB"}, {duration(int64(61)), "1 min 1 s"}, {duration(int64(3600)), "1 h"},
		{duration(int64(3659)), "1 h"}, {duration(int64(3660)), "1 h 1 min"}, {duration(int64(86400)), "1 d"},
		{duration(int64(86400 + 3599)), "1 d"}, {duration(int64(1)), "1 s"}, {duration(1.0), "1 s"},
		{duration(1.1), "2 s"},
		{ago(now - 50), "just now"}, {ago(now - 60), "1 min ago"}, {ago(now + 3700), "in 1 h 1 min"},
		{ago(now + 61), "just now"}, {ago(now - 7325), "2 h 2 min ago"}, {percent(-1), "0.0 %"},
		{percent(0.0019), "0.1 %"},
		{amountIn("BTC", amount(123456789012), false).whole(), "1,234.56789012"},
		{amountIn("BTC", amount(-100000000), false).whole(), "−1.00000000"}, {fmt.Sprint(milliseconds(0.25)), "250"},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
	for text, whole := range map[string]bool{"1.123456789": false, "1.12345678": true, "1.": true, "x": false} {
		if err := new(amount).UnmarshalJSON([]byte(text)); (err == nil) != whole {
			t.Errorf("%q: %v", text, err)
		}
	}
	if text, err := asJSON(map[string]int{"a": 1}); text != `{"a":1}` || err != nil {
		t.Errorf("%s, %v", text, err)
	}
	if text, err := asJSON(func() {}); err == nil {
		t.Error(text)
	}
	var s scanning
	if err := json.Unmarshal([]byte("false"), &s); err != nil || s.is {
		t.Errorf("%+v, %v", s, err)
	}
	for progress, left := range map[float64]int64{0: 0, 0.009: 0, 0.01: 991} {
		if got := (&scanning{Duration: 10, Progress: progress}).Left(); got != left {
			t.Errorf("%v: %d s", progress, got)
		}
	}
}
