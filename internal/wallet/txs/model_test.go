package txs

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/messages"
)

// TestModel lets a ledger follow random chains and mempools, with reorganisations,
// and compares its coins and balances with a model that looks through all of both
// after every step.
func TestModel(t *testing.T) {
	for seed := range uint64(150) {
		m := newModel(seed)
		for range 12 {
			m.step()
			m.check(t)
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
	}
}

// model is a chain and a mempool.
type model struct {
	*rig

	random *rand.Rand
	chain  []*Block
	pool   []*wire.MsgTx
	count  uint32
}

func newModel(seed uint64) *model {
	m := &model{rig: newRig(0, scriptOf(1), scriptOf(2), scriptOf(3)), random: rand.New(rand.NewPCG(seed, 4))}
	m.connect()
	return m
}

func (m *model) step() {
	switch m.random.IntN(5) {
	case 0:
		for range 1 + m.random.IntN(2) {
			m.disconnect()
		}
	case 1, 2:
		m.connect()
	default:
		m.accept(m.spending(), true)
	}
	m.book.Labels("")
}

// outs makes outputs, most of them to the wallet.
func (m *model) outs() (outs []*wire.TxOut) {
	for range 1 + m.random.IntN(3) {
		outs = append(outs, wire.NewTxOut(1+m.random.Int64N(1000), scriptOf(byte(1+m.random.IntN(5)))))
	}
	return outs
}

// spending makes a transaction that spends something: nobody's, or an output of the
// chain or the pool that nothing there spends.
func (m *model) spending() *wire.MsgTx {
	m.count++
	spent := foreign(byte(m.random.IntN(30)))
	if free := m.free(); len(free) > 0 && m.random.IntN(3) > 0 {
		spent = free[m.random.IntN(len(free))]
	}
	return txOf(m.count, []wire.OutPoint{spent}, m.outs()...)
}

// all returns the transactions of the chain and the pool.
func (m *model) all() (all []*wire.MsgTx) {
	for _, b := range m.chain {
		all = append(all, b.Txs...)
	}
	return append(all, m.pool...)
}

// free returns the outputs that nothing spends, but for coinbases.
func (m *model) free() (free []wire.OutPoint) {
	for _, t := range m.all() {
		for i := range t.TxOut {
			if at := outOf(t, uint32(i)); !isCoinbase(t) && !m.isSpent(at) {
				free = append(free, at)
			}
		}
	}
	return free
}

func isCoinbase(t *wire.MsgTx) bool { return t.TxIn[0].PreviousOutPoint.Index == wire.MaxPrevOutIndex }

func (m *model) isSpent(at wire.OutPoint) bool {
	return slices.ContainsFunc(m.all(), func(t *wire.MsgTx) bool { return t.TxIn[0].PreviousOutPoint == at })
}

// accept puts a transaction into the pool, unless it is in conflict with something.
func (m *model) accept(t *wire.MsgTx, fresh bool) {
	if fresh && m.isSpent(t.TxIn[0].PreviousOutPoint) {
		return
	}
	m.pool = append(m.pool, t)
	m.AddMempoolTx(t, 1)
}

// connect makes a block of a part of the pool, in its order. Sometimes the block
// also has an unseen transaction that drives others out of the pool.
func (m *model) connect() {
	m.count++
	transactions := []*wire.MsgTx{coinbaseOf(m.count, m.outs()...)}
	n := m.random.IntN(len(m.pool) + 1)
	transactions = append(transactions, m.pool[:n]...)
	m.pool = slices.Clone(m.pool[n:])
	if len(m.pool) > 0 && m.random.IntN(3) == 0 {
		m.count++ // spends what the first one left spends
		transactions = append(
			transactions, txOf(m.count, []wire.OutPoint{m.pool[0].TxIn[0].PreviousOutPoint}, m.outs()...),
		)
	}
	b := blockOf(int32(len(m.chain)), transactions...)
	m.chain = append(m.chain, b)
	m.ConnectBlock(b, 1)
	if driver := b.Txs[len(b.Txs)-1]; len(m.pool) > 0 &&
		driver.TxIn[0].PreviousOutPoint == m.pool[0].TxIn[0].PreviousOutPoint {
		m.drop(m.pool[0])
	}
}

// drop removes a transaction from the pool, and what descends from it before.
func (m *model) drop(t *wire.MsgTx) {
	for i := range t.TxOut {
		for _, child := range slices.Clone(m.pool) {
			if child.TxIn[0].PreviousOutPoint == outOf(t, uint32(i)) {
				m.drop(child)
			}
		}
	}
	m.pool = slices.DeleteFunc(m.pool, func(other *wire.MsgTx) bool { return other == t })
	m.RemoveMempoolTx(t)
}

// disconnect takes back the last block, whose transactions go back to the pool
// before what is there.
func (m *model) disconnect() {
	last := len(m.chain) - 1
	if last == 0 {
		return
	}
	b := m.chain[last]
	m.chain = m.chain[:last]
	m.DisconnectBlock(b, messages.Tip{Hash: m.chain[last-1].Hash, Height: int32(last - 1)}, 1)
	rest := m.pool
	m.pool = nil
	for _, t := range b.Txs[1:] {
		m.accept(t, false)
	}
	m.pool = append(m.pool, rest...)
}

// isCoin reports whether nothing spends an own output: neither the chain, nor the
// pool, nor what may be mined yet.
func (m *model) isCoin(t *wire.MsgTx, i int) bool {
	return m.owner.IsMine(t.TxOut[i].PkScript) && !m.isSpent(outOf(t, uint32(i)))
}

// trusted reports whether a transaction of the pool is the wallet's, down to the
// chain.
func (m *model) trusted(t *wire.MsgTx) bool {
	at := t.TxIn[0].PreviousOutPoint
	for _, parent := range m.all() {
		if parent.TxHash() == at.Hash {
			return m.owner.IsMine(parent.TxOut[at.Index].PkScript) && (!slices.Contains(m.pool, parent) ||
				m.trusted(parent))
		}
	}
	return false
}

// lost reports whether there are transactions that left pool and chain, but may be
// mined yet according to the ledger. They were in conflict with a block that has
// left the chain again.
func (m *model) lost() bool {
	known := make(map[chainhash.Hash]bool)
	for _, t := range m.all() {
		known[t.TxHash()] = true
	}
	for id, t := range m.txs {
		if !known[id] && t.pending() {
			return true
		}
	}
	return false
}

func (m *model) check(t *testing.T) {
	t.Helper()
	if err := m.Verify(); err != nil {
		t.Error(err)
	}
	if m.lost() {
		return // what these spend is no coin for the ledger: see TestConflict
	}
	for _, minConf := range []int32{0, 1, 2, 5} {
		want := messages.Balances{Last: m.Tip()}
		for _, b := range m.chain {
			depth := int32(len(m.chain)) - b.Height
			m.sum(b.Txs, func(tx *wire.MsgTx, amount btcutil.Amount) {
				switch {
				case isCoinbase(tx) && depth <= testMaturity:
					want.Immature += amount
				case depth >= minConf:
					want.Trusted += amount
				}
			})
		}
		m.sum(m.pool, func(tx *wire.MsgTx, amount btcutil.Amount) {
			switch {
			case !m.trusted(tx):
				want.Pending += amount
			case minConf == 0:
				want.Trusted += amount
			}
		})
		if got := m.balances(minConf); got != want {
			t.Errorf("balances at %d: got %+v, want %+v", minConf, got, want)
		}
	}
}

// sum visits the coins of some transactions.
func (m *model) sum(transactions []*wire.MsgTx, visit func(*wire.MsgTx, btcutil.Amount)) {
	for _, tx := range transactions {
		for i, out := range tx.TxOut {
			if m.isCoin(tx, i) {
				visit(tx, btcutil.Amount(out.Value))
			}
		}
	}
}
