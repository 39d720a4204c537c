package corepool_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/corepool"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/corenode"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
)

// core is the node that is attached to.
type core struct {
	mu      sync.Mutex
	order   []chainhash.Hash // of its pool
	txs     map[chainhash.Hash]*wire.MsgTx
	failing error
	loading bool
	large   int // transactions from which a reply is too large; 0: none is
	calls   map[string]int
	refuse  error                 // of sendrawtransaction
	sent    []any                 // its last arguments
	slow    chan struct{}         // replies wait until it is closed; nil: they do not
	best    func() chainhash.Hash // the tip of its chain; nil: it may not be asked

	takes   time.Duration // to list the pool
	listed  func()        // is called when that begins; nil: nothing is
	listing bool          // it has begun
}

func (n *core) add(tx *wire.MsgTx) *wire.MsgTx {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.txs[tx.TxHash()] = tx
	n.order = append(n.order, tx.TxHash())
	return tx
}

func (n *core) remove(id chainhash.Hash) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.txs, id)
	n.order = slices.DeleteFunc(n.order, func(h chainhash.Hash) bool { return h == id })
}

func (n *core) set(change func(*core)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	change(n)
}

func (n *core) asked(method string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.calls[method]
}

func (n *core) answer(method string, params []any) (any, error) {
	n.calls[method]++
	switch method {
	case "getmempoolinfo":
		return map[string]any{
			"loaded": !n.loading, "mempoolminfee": json.Number("0.00002000"), "minrelaytxfee": json.Number("0.00001000"),
		}, n.failing
	case "getrawmempool":
		ids := []string{}
		for _, id := range n.order {
			ids = append(ids, id.String())
		}
		return map[string]any{"txids": ids, "mempool_sequence": 1}, n.failing
	case "getbestblockhash":
		if n.best == nil {
			return nil, corenode.ErrForbidden
		}
		return n.best().String(), n.failing
	case "getrawtransaction", "getmempoolentry":
		id, err := chainhash.NewHashFromStr(params[0].(string))
		if err != nil {
			return nil, err
		}
		tx := n.txs[*id]
		if tx == nil {
			return nil, &corenode.Error{Code: -5, Message: "No such mempool transaction"}
		}
		if method == "getrawtransaction" {
			return hexOf(tx), n.failing
		}
		fees := map[string]any{"base": json.Number("0.00001000"), "modified": json.Number("0.00002000")}
		return map[string]any{"vsize": 100, "time": 7, "height": 3, "fees": fees}, n.failing
	case "estimatesmartfee":
		if params[0] == 2 && params[1] == "economical" {
			return map[string]any{"feerate": json.Number("0.00012345"), "blocks": 3}, n.failing
		}
		return map[string]any{"errors": []string{"Insufficient data or no feerate found"}, "blocks": 2}, n.failing
	case "gettxspendingprevout":
		return n.spends(params[0])
	}
	return nil, fmt.Errorf("no method %s", method)
}

func hexOf(tx *wire.MsgTx) string {
	var raw bytes.Buffer
	_ = tx.Serialize(&raw)
	return hex.EncodeToString(raw.Bytes())
}

