package discovery_test

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/discovery"
	"github.com/seed61375155/trawl/actors/indexer"
	"github.com/seed61375155/trawl/actors/scanner"
	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/index/filter"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/segment"
)

func TestMain(m *testing.M) { actortest.Main(m) }

// rig is a chain in memory, with real filters, a real scanner and the actor.
type rig struct {
	net       *dialect.Network
	chain     *chaintest.Chain
	current   *chainview.Current
	sys       *actortest.System
	store     *segment.Store
	indexer   *ask.Ref
	scanner   *ask.Ref
	discovery *ask.Ref
	key       string // master key
}

func newRig(tb testing.TB) *rig {
	tb.Helper()
	net, err := dialect.Bitcoin("regtest")
	if err != nil {
		tb.Fatal(err)
	}
	r := &rig{net: net, chain: chaintest.New(net.Params), current: new(chainview.Current), sys: actortest.New(tb)}
	key, scalar, _ := descriptor.Master([]byte("a seed of sixteen or more bytes"))
	r.key = string(descriptor.EncodeXPrv(key, &scalar, net.Descriptors()))
	r.current.Set(r.chain)
	return r
}

// script returns a script of the wallet: of a form around KEY, at a path below the master key.
func (r *rig) script(tb testing.TB, form, path string) []byte {
	tb.Helper()
	text := fmt.Sprintf(form, r.key+path)
	branches, err := descriptor.Parse(text, r.net.Descriptors(), descriptor.Options{})
	if err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
	scripts, err := branches[0].Expand(0)
	if err != nil {
		tb.Fatal(err)
	}
	return scripts[0]
}

// last returns the transactions of the last block.
func (r *rig) last(tb testing.TB) []*wire.MsgTx {
	tb.Helper()
	raw, err := r.chain.Raw(&r.chain.Active().Tip().Hash)
	if err != nil {
		tb.Fatal(err)
	}
	var block wire.MsgBlock
	if err := block.Deserialize(bytes.NewReader(raw)); err != nil {
		tb.Fatal(err)
	}
	return block.Transactions
}

// spend has an output spent to scripts, each of which gets as much.
func spend(from *wire.MsgTx, amount int64, to ...[]byte) *wire.MsgTx {
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: from.TxHash()}})
	for _, script := range to {
		tx.AddTxOut(wire.NewTxOut(amount, script))
	}
	return tx
}

// start starts the indexer, the scanner and the actor.
func (r *rig) start(tb testing.TB, fetch chainview.Fetch) {
	tb.Helper()
	r.index(tb)
	r.spawn(fetch)
}

// index builds the filters of all blocks.
func (r *rig) index(tb testing.TB) {
	tb.Helper()
	store, err := segment.Open(segment.Options{Dir: filepath.Join(tb.TempDir(), "filters")})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = store.Close() })
	r.store = store
	r.indexer = r.sys.Spawn("indexer", indexer.New(indexer.Config{
		Store: store, Chain: r.current, Tip: new(ask.Feed[messages.TipChanged]),
		HeaderLen: func([]byte) int { return filters.HeaderLen }, Workers: 2, Log: r.sys.Log,
		OnFailed: func(err error) { tb.Error(err) },
	}), indexer.Requests...)
	_, err = ask.Ask(tb.Context(), r.indexer, messages.WaitIndexed{Block: r.chain.Active().Tip().Hash})
	if err != nil {
		tb.Fatal(err)
	}
}

func (r *rig) spawn(fetch chainview.Fetch) {
	r.scanner = r.sys.Spawn("scanner", scanner.New(scanner.Config{
		Scheduler: match.NewScheduler(match.SchedulerConfig{
			Source: filter.NewSource(r.store), Workers: 2, Repair: filter.RepairBy(r.indexer), Log: r.sys.Log,
		}),
		Chain: r.current, Indexer: r.indexer, HeaderLen: func([]byte) int { return filters.HeaderLen }, Fetch: fetch,
		Log: r.sys.Log,
	}), scanner.Requests...)
	r.discover(r.scanner, fetch)
}

// discover starts the actor over a scanner.
func (r *rig) discover(scanner *ask.Ref, fetch chainview.Fetch) {
	r.discovery = r.sys.Spawn("discovery", discovery.New(discovery.Config{
		Network: r.net, Chain: r.current, Scanner: scanner, Fetch: fetch, Log: r.sys.Log,
	}), discovery.Requests...)
}

