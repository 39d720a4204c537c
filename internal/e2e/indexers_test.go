package e2e_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/rpcclient"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/e2e"
	"github.com/seed61375155/trawl/internal/e2e/jsonrpc"
)

// later starts a node that speaks as Core 32, with a wallet, 110 blocks, and two more with a payment each.
func later(t *testing.T, args ...string) (d *e2e.Daemon, payment string) {
	t.Helper()
	d = startRegtest(t, append([]string{"-core=32", "-rest", "-txindex", "-blockfilterindex=1"}, args...)...)
	d.Get(nil, "createwallet", "w")
	var address string
	d.Get(&address, "getnewaddress")
	d.Get(nil, "generatetoaddress", 110, address)
	for range 2 {
		d.Get(&payment, "sendtoaddress", address, 1.5, "", "", false, true, nil, "unset", nil, 5)
		d.Get(nil, "generatetoaddress", 1, address)
	}
	return d, payment
}

// TestBlockPartIndexer makes the requests of electrs from 0.12 on, and of bindex below it. They read headers, blocks
// and spent outputs once, and then single transactions by their places in blocks. Any status but 200 ends them.
func TestBlockPartIndexer(t *testing.T) {
	t.Parallel()
	d, _ := later(t)
	rest := func(format string, args ...any) []byte {
		t.Helper()
		path := fmt.Sprintf("/rest/"+format, args...)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+d.Addr+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d %q, %v", path, resp.StatusCode, body, err)
		}
		return body
	}
	hash := func(raw []byte) string {
		slices.Reverse(raw)
		return hex.EncodeToString(raw)
	}
	first := hash(rest("blockhashbyheight/0.bin"))
	headers := rest("headers/2000/%s.bin", first)
	if len(headers) != 113*wire.MaxBlockHeaderPayload {
		t.Fatalf("%d bytes of headers", len(headers))
	}
	spends := 0
	for height := range 113 {
		var header wire.BlockHeader
		if err := header.Deserialize(bytes.NewReader(headers[height*80:])); err != nil {
			t.Fatal(err)
		}
		id := header.BlockHash().String()
		raw := rest("block/%s.bin", id)
		spends += checkSpent(t, rest("spenttxouts/%s.bin", id), raw)
		var block wire.MsgBlock
		if err := block.Deserialize(bytes.NewReader(raw)); err != nil {
			t.Fatal(err)
		}
		at := 80 + wire.VarIntSerializeSize(uint64(len(block.Transactions)))
		for _, tx := range block.Transactions {
			size := tx.SerializeSize()
			part := rest("blockpart/%s.bin?offset=%d&size=%d", id, at, size)
			if !bytes.Equal(part, raw[at:at+size]) {
				t.Errorf("transaction at %d of block %d: %x", at, height, part)
			}
			at += size
		}
	}
	if spends < 2 {
		t.Errorf("%d outputs were spent", spends)
	}
	d.Stop()
}

// checkSpent reads the outputs that a block spends: for each transaction a list, which for the coinbase is empty.
func checkSpent(t *testing.T, spent, raw []byte) (outputs int) {
	t.Helper()
	var block wire.MsgBlock
	if err := block.Deserialize(bytes.NewReader(raw)); err != nil {
		t.Fatal(err)
	}
	r := bytes.NewReader(spent)
	count, err := wire.ReadVarInt(r, 0)
	if err != nil || count != uint64(len(block.Transactions)) {
		t.Fatalf("%d lists for %d transactions, %v", count, len(block.Transactions), err)
	}
	for i, tx := range block.Transactions {
		want := len(tx.TxIn)
		if i == 0 {
			want = 0
		}
		n, err := wire.ReadVarInt(r, 0)
		if err != nil || n != uint64(want) {
			t.Fatalf("%d outputs for %d inputs, %v", n, want, err)
		}
		for range n {
			var out wire.TxOut
			if err := wire.ReadTxOut(r, 0, 0, &out); err != nil {
				t.Fatal(err)
			}
			outputs++
		}
	}
	if r.Len() > 0 {
		t.Errorf("%d more bytes", r.Len())
	}
	return outputs
}

