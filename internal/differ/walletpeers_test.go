package differ_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/differ"
	"github.com/seed61375155/trawl/internal/e2e"
	"github.com/seed61375155/trawl/internal/e2e/jsonrpc"
)

// TestWalletPeers has a wallet here and one of Core's pay each other, and themselves, over
// a connection: by all methods, to addresses of every descriptor type. Each node watches
// the other one's wallet: after every block both agree on the balances of both. Fees are
// within the rate that was asked for, and a kill of the node at random neither loses a
// coin nor pays twice.
func TestWalletPeers(t *testing.T) {
	p := differ.Start(t, differ.Config{
		Args: []string{
			"-keypool=30", "-fallbackfee=0.00005", "-whitelist=in,out,noban,relay,mempool@127.0.0.1", "-maxtxfee=1",
		},
		Peers: true,
	})
	w := newPeerWallets(t, p)
	w.begin()
	w.play()
}

// newPeerWallets returns the game of two sides that are connected.
func newPeerWallets(t *testing.T, p *differ.Pair) *peerWallets {
	t.Helper()
	w := &peerWallets{t: t, p: p, Rand: differ.Random(t), kinds: make(map[string]int)}
	w.took = make(map[string]time.Duration)
	w.trawl, w.core = &side{name: "trawld", wallet: "ours"}, &side{name: "bitcoind", wallet: "theirs"}
	w.trawl.call = func(result any, wallet, method string, params ...any) error {
		return p.Trawl.CallWallet(t.Context(), wallet, result, method, params...)
	}
	w.core.call = func(result any, wallet, method string, params ...any) error {
		return p.Core.CallWallet(t.Context(), wallet, result, method, params...)
	}
	w.trawl.other, w.core.other = w.core, w.trawl
	w.trawl.watched, w.core.watched = "ours-watched", "theirs-watched"
	w.changeTypes, w.changeCost = []string{"legacy", "p2sh-segwit", "bech32", "bech32m"}, 43+148
	w.connect()
	return w
}

// play pays until there were enough payments.
func (w *peerWallets) play() {
	w.t.Helper()
	for cases := differ.Cases(w.t, 400) / perCase; w.sends < cases; {
		w.round()
	}
	w.t.Logf("%d sends (%v), %d refused, %d blocks, %d kills; time: %v", w.sends, w.kinds, w.refused, w.blocks, w.kills,
		w.took)
	w.p.Alive()
}

// A side is a node with a wallet of its own.
type side struct {
	name    string // of the node
	wallet  string // its own
	watched string // the name by which the other side has it, which watches it
	call    func(result any, wallet, method string, params ...any) error
	to      []string // addresses
	other   *side

	replaceable []string // its transactions that are not confirmed
}

// peerWallets plays with two sides.
type peerWallets struct {
	*rand.Rand

	t     *testing.T
	p     *differ.Pair
	trawl *side
	core  *side

	same        bool     // both have one wallet, with its keys
	changeTypes []string // of addresses for change
	changeCost  float64  // virtual bytes that change takes at most, where it is made and where it is spent

	sends, refused, blocks, kills, keyed int
	kinds                                map[string]int
	pending                              []string // all ids of trawld's wallet since the last block
	took                                 map[string]time.Duration
}

// timed adds the time until the returned function is called to that of a step.
func (w *peerWallets) timed(step string) func() {
	began := time.Now()
	return func() { w.took[step] += time.Since(began).Round(time.Millisecond) }
}

func (w *peerWallets) begin() {
	for _, s := range []*side{w.trawl, w.core} {
		w.get(s, nil, "", "createwallet", s.wallet, false, false, "", false, true, true)
		w.importAll(s)
		w.watch(s)
	}
	for _, s := range []*side{w.trawl, w.core} {
		w.get(s, nil, "", "generatetoaddress", 30, s.to[0])
		w.settle()
	}
	w.get(w.core, nil, "", "generatetoaddress", 100, w.trawl.to[0])
	w.settle()
	w.agree()
}

