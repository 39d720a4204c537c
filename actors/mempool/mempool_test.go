package mempool_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/chain"
	"github.com/seed61375155/trawl/actors/mempool"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/internal/engine"
	"github.com/seed61375155/trawl/internal/engine/bitcoin"
	"github.com/seed61375155/trawl/internal/enginetest"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/internal/txpool"
	"github.com/seed61375155/trawl/messages"
)

// anyone is a script that anybody can spend from: the witness program of
// OP_TRUE.
var anyone = []byte{
	0x00, 0x20, 0x4a, 0xe8, 0x15, 0x72, 0xf0, 0x6e, 0x1b, 0x88, 0xfd, 0x5c, 0xed, 0x7a, 0x1a, 0x00,
	0x09, 0x45, 0x43, 0x2e, 0x83, 0xe1, 0x55, 0x1e, 0x6f, 0x72, 0x1e, 0xe9, 0xc0, 0x0b, 0x8c, 0xc3, 0x32, 0x60,
}

// blocks is how many blocks there are: the coins of all but 100 are mature.
const blocks = 110

// rig is a pool above a real chain.
type rig struct {
	t     *testing.T
	sys   *actortest.System
	chain *ask.Ref
	pool  *ask.Ref
	view  *chainview.Current
	tip   ask.Feed[messages.TipChanged]
	feed  ask.Feed[messages.PoolChanged]
	file  string
	coins []wire.OutPoint // mature
}

func newRig(t *testing.T, change ...func(*mempool.Config)) *rig {
	t.Helper()
	r := &rig{t: t, sys: actortest.New(t), view: new(chainview.Current)}
	dir := t.TempDir()
	r.file = filepath.Join(dir, "mempool.dat")
	r.chain = r.sys.Spawn("chain", chain.New(chain.Config{
		Open: func(context.Context) (engine.Engine, error) {
			e, err := enginetest.Open(dir)
			return withoutFiles{e}, err
		},
		Network: enginetest.Regtest(t), Current: r.view, Tip: &r.tip, Log: r.sys.Log,
		OnFailed: func(err error) { t.Error(err) },
	}), chain.Requests...)
	ok(ask.Ask(t.Context(), r.chain, messages.WaitOpen{})).must(t)
	r.start(change...)
	r.mine(blocks)
	for h := int32(1); h <= blocks-99; h++ {
		r.coins = append(r.coins, wire.OutPoint{Hash: r.block(h).Transactions[0].TxHash()})
	}
	return r
}

// withoutFiles has nothing to import.
type withoutFiles struct{ *bitcoin.Engine }

func (withoutFiles) Stored() *engine.Stored { return nil }

func (r *rig) start(change ...func(*mempool.Config)) {
	cfg := mempool.Config{
		Chain: r.chain, View: r.view, Tip: &r.tip, Feed: &r.feed,
		Rules: txpool.Rules{
			Unit:  "BTC",
			Forms: txpool.Forms{TRUCSize: 10_000, TRUCChildSize: 1_000},
			Rules: consensus.Rules{
				MaxMoney: 21e14, Maturity: 100, MaxWeight: 4e6, MaxSigOps: 80_000, WitnessScale: 4,
			},
			Verify: func(tx *wire.MsgTx, spent []*wire.TxOut, _ int32) error { return rawtx.Verify(tx, spent) },
		},
		Policy: txpool.DefaultPolicy(), File: r.file, Persist: true, Now: time.Now, Log: r.sys.Log,
	}
	for _, c := range change {
		c(&cfg)
	}
	r.pool = r.sys.Spawn("mempool", mempool.New(cfg), mempool.Requests...)
}

// answer is a result with its error.
type answer[R any] struct {
	got R
	err error
}

func ok[R any](got R, err error) answer[R] { return answer[R]{got, err} }

func (a answer[R]) must(t *testing.T) R {
	t.Helper()
	if a.err != nil {
		t.Fatal(a.err)
	}
	return a.got
}