// Call implements corepool.Node.
func (n *core) Call(ctx context.Context, to any, method string, params ...any) error {
	n.mu.Lock()
	slow := n.slow
	n.mu.Unlock()
	if slow != nil {
		select {
		case <-slow:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	switch method {
	case "sendrawtransaction":
		return n.send(params)
	case "getrawmempool":
		n.list()
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	result, err := n.answer(method, params)
	if err != nil {
		return err
	}
	text, err := json.Marshal(result)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, to)
}

func (n *core) send(params []any) error {
	n.set(func(n *core) { n.sent = params })
	if n.refuse != nil {
		return n.refuse
	}
	raw, err := hex.DecodeString(params[0].(string))
	if err != nil {
		return err
	}
	var tx wire.MsgTx
	if err := tx.Deserialize(bytes.NewReader(raw)); err != nil {
		return err
	}
	n.add(&tx)
	return nil
}

// Batch implements corepool.Node.
func (n *core) Batch(_ context.Context, method string, params [][]any) ([]json.RawMessage, []error, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.failing != nil {
		return nil, nil, n.failing
	}
	if n.large > 0 && len(params) >= n.large {
		return nil, nil, corenode.ErrTooLarge
	}
	results, errs := make([]json.RawMessage, len(params)), make([]error, len(params))
	for i := range params {
		result, err := n.answer(method, params[i])
		if errs[i] = err; err == nil {
			results[i], _ = json.Marshal(result)
		}
	}
	return results, errs, nil
}

// lines is what was logged.
type lines struct {
	strings.Builder
	sync.Mutex
}

func (l *lines) Write(p []byte) (int, error) {
	l.Lock()
	defer l.Unlock()
	return l.Builder.Write(p)
}

func (l *lines) text() string {
	l.Lock()
	defer l.Unlock()
	return l.String()
}

// rig is the actor between a core and a chain, and a listener to its changes.
type rig struct {
	t     *testing.T
	core  *core
	chain *chaintest.Chain
	tip   ask.Feed[messages.TipChanged]
	ref   *ask.Ref
	log   lines

	chainErr atomic.Pointer[error] // of the chain; nil: it follows

	mu       sync.Mutex
	notified map[chainhash.Hash]bool
	left     map[chainhash.Hash]messages.PoolReason
	at       map[chainhash.Hash]messages.PoolStep // the block that was reported with it
	salt     uint32

	resets int // that were published
}

type (
	followCall = ask.Call[nodemsg.FollowNode, messages.Tip]
	coinsCall  = ask.Call[messages.GetCoins, messages.Coins]
)

func newRig(t *testing.T, with func(*corepool.Config)) *rig {
	t.Helper()
	r := &rig{
		t: t, chain: chaintest.New(&chaincfg.RegressionNetParams),
		core:     &core{txs: map[chainhash.Hash]*wire.MsgTx{}, calls: map[string]int{}},
		notified: map[chainhash.Hash]bool{}, left: map[chainhash.Hash]messages.PoolReason{},
		at: map[chainhash.Hash]messages.PoolStep{},
	}
	r.chain.MineN(1)
	sys := actortest.New(t)
	view := new(chainview.Current)
	view.Set(r.chain)
	feed := new(ask.Feed[messages.PoolChanged])
	sys.Spawn("listener", func() actor.Actor {
		return actor.ReceiveFunc(func(c actor.Context) { r.listen(c, feed) })
	})
	chain := sys.Spawn("chain", func() actor.Actor { return actor.ReceiveFunc(r.chainActor) })
	cfg := corepool.Config{
		Node: r.core, Chain: chain, View: view, Tip: &r.tip, Feed: feed, Limits: corepool.DefaultLimits,
		MaySend: true, Log: slog.New(slog.NewTextHandler(&r.log, nil)),
	}
	if with != nil {
		with(&cfg)
	}
	r.ref = sys.Spawn("corepool", corepool.New(cfg), corepool.Requests...)
	synctest.Wait()
	return r
}

// chainActor is the chain.
func (r *rig) chainActor(c actor.Context) {
	var err error
	if failing := r.chainErr.Load(); failing != nil {
		err = *failing
	}
	switch m := c.Message().(type) {
	case *followCall:
		m.Answer(messages.Tip{}, err)
	case *coinsCall:
		coins := map[wire.OutPoint]messages.Coin{}
		for _, out := range m.Req.Outs {
			if out.Index == 0 {
				coins[out] = messages.Coin{Output: wire.NewTxOut(5, nil), Height: 1}
			}
		}
		m.Answer(messages.Coins{Coins: coins}, err)
	}
}

func (r *rig) listen(c actor.Context, feed *ask.Feed[messages.PoolChanged]) {
	switch m := c.Message().(type) {
	case *actor.Started:
		feed.Subscribe(c)
	case messages.PoolChanged:
		r.mu.Lock()
		defer r.mu.Unlock()
		if m.Reset {
			r.resets++
			clear(r.notified)
		}
		for _, change := range m.Changes {
			if change.Added == r.notified[change.ID] || change.Tx.TxHash() != change.ID || change.Fee != 1000 {
				r.t.Errorf("%+v, known: %v", change, r.notified[change.ID])
			}
			if r.notified[change.ID] = change.Added; !change.Added {
				delete(r.notified, change.ID)
				r.left[change.ID] = change.Reason
			}
			if change.Added && m.Alone && len(m.Blocks) == 1 {
				r.at[change.ID] = m.Blocks[0]
			}
		}
	}
}

// tx returns a transaction that spends the first output of another; nil: of a block.
func (r *rig) tx(of *wire.MsgTx) *wire.MsgTx {
	r.salt++
	tx := wire.NewMsgTx(2)
	prev := wire.OutPoint{Hash: chainhash.Hash{byte(r.salt), byte(r.salt >> 8), 9}}
	if of != nil {
		prev.Hash = of.TxHash()
	}
	tx.AddTxIn(wire.NewTxIn(&prev, nil, nil))
	tx.AddTxOut(wire.NewTxOut(int64(r.salt), []byte{0x51}))
	return tx
}

// same reports that the mirror, and what the listener was notified of, is what there is.
func (r *rig) same(what string) {
	r.t.Helper()
	synctest.Wait()
	got, err := ask.Ask(r.t.Context(), r.ref, messages.GetPoolTxs{})
	if err != nil {
		r.t.Fatal(what, err)
	}
	synctest.Wait()
	r.core.mu.Lock()
	defer r.core.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(got.Txs) != len(r.core.txs) || len(r.notified) != len(r.core.txs) {
		r.t.Fatalf("%s: %d, notified of %d, want %d", what, len(got.Txs), len(r.notified), len(r.core.txs))
	}
	for i := range got.Txs {
		if id := got.Txs[i].ID; r.core.txs[id] == nil || !r.notified[id] {
			r.t.Fatalf("%s: %v", what, id)
		}
	}
}

func (r *rig) state() messages.CopiedPool {
	r.t.Helper()
	s, err := ask.Ask(r.t.Context(), r.ref, messages.GetCopiedPool{})
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

func (r *rig) follow() error {
	_, err := ask.Ask(r.t.Context(), r.ref, nodemsg.FollowPool{})
	return err
}
