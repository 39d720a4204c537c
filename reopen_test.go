package trawl_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed61375155/trawl"
	"github.com/seed61375155/trawl/messages"
)

// faulty is the context of a request over which the chain's actor fails in its worker.
type faulty struct{ context.Context }

func (f faulty) Err() error {
	if strings.Contains(string(debug.Stack()), "/actors/chain.") {
		panic("injected fault")
	}
	return f.Context.Err()
}

// heard collects what a node tells of tips.
type heard struct {
	mu   sync.Mutex
	list map[string][]string // by who tells
}

func (h *heard) add(by, what string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.list[by] = append(h.list[by], what)
}

// told returns what somebody has told until now.
func (h *heard) told(by string) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.list[by])
}

// await waits until something was told.
func (h *heard) await(t *testing.T, by, what string) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if slices.Contains(h.told(by), what) {
			return
		}
	}
	t.Fatalf("%s was not told of %s, but of %d", by, what, len(h.told(by)))
}

// whole is a node with all parts under test.
type whole struct {
	*trawl.Node
	t      *testing.T
	search string
	txs    []string
}

func (n *whole) call(result any, wallet, method string, params ...any) {
	n.t.Helper()
	var opts []trawl.CallOption
	if wallet != "" {
		opts = append(opts, trawl.ForWallet(wallet))
	}
	if params == nil {
		params = []any{}
	}
	answer, err := n.Call(n.t.Context(), method, params, opts...)
	if err == nil && result != nil {
		err = json.Unmarshal(answer, result)
	}
	if err != nil {
		n.t.Fatalf("%s %s %v: %v", wallet, method, params, err)
	}
}

// answers returns what the node says of everything that follows the chain.
func (n *whole) answers() (list []string) {
	n.t.Helper()
	say := func(wallet, method string, params ...any) {
		n.t.Helper()
		var answer any
		n.call(&answer, wallet, method, params...)
		if m, ok := answer.(map[string]any); ok {
			for _, key := range []string{"size_on_disk", "mediantime", "usage", "progress", "curtime", "longpollid", "disk_size"} {
				delete(m, key) // which change by themselves
			}
		}
		text, err := json.Marshal(answer)
		if err != nil {
			n.t.Fatal(err)
		}
		list = append(list, fmt.Sprint(wallet, " ", method, params, ": ", string(text)))
	}
	var tip string
	n.call(&tip, "", "getbestblockhash")
	var wallets []string
	n.call(&wallets, "", "listwallets")
	slices.Sort(wallets)
	list = append(list, fmt.Sprint(wallets))
	for _, w := range wallets {
		say(w, "getbalances")
		say(w, "listtransactions", "*", 1000)
		say(w, "listunspent", 0)
	}
	say("", "getblockchaininfo")
	say("", "getchaintips")
	say("", "getchaintxstats")
	say("", "getindexinfo")
	say("", "gettxoutsetinfo", "muhash")
	say("", "gettxoutsetinfo", "hash_serialized_3", nil, false)
	say("", "getblockfilter", tip)
	say("", "getrawmempool")
	say("", "scanblocks", "start", []string{"raw(51)"})
	say("", "getblocktemplate", map[string]any{"rules": []string{"segwit"}})
	for _, id := range n.txs {
		say("", "getrawtransaction", id, 1)
		say("", "gettxspendingprevout", []any{map[string]any{"txid": id, "vout": 0}, map[string]any{"txid": id, "vout": 1}})
	}
	var page any
	n.call(&page, "", "getsearchentries", n.search)
	return list
}

