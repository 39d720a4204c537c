package e2e_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/e2e"
)

// A caller is the client of a node.
type caller func(result any, method string, params ...any)

// A verboseBlock is what getblock tells of a block with the outputs that it spends.
type verboseBlock struct {
	Hash   string
	Height int
	Tx     []struct {
		TxID string
		Vin  []struct {
			TxID    string
			Vout    int
			Prevout *verboseOutput
		}
		Vout []verboseOutput
	}
}

type verboseOutput struct {
	Value        json.Number
	N            int
	ScriptPubKey struct{ Hex, Type string }
}

// activityLine is an entry in short: what a search and an oracle have in common.
func activityLine(kind, hash, txid string, n int, amount json.Number) string {
	return fmt.Sprintf("%s %s of %s:%d in %s", kind, amount, txid, n, hash)
}

// activityOf returns what the blocks of a node have to do with some scripts, in order.
func activityOf(get caller, from int, ours func(script string) bool) (list []string) {
	var height int
	get(&height, "getblockcount")
	for h := from; h <= height; h++ {
		var hash string
		var block verboseBlock
		get(&hash, "getblockhash", h)
		get(&block, "getblock", hash, 3)
		for _, tx := range block.Tx {
			for n, in := range tx.Vin {
				if in.Prevout != nil && ours(in.Prevout.ScriptPubKey.Hex) {
					list = append(list, activityLine("spend", hash, tx.TxID, n, in.Prevout.Value))
				}
			}
			for _, out := range tx.Vout {
				if ours(out.ScriptPubKey.Hex) {
					list = append(list, activityLine("receive", hash, tx.TxID, out.N, out.Value))
				}
			}
		}
	}
	return list
}

// searched returns the entries of a search when it is in a state, and its error.
func searched(t *testing.T, get caller, id, state string) (list []string, failed string) {
	t.Helper()
	var s struct{ State, Error string }
	e2e.Eventually(t, time.Minute, "the search is "+state, func() bool {
		get(&s, "getsearch", id)
		return s.State == state
	})
	var page struct {
		Entries []struct {
			Type, TxID, BlockHash string
			Vout                  int
			SpendTxID             string `json:"spend_txid"`
			SpendVin              int    `json:"spend_vin"`
			Amount                json.Number
		}
		More   bool
		Cursor string
	}
	for page.More = true; page.More; {
		page.Entries = nil
		get(&page, "getsearchentries", id, page.Cursor, 50)
		for _, e := range page.Entries {
			id, n := e.TxID, e.Vout
			if e.Type == "spend" {
				id, n = e.SpendTxID, e.SpendVin
			}
			list = append(list, activityLine(e.Type, e.BlockHash, id, n, e.Amount))
		}
	}
	return list, s.Error
}

func wantActivity(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%d entries:\n%.3000s\nwant %d:\n%.3000s",
			len(got), strings.Join(got, "\n"), len(want), strings.Join(want, "\n"))
	}
	spends := slices.ContainsFunc(want, func(line string) bool { return strings.HasPrefix(line, "spend") })
	if !spends || len(want) < 10 {
		t.Errorf("%d entries, spends among them: %v: that tells little", len(want), spends)
	}
}

