package follower_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/corenode"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/engine/follower"
	"github.com/seed61375155/trawl/internal/enginetest"
)

// A fakeCore answers what a follower asks, as Bitcoin Core does, from a chain in memory
// whose tip the test chooses.
type fakeCore struct {
	*httptest.Server
	*chaintest.Chain

	mu          sync.Mutex
	tip         *chainview.Block
	chain       string
	ibd         bool
	headers     int32 // beyond the tip
	rest, spent bool
	filters     bool
	pruneHeight int32 // 0: not pruned
	down        bool
	warmup      bool
	forbidden   map[string]bool
	invalid     *chainview.Block
	spoil       func(what string, reply []byte) []byte // changes what is sent
	asked       func(what string)                      // called before an answer
	forgotten   map[chainhash.Hash]bool
	outputs     func() string // what gettxout answers
}

func newFakeCore(t *testing.T) *fakeCore {
	t.Helper()
	net := enginetest.Regtest(t)
	f := &fakeCore{Chain: chaintest.NewOn(net), chain: "regtest", rest: true, spent: true}
	f.tip = f.Active().Tip()
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	return f
}

// mine puts n blocks with work on a block; salt tells them from others there.
func (f *fakeCore) mine(on *chainview.Block, n int, salt byte) *chainview.Block {
	for range n {
		on = f.MineOn(on, chaintest.Template{Solved: true, Script: []byte{0x51, 0x01, salt}})
	}
	return on
}

// mineSpending is mine for one block that spends the coinbase of another.
func (f *fakeCore) mineSpending(on, from *chainview.Block, salt byte) *chainview.Block {
	block, _ := f.Block(&from.Hash)
	spend := wire.NewMsgTx(2)
	spend.AddTxIn(wire.NewTxIn(wire.NewOutPoint(new(block.Transactions[0].TxHash()), 0), nil, nil))
	spend.AddTxOut(wire.NewTxOut(1, []byte{0x52, salt}))
	return f.MineOn(on, chaintest.Template{Solved: true, Script: []byte{0x51, 0x01, salt}, Txs: []*wire.MsgTx{spend}})
}

// set changes what the node is, between its answers.
func (f *fakeCore) set(change func(*fakeCore)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f)
}

func (f *fakeCore) goTo(tip *chainview.Block) { f.set(func(f *fakeCore) { f.tip = tip }) }