// The chain's actor fails three times and reopens the chain. This happens under a node with every part on,
// under a peer that is also a member of its cluster, and under a node that is attached to the first node.
// Each part goes on, and in the end answers as a fresh node does on the same files.
func TestEveryPartOverReopenedChain(t *testing.T) {
	told := &heard{list: make(map[string][]string)}
	cfg := regtest(t.TempDir())
	cfg.TxIndex, cfg.CoinStatsIndex, cfg.TxoSpenderIndex, cfg.RangeFilters = true, true, true, true
	cfg.ScriptIndex = true
	cfg.Searches.LeastRoom = 1
	cfg.Wallets = &trawl.WalletConfig{KeyPool: 2}
	cfg.Notify = &trawl.NotifyConfig{
		Block: "%s", Publisher: subscribed(t, told),
		Run: func(_ context.Context, command string) { told.add("command", command) },
	}
	at := freeAddress(t)
	cfg.Peers = &trawl.PeerConfig{Bind: []string{at}, MaxPeers: 40}
	var log lockedLog
	cfg.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelError}))
	peer := follower(t)
	peer.BlockFilterIndex = true
	peer.Peers = &trawl.PeerConfig{Connect: []string{at}, MaxPeers: 40}
	here, there := freeAddress(t), freeAddress(t)
	cfg.Cluster, peer.Cluster = clustered(t, here, there), clustered(t, there, here)

	n := &whole{Node: open(t, cfg), t: t}
	other := &whole{Node: open(t, peer), t: t}
	web, stopWeb := served(t, n.Node)
	attachedDir := t.TempDir()
	attached := &whole{Node: open(t, attachedTo(t, web, attachedDir)), t: t}
	addresses := map[string]string{}
	for _, w := range []string{"one", "two"} {
		n.call(nil, "", "createwallet", w, false, false, "", false, true, true)
		var address string
		n.call(&address, w, "getnewaddress")
		addresses[w] = address
	}
	n.call(nil, "", "generatetoaddress", 103, addresses["one"])
	var made struct{ ID string }
	n.call(&made, "", "createsearch", []string{"addr(" + addresses["two"] + ")"},
		map[string]any{"name": "s", "follow": true, "mempool": true})
	n.search = made.ID

	ctx, cancel := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	defer readers.Wait()
	defer cancel()
	for _, topic := range []string{"tip", "mempool", "peer", "scan", "wallet", "search"} {
		s, err := n.Events().Open(ctx, "topics="+topic, "", func(string) bool { return true })
		if err != nil {
			t.Fatal(topic, err)
		}
		readers.Go(func() {
			defer func() { s.Close() }()
			for {
				e, err := s.Next(ctx)
				if ctx.Err() != nil {
					return
				}
				if errors.Is(err, messages.ErrLagged) { // a slow reader opens its stream again
					again, failed := n.Events().Open(ctx, "topics="+topic, "", func(string) bool { return true })
					if failed == nil {
						s.Close()
						s = again
						continue
					}
					err = failed
				}
				if err != nil {
					t.Errorf("the stream of %s has ended: %v", topic, err)
					return
				}
				told.add("stream "+topic, e.Name)
				if e.Name == "tip" {
					var tip struct{ BlockHash string }
					if err := json.Unmarshal(e.Data, &tip); err != nil {
						t.Error(err)
					}
					told.add("tips", tip.BlockHash)
				}
			}
		})
	}

	template := map[string]any{"rules": []string{"segwit"}}
	var mined []string
	mine := func(to string) (hash string) {
		t.Helper()
		var hashes []string
		n.call(&hashes, "", "generatetoaddress", 1, addresses[to])
		mined = append(mined, hashes[0])
		return hashes[0]
	}
	for round := range 3 {
		var polled struct {
			LongPollID string
			Previous   string `json:"previousblockhash"`
		}
		n.call(&polled, "", "getblocktemplate", template)
		longPoll := make(chan string, 1)
		readers.Go(func() {
			answer, err := n.Call(ctx, "getblocktemplate", []any{map[string]any{
				"rules": []string{"segwit"}, "longpollid": polled.LongPollID,
			}})
			longPoll <- fmt.Sprint(string(answer), err)
		})
		reopen(t, n.Node)
		reopen(t, other.Node)
		reopen(t, attached.Node)
		tip := mine("two")
		if got := <-longPoll; !strings.Contains(got, `"previousblockhash":"`+tip+`"`) {
			t.Errorf("round %d: the long poll has %.300s", round, got)
		}
		var id string
		n.call(&id, "one", "sendtoaddress", addresses["two"], 1+round, "", "", false, true, nil, "unset", nil, 5)
		n.txs = append(n.txs, id)
		var pool []string
		if n.call(&pool, "", "getrawmempool"); !slices.Equal(pool, []string{id}) {
			t.Errorf("round %d: in the pool is %v, want %s", round, pool, id)
		}
		last := mine("one")
		for _, by := range []string{"tips", "command", "published"} {
			told.await(t, by, last)
		}
		n.answers()
		other.call(nil, "", "waitforblock", last, 60_000)
		var best string
		if other.call(&best, "", "getbestblockhash"); best != last {
			t.Errorf("round %d: the peer is at %s, want %s", round, best, last)
		}
		lent(t, n)
		lent(t, other)
		web.shows(n.search, last)
		attachedAnswers(t, attached, last, addresses["two"])
	}
	for _, by := range []string{"tips", "command", "published"} {
		if got := told.told(by); !slices.Equal(got[len(got)-len(mined):], mined) {
			t.Errorf("%s tell of %v, mined are %v", by, got, mined)
		}
	}
	for _, topic := range []string{"mempool", "scan", "wallet", "search"} {
		if got := told.told("stream " + topic); len(got) < 3 {
			t.Errorf("the stream of %s has told %v", topic, got)
		}
	}
	if strings.Count(log.String(), "panicked") != 3 {
		t.Errorf("the log is\n%s", log.String())
	}
	last := mined[len(mined)-1]
	got, pages := n.answers(), web.shows(n.search, last)
	follows := attachedAnswers(t, attached, last, addresses["two"])
	states, _ := members(t, n)
	cancel()
	readers.Wait()
	shut(t, attached.Node)
	stopWeb()
	shut(t, n.Node)
	cfg.Cluster = clustered(t, here, there)
	fresh := &whole{Node: open(t, cfg), t: t, search: n.search, txs: n.txs}
	same(t, "the node", got, fresh.answers())
	freshWeb, _ := served(t, fresh.Node)
	for count, end := 0, time.Now().Add(30*time.Second); count == 0 && time.Now().Before(end); {
		fresh.call(&count, "", "getconnectioncount") // the pages tell of the peer
	}
	same(t, "the page", pages, freshWeb.shows(n.search, last))
	lent(t, fresh)
	freshStates, _ := members(t, fresh)
	same(t, "the cluster", states, freshStates)
	attached = &whole{Node: open(t, attachedTo(t, freshWeb, attachedDir)), t: t}
	same(t, "the attached node", follows, attachedAnswers(t, attached, last, addresses["two"]))
}