// The list of a search over a recorded P2MR chain is what its blocks have.
func TestP2MRSearch(t *testing.T) {
	t.Parallel()
	d := e2e.Start(t, e2e.Config{
		Chain: "regtest", Blocks: []string{p2mrChain},
		Args: []string{"-dialect=qbit", "-blockfilterindex=1", "-searchroom=1"},
	})
	n := p2mrNode{&trawlNode{Daemon: d}}
	e2e.Eventually(t, syncLimit, "the recorded tip", func() bool { return n.best(t) == p2mrTip })
	known := map[string]bool{} // some of the scripts
	ours := func(script string) bool {
		p2mr := strings.HasPrefix(script, "5220") && len(script) == 68 && strings.Contains("02468ace", script[67:])
		if p2mr {
			known[script] = true
		}
		return p2mr
	}
	want := activityOf(n.Get, 0, ours)
	var objects []string
	for script := range known {
		var v struct{ Address string }
		n.Get(&v, "decodescript", script)
		objects = append(objects, "addr("+v.Address+")")
	}
	var made struct{ ID string }
	n.Get(&made, "createsearch", objects, map[string]any{"follow": true})
	got, _ := searched(t, n.Get, made.ID, "following")
	wantActivity(t, got, want)
	var height int
	n.Get(&height, "getblockcount")
	n.mine(t, 3)
	var tip string
	n.Get(&tip, "getbestblockhash")
	e2e.Eventually(t, time.Minute, "the search follows", func() bool {
		var s struct{ BlockHash string }
		n.Get(&s, "getsearch", made.ID)
		return s.BlockHash == tip
	})
	want = append(want, activityOf(n.Get, height+1, func(script string) bool { return known[script] })...)
	got, _ = searched(t, n.Get, made.ID, "following")
	wantActivity(t, got, want)
}

// payAndSpend has a wallet be paid and pay, in blocks that are small, and then makes so
// many that its first ones are pruned away. It returns the descriptors of the wallet.
func payAndSpend(get caller) (objects []any, scripts map[string]bool) {
	get(nil, "createwallet", "w")
	var own, other string
	get(&own, "getnewaddress")
	get(&other, "getnewaddress", "", "bech32m")
	get(nil, "generatetoaddress", 101, own)
	for range 8 {
		get(nil, "sendtoaddress", other, 30)
		get(nil, "generatetoaddress", 5, own)
	}
	get(nil, "generatetoaddress", 700, "bcrt1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqdku202")
	var listed struct {
		Descriptors []struct {
			Desc  string
			Range []int
		}
	}
	get(&listed, "listdescriptors")
	scripts = map[string]bool{}
	for _, d := range listed.Descriptors {
		objects = append(objects, map[string]any{"desc": d.Desc, "range": 30})
		var addresses []string
		get(&addresses, "deriveaddresses", d.Desc, 30)
		for _, a := range addresses {
			var v struct{ ScriptPubKey string }
			get(&v, "validateaddress", a)
			scripts[v.ScriptPubKey] = true
		}
	}
	return objects, scripts
}

// wantSearchOfPruned searches in a node that has pruned for what another has whole.
func wantSearchOfPruned(t *testing.T, pruned, whole caller, objects []any, scripts map[string]bool) {
	t.Helper()
	var made struct{ ID string }
	pruned(&made, "createsearch", objects)
	want := activityOf(whole, 0, func(script string) bool { return scripts[script] })
	got, _ := searched(t, pruned, made.ID, "done")
	wantActivity(t, got, want)

	// Outputs spent from pruned blocks are not known any more.
	pruned(&made, "createsearch", objects, map[string]any{"start_height": 102})
	list, said := searched(t, pruned, made.ID, "failed")
	if !strings.Contains(said, "Undo data") {
		t.Errorf("failed with %q after %d entries", said, len(list))
	}
	held := func(line string) bool { return slices.Contains(want, line) }
	if i := slices.IndexFunc(list, func(line string) bool { return !held(line) }); i >= 0 {
		t.Errorf("an entry that is none: %s", list[i])
	}
}

// A node that has pruned fetches what a search has to read from its peers; no amount is
// missing, and no spend left out.
func TestSearchOfPrunedNode(t *testing.T) {
	t.Parallel()
	whole := startPeer(t, "-blockfilterindex=1", "-fallbackfee=0.0001")
	pruned := startPeer(t, "-blockfilterindex=1", "-prune=1", "-fastprune=1", "-searchroom=1")
	objects, scripts := payAndSpend(whole.Get)
	pruned.connect(t, whole.peer)
	agree(t, "the chain", whole, pruned)
	pruned.Get(nil, "pruneblockchain", 400)
	wantSearchOfPruned(t, pruned.Get, whole.Get, objects, scripts)
}

