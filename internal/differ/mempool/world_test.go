package mempool_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/differ"
)

// A coin is an output that is not spent in the chain.
type coin struct {
	out      *wire.TxOut
	kind     kind
	height   int
	coinbase bool
}

// A world is what both nodes have: the chain, and the pool as Core says that it is.
type world struct {
	*rand.Rand

	t        *testing.T
	clusters bool // of the pool are compared
	p        *differ.Pair
	now      int64

	blocks [][]*wire.MsgTx
	coins  map[wire.OutPoint]coin
	txs    map[chainhash.Hash]*wire.MsgTx // that were ever sent or confirmed
	pool   []chainhash.Hash               // as listed last: parents before their children
	spent  map[wire.OutPoint]chainhash.Hash
}

const startTime = 1_700_000_000

func newWorld(t *testing.T, p *differ.Pair) *world {
	t.Helper()
	w := &world{
		Rand: differ.Random(t), t: t, p: p, now: startTime, coins: map[wire.OutPoint]coin{},
		txs:    map[chainhash.Hash]*wire.MsgTx{},
		blocks: [][]*wire.MsgTx{nil},
	}
	w.pass(0)
	for range 110 {
		w.mine(nil)
	}
	w.look()
	return w
}

func call(method string, params ...any) differ.Call {
	if params == nil {
		params = []any{}
	}
	return differ.Call{Method: method, Params: params}
}

func (w *world) send(method string, params ...any) differ.Reply {
	w.t.Helper()
	return w.p.Send(call(method, params...))[0].Core
}

func (w *world) pass(seconds int64) {
	w.t.Helper()
	w.now += seconds
	w.send("setmocktime", w.now)
}

// mine confirms some transactions of the pool, in their order.
func (w *world) mine(ids []chainhash.Hash) {
	w.t.Helper()
	w.pass(int64(w.IntN(1200)))
	list := make([]string, len(ids))
	for i := range ids {
		list[i] = ids[i].String()
	}
	output := open
	if w.IntN(8) == 0 {
		output = nested
	}
	var made struct{ Hash string }
	reply := w.send("generateblock", "raw("+hex.EncodeToString(output.script())+")", list)
	if !reply.OK() {
		return
	}
	w.must(reply, &made)
	var text string
	w.must(w.send("getblock", made.Hash, 0), &text)
	raw, err := hex.DecodeString(text)
	if err != nil {
		w.t.Fatal(err)
	}
	var block wire.MsgBlock
	if err := block.Deserialize(bytes.NewReader(raw)); err != nil {
		w.t.Fatal(err)
	}
	w.connect(block.Transactions)
}

func (w *world) connect(txs []*wire.MsgTx) {
	height := len(w.blocks)
	for i, tx := range txs {
		id := tx.TxHash()
		w.txs[id] = tx
		for _, in := range tx.TxIn {
			delete(w.coins, in.PreviousOutPoint)
		}
		for n, out := range tx.TxOut {
			w.coins[wire.OutPoint{Hash: id, Index: uint32(n)}] = coin{out, kindOf(out.PkScript), height, i == 0}
		}
	}
	w.blocks = append(w.blocks, txs)
}

// back takes the last block back.
func (w *world) back() {
	w.t.Helper()
	var hash string
	w.must(w.send("getbestblockhash"), &hash)
	if !w.send("invalidateblock", hash).OK() {
		return
	}
	last := len(w.blocks) - 1
	w.blocks = w.blocks[:last]
	w.coins = map[wire.OutPoint]coin{} // few blocks have transactions: all again
	blocks := w.blocks
	w.blocks = w.blocks[:1]
	for _, txs := range blocks[1:] {
		w.connect(txs)
	}
}

func (w *world) must(reply differ.Reply, into any) {
	w.t.Helper()
	if err := json.Unmarshal(reply.Result, into); err != nil || !reply.OK() {
		w.t.Fatalf("bitcoind: %v: %v", reply, err)
	}
}

// look compares the lists of the pools, and remembers Core's.
func (w *world) look() {
	w.t.Helper()
	replies := w.p.Send(call("getrawmempool"), call("getmempoolinfo"))
	var ids []string
	w.must(replies[0].Core, &ids)
	w.pool, w.spent = w.pool[:0], map[wire.OutPoint]chainhash.Hash{}
	for _, text := range ids {
		id, err := chainhash.NewHashFromStr(text)
		if err != nil {
			w.t.Fatal(err)
		}
		w.pool = append(w.pool, *id)
		for _, in := range w.txs[*id].TxIn {
			w.spent[in.PreviousOutPoint] = *id
		}
	}
}

// free returns an output of the chain, or of the pool, that nothing spends; false where
// there is none.
func (w *world) free(fromPool bool) (wire.OutPoint, coin, bool) {
	if fromPool && len(w.pool) > 0 {
		for range 8 {
			id := w.pool[w.IntN(len(w.pool))]
			tx := w.txs[id]
			n := w.IntN(len(tx.TxOut))
			at := wire.OutPoint{Hash: id, Index: uint32(n)}
			if _, taken := w.spent[at]; !taken && kindOf(tx.TxOut[n].PkScript) != unspendable {
				return at, coin{out: tx.TxOut[n], kind: kindOf(tx.TxOut[n].PkScript)}, true
			}
		}
	}
	list := slices.SortedFunc(maps.Keys(w.coins), func(a, b wire.OutPoint) int {
		return bytes.Compare(append(a.Hash[:], byte(a.Index)), append(b.Hash[:], byte(b.Index)))
	})
	for range 20 {
		at := list[w.IntN(len(list))]
		c := w.coins[at]
		young := c.coinbase && len(w.blocks)-c.height < 100
		if _, taken := w.spent[at]; !taken && c.kind != unspendable && (!young || w.IntN(50) == 0) {
			return at, c, true
		}
	}
	return wire.OutPoint{}, coin{}, false
}

func serialized(tx *wire.MsgTx) string {
	var raw bytes.Buffer
	_ = tx.Serialize(&raw) // to memory
	return hex.EncodeToString(raw.Bytes())
}