func (f *fakeCore) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.down {
		if c, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_ = c.Close()
		}
		return
	}
	if r.Method == http.MethodGet {
		f.serveREST(w, r)
		return
	}
	body, _ := io.ReadAll(r.Body)
	type call struct {
		ID     int
		Method string
		Params []any
	}
	if body[0] != '[' {
		var c call
		_ = json.Unmarshal(body, &c)
		if f.forbidden[c.Method] {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		_, _ = w.Write(f.reply(c.ID, c.Method, c.Params))
		return
	}
	var calls []call
	_ = json.Unmarshal(body, &calls)
	var replies [][]byte
	for _, c := range calls {
		replies = append(replies, f.reply(c.ID, c.Method, c.Params))
	}
	fmt.Fprintf(w, "[%s]", bytes.Join(replies, []byte(",")))
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (f *fakeCore) reply(id int, method string, params []any) []byte {
	if f.asked != nil {
		f.asked(method)
	}
	result, failed := f.answer(method, params)
	if f.warmup {
		result, failed = nil, &rpcError{-28, "Loading block index…"}
	}
	if f.spoil != nil && failed == nil {
		raw, _ := json.Marshal(result)
		result = json.RawMessage(f.spoil(method, raw))
	}
	reply := map[string]any{"jsonrpc": "2.0", "id": id}
	if failed != nil {
		reply["error"] = failed
	} else {
		reply["result"] = result
	}
	raw, _ := json.Marshal(reply)
	return raw
}

func (f *fakeCore) active(b *chainview.Block) bool { return f.tip.Ancestor(b.Height) == b }

func (f *fakeCore) find(params []any) *chainview.Block {
	text, _ := params[0].(string)
	hash, err := chainhash.NewHashFromStr(text)
	if err != nil || f.forgotten[*hash] {
		return nil
	}
	return f.Lookup(hash)
}

func (f *fakeCore) answer(method string, params []any) (any, *rpcError) {
	switch method {
	case "getblockchaininfo":
		info := map[string]any{
			"chain": f.chain, "blocks": f.tip.Height, "headers": f.tip.Height + f.headers,
			"bestblockhash": f.tip.Hash.String(), "initialblockdownload": f.ibd, "pruned": f.pruneHeight > 0,
		}
		if f.pruneHeight > 0 {
			info["pruneheight"] = f.pruneHeight
		}
		return info, nil
	case "getnetworkinfo":
		return map[string]any{"version": 300200, "subversion": "/Satoshi:30.2.0/"}, nil
	case "getindexinfo":
		if f.filters {
			index := map[string]any{"synced": true, "best_block_height": f.tip.Height}
			return map[string]any{corenode.FilterIndex: index}, nil
		}
		return map[string]any{}, nil
	case "getblockhash":
		height, _ := params[0].(float64)
		if b := f.tip.Ancestor(int32(height)); b != nil {
			return b.Hash.String(), nil
		}
		return nil, &rpcError{-8, "Block height out of range"}
	case "gettxout":
		return json.RawMessage(f.outputs()), nil
	case "getchaintips":
		tips := []map[string]any{{"hash": f.tip.Hash.String(), "status": "active"}}
		if f.invalid != nil {
			tips = append(tips, map[string]any{"hash": f.invalid.Hash.String(), "status": "invalid"})
		}
		return tips, nil
	}
	b := f.find(params)
	if b == nil {
		return nil, &rpcError{-5, "Block not found"}
	}
	return f.answerOf(b, method, params)
}

func (f *fakeCore) answerOf(b *chainview.Block, method string, params []any) (any, *rpcError) {
	raw, _ := f.Raw(&b.Hash)
	switch method {
	case "getblockheader":
		if params[1] == true {
			_, txs, _ := f.Size(&b.Hash)
			return map[string]any{"nTx": txs}, nil
		}
		return hex.EncodeToString(raw[:80]), nil
	case "getblockfilter":
		return map[string]any{"filter": hex.EncodeToString(f.filter(b)), "header": f.filterHeader(b).String()}, nil
	case "getblock":
		if b.Height < f.pruneHeight {
			return nil, &rpcError{-1, "Block not available (pruned data)"}
		}
		if params[1] == float64(3) {
			return f.verbose(b), nil
		}
		return hex.EncodeToString(raw), nil
	}
	return nil, &rpcError{-32601, "Method not found"}
}

func (f *fakeCore) verbose(b *chainview.Block) any {
	block, _ := f.Block(&b.Hash)
	spent, _ := f.Spent(&b.Hash)
	var txs []any
	for i, tx := range block.Transactions {
		var vin []any
		for j := range tx.TxIn {
			in := map[string]any{"coinbase": "00"}
			if i > 0 {
				c := spent[i-1][j]
				in = map[string]any{"prevout": map[string]any{
					"generated": c.Coinbase, "height": c.Height,
					"value":        json.RawMessage(fmt.Sprintf("%d.%08d", c.Value/1e8, c.Value%1e8)),
					"scriptPubKey": map[string]any{"hex": hex.EncodeToString(c.Script)},
				}}
			}
			vin = append(vin, in)
		}
		txs = append(txs, map[string]any{"vin": vin})
	}
	return map[string]any{"tx": txs}
}

func (f *fakeCore) filter(b *chainview.Block) []byte {
	raw, _ := f.Raw(&b.Hash)
	spent, _ := f.SpentScripts(&b.Hash)
	var builder filters.Builder
	filter, err := builder.BuildBlock(&b.Hash, raw, 80, spent)
	if err != nil {
		panic(err) // of a block of chaintest
	}
	return filter
}

// filterHeader returns the filter header of a block.
func (f *fakeCore) filterHeader(b *chainview.Block) (header chainhash.Hash) {
	for height := range b.Height + 1 {
		hash := filters.Hash(f.filter(b.Ancestor(height)))
		header = filters.Header(&hash, &header)
	}
	return header
}

func (f *fakeCore) serveREST(w http.ResponseWriter, r *http.Request) {
	if !f.rest {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	if f.warmup {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	path := strings.TrimSuffix(r.URL.Path, ".bin")
	what, text := filepath.Split(path)
	if f.asked != nil {
		f.asked(what)
	}
	if path == "/rest/chaininfo.json" {
		info, _ := f.answer("getblockchaininfo", nil)
		_ = json.NewEncoder(w).Encode(info)
		return
	}
	if what == "/rest/spenttxouts/" && !f.spent {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	reply, status := f.restReply(what, text, r.URL.Query().Get("count"))
	if f.spoil != nil && status == http.StatusOK {
		reply = f.spoil(what, reply)
	}
	w.WriteHeader(status)
	_, _ = w.Write(reply)
}

func (f *fakeCore) restReply(what, text, count string) ([]byte, int) {
	b := f.find([]any{text})
	if what == "/rest/headers/" {
		n, _ := strconv.Atoi(count)
		var headers []byte
		for ; b != nil && f.active(b) && n > 0; n-- {
			raw, _ := f.Raw(&b.Hash)
			headers = append(headers, raw[:80]...)
			b = f.tip.Ancestor(b.Height + 1)
		}
		return headers, http.StatusOK
	}
	if b == nil {
		return []byte(text + " not found\r\n"), http.StatusNotFound
	}
	switch what {
	case "/rest/block/":
		if b.Height < f.pruneHeight {
			return []byte(text + " not available (pruned data)\r\n"), http.StatusNotFound
		}
		raw, _ := f.Raw(&b.Hash)
		return raw, http.StatusOK
	case "/rest/spenttxouts/":
		if b.Height < f.pruneHeight {
			return []byte(text + " undo not available\r\n"), http.StatusNotFound
		}
		spent, _ := f.Spent(&b.Hash)
		out := bytes.NewBuffer([]byte{byte(len(spent) + 1), 0})
		for _, coins := range spent {
			out.WriteByte(byte(len(coins)))
			for _, c := range coins {
				_ = wire.WriteTxOut(out, 0, 0, wire.NewTxOut(int64(c.Value), c.Script))
			}
		}
		return out.Bytes(), http.StatusOK
	case "/rest/blockfilter/basic/":
		filter := f.filter(b)
		return append(append(append([]byte{0}, b.Hash[:]...), byte(len(filter))), filter...), http.StatusOK
	}
	return nil, http.StatusNotFound
}

// config returns that of an engine which follows the node.
func (f *fakeCore) config(t *testing.T, dir string) follower.Config {
	t.Helper()
	address, err := corenode.ParseAddress(f.URL, 0)
	if err != nil {
		t.Fatal(err)
	}
	core, err := corenode.New(corenode.Config{Address: address, User: "u", Password: "p"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(core.Close)
	return follower.Config{Network: regtest(t), Core: core, Dir: dir, Log: slog.New(slog.DiscardHandler)}
}

func regtest(t *testing.T) *dialect.Network {
	t.Helper()
	return enginetest.Regtest(t)
}

func open(t *testing.T, cfg follower.Config) *follower.Engine {
	t.Helper()
	e, err := follower.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// follow has an engine follow, which must work.
func follow(t *testing.T, e *follower.Engine) {
	t.Helper()
	if err := e.Follow(t.Context()); err != nil {
		t.Fatal(err)
	}
}
