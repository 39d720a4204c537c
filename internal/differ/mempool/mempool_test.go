package mempool_test

import (
	"encoding/json"
	"regexp"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/differ"
)

// TestPool compares verdicts, and the pool that they make, with the limits of the
// default and with low ones.
func TestPool(t *testing.T) {
	for _, test := range []struct {
		name string
		args []string
	}{
		{"defaults", nil},
		{"low limits", []string{
			"-limitancestorcount=5", "-limitdescendantcount=5", "-limitancestorsize=3", "-limitdescendantsize=3", "-maxmempool=5",
			"-mempoolexpiry=2", "-datacarriersize=40", "-permitbaremultisig=0", "-bytespersigop=50", "-dustrelayfee=0.00005",
			"-minrelaytxfee=0.000003", "-incrementalrelayfee=0.000002",
		}},
		{"any form", []string{"-acceptnonstdtxn=1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := differ.Start(t, differ.Config{Args: append(test.args, "-persistmempool=0")}, usage)
			w := newWorld(t, p)
			for left := differ.Cases(t, 600) / 3; left > 0 && p.Report.Differences() < 20; left -= w.step() {
				w.look()
			}
			p.Alive()
		})
	}
}

// TestLaterPool compares what clusters decide, beside a later Core: verdicts, chunks, templates.
func TestLaterPool(t *testing.T) {
	for _, test := range []struct {
		name string
		args []string
	}{
		{"defaults", nil},
		{"low limits", []string{
			"-limitclustercount=6", "-limitclustersize=4", "-mempoolexpiry=2", "-datacarriersize=40",
			"-permitbaremultisig=0", "-bytespersigop=50", "-dustrelayfee=0.00005", "-minrelaytxfee=0.000003", "-incrementalrelayfee=0.000002",
			"-blockmintxfee=0.00001",
		}},
		{"small blocks", []string{"-blockmaxweight=16000", "-blockreservedweight=4000"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := differ.Start(t, differ.Config{Later: true, Args: append(test.args, "-persistmempool=0")}, usage, later)
			w := newWorld(t, p)
			w.clusters = true
			for left := differ.QbitCases(t, 600) / 3; left > 0 && p.Report.Differences() < 20; left -= w.step() {
				w.look()
			}
			p.Alive()
		})
	}
}

// later are fields of Core 32.0, which that beside it does not have yet.
var later = differ.Exception{
	Reason: "vsize_adjusted and vsize_bip141 are new in 32.0",
	Is: func(_ differ.Call, got differ.Replies) bool {
		return newSizes.MatchString(got.Trawl.String()) &&
			newSizes.ReplaceAllString(got.Trawl.String(), "") == got.Core.String()
	},
}

var newSizes = regexp.MustCompile(`"vsize_(adjusted|bip141)":\d+,`)

// usage is an estimate of memory.
var usage = differ.Exception{
	Reason: "getmempoolinfo's usage counts the room that Core's lists have grown to, which depends on what was there before",
	Is: func(c differ.Call, got differ.Replies) bool {
		without := func(r differ.Reply) string { return estimate.ReplaceAllString(r.String(), "") }
		return c.Method == "getmempoolinfo" && without(got.Trawl) == without(got.Core)
	},
}

var estimate = regexp.MustCompile(`"usage":\d+,`)

// step sends some requests, and returns how many.
func (w *world) step() int {
	w.t.Helper()
	var calls []differ.Call
	for range 1 + w.IntN(8) {
		calls = append(calls, w.submission()...)
	}
	w.p.Send(calls...)
	w.look()
	queries := w.queries()
	w.p.Send(queries...)
	switch w.IntN(30) {
	case 0, 1, 2, 3:
		w.mine(w.some())
	case 4:
		w.mine(w.pool)
	case 5:
		if len(w.blocks) > 105 {
			w.back()
		}
	case 6:
		w.pass(int64(w.IntN(86_400)))
	}
	return len(calls) + len(queries)
}