func (r *rig) block(height int32) *wire.MsgBlock {
	r.t.Helper()
	reader := r.view.Open()
	raw, err := reader.Raw(&reader.Active().At(height).Hash)
	if err != nil {
		r.t.Fatal(err)
	}
	return enginetest.Parse(r.t, raw)
}

// mine makes blocks of the pool's transactions.
func (r *rig) mine(n int) chainhash.Hash {
	r.t.Helper()
	order := messages.Generate{Script: anyone, Count: n, Tries: 1 << 30}
	best := ok(ask.Ask(r.t.Context(), r.pool, messages.SelectTxs{})).must(r.t)
	for _, tx := range best.Txs {
		order.Txs = append(order.Txs, enginetest.Serialize(tx.Tx))
	}
	order.Fees = best.Fees
	made := ok(ask.Ask(r.t.Context(), r.chain, order)).must(r.t)
	return made[len(made)-1]
}

func (r *rig) submit(tx *wire.MsgTx) error {
	_, err := ask.Ask(r.t.Context(), r.pool, messages.SubmitTx{Tx: tx})
	return err
}

func (r *rig) ids() []chainhash.Hash {
	r.t.Helper()
	return ok(ask.Ask(r.t.Context(), r.pool, messages.GetPoolIDs{})).must(r.t).IDs
}

func (r *rig) holds(step string, txs ...*wire.MsgTx) {
	r.t.Helper()
	got := r.ids()
	for _, tx := range txs {
		if !slices.Contains(got, tx.TxHash()) {
			r.t.Errorf("%s: %v is not in the pool", step, tx.TxHash())
		}
	}
	if len(got) != len(txs) {
		r.t.Errorf("%s: %d transactions, want %d", step, len(got), len(txs))
	}
}

// spend pays from outputs to anyone.
func spend(value int64, from ...wire.OutPoint) *wire.MsgTx {
	tx := wire.NewMsgTx(2)
	for _, at := range from {
		tx.AddTxIn(&wire.TxIn{
			PreviousOutPoint: at, Sequence: wire.MaxTxInSequenceNum - 2, Witness: wire.TxWitness{{0x51}},
		})
	}
	tx.AddTxOut(wire.NewTxOut(value, anyone))
	return tx
}

func outOf(tx *wire.MsgTx) wire.OutPoint { return wire.OutPoint{Hash: tx.TxHash()} }

const coin = 100_000_000

// A transaction comes in, goes into a block, comes back when the block leaves the
// chain, and makes room for another that is confirmed in its place.
func TestFollowsTheChain(t *testing.T) {
	r := newRig(t)
	parent := spend(50*coin-1000, r.coins[0])
	child := spend(50*coin-2000, outOf(parent))
	other := spend(50*coin-1000, r.coins[1])
	for _, tx := range []*wire.MsgTx{parent, child, other} {
		if err := r.submit(tx); err != nil {
			t.Fatal(err)
		}
	}
	r.holds("submitted", parent, child, other)
	hash := r.mine(1)
	r.holds("mined")
	if block := r.block(blocks + 1); len(block.Transactions) != 4 ||
		block.Transactions[0].TxOut[0].Value != 50*coin+3000 {
		t.Errorf("the block has %d transactions, and its coinbase pays %d", len(block.Transactions), block.Transactions[0].TxOut[0].Value)
	}
	if err := r.submit(child); !errors.Is(err, messages.ErrTxConfirmed) {
		t.Errorf("a transaction of the chain: %v", err)
	}
	ok(ask.Ask(t.Context(), r.chain, messages.InvalidateBlock{Hash: hash})).must(t)
	r.holds("block gone", parent, child, other)

	rival := spend(50*coin-5000, r.coins[0])
	ok(ask.Ask(t.Context(), r.chain, messages.GenerateBlock{
		Script: anyone, Txs: [][]byte{enginetest.Serialize(rival)}, Submit: true, Tries: 1 << 30,
	})).must(t)
	r.holds("conflict confirmed", other)
}