// batch makes calls of one method in one request, in the form without a version that ElectrumX and NBXplorer use.
// Each reply has a result and an error.
func batch(t *testing.T, d *e2e.Daemon, method string, params ...[]any) []batched {
	t.Helper()
	calls := make([]map[string]any, len(params))
	for i, p := range params {
		calls[i] = map[string]any{"method": method, "params": p, "id": i}
	}
	body, err := json.Marshal(calls)
	if err != nil {
		t.Fatal(err)
	}
	reply, err := d.Post(t.Context(), "/", body)
	var list []batched
	if err == nil {
		err = json.Unmarshal([]byte(reply.Body), &list)
	}
	if err != nil || reply.Status != http.StatusOK || len(list) != len(params) {
		t.Fatalf("%s: %d %s, %v", method, reply.Status, reply.Body, err)
	}
	for i, one := range list {
		if one.ID != i {
			t.Errorf("%s: reply %d is in place %d", method, one.ID, i)
		}
	}
	return list
}

type batched struct {
	Result json.RawMessage `json:"result"`
	Error  *jsonrpc.Error  `json:"error"`
	ID     int             `json:"id"`
}

// TestElectrumX makes the calls of ElectrumX after 1.20: blocks in batches, what the pool has, fees, packages, and who
// spent an output by the index of spenders.
func TestElectrumX(t *testing.T) {
	t.Parallel()
	d, payment := later(t, "-txospenderindex")
	var heights, blocks [][]any
	for height := range 10 {
		heights = append(heights, []any{100 + height})
	}
	for _, one := range batch(t, d, "getblockhash", heights...) {
		var hash string
		if err := json.Unmarshal(one.Result, &hash); err != nil || one.Error != nil {
			t.Fatal(one.Error, err)
		}
		blocks = append(blocks, []any{hash, false})
	}
	for i, one := range batch(t, d, "getblock", blocks...) {
		var text string
		err := json.Unmarshal(one.Result, &text)
		raw, notHex := hex.DecodeString(text)
		var block wire.MsgBlock
		if err != nil || notHex != nil || block.Deserialize(bytes.NewReader(raw)) != nil ||
			block.BlockHash().String() != blocks[i][0] {
			t.Errorf("block %d: %v, %v", i, err, notHex)
		}
	}
	txs := batch(t, d, "getrawtransaction", []any{payment, 0}, []any{"00" + payment[2:], 0})
	if txs[0].Error != nil || txs[1].Error == nil || txs[1].Error.Code != -5 || string(txs[1].Result) != "null" {
		t.Errorf("transactions: %+v", txs)
	}
	// Whether a method is there is found out by a call without arguments.
	if err := d.Call(t.Context(), nil, "estimatesmartfee"); err == nil || jsonrpc.IsError(err, -32601) {
		t.Errorf("estimatesmartfee: %v", err)
	}
	var fees map[string]any
	d.Get(&fees, "getmempoolinfo")
	for _, key := range []string{"mempoolminfee", "minrelaytxfee", "incrementalrelayfee"} {
		if _, is := fees[key].(float64); !is {
			t.Errorf("getmempoolinfo has no %s: %v", key, fees)
		}
	}
	checkSpenders(t, d, payment)
	d.Stop()
}