// The same beside a Core that has pruned, and beside a Core that has not.
func TestLiveAttachSearch(t *testing.T) {
	t.Parallel()
	at := e2e.FreeAddr(t)
	whole := startBitcoind(t, "listen=1", "bind="+at, "fallbackfee=0.0001")
	core := startBitcoind(t, "prune=1", "fastprune=1", "connect="+at)
	objects, scripts := payAndSpend(whole.get)
	var tip string
	var height int32
	whole.get(&tip, "getbestblockhash")
	whole.get(&height, "getblockcount")
	e2e.Eventually(t, time.Minute, "it has all blocks", func() bool {
		var best string
		core.get(&best, "getbestblockhash")
		return best == tip
	})
	core.get(nil, "pruneblockchain", 400)
	d := e2e.Start(t, e2e.Config{Chain: "regtest", Args: []string{"-attach=" + core.dir, "-searchroom=1"}})
	d.WaitTip(tip, height, true)
	wantSearchOfPruned(t, d.Get, whole.get, objects, scripts)

	d = e2e.Start(t, e2e.Config{Chain: "regtest", Args: []string{"-attach=" + whole.dir, "-searchroom=1"}})
	d.WaitTip(tip, height, true)
	var made struct{ ID string }
	d.Get(&made, "createsearch", objects, map[string]any{"follow": true})
	list, _ := searched(t, d.Get, made.ID, "following")
	wantActivity(t, list, activityOf(whole.get, 0, func(script string) bool { return scripts[script] }))
	wantUnconfirmed(t, d.Get, whole.get, objects)
}

// wantUnconfirmed has a wallet pay itself, and looks for that with a search that asks for the
// memory pool.
func wantUnconfirmed(t *testing.T, search, wallet caller, objects []any) {
	t.Helper()
	var address string
	wallet(&address, "getnewaddress")
	for range 3 {
		wallet(nil, "sendtoaddress", address, 0.5)
	}
	var made struct{ ID string }
	search(&made, "createsearch", objects, map[string]any{"follow": true, "mempool": true})
	wallet(nil, "sendtoaddress", address, 0.25)
	for _, mined := range []bool{false, true} {
		if mined {
			wallet(nil, "generatetoaddress", 1, address)
		}
		var want struct{ Activity []map[string]any }
		wallet(&want, "getdescriptoractivity", []any{}, objects, true)
		if len(want.Activity) > 0 == mined {
			t.Errorf("the oracle has %d", len(want.Activity))
		}
		var got []map[string]any
		e2e.Eventually(t, time.Minute, "the unconfirmed are those of getdescriptoractivity", func() bool {
			var page struct{ Unconfirmed []map[string]any }
			search(&page, "getsearchentries", made.ID)
			for _, e := range page.Unconfirmed {
				delete(e, "desc")
				delete(e, "index")
			}
			got = page.Unconfirmed
			return sameMaps(got, want.Activity)
		})
	}
}

// sameMaps reports whether two lists have the same, in any order.
func sameMaps(a, b []map[string]any) bool {
	texts := func(list []map[string]any) (all []string) {
		for _, m := range list {
			text, _ := json.Marshal(m)
			all = append(all, string(text))
		}
		slices.Sort(all)
		return all
	}
	return slices.Equal(texts(a), texts(b))
}

// A search lists the same transactions of the memory pool as getdescriptoractivity.
func TestSearchUnconfirmed(t *testing.T) {
	t.Parallel()
	d := e2e.Start(t, e2e.Config{
		Chain: "regtest", Args: []string{"-blockfilterindex=1", "-searchroom=1", "-fallbackfee=0.0001", "-keypool=5"},
	})
	d.Get(nil, "createwallet", "w")
	var address string
	d.Get(&address, "getnewaddress")
	d.Get(nil, "generatetoaddress", 105, address)
	var listed struct {
		Descriptors []struct{ Desc string }
	}
	d.Get(&listed, "listdescriptors")
	var objects []any
	for _, l := range listed.Descriptors {
		objects = append(objects, map[string]any{"desc": l.Desc, "range": 30})
	}
	wantUnconfirmed(t, d.Get, d.Get, objects)
	d.Kill()
	d.Restart()
	d.Get(nil, "loadwallet", "w")
	wantUnconfirmed(t, d.Get, d.Get, objects)
}