// The pool knows how large the last block was that it chose transactions for, also one
// without any.
func TestSizeOfLastBlock(t *testing.T) {
	r := newRig(t)
	tx := spend(50*coin-1000, r.coins[0])
	if err := r.submit(tx); err != nil {
		t.Fatal(err)
	}
	weight := int64(3*tx.SerializeSizeStripped() + tx.SerializeSize())
	for _, test := range []struct {
		ask  messages.SelectTxs
		want messages.BlockSize
	}{
		{messages.SelectTxs{}, messages.BlockSize{Weight: 8000 + weight, Txs: 1}},
		{messages.SelectTxs{Reserved: 2000}, messages.BlockSize{Weight: 2000 + weight, Txs: 1}},
		{messages.SelectTxs{Nothing: true}, messages.BlockSize{Weight: 8000}},
	} {
		ok(ask.Ask(t.Context(), r.pool, test.ask)).must(t)
		if got := ok(ask.Ask(t.Context(), r.pool, messages.GetPoolInfo{})).must(t).LastBlock; got == nil ||
			*got != test.want {
			t.Errorf("%+v: got %+v, want %+v", test.ask, got, test.want)
		}
	}
}

// A transaction leaves the pool if it spends a coin that a reorganisation makes
// immature.
func TestImmatureAfterReorganisation(t *testing.T) {
	r := newRig(t)
	young := spend(50*coin-1000, r.coins[len(r.coins)-1])
	old := spend(50*coin-1000, r.coins[0])
	for _, tx := range []*wire.MsgTx{young, old} {
		if err := r.submit(tx); err != nil {
			t.Fatal(err)
		}
	}
	tip := r.view.Open().Active().Tip().Hash
	ok(ask.Ask(t.Context(), r.chain, messages.InvalidateBlock{Hash: tip})).must(t)
	r.holds("one block less", old)
}

// The pool is there again after a restart, with what the operator added.
func TestPersists(t *testing.T) {
	r := newRig(t)
	parent := spend(50*coin-1000, r.coins[0])
	child := spend(50*coin-2000, outOf(parent))
	for _, tx := range []*wire.MsgTx{parent, child} {
		if err := r.submit(tx); err != nil {
			t.Fatal(err)
		}
	}
	ok(ask.Ask(t.Context(), r.pool, messages.PrioritiseTx{ID: child.TxHash(), Delta: 77})).must(t)
	r.waitLoaded()
	if err := r.pool.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.start()
	r.waitLoaded()
	r.holds("restarted", parent, child)
	got := ok(ask.Ask(t.Context(), r.pool, messages.GetPoolTx{ID: child.TxHash()})).must(t)
	if got.ModifiedFee != 1077 || !got.Unbroadcast || got.Ancestors != 2 {
		t.Errorf("got %+v", got)
	}
}

func (r *rig) waitLoaded() {
	r.t.Helper()
	for !ok(ask.Ask(r.t.Context(), r.pool, messages.GetPoolInfo{})).must(r.t).Loaded {
		if r.t.Context().Err() != nil {
			r.t.Fatal("not loaded")
		}
	}
}

// After a panic the pool is empty and its listeners know; who waited is told, and
// the next is served.
func TestPanic(t *testing.T) {
	var bad chainhash.Hash
	r := newRig(t, func(c *mempool.Config) {
		verify := c.Rules.Verify
		c.Rules.Verify = func(tx *wire.MsgTx, spent []*wire.TxOut, height int32) error {
			if tx.TxHash() == bad {
				panic("boom")
			}
			return verify(tx, spent, height)
		}
	})
	r.ids() // it has seen the chain
	steps := make(chan messages.PoolChanged, 10)
	r.sys.Spawn("listener", func() actor.Actor {
		return actor.ReceiveFunc(func(c actor.Context) {
			switch m := c.Message().(type) {
			case *actor.Started:
				r.feed.Subscribe(c)
				steps <- messages.PoolChanged{}
			case messages.PoolChanged:
				steps <- m
			}
		})
	})
	<-steps
	good, evil := spend(50*coin-1000, r.coins[0]), spend(50*coin-1000, r.coins[1])
	bad = evil.TxHash()
	if err := r.submit(good); err != nil {
		t.Fatal(err)
	}
	if m := <-steps; len(m.Changes) != 1 || !m.Changes[0].Added {
		t.Errorf("received %+v", m)
	}
	if err := r.submit(evil); !errors.Is(err, ask.ErrRestarted) {
		t.Errorf("submitted: %v", err)
	}
	for m := range steps {
		if m.Reset {
			break
		}
	}
	tip := r.view.Open().Active().Tip()
	if m := <-steps; len(m.Blocks) != 1 || !m.Blocks[0].Leap || m.Blocks[0].Hash != tip.Hash {
		t.Errorf("received %+v, want where it begins", m)
	}
	r.holds("restarted")
	if err := r.submit(good); err != nil {
		t.Error(err)
	}
	r.holds("again", good)
}