// checkSpenders asks who spent the first input of a payment in the chain, and that of one in the pool.
func checkSpenders(t *testing.T, d *e2e.Daemon, payment string) {
	t.Helper()
	var address, inPool string
	d.Get(&address, "getnewaddress")
	d.Get(&inPool, "sendtoaddress", address, 0.5, "", "", false, true, nil, "unset", nil, 5)
	type output struct {
		TxID string `json:"txid"`
		Vout uint32 `json:"vout"`
	}
	spent := func(id string) output {
		var tx struct{ Vin []output }
		d.Get(&tx, "getrawtransaction", id, 1)
		return tx.Vin[0]
	}
	var best string
	d.Get(&best, "getbestblockhash")
	e2e.Eventually(t, syncLimit, "the index of spenders", func() bool {
		var got []struct {
			output

			By    string `json:"spendingtxid"`
			Tx    string `json:"spendingtx"`
			Block string `json:"blockhash"`
		}
		asked := []output{spent(payment), spent(inPool)}
		err := d.Call(t.Context(), &got, "gettxspendingprevout", asked, map[string]any{
			"mempool_only": false, "return_spending_tx": true,
		})
		if err != nil {
			return false // the index is behind
		}
		pool, chain := got[0], got[1]
		if len(got) != 2 || pool.output != asked[1] || pool.By != inPool || pool.Block != "" || pool.Tx == "" ||
			chain.output != asked[0] || chain.By != payment || chain.Block != best || chain.Tx == "" {
			t.Errorf("%+v", got)
		}
		return true
	})
}

// TestNBXplorer makes the calls of NBXplorer when it starts, indexes, and watches a descriptor. It wants a wallet
// without a name, and goes on where it gets none, as from Core 32.
func TestNBXplorer(t *testing.T) {
	t.Parallel()
	d, payment := later(t)
	var chain struct {
		Headers, Blocks int
		Initial         *bool  `json:"initialblockdownload"`
		MedianTime      *int64 `json:"mediantime"`
		Best            string `json:"bestblockhash"`
	}
	d.Get(&chain, "getblockchaininfo")
	if chain.Headers != 112 || chain.Blocks != 112 || chain.Initial == nil || *chain.Initial ||
		chain.MedianTime == nil {
		t.Errorf("getblockchaininfo: %+v", chain)
	}
	err := d.Call(t.Context(), nil, "createwallet", "", false, false, "", false, true, true)
	if !jsonrpc.IsError(err, -8) {
		t.Errorf("a wallet without a name: %v", err)
	}
	var network struct {
		RelayFee float64 `json:"relayfee"`
		MoreFee  float64 `json:"incrementalfee"`
		Local    []any   `json:"localaddresses"`
	}
	d.Get(&network, "getnetworkinfo")
	if network.RelayFee <= 0 || network.MoreFee <= 0 || network.Local == nil {
		t.Errorf("getnetworkinfo: %+v", network)
	}
	var indexes map[string]any
	if d.Get(&indexes, "getindexinfo", "txindex"); indexes["txindex"] == nil {
		t.Errorf("getindexinfo: %v", indexes)
	}
	hashes := batch(t, d, "getblockhash", []any{111}, []any{112}, []any{113})
	if hashes[2].Error == nil || hashes[2].Error.Code != -8 {
		t.Errorf("a block that is not there: %+v", hashes[2])
	}
	var last string
	if err := json.Unmarshal(hashes[1].Result, &last); err != nil || last != chain.Best {
		t.Fatalf("%s, %v", hashes[1].Result, err)
	}
	for _, one := range batch(t, d, "getblockheader", []any{last}) {
		var header struct {
			Confirmations, Height, Time int64
			Previous                    string `json:"previousblockhash"`
			Root                        string `json:"merkleroot"`
		}
		if err := json.Unmarshal(one.Result, &header); err != nil || header.Confirmations != 1 ||
			header.Height != 112 || len(header.Previous) != 64 || len(header.Root) != 64 {
			t.Errorf("%s, %v", one.Result, err)
		}
	}
	var tx struct {
		Hex, BlockHash string
		Time           int64
	}
	if d.Get(&tx, "getrawtransaction", payment, true); tx.Hex == "" || tx.BlockHash != last || tx.Time == 0 {
		t.Errorf("getrawtransaction: %+v", tx)
	}
	watched(t, d)
	d.Stop()
}

