package wallets_test

import (
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/follow"
	"github.com/seed61375155/trawl/messages"
)

// world is a chain and a pool that follows the chain with any delay. Blocks, payments and
// their replacements come in any order, and so do the news of them to two wallets.
type world struct {
	*rand.Rand

	tb    testing.TB
	r     *rig
	chain *chaintest.Chain
	made  []*chainview.Block // all blocks, in their order
	coins []wire.OutPoint    // of the sender, that nothing spends
	txs   map[chainhash.Hash]*wire.MsgTx
	salt  uint32
	names []string // of the wallets, with their scripts
	owns  map[string][]byte
	alone bool // the pool tells of blocks only with changes, as a copy of another pool does

	mu   sync.Mutex // for the pool, which wallets ask
	at   *chainview.Block
	pool []*wire.MsgTx
}

// newWorld makes a chain with coins of the sender, and both wallets.
func newWorld(tb testing.TB, seed uint64) (w *world, fail *atomic.Bool) {
	tb.Helper()
	const sender = "wpkh(0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798)"
	w = &world{
		Rand: rand.New(rand.NewPCG(seed, 11)), tb: tb, chain: newChain(), txs: map[chainhash.Hash]*wire.MsgTx{},
		owns: map[string][]byte{"receiver": foreignScript}, names: []string{"sender", "receiver"},
	}
	w.alone = w.IntN(4) == 0
	parsed, err := descriptor.Parse(sender, descriptor.NetworkOf(&chaincfg.RegressionNetParams), descriptor.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	scripts, err := parsed[0].Expand(0)
	if err != nil {
		tb.Fatal(err)
	}
	w.owns["sender"] = scripts[0]
	w.mine(w.chain.Active().Tip())
	funding := spend(w.chain, w.chain.Active().Tip(), scripts[0])
	for range 60 {
		funding.AddTxOut(wire.NewTxOut(100_000, scripts[0]))
	}
	w.mine(w.chain.Active().Tip(), funding)
	for i := range funding.TxOut[1:] {
		w.coins = append(w.coins, wire.OutPoint{Hash: funding.TxHash(), Index: uint32(i + 1)})
	}
	w.txs[funding.TxHash()] = funding
	w.at = w.chain.Active().Tip()

	fail = new(atomic.Bool)
	w.r = newRig(tb, w.chain, setup{noFilters: true, keyPool: 1, now: genesis, poolOf: w.serve, fail: func() error {
		if fail.CompareAndSwap(true, false) {
			return errors.New("no space left on device")
		}
		return nil
	}})
	for name, desc := range map[string]string{"sender": descriptor.AddChecksum(sender), "receiver": foreignKey} {
		do(tb, w.r.ref, messages.CreateWallet{Name: name, DisablePrivateKeys: true, Blank: true})
		label := name
		items := []messages.ImportItem{{Desc: desc, Timestamp: genesis.Unix(), Label: &label}}
		if results := do(tb, w.r.wallet(tb, name), messages.ImportDescriptors{Items: items}); results[0].Err != nil {
			tb.Fatal(results[0].Err)
		}
	}
	return w, fail
}

// serve is the pool's actor.
func (w *world) serve(r *rig) *ask.Ref {
	return r.sys.Spawn("mempool", func() actor.Actor {
		return actor.ReceiveFunc(func(c actor.Context) {
			switch m := c.Message().(type) {
			case *ask.Call[messages.GetPoolTxs, messages.PoolTxs]:
				w.mu.Lock()
				defer w.mu.Unlock()
				got := messages.PoolTxs{At: tipOf(w.at), Alone: w.alone, Published: r.changes.Published()}
				for _, tx := range w.pool {
					got.Txs = append(got.Txs, messages.PoolTx{Tx: tx, ID: tx.TxHash()})
				}
				m.Answer(got, nil)
			case *ask.Call[messages.SubmitTx, messages.Done]:
				m.Answer(messages.Done{}, messages.ErrTxConfirmed)
			default:
				ask.Unhandled(c)
			}
		})
	})
}

func tipOf(b *chainview.Block) messages.Tip { return messages.Tip{Hash: b.Hash, Height: b.Height} }

func (w *world) mine(on *chainview.Block, txs ...*wire.MsgTx) *chainview.Block {
	w.salt++
	b := w.chain.MineOn(on, chaintest.Template{Txs: txs, Version: int32(w.salt + 4)})
	w.made = append(w.made, b)
	return b
}

// pay makes a transaction that spends an output.
func (w *world) pay(at wire.OutPoint, scripts ...[]byte) *wire.MsgTx {
	w.salt++
	tx := wire.NewMsgTx(2)
	tx.LockTime = w.salt
	tx.AddTxIn(wire.NewTxIn(&at, nil, nil))
	for i, script := range scripts {
		tx.AddTxOut(wire.NewTxOut(int64(1000*(i+1))+int64(w.salt), script))
	}
	w.txs[tx.TxHash()] = tx
	return tx
}

// anybody is a script that belongs to neither wallet.
var anybody = []byte("\x00\x14nobody of the two ..")

// to is whom a payment pays: the receiver, or somebody else.
func (w *world) to() []byte {
	if w.IntN(3) == 0 {
		return anybody
	}
	return foreignScript
}

// confirmed are the transactions of the chain that ends in a block, with their heights, and
// what they spend.
func (w *world) confirmed(
	b *chainview.Block,
) (heights map[chainhash.Hash]int32, spent map[wire.OutPoint]chainhash.Hash) {
	heights, spent = map[chainhash.Hash]int32{}, map[wire.OutPoint]chainhash.Hash{}
	for ; b.Parent != nil; b = b.Parent {
		for _, tx := range blockOf(w.chain, b).Transactions[1:] {
			heights[tx.TxHash()] = b.Height
			spent[tx.TxIn[0].PreviousOutPoint] = tx.TxHash()
		}
	}
	return heights, spent
}

// fits reports whether a transaction may be in a block after one, or in a pool there.
func (w *world) fits(tx *wire.MsgTx, heights map[chainhash.Hash]int32, spent map[wire.OutPoint]chainhash.Hash) bool {
	at := tx.TxIn[0].PreviousOutPoint
	_, known := heights[at.Hash]
	_, taken := spent[at]
	_, there := heights[tx.TxHash()]
	return known && !taken && !there
}

// block mines on a block what of some transactions fits there, by chance.
func (w *world) block(on *chainview.Block, txs []*wire.MsgTx) *chainview.Block {
	heights, spent := w.confirmed(on)
	var chosen []*wire.MsgTx
	for _, tx := range txs {
		if w.IntN(3) > 0 && w.fits(tx, heights, spent) {
			heights[tx.TxHash()], spent[tx.TxIn[0].PreviousOutPoint] = on.Height+1, tx.TxHash()
			chosen = append(chosen, tx)
		}
	}
	return w.mine(on, chosen...)
}

// drop removes a transaction and what descends from it from the pool.
func (w *world) drop(tx *wire.MsgTx, reason messages.PoolReason) (left []messages.PoolChange) {
	for _, child := range slices.Clone(w.pool) {
		if child.TxIn[0].PreviousOutPoint.Hash == tx.TxHash() {
			left = append(left, w.drop(child, reason)...)
		}
	}
	w.pool = slices.DeleteFunc(w.pool, func(other *wire.MsgTx) bool { return other == tx })
	return append(left, messages.PoolChange{Tx: tx, ID: tx.TxHash(), Reason: reason})
}

func (w *world) publish(m messages.PoolChanged) {
	if w.alone {
		if m.Blocks = nil; len(m.Changes) == 0 && !m.Reset {
			return
		}
		m.Alone = true
		for _, change := range m.Changes {
			if change.Added {
				m.Blocks = []messages.PoolStep{{Tip: tipOf(w.at), Connected: true, Leap: true}}
			}
		}
	}
	w.r.changes.Publish(m)
}

// accept puts a transaction into the pool, in the place of the transactions that it replaces.
func (w *world) accept(tx *wire.MsgTx) {
	var changes []messages.PoolChange
	for _, old := range slices.Clone(w.pool) {
		if old.TxIn[0].PreviousOutPoint == tx.TxIn[0].PreviousOutPoint {
			changes = append(changes, w.drop(old, messages.PoolReplaced)...)
		}
	}
	w.pool = append(w.pool, tx)
	changes = append(changes, messages.PoolChange{Tx: tx, ID: tx.TxHash(), Added: true})
	if w.IntN(2) == 0 { // by themselves
		for _, change := range changes {
			w.publish(messages.PoolChanged{Changes: []messages.PoolChange{change}})
		}
		return
	}
	w.publish(messages.PoolChanged{Changes: changes})
}

// follow brings the pool to the tip.
func (w *world) follow() {
	left, joined := follow.Plan(w.chain.Active(), w.at, 1000)
	for _, b := range left {
		w.at = b.Parent
		w.publish(messages.PoolChanged{Blocks: []messages.PoolStep{{Tip: tipOf(b)}}})
	}
	if len(left) > 0 { // as at the end: what comes back is checked with the new blocks
		heights, spent := w.confirmed(w.chain.Active().Tip())
		w.comeBack(left, heights, spent)
	}
	for _, b := range joined {
		var m messages.PoolChanged
		w.at = b
		for _, tx := range blockOf(w.chain, b).Transactions[1:] {
			for _, old := range slices.Clone(w.pool) {
				switch {
				case old.TxHash() == tx.TxHash():
					w.pool = slices.DeleteFunc(w.pool, func(other *wire.MsgTx) bool { return other == old })
					left := messages.PoolChange{Tx: tx, ID: tx.TxHash(), Reason: messages.PoolBlock}
					m.Changes = append(m.Changes, left)
				case old.TxIn[0].PreviousOutPoint == tx.TxIn[0].PreviousOutPoint:
					m.Changes = append(m.Changes, w.drop(old, messages.PoolConflict)...)
				}
			}
		}
		m.Blocks = []messages.PoolStep{{Tip: tipOf(b), Connected: true, After: len(m.Changes)}}
		w.publish(m)
	}
}

// comeBack puts transactions of blocks that were left back into the pool, and removes what is
// not valid any more.
func (w *world) comeBack(
	left []*chainview.Block, heights map[chainhash.Hash]int32, spent map[wire.OutPoint]chainhash.Hash,
) {
	all := maps.Clone(heights)
	for _, tx := range w.pool {
		all[tx.TxHash()] = 0
	}
	for _, b := range slices.Backward(left) {
		for _, tx := range blockOf(w.chain, b).Transactions[1:] {
			rivals := slices.ContainsFunc(w.pool, func(other *wire.MsgTx) bool {
				return other.TxIn[0].PreviousOutPoint == tx.TxIn[0].PreviousOutPoint
			})
			if !rivals && w.fits(tx, all, spent) {
				all[tx.TxHash()] = 0
				w.pool = append([]*wire.MsgTx{tx}, w.pool...)
				w.publish(messages.PoolChanged{Changes: []messages.PoolChange{{Tx: tx, ID: tx.TxHash(), Added: true}}})
			}
		}
	}
	for again := true; again; {
		again = false
		for _, tx := range slices.Clone(w.pool) {
			at := tx.TxIn[0].PreviousOutPoint
			_, known := heights[at.Hash]
			known = known || slices.ContainsFunc(w.pool, func(p *wire.MsgTx) bool { return p.TxHash() == at.Hash })
			if !known {
				w.publish(messages.PoolChanged{Changes: w.drop(tx, messages.PoolReorg)})
				again = true
				break
			}
		}
	}
}

// step does one thing.
func (w *world) step(fail *atomic.Bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	tip := w.chain.Active().Tip()
	switch w.IntN(16) {
	case 0, 1, 2:
		if len(w.coins) > 0 {
			w.accept(w.pay(w.coins[0], w.to(), w.owns["sender"]))
			w.coins = w.coins[1:]
		}
	case 3: // the receiver, or another, spends it on
		for _, tx := range w.pool {
			child := w.pay(wire.OutPoint{Hash: tx.TxHash()}, w.to())
			taken := slices.ContainsFunc(w.pool, func(o *wire.MsgTx) bool {
				return o.TxIn[0].PreviousOutPoint == child.TxIn[0].PreviousOutPoint
			})
			if !taken && w.IntN(2) == 0 {
				w.accept(child)
				break
			}
		}
	case 4, 5, 6:
		if len(w.pool) > 0 {
			old := w.pool[w.IntN(len(w.pool))]
			w.accept(w.pay(old.TxIn[0].PreviousOutPoint, w.to(), w.owns["sender"]))
		}
	case 7, 8, 9:
		w.block(tip, w.pool)
	case 10: // what no pool had is in a block
		if len(w.pool) > 0 {
			at := w.pool[w.IntN(len(w.pool))].TxIn[0].PreviousOutPoint
			w.block(tip, []*wire.MsgTx{w.pay(at, w.to(), w.owns["sender"])})
		}
	case 11:
		on := tip.Ancestor(max(tip.Height-int32(1+w.IntN(3)), 2))
		for range tip.Height - on.Height + 1 {
			on = w.block(on, w.pool)
		}
	case 12:
		w.follow()
	case 13:
		w.follow()
		w.r.announce()
	case 14:
		w.r.announce()
	case 15:
		w.restart(fail)
	}
}

// restart has something begin again: the pool, the chain, a wallet, or its actor.
func (w *world) restart(fail *atomic.Bool) {
	switch w.IntN(8) {
	case 0:
		w.pool, w.at = nil, w.chain.Active().Tip()
		w.r.changes.Publish(messages.PoolChanged{Reset: true})
		w.r.changes.Publish(messages.PoolChanged{
			Blocks: []messages.PoolStep{{Tip: tipOf(w.at), Connected: true, Leap: true}}, Alone: w.alone,
		})
	case 1, 2:
		again := newChain()
		for i, b := range w.made {
			raw, err := w.chain.Raw(&b.Hash)
			if err != nil {
				w.tb.Fatal(err)
			}
			if w.made[i], err = again.Add(raw); err != nil {
				w.tb.Fatal(err)
			}
		}
		w.chain, w.at = again, again.Lookup(&w.at.Hash)
		w.r.current.Set(again)
		w.r.announce()
	case 3:
		fail.Store(true)
	default:
		name := w.names[w.IntN(len(w.names))]
		w.mu.Unlock() // the wallet asks the pool
		defer w.mu.Lock()
		if _, err := try(w.tb, w.r.ref, messages.UnloadWallet{Name: name}); err != nil {
			return // its actor failed at that, and goes on
		}
		if _, err := try(w.tb, w.r.ref, messages.LoadWallet{Name: name}); err != nil {
			do(w.tb, w.r.ref, messages.LoadWallet{Name: name})
		}
	}
}
