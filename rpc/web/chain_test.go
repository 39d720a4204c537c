package web

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"testing"
)

const (
	aBlock  = "000000000000000000026b65a73dc8fbeab297b5020d107c379971df0ad5815f"
	script1 = `{"address":"bc1qx","hex":"0014aa","type":"witness_v0_keyhash"}`
)

// blockOf writes a block with many transactions, as getblock does with verbosity 2.
func blockOf(many int, coinbase string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"hash":%q,"height":7,"time":1600000000,"weight":%d,"size":900,"merkleroot":"m","previousblockhash":"p",`+
		`"tx":[{"txid":"c","weight":400,"vsize":100,"vin":[{"coinbase":%q}],"vout":[{"value":3.125}]}`, aBlock, many*400, coinbase)
	for i := 1; i < many; i++ {
		fmt.Fprintf(&b, `,{"txid":"t%d","weight":400,"vsize":100,"fee":0.%08d,"vin":[{}],"vout":[{"value":0.5},{"value":0.25}]}`, i, i)
	}
	return b.String() + `]}`
}

// A block with very many transactions comes in pages, by fee rate or in the order of the block; it is read once.
func TestLargeBlock(t *testing.T) {
	const many = 8000
	node := fakeNode{
		`getblock["` + aBlock + `",2]`: blockOf(many, "03abcdef2f46696e64206d65203c623e2f"), "getblock": "error:Block not found",
		"getblockheader": `{"confirmations":5,"nextblockhash":"n"}`, "getblockhash[7]": `"` + aBlock + `"`,
		"getblockhash": "error:Block height out of range",
	}
	v := newView(slog.New(slog.DiscardHandler))
	page := func(query string) *blockPage {
		t.Helper()
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		data, err := v.blockModel(t.Context(), node, values)
		if err != nil {
			t.Fatal(err)
		}
		return data.(*blockPage)
	}
	seen := map[string]bool{}
	query := "about=7"
	pages := 0
	for ; query != "about=7&"; pages++ {
		p := page(query)
		for _, r := range p.Rows {
			if seen[r.TxID] {
				t.Fatalf("%s twice", r.TxID)
			}
			seen[r.TxID] = true
		}
		query = "about=7&" + strings.TrimPrefix(p.Older, "?")
		delete(node, `getblock["`+aBlock+`",2]`) // it is kept
	}
	if len(seen) != many || pages != many/blockRows {
		t.Errorf("%d transactions on %d pages", len(seen), pages)
	}
	p := page("about=" + strings.ToUpper(aBlock))
	b := p.Block
	if p.Rows[0].TxID != "c" || p.Rows[1].TxID != "t7999" || p.Confirmations != 5 || p.Next != "n" || !p.ByRate ||
		b.Income != 312_500_000 || b.Fees != 7999*8000/2 || b.Lowest != 0.01 || b.Above != 79.99 ||
		b.Coinbase != "/Find me <b>/" || b.NoFees || len(b.Bars) == 0 || len(b.Bars) > 300 {
		t.Errorf("%+v, coinbase %q", p.Rows[:2], b.Coinbase)
	}
	if p := page("about=7&order=block&from=50"); p.Rows[0].TxID != "t50" || p.Newer != "?order=block" ||
		p.Older != "?from=100&order=block" || p.Rows[0].RateText() != "0.5" {
		t.Errorf("%+v", p.Rows[0])
	}
	html, err := v.render("block", "BTC", shown{asker: node.asks(), Base: "./../../", Data: page("about=7")})
	if err != nil || strings.Contains(string(html), "<b>/") || !strings.Contains(string(html), "/Find me &lt;b&gt;/") {
		t.Errorf("%v:\n%.2000s", err, html)
	}
	if packed := newSheet(html).packed; len(packed) > 20<<10 {
		t.Errorf("the page has %d bytes", len(packed))
	}
	for _, unknown := range []string{"8", "x", "", "..", strings.Repeat("9", 30)} {
		if p := page("about=" + unknown); p.Block != nil || p.Problem == "" || p.PageStatus() != 404 {
			t.Errorf("%q: %+v", unknown, p)
		}
	}
	for range 2 * maxBlocks {
		hash := fmt.Sprint(len(v.blocks.kept), "x", len(seen))
		seen[hash] = true
		v.blocks.put(hash, b)
	}
	if len(v.blocks.kept) > maxBlocks {
		t.Errorf("%d blocks are kept", len(v.blocks.kept))
	}
	delete(node, "getblock")
	if p := page("about=7"); p.Block != nil {
		t.Error("a block is shown to who may not call getblock")
	}
}

// A block whose fees are not known, or that has no transaction but the first, is shown without a profile.
func TestPlainBlocks(t *testing.T) {
	for reply, noFees := range map[string]bool{
		blockOf(1, ""): false, strings.ReplaceAll(blockOf(3, ""), `"fee"`, `"x"`): true,
		`{"hash":"x","tx":[]}`: false, `{"hash":"x","tx":[{"txid":"a","weight":0,"vin":[],"vout":[]}]}`: false,
	} {
		node := fakeNode{"getblock": reply, "getblockheader": `{"confirmations":-1}`}
		html := node.page(t, "block/", "about="+aBlock)
		if strings.Contains(html, `id="fees-h"`) || strings.Contains(html, "the fees are not known") != noFees ||
			!strings.Contains(html, "left the chain") {
			t.Errorf("%.200s:\n%s", reply, html)
		}
	}
}

// The page of blocks goes to the first block and back.
func TestBlocks(t *testing.T) {
	node := fakeNode{"getblockcount": "45", "getblockstats": `{"txs":1}`, "getblockhash": "error:none"}
	for h := range 46 {
		node[fmt.Sprintf("getblockhash[%d]", h)] = fmt.Sprintf(`"h%d"`, h)
	}
	v := newView(slog.New(slog.DiscardHandler))
	page := func(query string) *blockList {
		t.Helper()
		values, _ := url.ParseQuery(query)
		data, err := v.blocksModel(t.Context(), node, values)
		if err != nil {
			t.Fatal(err)
		}
		return data.(*blockList)
	}
	var heights []int64
	query := ""
	for n := range 3 {
		l := page(query)
		for _, c := range l.Cars {
			heights = append(heights, c.Height)
		}
		if (l.Newer == "") != (n == 0) || (l.Older == "") != (n == 2) || l.First != (n == 0) || l.Missing {
			t.Errorf("%q: %+v", query, l)
		}
		query = strings.TrimPrefix(l.Older, "?")
	}
	falling := slices.IsSortedFunc(heights, func(a, b int64) int { return int(b - a) })
	if len(heights) != 46 || heights[0] != 45 || heights[45] != 0 || !falling {
		t.Errorf("heights %v", heights)
	}
	for _, query := range []string{"before=0", "before=x", "before=47", "before=-3"} {
		if l := page(query); !l.First {
			t.Errorf("%s: %+v", query, l)
		}
	}
	node["getblockstats"] = "error:Undo data not available"
	if l := page("before=3"); l.Cars[0].Digest == nil || l.Missing { // it is kept
		t.Errorf("%+v", l.Cars[0])
	}
	v.digests = store[*digest]{most: maxDigests}
	if l := page(""); l.Cars[0].Digest != nil || l.Missing || l.Seconds() != 30 {
		t.Errorf("a digest that there is not: %+v", l)
	}
	delete(node, "getblockstats")
	if l := page(""); l.Cars[0].Digest != nil || l.Missing || len(l.Cars) != listedBlocks {
		t.Errorf("digests are shown to who may not call getblockstats: %+v", l.Cars[0])
	}
}

// The layers of a block are those of its percentiles.
func TestDigest(t *testing.T) {
	d := digest{
		TotalWeight: 2_000_000, TotalSize: 1_234_567, Percentiles: [5]int64{1, 1, 4, 9, 200}, Txs: 2, TotalFee: 5,
	}
	var classes []string
	for _, p := range d.Cube() {
		classes = append(classes, p.Class)
	}
	got := strings.Join(classes, " ")
	if got != "f8 f4 f3 f1" || d.Megabytes() != "1.23 MB" || d.Full() != 0.5 || !d.Paid() ||
		d.Fee() != "4" || d.Step() != 3 {
		t.Errorf("%s of %+v", got, d)
	}
	if (&digest{Txs: 1}).Paid() || (&digest{Txs: 2}).Paid() {
		t.Error("nobody has paid")
	}
}

// A transaction shows where its coins come from and go to. Texts of strangers stay texts.
func TestTransaction(t *testing.T) {
	quoted, _ := json.Marshal(hostile)
	bad := string(quoted)
	tx := `{"txid":"` + aTxID + `","hash":"w","size":200,"vsize":150,"weight":600,"locktime":0,"version":2,"hex":"00",` +
		`"blockhash":"` + aBlock + `","confirmations":3,"blocktime":1600000000,"fee":0.00001500,"vin":[{"txid":"p1",` +
		`"vout":1,"prevout":{"height":5,"value":1.5,"scriptPubKey":` + script1 + `}}],"vout":[{"value":1,"n":0,` +
		`"scriptPubKey":{"address":` + bad + `,"hex":"00","type":` + bad + `}},{"value":0.499985,"n":1,"scriptPubKey":` +
		script1 + `},{"value":0,"n":2,"scriptPubKey":{"hex":"6a0c3c623e68656c6c6f3c2f623e","type":"nulldata"}}]}`
	node := fakeNode{
		"getblock": "{}", `getrawtransaction["` + aTxID + `",2]`: tx, "getrawtransaction": "error:No such mempool transaction",
		"getblockheader": `{"height":7}`, "gettxout": "error:none", `gettxout["` + aTxID + `",0]`: "null",
		`gettxout["` + aTxID + `",1]`: `{"confirmations":3}`,
		"gettxspendingprevout":        `[{"txid":"` + aTxID + `","vout":0,"spendingtxid":"by"}]`,
	}
	html := node.page(t, "tx/", "about="+strings.ToUpper(aTxID))
	for _, want := range []string{
		"Block 7</a>", "3 confirmations", `data-sat="1500"`, "10.0 <span", `href="./ui/tx/p1#o1"`, "spent in",
		`href="./ui/tx/by"`,
		"unspent", "&lt;b&gt;hello&lt;/b&gt;", "&lt;img", `class="b c-in"`, "Raw transaction",
	} {
		if !strings.Contains(html, want) {
			t.Errorf("no %q in\n%s", want, html)
		}
	}
	if strings.Contains(html, "<img") || strings.Contains(html, "<b>hello") {
		t.Error("a text is markup")
	}
	html = node.page(t, "tx/", "about=aa&block="+url.QueryEscape(hostile))
	if !strings.Contains(html, "was not found") || !strings.Contains(html, `name="block"`) ||
		strings.Contains(html, "<img") {
		t.Error(html)
	}
	waits := fakeNode{
		"getrawtransaction": strings.NewReplacer(
			`"blockhash":"`+aBlock+`",`, "", `"confirmations":3,`, "", `,"blocktime":1600000000`, "",
		).Replace(tx),
		"getmempoolentry": `{"time":1,"ancestorcount":2,"ancestorsize":300,"descendantcount":1,` +
			`"bip125-replaceable":true,"fees":{"ancestor":0.00000900}}`,
	}
	html = waits.page(t, "tx/", "about="+aTxID)
	for _, want := range []string{
		"waits in the memory pool", "1 transaction that must be mined", "3.0 sat/vB together", "may be replaced",
	} {
		if !strings.Contains(html, want) {
			t.Errorf("no %q in\n%s", want, html)
		}
	}
}

// Inputs and outputs of a very large transaction come in pages.
func TestLargeTransaction(t *testing.T) {
	var outs []string
	for i := range 2500 {
		outs = append(outs, fmt.Sprintf(`{"value":0.1,"n":%d,"scriptPubKey":`+script1+`}`, i))
	}
	node := fakeNode{
		"getrawtransaction": `{"txid":"` + aTxID + `","vin":[{"coinbase":"00"}],"vout":[` + strings.Join(outs, ",") + `]}`,
	}
	query := ""
	seen := 0
	for query != "?" {
		values, _ := url.ParseQuery(strings.TrimPrefix(query, "?"))
		values.Set(about, aTxID)
		data, err := new(view).txModel(t.Context(), node, values)
		if err != nil {
			t.Fatal(err)
		}
		p := data.(*txPage)
		if seen += len(p.Outputs); len(p.Outputs) > txRows || !p.IsCoinbase() || p.Flow() != nil || p.Out != 250*coin {
			t.Fatalf("%d outputs", len(p.Outputs))
		}
		query = "?" + strings.TrimPrefix(p.Older, "?")
	}
	if seen != 2500 {
		t.Errorf("%d outputs", seen)
	}
}

// The memory pool is shown by fee rates where it is not too large.
func TestPool(t *testing.T) {
	node := fakeNode{
		"getmempoolinfo": `{"size":3,"bytes":700,"usage":10,"maxmempool":100,"mempoolminfee":0.00001,"total_fee":0.00002}`,
		"getrawmempool": `{"a":{"vsize":200,"time":1,"fees":{"base":0.00000200}},` +
			`"b":{"vsize":300,"time":1,"fees":{"base":0.00003000}},"c":{"vsize":200,"time":1,"fees":{"base":0.00002000}}}`,
		"estimatesmartfee[1]": `{"feerate":0.0001}`, "estimatesmartfee": `{"errors":["none"]}`,
	}
	html := node.page(t, "mempool", "")
	for _, want := range []string{
		"3 transactions wait", "1.0 <span", "some 1 block", `id="ta"`, "10.0 <span", "Next block</dt><dd>10.0", `class="f4"`,
		"500 virtual bytes in 2 transactions of 8 to 16",
	} {
		if !strings.Contains(html, want) {
			t.Errorf("no %q in\n%s", want, html)
		}
	}
	v := poolOf(map[string]pooled{
		"x": {VSize: 2_000_000, Fees: struct{ Base amount }{1}}, "y": {VSize: 100, Fees: struct{ Base amount }{1000}},
	})
	if v.Txs != 1 || v.Median != "10.0" || v.Top[0].TxID != "y" || len(v.Next) != 1 {
		t.Errorf("%+v", v)
	}
	node["getmempoolinfo"] = fmt.Sprintf(`{"size":%d}`, maxPooled+1)
	node["getrawmempool"] = "error:it is asked for"
	html = node.page(t, "mempool", "")
	if !strings.Contains(html, "at most 10,000") || strings.Contains(html, "asked for") {
		t.Error(html)
	}
	html = (fakeNode{"getmempoolinfo": `{"size":0}`, "getrawmempool": `{}`}).page(t, "mempool", "")
	if !strings.Contains(html, "Nothing waits") {
		t.Error(html)
	}
}