// prune has all blocks pruned, and returns how they are fetched.
func (r *rig) prune(tb testing.TB) chainview.Fetch {
	tb.Helper()
	raws := map[chainhash.Hash][]byte{}
	for h := range r.chain.Active().Height() + 1 {
		b := r.chain.Active().At(h)
		raw, err := r.chain.Raw(&b.Hash)
		if err != nil {
			tb.Fatal(err)
		}
		raws[b.Hash] = raw
		r.chain.Fail(b, chainview.ErrPruned)
		r.chain.FailUndo(b, chainview.ErrPruned)
	}
	return func(_ context.Context, hash *chainhash.Hash) (got chainview.Fetched, err error) {
		got.Raw = raws[*hash]
		got.Block, _, err = r.net.ReadBlock(got.Raw)
		return got, err
	}
}

// do asks an actor, which must not fail.
func do[Q messages.Request[R], R any](tb testing.TB, ref *ask.Ref, q Q) R {
	tb.Helper()
	got, err := ask.Ask(tb.Context(), ref, q)
	if err != nil {
		tb.Fatalf("%T: %v", q, err)
	}
	return got
}

// fill makes blocks with payments to the wallet and from the wallet.
//
//	block 1   wpkh, account 0, receiving 3    50 BTC
//	block 2   spends that to tr, account 2, change 5, and a stranger, 20 BTC each
//	block 3   nothing
//	block 4   two transactions: pkh, account 1, receiving 7, which the second spends to receiving 17: 1 BTC each
//	block 5   spends the 20 BTC to pkh, account 4, receiving 0: 15 BTC
func (r *rig) fill(tb testing.TB) {
	tb.Helper()
	stranger := []byte{0x51}
	r.chain.Mine(chaintest.Template{Script: r.script(tb, "wpkh(%s)", "/84h/1h/0h/0/3")})
	first := r.last(tb)[0]
	change := r.script(tb, "tr(%s)", "/86h/1h/2h/1/5")
	both := spend(first, 20*btcutil.SatoshiPerBitcoin, change, stranger)
	r.chain.Mine(chaintest.Template{Script: stranger, Txs: []*wire.MsgTx{both}})
	other := r.last(tb)[0]
	r.chain.Mine(chaintest.Template{Script: stranger})
	in := spend(other, btcutil.SatoshiPerBitcoin, r.script(tb, "pkh(%s)", "/44h/1h/1h/0/7"))
	out := spend(in, btcutil.SatoshiPerBitcoin, r.script(tb, "pkh(%s)", "/44h/1h/1h/0/17"))
	r.chain.Mine(chaintest.Template{Script: stranger, Txs: []*wire.MsgTx{in, out}})
	last := spend(both, 15*btcutil.SatoshiPerBitcoin, r.script(tb, "pkh(%s)", "/44h/1h/4h/0/0"))
	r.chain.Mine(chaintest.Template{Script: stranger, Txs: []*wire.MsgTx{last}})
}

// filled are the accounts of fill, with gaps of 10 addresses and 3 accounts.
var filled = []string{
	"44/1 pkh(KEY) received 2 BTC spent 1 BTC in 4 to 4, ranges 27 9",
	"44/4 pkh(KEY) received 15 BTC spent 0 BTC in 5 to 5, ranges 10 9",
	"84/0 wpkh(KEY) received 50 BTC spent 50 BTC in 1 to 2, ranges 13 9",
	"86/2 tr(KEY) received 20 BTC spent 20 BTC in 2 to 5, ranges 9 15",
}

func (r *rig) order() messages.DiscoverAccounts {
	return messages.DiscoverAccounts{Source: []byte(r.key), Gap: 10, AccountGap: 3}
}

func texts(d *messages.Discovery) (list []string) {
	for i := range d.Accounts {
		a := &d.Accounts[i]
		var text strings.Builder
		fmt.Fprintf(&text, "%d/%d %s received %v spent %v in %d to %d, ranges", a.Purpose, a.Number, a.Form, a.Received,
			a.Spent, a.FirstHeight, a.LastHeight)
		for _, c := range a.Chains {
			fmt.Fprintf(&text, " %d", c.LastIndex)
		}
		list = append(list, text.String())
	}
	return list
}