func (w *peerWallets) connect() {
	w.get(w.core, nil, "", "addnode", w.p.Trawl.P2P, "onetry")
	e2e.Eventually(w.t, time.Minute, "both are connected", func() bool {
		var peers []any
		return w.trawl.call(&peers, "", "getpeerinfo") == nil && len(peers) > 0
	})
}

func (w *peerWallets) get(s *side, result any, wallet, method string, params ...any) {
	w.t.Helper()
	if err := s.call(result, wallet, method, params...); err != nil {
		w.t.Fatalf("%s: %s %.300s: %v\nlog of trawld:\n%s", s.name, method, fmt.Sprint(params...), err, w.p.Trawl.LogTail())
	}
}

// forms are descriptors beside those that every wallet has, with a key in place of K.
var forms = []string{
	"pkh(K/1/*)", "sh(multi(1,K/2/*,K/3/*))", "wsh(multi(2,K/4/*,K/5/*))", "sh(wsh(sortedmulti(1,K/6/*,K/7/*)))",
	"wsh(or_d(pk(K/8/*),and_v(v:pk(K/9/*),after(1))))", "tr(K/10/*,pk(K/11/*))",
	"tr(K/12/*,{pk(K/13/*),multi_a(1,K/14/*,K/15/*)})", "rawtr(K/16/*)", "combo(K/17/*)", "sh(wpkh(K/18/*))",
	"wsh(pkh(K/19/*))", "sh(pkh(K/20/*))",
}

// importAll gives a wallet coins to be of every descriptor type.
func (w *peerWallets) importAll(s *side) {
	key := (&walletPlay{keys: keys{w.Rand}}).extendedMaster()
	for _, kind := range []string{"bech32", "legacy", "p2sh-segwit", "bech32m"} {
		for range 4 {
			var address string
			w.get(s, &address, s.wallet, "getnewaddress", "", kind)
			s.to = append(s.to, address)
		}
	}
	var items []any
	for _, form := range forms {
		text := descriptor.AddChecksum(strings.ReplaceAll(form, "K", key))
		items = append(items, map[string]any{"desc": text, "timestamp": "now", "range": []int{0, 5}})
		var addresses any
		w.get(s, &addresses, "", "deriveaddresses", text, []int{0, 5})
		var play walletPlay
		play.noteAddresses(addresses)
		s.to = append(s.to, play.addresses...)
	}
	w.importInto(s, s.wallet, items)
}

func (w *peerWallets) importInto(s *side, wallet string, items []any) {
	w.t.Helper()
	var results []struct {
		Success bool
		Error   any
	}
	w.get(s, &results, wallet, "importdescriptors", items)
	for i, r := range results {
		if !r.Success {
			w.t.Fatalf("%s: %v: %v", s.name, items[i], r.Error)
		}
	}
}

// watch has the other side watch a wallet.
func (w *peerWallets) watch(s *side) {
	var list struct{ Descriptors []map[string]any }
	w.get(s, &list, s.wallet, "listdescriptors")
	var items []any
	for _, d := range list.Descriptors {
		delete(d, "next")
		d["timestamp"] = "now"
		items = append(items, d)
	}
	w.get(s.other, nil, "", "createwallet", s.watched, true, true, "", false, true, true)
	w.importInto(s.other, s.watched, items)
}

// round makes some payments, perhaps a kill, and a block.
func (w *peerWallets) round() {
	w.t.Helper()
	for range 1 + w.IntN(12) {
		w.pay(pick(w.Rand, []*side{w.trawl, w.trawl, w.core}, nil))
		if w.same || w.IntN(4) == 0 {
			w.share()
		}
	}
	if w.IntN(12) == 0 {
		w.kill()
	}
	w.share()
	miner := pick(w.Rand, []*side{w.trawl, w.core}, nil)
	w.get(miner, nil, "", "generatetoaddress", 1, pick(w.Rand, miner.to, ""))
	w.blocks++
	w.settle()
	w.agree()
}