// Packages, coins and what the operator adds, through the actor.
func TestRequests(t *testing.T) {
	r := newRig(t)
	parent := spend(50*coin, r.coins[0])
	parent.Version = 3
	child := spend(50*coin-1000, outOf(parent))
	child.Version = 3
	result := ok(ask.Ask(t.Context(), r.pool, messages.SubmitPackage{Txs: []*wire.MsgTx{parent, child}})).must(t)
	if result.Failed != nil {
		t.Fatal(result.Failed)
	}
	coins := ok(ask.Ask(t.Context(), r.pool, messages.GetPoolCoins{
		Outs: []wire.OutPoint{r.coins[0], outOf(parent), outOf(child), r.coins[1]},
	})).must(t)
	if coins[0] != nil || coins[1] != nil || coins[2] == nil || coins[3] == nil ||
		coins[2].Height != messages.PoolHeight {
		t.Errorf("unspent: %v", coins)
	}
	coins = ok(ask.Ask(t.Context(), r.pool, messages.GetPoolCoins{Outs: []wire.OutPoint{
		r.coins[0], outOf(parent),
	}, View: messages.PoolOutputs})).must(t)
	if coins[0] == nil || coins[1] == nil {
		t.Errorf("outputs: %v", coins)
	}
	beyond := outOf(child)
	beyond.Index = 1000
	outputs := ok(ask.Ask(t.Context(), r.pool, messages.GetPoolOutputs{
		Outs: []wire.OutPoint{r.coins[0], outOf(parent), outOf(child), r.coins[1], beyond},
	})).must(t)
	for i, want := range []messages.PoolOutput{
		{Spent: true},
		{Here: true, Spent: true, Output: parent.TxOut[0]},
		{Here: true, Output: child.TxOut[0]},
		{},
		{Here: true},
	} {
		if got := outputs.Outs[i]; got != want {
			t.Errorf("output %d: %+v, want %+v", i, got, want)
		}
	}
	spenders := ok(ask.Ask(
		t.Context(), r.pool, messages.GetPoolSpenders{Outs: []wire.OutPoint{outOf(parent), outOf(child)}},
	)).must(t)
	if spenders[0] == nil || *spenders[0] != child.TxHash() || spenders[1] != nil {
		t.Errorf("spenders: %v", spenders)
	}
	list := ok(ask.Ask(t.Context(), r.pool, messages.GetPoolRelatives{ID: parent.TxHash(), Descendants: true})).must(t)
	if len(list) != 1 || list[0].ID != child.TxHash() || list[0].AncestorFees != 1000 {
		t.Errorf("descendants: %+v", list)
	}
	tested := ok(ask.Ask(
		t.Context(), r.pool, messages.TestTxs{Txs: []*wire.MsgTx{spend(50*coin-1000, r.coins[1])}},
	)).must(t)
	if tested.Failed != nil {
		t.Error(tested.Failed)
	}
	r.holds("tested", parent, child)
	info := ok(ask.Ask(t.Context(), r.pool, messages.GetPoolInfo{})).must(t)
	if info.Size != 2 || info.Fees != 1000 || info.Unbroadcast != 0 || info.MinFee != 100 {
		t.Errorf("info: %+v", info)
	}
}