// some returns transactions of the pool with all that they depend on, in order.
func (w *world) some() (ids []chainhash.Hash) {
	taken := map[chainhash.Hash]bool{}
	inPool := map[chainhash.Hash]bool{}
	for _, id := range w.pool {
		inPool[id] = true
		whole := w.IntN(2) == 0
		for _, in := range w.txs[id].TxIn {
			whole = whole && (!inPool[in.PreviousOutPoint.Hash] || taken[in.PreviousOutPoint.Hash])
		}
		if whole {
			taken[id] = true
			ids = append(ids, id)
		}
	}
	return ids
}

// note remembers transactions that are sent.
func (w *world) note(txs ...*wire.MsgTx) (list []string) {
	for _, tx := range txs {
		w.txs[tx.TxHash()] = tx
		list = append(list, serialized(tx))
	}
	return list
}

// submission makes calls that send a transaction or a package, or test its
// acceptance.
func (w *world) submission() []differ.Call {
	switch n := w.IntN(20); {
	case n < 5:
		txs := w.family()
		list := w.note(txs...)
		if w.IntN(3) == 0 {
			return []differ.Call{call("testmempoolaccept", list), call("submitpackage", list)}
		}
		return []differ.Call{call("submitpackage", append([]any{list}, w.bounds()...)...)}
	case n < 6:
		var txs []*wire.MsgTx
		for range 1 + w.IntN(4) {
			txs = append(txs, w.single())
		}
		return []differ.Call{call("testmempoolaccept", w.note(txs...))}
	case n < 11 && len(w.pool) > 0:
		list := w.note(w.replacement())
		return []differ.Call{
			call("testmempoolaccept", list), call("sendrawtransaction", append([]any{list[0]}, w.bounds()...)...),
		}
	case n < 12 && len(w.txs) > 0:
		for _, id := range w.pool {
			return []differ.Call{call("sendrawtransaction", serialized(w.txs[id]))}
		}
	case n < 13 && len(w.pool) > 0:
		id := w.pool[w.IntN(len(w.pool))]
		return []differ.Call{call("prioritisetransaction", id.String(), nil, w.IntN(40_000)-15_000)}
	}
	list := w.note(w.single())
	if w.IntN(4) == 0 {
		return []differ.Call{call("testmempoolaccept", append([]any{list}, w.bounds()...)...)}
	}
	return []differ.Call{call("sendrawtransaction", append([]any{list[0]}, w.bounds()...)...)}
}

// bounds are the most that a transaction may pay, and may burn.
func (w *world) bounds() []any {
	rate := json.Number([...]string{"0", "0.1", "0.00001", "0.0002"}[w.IntN(4)])
	switch w.IntN(4) {
	case 0:
		return []any{rate}
	case 1:
		return nil
	default:
		return []any{"0"}
	}
}

// queries ask about the pool.
func (w *world) queries() []differ.Call {
	calls := []differ.Call{call("getrawmempool", false, true)}
	switch w.IntN(6) {
	case 0:
		calls = append(calls, call("getrawmempool", true))
	case 1:
		calls = append(calls, call("getprioritisedtransactions"))
	}
	if w.clusters {
		calls = append(calls, w.asksOfClusters()...)
	}
	if len(w.pool) == 0 {
		return calls
	}
	id := w.pool[w.IntN(len(w.pool))]
	in := w.txs[id].TxIn[0].PreviousOutPoint
	return append(calls,
		call("getmempoolentry", id.String()), call("getmempoolancestors", id.String(), w.IntN(2) == 0),
		call("getmempooldescendants", id.String(), w.IntN(2) == 0),
		call("gettxspendingprevout", []any{
			map[string]any{"txid": in.Hash.String(), "vout": in.Index}, map[string]any{"txid": id.String(), "vout": 0},
		}),
		call("gettxout", id.String(), 0), call("getrawtransaction", id.String(), w.IntN(2)))
}

// asksOfClusters make calls about what Core 30 does not have, and about the next block.
func (w *world) asksOfClusters() []differ.Call {
	calls := []differ.Call{call("getmempoolfeeratediagram")}
	if len(w.pool) > 0 {
		calls = append(calls, call("getmempoolcluster", w.pool[w.IntN(len(w.pool))].String()))
	}
	if w.IntN(3) == 0 {
		calls = append(calls, call("getblocktemplate", map[string]any{"rules": []string{"segwit"}}))
	}
	return calls
}