// watched imports a descriptor with a range, and the same with a smaller one: the error has the range that there is.
func watched(t *testing.T, d *e2e.Daemon) {
	t.Helper()
	d.Get(nil, "createwallet", "watch", true, true)
	const xpub = "tpubD6NzVbkrYhZ4WaWSyoBvQwbpLkojyoTZPRsgXELWz3Popb3qkjcJyJUGLnL4qHHoQvao8ESaAstxYSnhysw" +
		"J76uZPStJRJCTKvosUCJZL5B"
	for _, test := range []struct {
		to   int
		want string
	}{{999, ""}, {10, "[0,999]"}} {
		var info struct{ Descriptor string }
		d.Get(&info, "getdescriptorinfo", "wpkh("+xpub+"/0/*)")
		var done []struct {
			Success bool
			Error   jsonrpc.Error
		}
		err := d.CallWallet(t.Context(), "watch", &done, "importdescriptors", []any{map[string]any{
			"desc": info.Descriptor, "timestamp": "now", "range": []int{0, test.to},
		}})
		if err != nil || len(done) != 1 || done[0].Success != (test.want == "") ||
			!bytes.Contains([]byte(done[0].Error.Message), []byte(test.want)) {
			t.Errorf("to %d: %+v, %v", test.to, done, err)
		}
	}
}

// TestLightningBackend makes the calls of lnd and its wallet where they poll a node. The library is theirs. They ask
// for the version, for blocks, for the pool, and for the spenders of outputs in it.
func TestLightningBackend(t *testing.T) {
	t.Parallel()
	d, payment := later(t)
	client, err := rpcclient.New(&rpcclient.ConnConfig{
		Host: d.Addr, CookiePath: filepath.Join(d.NetDir, ".cookie"), HTTPPostMode: true, DisableTLS: true,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Shutdown()
	backend, err := client.BackendVersion()
	if err != nil || !backend.SupportGetTxSpendingPrevOut() || !backend.SupportTestMempoolAccept() {
		t.Errorf("version %v, %v", backend, err)
	}
	if height, err := client.GetBlockCount(); err != nil || height != 112 {
		t.Errorf("height %d, %v", height, err)
	}
	hash, err := client.GetBestBlockHash()
	if err != nil {
		t.Fatal(err)
	}
	if header, err := client.GetBlockHeaderVerbose(hash); err != nil || header.Height != 112 {
		t.Errorf("header %+v, %v", header, err)
	}
	block, err := client.GetBlock(hash)
	if err != nil || len(block.Transactions) != 2 || block.Transactions[1].TxHash().String() != payment {
		t.Errorf("block %v, %v", block, err)
	}
	address := call[string](t, client, "getnewaddress")
	unconfirmed := call[string](t, client, "sendtoaddress", address, 0.25, "", "", false, true, nil, "unset", nil, 5)
	pool, err := client.GetRawMempool()
	if err != nil || len(pool) != 1 || pool[0].String() != unconfirmed {
		t.Fatalf("pool %v, %v", pool, err)
	}
	tx, err := client.GetRawTransaction(pool[0])
	if err != nil {
		t.Fatal(err)
	}
	out := tx.MsgTx().TxIn[0].PreviousOutPoint
	spends, err := client.GetTxSpendingPrevOut([]wire.OutPoint{out, {Hash: *hash}})
	if err != nil || len(spends) != 2 || spends[0].SpendingTxid != unconfirmed || spends[1].SpendingTxid != "" {
		t.Errorf("%+v, %v", spends, err)
	}
	taken, err := client.TestMempoolAccept([]*wire.MsgTx{tx.MsgTx()}, 0.1)
	if err != nil || len(taken) != 1 || taken[0].Allowed || taken[0].RejectReason != "txn-already-in-mempool" {
		t.Errorf("%+v, %v", taken, err)
	}
	if _, err := client.SendRawTransaction(block.Transactions[1], true); err == nil {
		t.Error("a payment that was mined is taken again")
	}
	d.Stop()
}