// kill ends trawld while a payment may be under way, and starts it again. The interrupted
// payment is repeated by its key.
func (w *peerWallets) kill() {
	defer w.timed("kill")()
	params := w.sendToAddress(w.trawl)
	w.keyed++
	params = append(params, fmt.Sprint("key ", w.keyed))
	client, cut := w.p.Trawl.Client, make(chan string, 1)
	go func() {
		var id string
		_ = client.CallWallet(w.t.Context(), w.trawl.wallet, &id, "sendtoaddress", params...)
		cut <- id
	}()
	<-time.After(time.Duration(w.Int64N(int64(15 * time.Millisecond))))
	w.p.Trawl.Kill()
	before := <-cut
	w.p.Trawl.Restart()
	w.kills++
	w.connect()
	var after string
	err := w.trawl.call(&after, w.trawl.wallet, "sendtoaddress", params...)
	switch {
	case before != "" && after != before:
		w.t.Errorf("was answered %q before the kill, %q after it, %v", before, after, err)
	case err == nil:
		w.sends++
		w.kinds["repeated"]++
		w.pending = append(w.pending, after)
	}
	for _, id := range w.pending {
		w.get(w.trawl, nil, w.trawl.wallet, "gettransaction", id)
	}
}

// share has both pools take what the other one has.
func (w *peerWallets) share() {
	w.t.Helper()
	defer w.timed("share")()
	tries := 0
	e2e.Eventually(w.t, 2*time.Minute, "both pools are the same", func() bool {
		pools := map[*side]map[string]struct{ Depends []string }{}
		for _, s := range []*side{w.trawl, w.core} {
			var pool map[string]struct{ Depends []string }
			w.get(s, &pool, "", "getrawmempool", true)
			pools[s] = pool
		}
		same := slices.Equal(slices.Sorted(maps.Keys(pools[w.trawl])), slices.Sorted(maps.Keys(pools[w.core])))
		const patience = 100
		if tries++; !same && tries%patience == 0 { // after a kill nobody announces again
			for s, pool := range pools {
				for id := range pool {
					var raw string
					if s.call(&raw, "", "getrawtransaction", id) == nil {
						err := s.other.call(nil, "", "sendrawtransaction", raw)
						if err != nil && tries%(10*patience) == 0 {
							w.t.Logf("%s of %s is not taken by %s: %v", id, s.name, s.other.name, err)
						}
					}
				}
			}
		}
		return same
	})
}

// settle waits until both have the same tip, and their wallets have seen it.
func (w *peerWallets) settle() {
	w.t.Helper()
	defer w.timed("settle")()
	e2e.Eventually(w.t, 2*time.Minute, "both have the same tip", func() bool {
		var ours, theirs string
		w.get(w.trawl, &ours, "", "getbestblockhash")
		w.get(w.core, &theirs, "", "getbestblockhash")
		return ours == theirs
	})
	w.get(w.core, nil, "", "syncwithvalidationinterfacequeue")
	w.pending, w.trawl.replaceable, w.core.replaceable = nil, nil, nil
}

// agree compares the balances of each wallet with those that the other side sees.
func (w *peerWallets) agree() {
	w.t.Helper()
	defer w.timed("agree")()
	for _, s := range []*side{w.trawl, w.core} {
		var own, watched struct{ Mine json.RawMessage }
		var ownCoins, seenCoins []struct {
			TxID string
			Vout int
		}
		w.get(s, &own, s.wallet, "getbalances")
		w.get(s.other, &watched, s.watched, "getbalances")
		w.get(s, &ownCoins, s.wallet, "listunspent", 0)
		w.get(s.other, &seenCoins, s.watched, "listunspent", 0)
		if string(own.Mine) != string(watched.Mine) || len(ownCoins) != len(seenCoins) {
			w.t.Fatalf("block %d: wallet of %s: %s with %d coins, the other side sees %s with %d\nlog of trawld:\n%s",
				w.blocks, s.name, own.Mine, len(ownCoins), watched.Mine, len(seenCoins), w.p.Trawl.LogTail())
		}
	}
}

// isRefusal reports whether an error is what a node says to a request that it understood.
func isRefusal(err error) bool { return errors.As(err, new(jsonrpc.Error)) }
